"""Coordinate descent on a quadratic with an L1 penalty."""

from separatrix.core.arrays import Matrix, Vector
from separatrix.kernels import _kernels


def descend_quadratic(
    hessian: Matrix, gradient: Vector, point: Vector, penalty: Vector, tol: float, most_sweeps: int
) -> Vector:
    """The step d that minimises ⟨g, d⟩ + dᵀHd/2 + Σ penaltyⱼ|wⱼ + dⱼ|, by coordinate descent."""
    step: Vector = _kernels.descend_quadratic(hessian, gradient, point, penalty, tol, most_sweeps)[0]
    return step
