"""Whatever the shape, the solver that "auto" takes reaches the minimum that Newton's method finds, and proves it."""

import numpy as np
import pytest
import scipy.sparse

from separatrix import LogisticRegression
from separatrix.core.trace import Trace
from separatrix.engines import MemoryEngine
from separatrix.engines.memory.blocks import block_of
from separatrix.models.logistic.choice import choices, choose
from separatrix.models.logistic.curvature import Renewal
from separatrix.models.logistic.prices import Prices
from separatrix.solvers.outcome import Patience
from separatrix.terms.penalised import PenalisedLoss


def table(n, d, correlated, sparse=False, seed=0):
    random = np.random.default_rng([seed, n, d])
    X = random.normal(size=(n, d))
    if correlated:
        for j in range(1, d):
            X[:, j] = 0.9 * X[:, j - 1] + 0.4359 * X[:, j]
        X *= np.geomspace(0.1, 10.0, d)
    if sparse:
        X[random.random(X.shape) < 0.9] = 0.0
    score = X @ (random.normal(size=d) / np.maximum(np.linalg.norm(X, axis=0), 1e-9)) * np.sqrt(n / d) + 0.4
    y = random.random(n) < 1.0 / (1.0 + np.exp(-score))
    y[:2] = [False, True]
    return scipy.sparse.csr_array(X) if sparse else X, y


def objective_at(model, X, y):
    """F at the weights of a fit of C = 1, in long doubles, so that its own rounding is below that of any weight."""
    rows = np.asarray(X.todense() if scipy.sparse.issparse(X) else X, dtype=np.longdouble)
    w = model.coef_[0].astype(np.longdouble)
    z = rows @ w + np.longdouble(model.intercept_[0])
    return (np.logaddexp(0, np.where(y, -z, z)).sum() + w @ w / 2) / len(rows)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("correlated", [False, True])
@pytest.mark.parametrize(("n", "d"), [(60, 400), (200, 200), (1500, 150), (3000, 60), (20_000, 40)])
def test_every_shape_is_fitted_to_the_minimum(n, d, correlated, sparse):
    X, y = table(n, d, correlated, sparse)
    best = LogisticRegression(solver="newton-cholesky").fit(X, y)
    for solver in ("auto", "quasi-newton"):
        model = LogisticRegression(solver=solver).fit(X, y)
        assert model.certificate_.met
        assert model.trace_.solver
        assert model.trace_.reason
        assert model.certificate_.verify(X, y)
        assert objective_at(model, X, y) - objective_at(best, X, y) <= model.certificate_.bound + 1e-15


def test_weak_penalties_and_no_intercept_are_proved_too():
    X, y = table(300, 120, True)
    for C, intercept in ((1e4, True), (1e-3, False), (50.0, False)):
        model = LogisticRegression(C=C, fit_intercept=intercept, solver="quasi-newton").fit(X, y)
        best = LogisticRegression(C=C, fit_intercept=intercept, solver="newton-cholesky").fit(X, y)
        assert model.certificate_.verify(X, y).met
        assert model.certificate_.objective - best.certificate_.objective <= model.certificate_.bound + 1e-15


def test_without_a_penalty_or_with_many_classes_another_solver_serves():
    X, y = table(300, 12, False)
    assert LogisticRegression(C=np.inf, solver="quasi-newton").fit(X, y).certificate_.verify(X, y).met
    few, labels = table(30, 100, False)[0], np.arange(30) % 3
    model = LogisticRegression(solver="quasi-newton").fit(few, labels)
    assert model.certificate_.verify(few, labels).met


def test_a_fit_that_is_stopped_says_how_far_it_came():
    X, y = table(1500, 150, False)
    with pytest.warns(UserWarning, match="certified to be within"):
        model = LogisticRegression(solver="quasi-newton", max_iter=5).fit(X, y)
    best = LogisticRegression(solver="newton-cholesky").fit(X, y)
    assert 0.0 < model.certificate_.objective - best.certificate_.objective <= model.certificate_.bound
    assert model.certificate_.verify(X, y)


def test_same_bits_for_any_number_of_threads():
    X, y = table(900, 300, True)
    fits = [LogisticRegression(solver="quasi-newton", n_jobs=jobs).fit(X, y).coef_ for jobs in (1, 2)]
    np.testing.assert_array_equal(*fits)


def objective_of(X, y):
    engine = MemoryEngine(block_of(X), y.astype(np.int32))
    return PenalisedLoss(engine, True, 1.0 / len(y), np.zeros(X.shape[1]))


def test_prices_say_newton_for_few_columns_and_a_sample_for_very_many_rows():
    names = {
        (300, 5): "newton-cholesky",
        (3000, 30): "newton-cholesky",
        (3000, 300): "quasi-newton",
        (30, 1000): "quasi-newton",
    }
    for (n, d), expected in names.items():
        X, y = table(n, d, False)
        assert choose(objective_of(X, y)) == expected
    X = np.lib.stride_tricks.as_strided(np.zeros(50), (1_000_000, 50), (0, 8))  # a shape, and no numbers
    found = choices(objective_of(X, np.arange(1_000_000) % 2))
    assert found[0].solver == "newton-subsample"
    assert found[0].sample < 100_000


def test_a_slow_diagonal_is_replaced_and_a_quick_one_stays():
    X, y = table(2000, 200, True)
    objective = objective_of(X, y)
    renewal = Renewal(objective, 0)
    here = objective.prepare_products(np.zeros(objective.size))
    goal = 1e-8 * here.value
    assert renewal(here, 0.05, goal) is None
    for _ in range(20):  # nobody knows yet how fast the gradients will fall
        factor = renewal(here, 0.97, goal)
        if factor is not None:
            break
    assert factor is not None
    assert len(renewal.taken) == 1
    hessian = objective.evaluate(np.zeros(objective.size), curvature=True).hessian
    spread = np.linalg.eigvals(np.column_stack([factor.solve(column) for column in hessian.T])).real
    assert spread.min() > 0.3
    assert spread.max() < 3.0


def test_where_passes_run_out_a_factor_is_no_matter_of_price():
    """3,000 × 3,000 sparse rows took all hundred passes, none of which was worth a Hessian, and ended far off."""
    X, y = table(2000, 200, True)
    objective = objective_of(X, y)
    trace = Trace()
    patience = Patience(1e-8, 40, 0, trace, objective)
    renewal = Renewal(objective, 0, patience=patience)
    renewal.prices = Prices(2000, 3000, 3.0, True)  # a pass costs next to nothing, a factor all the more
    here = objective.prepare_products(np.zeros(objective.size))
    goal = 1e-8 * here.value
    assert renewal(here, 0.97, goal) is None
    for _ in range(28):
        trace.record(1.0, np.inf, 1.0, 0.0, here.point)
    assert renewal(here, 0.05, goal) is None  # a dozen will do
    assert renewal(here, 0.97, goal) is not None


@pytest.mark.parametrize("C", [1e9, 1e12])
def test_a_penalty_too_weak_for_a_proof_by_a_direction_is_noticed_soon(C):
    """Sixty passes went by at the minimum; Newton's factor proves it in one."""
    draw = np.random.default_rng(0)
    X = draw.normal(size=(2000, 8))
    y = (X @ draw.normal(size=8) * 0.5 + draw.logistic(size=2000) > 0).astype(int)
    model = LogisticRegression(C=C, solver="quasi-newton").fit(X, y)
    assert model.certificate_.met
    assert model.n_iter_[0] < 20
    model.certificate_.verify(X, y)


@pytest.mark.parametrize("format", ["csr", "csc"])
def test_more_sparse_columns_than_a_factor_takes(format):
    """No offer of a factor is left above 4,000 coefficients, nor a row space where rows are not few."""
    draw = np.random.default_rng(0)
    X = scipy.sparse.random_array((3000, 4000), density=0.003, rng=draw, format=format)
    y = draw.integers(0, 2, 3000)
    model = LogisticRegression().fit(X, y)
    assert model.certificate_.met
    model.certificate_.verify(X, y)
