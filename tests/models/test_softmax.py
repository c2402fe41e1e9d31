"""More than two classes: softmax against scikit-learn and against itself."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning

from separatrix import CertificateError, InputError, LogisticRegression, SeparationWarning
from separatrix.core.trace import Trace
from separatrix.engines import MemoryEngine, block_of
from separatrix.models.logistic.fitting import solve
from separatrix.models.logistic.problem import LogisticProblem

X, Y = load_iris(return_X_y=True)
SOLVERS = ["newton-cholesky", "newton-subsample", "newton-cg"]


def objective(A, y, model, C=1.0, ratio=0.0, weights=None):
    """scikit-learn's objective divided by C·S, in extended precision."""
    A = (A.toarray() if sp.issparse(A) else np.asarray(A)).astype(np.longdouble)
    codes = np.searchsorted(model.classes_, y)
    scores = A @ model.coef_.T.astype(np.longdouble) + model.intercept_
    scores -= scores.max(axis=1, keepdims=True)
    loss = np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(len(codes)), codes]
    a = np.ones(len(codes), np.longdouble) if weights is None else weights
    penalty = ratio * np.abs(model.coef_).sum() + (1 - ratio) / 2 * np.square(model.coef_).sum()
    return float((a @ loss) / a.sum() + penalty / (C * a.sum()))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_minimum_is_scikit_learns(solver, C):
    ours = LogisticRegression(C=C, solver=solver).fit(X, Y)
    theirs = sklearn.linear_model.LogisticRegression(C=C, solver="newton-cholesky", tol=1e-12, max_iter=500).fit(X, Y)
    assert ours.coef_.shape == theirs.coef_.shape == (3, 4)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), atol=1e-5)
    assert objective(X, Y, ours, C) <= objective(X, Y, theirs, C) * (1 + 1e-13)
    assert ours.certificate_.objective == pytest.approx(objective(X, Y, ours, C), rel=1e-12)
    assert ours.certificate_.met
    ours.certificate_.verify(X, Y)
    order = np.random.default_rng(0).permutation(len(Y))
    ours.certificate_.verify(sp.csc_array(X[order]), Y[order])


def test_digits_verify_and_tampering_fails():
    A, b = load_digits(return_X_y=True)
    model = LogisticRegression().fit(A, b)
    certificate = model.certificate_
    assert certificate.met
    certificate.verify(A, b)
    with pytest.raises(CertificateError):
        replace(certificate, bound=certificate.bound / 1000).verify(A, b)
    point = certificate.point.copy()
    point[100] += 1e-3
    with pytest.raises(CertificateError):
        replace(certificate, point=point).verify(A, b)
    assert model.score(A, b) > 0.99


@pytest.mark.parametrize(("ratio", "factor"), [(0.0, 2.0), (1.0, 1.0)])
def test_two_classes_through_softmax_equal_binary_at_the_stated_penalty(ratio, factor):
    A, b = X[50:], (Y[50:] == 2).astype(np.int32)
    binary = LogisticRegression(C=factor * 0.7, l1_ratio=ratio).fit(A, b)
    problem = LogisticProblem(0.7, True, np.array([0, 1]), None, ratio)
    engine = MemoryEngine(block_of(A), b)
    two = replace(problem.objective(engine), outputs=2)
    solved = solve(two, problem.alpha(engine), "newton-cholesky", None, 1e-12, 100, 0, Trace())
    weights = solved.raw.reshape(2, -1)
    np.testing.assert_allclose(weights[1] - weights[0], np.append(binary.coef_[0], binary.intercept_), atol=1e-6)


def test_weight_two_equals_the_row_twice_and_classes_may_be_words():
    draw = np.random.default_rng(1)
    counts = draw.integers(0, 4, len(Y))
    names = np.array(["setosa", "versicolor", "virginica"])[Y]
    weighted = LogisticRegression().fit(X, names, sample_weight=counts)
    repeated = LogisticRegression().fit(np.repeat(X, counts, axis=0), np.repeat(names, counts))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-8)
    assert list(weighted.classes_) == ["setosa", "versicolor", "virginica"]
    assert set(weighted.predict(X)) <= set(names)


def test_coefficients_sum_to_zero_over_the_classes():
    for C in (1.0, 1e-3):
        model = LogisticRegression(C=C).fit(X, Y)
        np.testing.assert_allclose(model.coef_.sum(axis=0), 0, atol=1e-12)
        assert model.intercept_.sum() == pytest.approx(0, abs=1e-12)


def test_permuted_classes_permute_the_weights():
    swapped = np.array([2, 0, 1])[Y]
    a, b = LogisticRegression().fit(X, Y), LogisticRegression().fit(X, swapped)
    np.testing.assert_allclose(a.coef_, b.coef_[[2, 0, 1]], atol=1e-8)


def test_fifty_classes():
    draw = np.random.default_rng(2)
    centres = draw.normal(size=(50, 5)) * 2
    b = np.repeat(np.arange(50), 20)
    A = centres[b] + draw.normal(size=(1000, 5))
    model = LogisticRegression().fit(A, b)
    assert model.coef_.shape == (50, 5)
    assert model.certificate_.met
    model.certificate_.verify(A, b)


def test_a_class_with_two_rows():
    b = Y.copy()
    b[:2] = 3
    model = LogisticRegression().fit(X, b)
    assert model.certificate_.met
    model.certificate_.verify(X, b)


def test_sparse_rows_and_columns_that_are_empty():
    draw = np.random.default_rng(3)
    S = sp.random_array((300, 40), density=0.05, rng=draw, format="lil")
    S[:, 7] = 0
    S[11] = 0
    S = sp.csr_array(S)
    y = draw.integers(0, 3, 300)
    for ratio in (0.0, 0.5, 1.0):
        model = LogisticRegression(l1_ratio=ratio).fit(S, y)
        assert model.certificate_.met
        assert np.abs(model.coef_[:, 7]).max() < 1e-12
        model.certificate_.verify(S, y)


def test_maximum_likelihood_exists_or_is_not_claimed():
    draw = np.random.default_rng(4)
    A = draw.normal(size=(300, 2))
    y = (A[:, :1] + draw.normal(size=(300, 3)) * 2).argmax(axis=1)
    model = LogisticRegression(C=np.inf).fit(A, y)
    assert model.certificate_.met
    model.certificate_.verify(A, y)
    again = LogisticRegression(C=np.inf).fit(np.column_stack([A, A[:, 0]]), y)
    assert again.certificate_.aliased == ("column 0", "column 2")
    np.testing.assert_allclose(again.coef_[:, 0], again.coef_[:, 2], atol=1e-8)
    again.certificate_.verify(np.column_stack([A, A[:, 0]]), y)
    with pytest.warns(SeparationWarning, match="quasi-completely"):
        separable = LogisticRegression(C=np.inf).fit(X, Y)  # setosa can be separated
    assert separable.certificate_.verify(X, Y).kind == "quasi"


def test_there_is_no_single_boundary_between_three_classes():
    model = LogisticRegression().fit(X, Y)
    with pytest.raises(InputError, match="no single boundary"):
        model.signed_distance(X)


def test_of_classes_that_tie_the_last_is_taken():
    model = LogisticRegression().fit(X, Y)
    model.coef_, model.intercept_ = np.zeros((3, 4)), np.zeros(3)
    assert model.predict(X[:1]) == [2]


def test_weights_moved_alike_in_all_classes_are_refused():
    certificate = LogisticRegression(solver="newton-cholesky").fit(X, Y).certificate_
    point = certificate.point.reshape(3, -1).copy()
    point[:, 0] += 1.0  # no probability changes, but the penalty does: by 3/2 over the rows
    value = certificate.objective + 0.5 * 3 / len(Y)
    with pytest.raises(CertificateError, match="states a bound"):
        replace(certificate, point=point.ravel(), objective=value, bound=0.8 * 1.5 / len(Y)).verify(X, Y)


def test_sparse_rows_with_columns_far_from_zero_are_certified_like_dense_ones():
    draw = np.random.default_rng(20)
    A = np.column_stack([1e5 + draw.normal(size=150), draw.normal(size=150), 3e4 + draw.integers(0, 3, 150)])
    y = (A[:, :1] - 1e5 + 2.0 * draw.normal(size=(150, 3))).argmax(axis=1)
    for C in (1.0, 1e4, np.inf):
        dense = LogisticRegression(C=C).fit(A, y).certificate_
        sparse = LogisticRegression(C=C).fit(sp.csr_array(A), y).certificate_
        assert dense.met
        assert sparse.met
        assert sparse.objective == pytest.approx(dense.objective, rel=1e-9)
        for certificate in (dense, sparse):
            for rows in (A, sp.csr_array(A), sp.csc_array(A)):
                assert certificate.verify(rows, y) is certificate


def test_classes_do_not_drift_together_where_columns_are_of_any_size():
    """A step alike in all classes changes no prediction: it would be rounding, and the claim of another point."""
    proved = 0
    for seed in range(60):
        draw = np.random.default_rng(seed)
        n = int(draw.integers(5, 9))
        table = draw.normal(size=(n, 4)) * 10.0 ** draw.integers(-2, 10, 4)
        table[:, 0] += 10.0 ** draw.integers(0, 9)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = LogisticRegression().fit(table, np.arange(n) % 3)
        assert np.abs(model.coef_.sum(axis=0)).max() <= 1e-14 * np.abs(model.coef_).max()
        if model.certificate_.met:
            proved += 1
            model.certificate_.verify(table, np.arange(n) % 3)
    assert proved > 40
