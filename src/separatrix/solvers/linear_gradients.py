"""Linear systems whose matrix is only known by its products: conjugate gradients, several right sides at a time.

Each row of the table of right sides is a system of its own; all take one product together, which is one read of the
data. The matrix is positive definite and near to its diagonal, or at least scaled by it.
"""

from collections.abc import Callable

import numpy as np

from separatrix.core.arrays import Matrix, Vector


def conjugate_gradients(
    product: Callable[[Matrix], Matrix], diagonal: Vector, side: Matrix, goal: Vector, most: int
) -> Matrix:
    """Solutions (systems × columns) of matrix·x = side, until every residual is as short as its goal.

    >>> matrix = np.array([[4.0, 1.0], [1.0, 3.0]])
    >>> side = np.array([[1.0, 2.0], [5.0, 4.0]])
    >>> found = conjugate_gradients(lambda x: x @ matrix, matrix.diagonal(), side, np.full(2, 1e-12), 10)
    >>> (found @ matrix).round(9)
    array([[1., 2.],
           [5., 4.]])
    """
    found, left = np.zeros_like(side), side.copy()
    eased = left / diagonal
    direction, length = eased.copy(), np.einsum("kj,kj->k", left, eased)
    for _ in range(most):
        if (np.linalg.norm(left, axis=1) <= goal).all():
            break
        image = product(direction)
        curve = np.einsum("kj,kj->k", direction, image)
        step = np.divide(length, curve, out=np.zeros_like(length), where=curve > 0)[:, None]
        found += step * direction
        left -= step * image
        eased = left / diagonal
        now = np.einsum("kj,kj->k", left, eased)
        direction = eased + np.divide(now, length, out=np.zeros_like(now), where=length > 0)[:, None] * direction
        length = now
    return found
