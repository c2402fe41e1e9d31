"""Fewer rows than columns: the fit in the space of the rows is the fit."""

import numpy as np
import pytest
import scipy.sparse

from separatrix import LogisticRegression
from separatrix.engines import MemoryEngine
from separatrix.engines.memory.blocks import block_of
from separatrix.kernels.threads import one_blas_thread, thread_limit
from separatrix.models.logistic.row_space import RowSpace, row_products
from separatrix.terms.penalised import PenalisedLoss


def objective(X, constant=True, weights=None):
    n, d = X.shape
    codes = (np.arange(n) % 2).astype(np.int32)
    shift = np.zeros(d) if scipy.sparse.issparse(X) else np.linspace(-1.0, 1.0, d) * constant
    return PenalisedLoss(MemoryEngine(block_of(X), codes, 2, weights), constant, 0.03, shift)


def wide(layout, random):
    if layout in ("csr", "csc"):
        return scipy.sparse.random_array((40, 600), density=0.1, rng=random, format=layout)
    X = random.normal(size=(40, 600))
    return {"F": np.asfortranarray(X), "float32": X.astype(np.float32)}.get(layout, X)


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("layout", ["C", "F", "float32", "csr", "csc"])
def test_a_point_and_its_image_have_the_same_objective(layout, constant):
    random = np.random.default_rng(5)
    weights = random.uniform(0.0, 2.0, 40)
    weights[3] = 0.0
    loss = objective(wide(layout, random), constant, weights)
    space = RowSpace(loss)
    inner = random.normal(size=space.objective.size)
    there, here = space.objective.evaluate(inner), loss.evaluate(space.point(inner))
    assert here.value == pytest.approx(there.value, rel=1e-10)
    assert here.mistakes == pytest.approx(there.mistakes, rel=1e-12)


def test_repeated_rows_and_rows_about_their_mean_are_combinations_of_others():
    X = np.random.default_rng(2).normal(size=(20, 300))
    X = np.vstack([X, X[:5]])
    loss = objective(X)
    loss.shift = X.mean(axis=0)
    assert RowSpace(loss).objective.engine.columns_count == 19


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_the_fit_is_the_minimum_also_far_from_zero(offset):
    random = np.random.default_rng(8)
    X = random.normal(size=(60, 900)) + offset
    y = random.random(60) < 0.4
    model = LogisticRegression().fit(X, y)
    best = LogisticRegression(solver="newton-cholesky").fit(X, y)
    assert model.certificate_.verify(X, y).met
    assert abs(model.certificate_.objective - best.certificate_.objective) <= model.certificate_.bound + 1e-12


def test_products_of_rows_have_the_same_bits_for_any_number_of_threads():
    loss = objective(np.random.default_rng(1).normal(size=(400, 1500)))
    found = []
    for threads in (1, 2, 3):
        with thread_limit(threads), one_blas_thread():
            found.append(row_products(loss))
    assert all(np.array_equal(found[0], other) for other in found)
