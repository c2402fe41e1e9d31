"""Every allocation of every kernel fails once: a MemoryError, the estimator as it was, the next fit as ever."""

import copy
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import separatrix as sx
from separatrix.kernels import _kernels

pytestmark = pytest.mark.skipif(
    not hasattr(_kernels, "fail_allocation"), reason="needs kernels built with SEPARATRIX_FAULTS: make faults"
)

MOST = 150
"""Allocations tried of one fit: all, if there are no more, else so many evenly spread."""


def rows(seed=0, n=600, d=6):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n, d))
    return X, (X[:, 0] + draw.normal(size=n) > 0).astype(int), (np.arange(n) % 3)


MODELS = {
    "logistic": lambda: sx.LogisticRegression(),
    "subsampled": lambda: sx.LogisticRegression(solver="newton-subsample"),
    "conjugate gradients": lambda: sx.LogisticRegression(solver="newton-cg"),
    "l1": lambda: sx.LogisticRegression(l1_ratio=1.0, C=0.1),
    "maximum likelihood": lambda: sx.LogisticRegression(C=np.inf),
    "firth": lambda: sx.LogisticRegression(C=np.inf, firth=True),
    "sgd": lambda: sx.SGDClassifier(max_iter=3),
    "gd": lambda: sx.SGDClassifier(batch_size="all", max_iter=3),
    "perceptron": lambda: sx.Perceptron(max_iter=3),
    "perceptron, penalised": lambda: sx.Perceptron(max_iter=3, penalty="elasticnet"),
    "lda": lambda: sx.LinearDiscriminantAnalysis(),
    "naive Bayes": lambda: sx.BernoulliNB(),
    "ridge": lambda: sx.RidgeClassifier(),
    "ridge, penalty chosen": lambda: sx.RidgeClassifierCV(),
    "network": lambda: sx.MLPClassifier((4,), max_iter=2),
}
LAYOUTS = {
    "dense": np.asarray,
    "float32": lambda X: np.asfortranarray(X, np.float32),
    "csr": sp.csr_array,
    "csc": sp.csc_array,
}


def state(model):
    return {
        name: copy.deepcopy(value) for name, value in vars(model).items() if name in ("coef_", "intercept_", "coefs_")
    }


def same(one, other):
    parts = {key: value if isinstance(value, list) else [value] for key, value in one.items()}
    others = {key: value if isinstance(value, list) else [value] for key, value in other.items()}
    return parts.keys() == others.keys() and all(
        np.array_equal(a, b) for key in parts for a, b in zip(parts[key], others[key], strict=True)
    )


def fail_each(fitted, again, table, y):
    """Every allocation of a fit fails once: MemoryError or nothing, and the estimator as it was."""
    before = _kernels.allocations()
    again()
    count = _kernels.allocations() - before
    kept, failed = state(fitted), 0
    for which in np.unique(np.linspace(0, count - 1, min(count, MOST)).astype(int)):
        _kernels.fail_allocation(int(which))
        try:
            fitted.fit(table, y)
        except MemoryError:
            failed += 1
            assert same(state(fitted), kept)
        finally:
            _kernels.fail_allocation(-1)
    assert failed > 0
    assert same(state(again()), kept)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("model", MODELS)
def test_a_failed_allocation_is_a_memory_error_and_changes_nothing(model, classes, layout):
    X, two, three = rows()
    y = two if classes == 2 else three
    if (model == "firth" and classes == 3) or (model == "subsampled" and (classes == 3 or "cs" in layout)):
        pytest.skip("this model has no such form")
    table = LAYOUTS[layout](X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = state(MODELS[model]().fit(table, y))
        fitted = MODELS[model]().fit(table, y)
        fail_each(fitted, lambda: MODELS[model]().fit(table, y), table, y)
        assert same(state(MODELS[model]().fit(table, y)), expected)


def test_the_verdict_survives_failed_allocations():
    X, y, _ = rows()
    before = _kernels.allocations()
    kind = sx.separability(X, y).kind
    count = _kernels.allocations() - before
    for which in np.unique(np.linspace(0, count - 1, min(count, MOST)).astype(int)):
        _kernels.fail_allocation(int(which))
        try:
            assert sx.separability(X, y).kind == kind
        except MemoryError:
            pass
        finally:
            _kernels.fail_allocation(-1)
    assert sx.separability(X, y).kind == kind


@pytest.mark.parametrize("layout", ["csr", "csc"])
def test_packed_columns_survive_failed_allocations(layout):
    """Wide sparse rows with an L1 penalty: the fit packs columns and steps on them."""
    draw = np.random.default_rng(7)
    table = LAYOUTS[layout](sp.random_array((120, 1500), density=0.05, rng=draw, format="csr"))
    y = draw.integers(0, 2, 120)
    model = sx.LogisticRegression(l1_ratio=1.0, C=3.0)
    fail_each(clone(model).fit(table, y), lambda: clone(model).fit(table, y), table, y)


def test_predictions_survive_failed_allocations():
    X, y, _ = rows()
    model = sx.LogisticRegression().fit(X, y)
    expected = model.predict_proba(X)
    for which in range(20):
        _kernels.fail_allocation(which)
        try:
            found = model.predict_proba(X)
        except MemoryError:
            found = expected
        finally:
            _kernels.fail_allocation(-1)
        assert np.array_equal(found, expected)
