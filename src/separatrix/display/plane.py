"""Rows, lines and polygons in the plane: what several pictures need before they draw."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.core.arrays import AnyArray, Matrix, Vector
from separatrix.engines import block_of
from separatrix.models.labels import refuse_not_finite


def weights_of_boundary(model: Any) -> tuple[Vector, float]:
    """(w, b) of a linear model of two classes; where maximum likelihood has no maximum, of what runs to infinity."""
    direction = getattr(model, "direction_", None)
    if direction is None:
        return np.asarray(model.coef_[0], dtype=np.float64), float(np.ravel(model.intercept_)[0])
    d = np.shape(model.coef_)[1]
    return np.asarray(direction[0, :d]), float(direction[0, d]) if direction.shape[1] > d else 0.0


@dataclass(frozen=True)
class Line:
    """The points of the plane with ⟨w, x⟩ + b = 0.

    >>> line = Line(np.array([3.0, 4.0]), -10.0)
    >>> line.distances(np.array([[0.0, 0.0], [5.0, 5.0]]))
    array([-2.,  5.])
    >>> line.feet(np.array([[0.0, 0.0]]))
    array([[1.2, 1.6]])
    """

    normal: Vector
    constant: float

    @property
    def length(self) -> float:
        """‖w‖; zero means that there is no line."""
        return float(np.linalg.norm(self.normal))

    def distances(self, points: Matrix) -> Vector:
        """The signed distance of each point, (⟨w, x⟩ + b)/‖w‖."""
        return np.asarray((points @ self.normal + self.constant) / self.length)

    def feet(self, points: Matrix) -> Matrix:
        """The nearest point on the line to each point."""
        return points - np.outer(self.distances(points), self.normal / self.length)

    def moved(self, distance: float) -> "Line":
        """The parallel line at a signed distance from this one."""
        return Line(self.normal, self.constant - distance * self.length)

    def ends(self, box: Matrix) -> Matrix | None:
        """Where the line enters and leaves a box ((left, bottom), (right, top)); None if it misses it.

        >>> Line(np.array([1.0, 0.0]), -1.0).ends(np.array([[0.0, 0.0], [2.0, 3.0]]))
        array([[1., 0.],
               [1., 3.]])
        """
        if not 0.0 < self.length < np.inf:
            return None
        along = np.array([-self.normal[1], self.normal[0]]) / self.length
        foot = self.feet(box.mean(axis=0)[None])[0]
        first, last = -np.inf, np.inf
        for k in (0, 1):
            if along[k] == 0.0:
                if not box[0, k] <= foot[k] <= box[1, k]:
                    return None
                continue
            near, far = np.sort((box[:, k] - foot[k]) / along[k])
            first, last = max(first, near), min(last, far)
        return foot + np.outer([first, last], along) if first < last else None


def table(X: Any) -> tuple[Matrix, list[str]]:
    """The rows as float64 and a name for each column; what is not finite is refused by name."""
    block = block_of(X)
    values = block.take(np.arange(block.shape[0]))
    dense = np.asarray(values.toarray() if block.sparse else values, dtype=np.float64)
    if not np.isfinite(dense).all():
        refuse_not_finite(block)
    names = block.names if block.names is not None else [f"column {j}" for j in range(dense.shape[1])]
    return dense, [str(name) for name in names]


def around(points: Matrix, share: float = 0.08) -> Matrix:
    """The box of the points with some room: ((left, bottom), (right, top))."""
    low, high = points.min(axis=0), points.max(axis=0)
    room = share * np.where(high > low, high - low, max(float((high - low).max()), 1.0))
    return np.array([low - room, high + room])


def hull(points: Matrix) -> Matrix:
    """The corners of the convex hull, counterclockwise; fewer than three where all points are on a line.

    >>> hull(np.array([[0.0, 0.0], [1.0, 0.0], [0.2, 0.2], [0.0, 1.0]]))
    array([[0., 0.],
           [1., 0.],
           [0., 1.]])
    """
    ordered = np.unique(points, axis=0)
    if len(ordered) < 3:
        return ordered
    chains: list[list[AnyArray]] = []
    for sequence in (ordered, ordered[::-1]):
        chain: list[AnyArray] = []
        for point in sequence:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], point) <= 0.0:
                chain.pop()
            chain.append(point)
        chains.append(chain[:-1])
    return np.array(chains[0] + chains[1])


def _turn(a: AnyArray, b: AnyArray, c: AnyArray) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def cut(corners: Matrix, normal: Vector, constant: float) -> Matrix:
    """The part of a convex polygon with ⟨w, x⟩ + b ≥ 0; no corners if there is none.

    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> cut(square, np.array([1.0, 0.0]), -0.5)
    array([[0.5, 0. ],
           [1. , 0. ],
           [1. , 1. ],
           [0.5, 1. ]])
    """
    if not len(corners):
        return corners
    values = corners @ normal + constant
    if (values >= 0.0).all():
        return corners
    kept: list[AnyArray] = []
    for k in range(len(corners)):
        here, there = values[k], values[(k + 1) % len(corners)]
        if here >= 0.0:
            kept.append(corners[k])
        if (here >= 0.0) != (there >= 0.0):
            kept.append(corners[k] + here / (here - there) * (corners[(k + 1) % len(corners)] - corners[k]))
    return np.array(kept) if len(kept) > 2 else np.empty((0, 2))
