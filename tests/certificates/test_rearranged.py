"""A certificate holds for the same data in another layout, order or grouping: last digits do not decide."""

import warnings
from math import fsum

import numpy as np
import pytest
import scipy.sparse

from separatrix import BernoulliNB, LogisticRegression, RidgeClassifier
from separatrix.certificates.duality import balanced
from separatrix.core.row_vector import RowVector

MODELS = {
    "L2": LogisticRegression(),
    "conjugate gradients": LogisticRegression(solver="newton-cg"),
    "maximum likelihood": LogisticRegression(C=np.inf),
    "L1": LogisticRegression(l1_ratio=1.0),
    "small L1": LogisticRegression(l1_ratio=1.0, C=0.05),
    "elastic net": LogisticRegression(l1_ratio=0.5),
    "Firth": LogisticRegression(C=np.inf, firth=True),
    "ridge": RidgeClassifier(),
    "Bernoulli": BernoulliNB(),
}


def table(seed, n):
    """Raw units, with an offset that is large beside the spread."""
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n, 4)) * [1.0, 30.0, 4e3, 0.02] + [2.0, -600.0, 1e4, 0.3]
    y = (X[:, 0] - 2.0 + 2.0 * draw.logistic(size=n) > 0).astype(int)
    y[:2] = [0, 1]
    return X, y, draw


@pytest.mark.parametrize("sparse", [False, True], ids=["fitted dense", "fitted sparse"])
@pytest.mark.parametrize("n", [40, 3000])
@pytest.mark.parametrize("name", MODELS)
def test_a_row_of_weight_two_is_the_row_twice_and_any_order_and_layout_will_do(name, n, sparse):
    X, y, draw = table(1, n)
    counts, order = draw.integers(1, 4, n), draw.permutation(n)
    rows = scipy.sparse.csr_array(X) if sparse else X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        certificate = MODELS[name].fit(rows, y, sample_weight=counts).certificate_
    assert certificate.met
    certificate.verify(X, y, counts)
    certificate.verify(X[order], y[order], counts[order])
    certificate.verify(scipy.sparse.csr_array(X), y, counts)
    certificate.verify(np.asfortranarray(X), y, counts)
    certificate.verify(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    certificate.verify(np.repeat(X, counts, axis=0), np.repeat(y, counts), np.ones(counts.sum()))


def far(n, draw):
    """Columns near 1e5: sparse rows are summed about another point than dense ones."""
    return draw.normal(size=(n, 4)) + 1e5


def years(n, draw):
    dollars = np.round(draw.lognormal(12, 1, n))
    return np.column_stack([draw.integers(1980, 2012, n), dollars, draw.random(n), draw.normal(size=n)])


def near(n, draw):
    X = draw.normal(size=(n, 4))
    X[:, 3] = X[:, 0] + 1e-5 * X[:, 3]
    return X


@pytest.mark.parametrize("columns", [far, years, near])
@pytest.mark.parametrize("name", [name for name in MODELS if name != "Bernoulli"])
def test_what_dense_rows_prove_sparse_rows_prove_and_the_other_way_round(name, columns):
    """Conjugate gradients claimed of dense rows what sparse ones did not prove; Firth stated two objectives."""
    for n in (60, 1000):
        for seed in range(4):
            draw = np.random.default_rng(seed)
            X, order = columns(n, draw), draw.permutation(n)
            steps = (X[:, 0] - X[:, 0].mean()) / X[:, 0].std()
            y = (steps + 2.0 * draw.logistic(size=n) > 0).astype(int)
            for rows in (X, scipy.sparse.csr_array(X)):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    certificate = MODELS[name].fit(rows, y).certificate_
                assert certificate.met
                for same in (X, scipy.sparse.csr_array(X), scipy.sparse.csc_array(X), np.asfortranarray(X)):
                    certificate.verify(same, y)
                certificate.verify(X[order], y[order])
                certificate.verify(np.vstack([X, X]), np.append(y, y), np.full(2 * n, 0.5))


@pytest.mark.parametrize("seed", range(8))
def test_a_gap_is_claimed_alike_in_any_order(seed):
    X, y, draw = table(seed, 3000)
    X = np.column_stack([X, X[:, 0] / 3.0])  # as dependent as floats allow: often only duality proves anything
    certificate = LogisticRegression(l1_ratio=1.0).fit(X, y).certificate_
    for _ in range(3):
        order = draw.permutation(len(y))
        certificate.verify(X[order], y[order])


def test_shares_are_balanced_to_a_few_roundings_however_many_rows_there_are():
    draw = np.random.default_rng(0)
    share = draw.random(200_000)
    pi = np.column_stack([1.0 - share, share])
    own = np.eye(2)[(draw.random(len(share)) < 0.3).astype(int)]
    weights = np.full(len(share), 1.0 / len(share))
    u = balanced(RowVector((pi.T,), 1), RowVector((own.T,), 1), RowVector((weights,))).array().T
    assert abs(fsum(weights * (u - own)[:, 1])) < 8 * 2.0**-53


def test_ridge_fitted_dense_is_verified_sparse_where_columns_nearly_depend_on_each_other():
    draw = np.random.default_rng(5)
    first = draw.normal(size=3000) + 50.0
    X = np.column_stack([first, 3.0 * first + 1e-5 * draw.normal(size=3000)])
    y = (draw.random(3000) < 0.4).astype(int)
    certificate = RidgeClassifier().fit(X, y).certificate_
    certificate.verify(scipy.sparse.csr_array(X), y)


def test_counts_with_weights_of_one_are_counts():
    X, y, _ = table(3, 3000)
    certificate = BernoulliNB(binarize=1.0).fit(X, y).certificate_
    certificate.verify(X, y, np.ones(len(y)))
    certificate.verify(np.vstack([X, X]), np.append(y, y), np.full(2 * len(y), 0.5))


@pytest.mark.parametrize("seed", range(6))
def test_a_direction_found_with_sparse_rows_proves_the_same_of_dense_ones(seed):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(12, 4)) * [20.0, 1e3, 3e3, 1.0] + [0.2, -600.0, -1e3, 0.0]
    X[:, 3] = np.round(X[:, 0] / 100.0, 12)
    y = (X[:, 0] + 20.0 * draw.logistic(size=12) > 0).astype(int)
    y[:2] = [0, 1]
    certificate = LogisticRegression(solver="newton-cg").fit(scipy.sparse.csr_array(X), y).certificate_
    certificate.verify(X, y)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("epochs", [2, 3, 4])
def test_a_subgradient_proves_the_same_about_whatever_rows_come_first(seed, epochs):
    """Far from the minimum, where the reach of the rows matters: about another row it is another."""
    draw = np.random.default_rng(seed)
    X = np.sort(draw.normal(size=(2000, 2)), axis=0) * np.array([5.0, 300.0]) + np.array([50.0, 4e3])
    X[:, 1] = draw.permutation(X[:, 1])
    y = (X[:, 0] - 50.0 + 5.0 * draw.logistic(size=2000) > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        certificate = LogisticRegression(l1_ratio=1.0, max_iter=epochs, tol=1e-15).fit(X, y).certificate_
    for order in (np.arange(2000)[::-1], np.argsort(np.arange(2000) % 7, kind="stable"), draw.permutation(2000)):
        certificate.verify(X[order], y[order])
