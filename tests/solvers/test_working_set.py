"""Steps on a kept Hessian and growing sets: the minimum is scikit-learn's, and passes are saved."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model

from separatrix import LogisticRegression
from separatrix.engines import MemoryEngine
from separatrix.engines.memory.blocks import block_of
from separatrix.solvers.metric import Metric, descend, violation
from separatrix.solvers.working_set import _largest
from separatrix.terms.penalised import PenalisedLoss


def table(rows, columns, sparse=False):
    draw = np.random.default_rng(rows + columns)
    X = draw.normal(size=(rows, columns))
    if sparse:
        X[draw.random(X.shape) > 0.1] = 0.0
    y = (X[:, :4].sum(axis=1) + draw.logistic(size=rows) > 0.3).astype(int)
    return X, y


def part(X, y, alpha):
    objective = PenalisedLoss(MemoryEngine(block_of(X), y.astype(np.int32)), True, 0.0, X[:50].mean(axis=0))
    penalties = np.append(np.full(X.shape[1], alpha), 0.0)
    return objective, penalties


@pytest.mark.parametrize("price", [0.5, 20.0])
def test_steps_end_at_the_violation_asked_for(price):
    X, y = table(400, 60)
    objective, penalties = part(X, y, 0.01)
    here = objective.evaluate(np.zeros(61))
    there = descend(objective, penalties, here, Metric(price), 1e-12, True)
    assert violation(there, penalties) <= 1e-12
    assert there.value + penalties @ np.abs(there.point) < here.value


def test_one_dear_hessian_serves_many_steps():
    X, y = table(400, 60)
    asked = []

    class Counted(PenalisedLoss):
        def evaluate(self, point, curvature=False):
            asked.append(curvature)
            return super().evaluate(point, curvature)

    plain, penalties = part(X, y, 0.01)
    objective = Counted(plain.engine, True, 0.0, plain.shift)
    descend(objective, penalties, objective.evaluate(np.zeros(61)), Metric(100.0), 1e-10, True)
    assert sum(asked) == 1
    assert len(asked) > 4


def test_a_minimum_stays_where_it_is():
    X, y = table(400, 60)
    objective, penalties = part(X, y, 0.01)
    there = descend(objective, penalties, objective.evaluate(np.zeros(61)), Metric(20.0), 1e-12, True)
    again = descend(objective, penalties, there, Metric(20.0, np.eye(61)), 1e-11, True)
    assert again is there


@pytest.mark.parametrize(("rows", "columns"), [(200, 600), (1500, 150), (250, 250)])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("share", [0.3, 0.03])
def test_the_minimum_is_liblinears(rows, columns, sparse, share):
    X, y = table(rows, columns, sparse)
    C = 1.0 / (share * np.abs(X.T @ (y - y.mean())).max())
    A = sp.csr_array(X) if sparse else X
    ours = LogisticRegression(C=C, l1_ratio=1.0).fit(A, y)
    theirs = sklearn.linear_model.LogisticRegression(
        C=C, l1_ratio=1.0, solver="liblinear", tol=1e-5, intercept_scaling=1e3, max_iter=10_000, random_state=0
    ).fit(X, y)

    def value(model):
        margins = (2 * y - 1) * (X @ model.coef_[0] + model.intercept_[0])
        return np.logaddexp(0.0, -margins).sum() * C + np.abs(model.coef_).sum()

    assert value(ours) <= value(theirs) * (1 + 1e-8)
    assert value(theirs) <= value(ours) * (1 + 1e-4)
    assert ours.certificate_.met
    ours.certificate_.verify(A, y)
    ours.certificate_.verify(np.asfortranarray(X), y)


def test_float32_and_column_order_are_narrowed_as_they_are():
    X, y = table(300, 200)
    single = X.astype(np.float32)
    rows = LogisticRegression(C=0.2, l1_ratio=1.0).fit(single, y)
    columns = LogisticRegression(C=0.2, l1_ratio=1.0).fit(np.asfortranarray(single), y)
    np.testing.assert_allclose(rows.coef_, columns.coef_, atol=1e-6)


def test_the_largest_are_taken_in_order_and_the_first_of_equals():
    values = np.array([1.0, 3.0, -np.inf, 3.0, 2.0, 3.0])
    np.testing.assert_array_equal(_largest(values, 2), [1, 3])
    np.testing.assert_array_equal(_largest(values, 4), [1, 3, 5, 4])
    np.testing.assert_array_equal(_largest(values, 9), [1, 3, 5, 4, 0, 2])
