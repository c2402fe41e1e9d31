"""The Hessian inverted in the space of the rows, against the matrix itself."""

import numpy as np
import pytest
import scipy.sparse

from separatrix.engines import MemoryEngine
from separatrix.engines.blocks import block_of
from separatrix.terms.penalised import PenalisedLoss
from separatrix.terms.row_space import RowSpace, row_products


def objective(X, constant=True, weights=None):
    n, d = X.shape
    codes = (np.arange(n) % 2).astype(np.int32)
    shift = np.zeros(d) if scipy.sparse.issparse(X) else np.linspace(-1.0, 1.0, d) * constant
    return PenalisedLoss(MemoryEngine(block_of(X), codes, 2, weights), constant, 0.03, shift)


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("layout", ["C", "F", "float32", "csr", "csc"])
def test_its_inverse_times_the_hessian_is_the_identity(layout, constant):
    random = np.random.default_rng(5)
    X = random.normal(size=(40, 600))
    X = {"C": X, "F": np.asfortranarray(X), "float32": X.astype(np.float32)}.get(layout, X)
    if layout in ("csr", "csc"):
        X = scipy.sparse.random_array((40, 600), density=0.1, rng=random, format=layout)
    weights = random.uniform(0.0, 2.0, 40)
    weights[3] = 0.0
    loss = objective(X, constant, weights)
    point = 0.1 * random.normal(size=loss.size)
    hessian = loss.evaluate(point, curvature=True).hessian
    if constant:
        hessian[-1, -1] += loss.strength  # here the intercept is penalised too
    loss.prepare_products(point, diagonal=False)
    factor = RowSpace.of(loss).factor()
    vector = random.normal(size=loss.size)
    np.testing.assert_allclose(factor.solve(hessian @ vector), vector, rtol=1e-8, atol=1e-10)


def test_products_of_rows_have_the_same_bits_for_any_number_of_threads():
    from separatrix.core.threads import one_blas_thread, thread_limit

    loss = objective(np.random.default_rng(1).normal(size=(50, 1500)))
    found = []
    for threads in (1, 2, 3):
        with thread_limit(threads), one_blas_thread():
            found.append(row_products(loss))
    assert all(np.array_equal(found[0], other) for other in found)
