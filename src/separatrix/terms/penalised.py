"""The objective of penalised logistic regression, as an average over rows.

    F(w, b) = (1/S) Σ aᵢ log(1 + exp(−sᵢ(⟨xᵢ, w⟩ + b))) + (κ/2) ‖w‖²,   S = Σ aᵢ

scikit-learn minimises C Σ aᵢ log(…) + ½‖w‖², which is C·S·F with κ = 1/(C·S): the
same minimiser. Dividing by S makes F free of the number of rows, so that a weight
of two and a row given twice are the same problem. C = ∞ gives κ = 0, maximum
likelihood. The intercept is never penalised.

Solvers see the coordinates (w, b + ⟨c, w⟩), where c is a typical row: in them the
intercept hardly depends on w, and columns far from zero are well conditioned.
For sparse rows c is zero: subtracting it would fill them.
"""

from dataclasses import dataclass, field

import numpy as np

from separatrix.core.arrays import Vector
from separatrix.core.errors import NotFiniteError
from separatrix.core.protocols import Engine, Evaluation
from separatrix.terms.logistic import CurvatureProduct, LogisticLoss, LogisticTotal, Ranges


@dataclass(slots=True)
class PenalisedLogistic:
    """F above over an engine's rows; see the protocol ``core.protocols.Objective``.

    ``ranges`` is known after the first evaluation. Points are (w, b′) with
    b′ = b + ⟨shift, w⟩ when ``constant``, else just w.
    """

    engine: Engine
    constant: bool
    strength: float
    shift: Vector
    ranges: Ranges | None = None
    passes: int = 0
    size: int = field(init=False)
    _row_curvature: Vector | None = field(default=None, init=False, repr=False)
    _weight: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.size = self.engine.columns_count + self.constant
        self._weight = self.engine.weight

    @property
    def weight(self) -> float:
        """S, the sum of the weights."""
        return self._weight

    def evaluate(self, point: Vector, curvature: bool = False) -> Evaluation:
        """One pass: value, gradient, and the Hessian if asked for."""
        return self._evaluation(point, curvature, None)

    def prepare_products(self, point: Vector) -> Evaluation:
        """One pass, with the Hessian's diagonal, that keeps every row's curvature for ``product``."""
        if self._row_curvature is None:
            self._row_curvature = np.empty(self.engine.rows)
        return self._evaluation(point, False, self._row_curvature)

    def product(self, direction: Vector) -> Vector:
        """The Hessian at the prepared point times a direction."""
        assert self._row_curvature is not None
        self.passes += 1
        term = CurvatureProduct(self.constant, self._row_curvature)
        raw = self.engine.total(term, self.raw_point(direction)[None])[0]
        result = self._into_shifted(raw) / self._weight
        d = self.engine.columns_count
        result[:d] += self.strength * direction[:d]
        return result

    def raw_point(self, point: Vector) -> Vector:
        """(w, b) from (w, b′)."""
        raw = np.array(point, dtype=np.float64)
        if self.constant:
            raw[-1] -= self.shift @ raw[:-1]
        return raw

    def shifted_point(self, raw: Vector) -> Vector:
        """(w, b′) from (w, b)."""
        point = np.array(raw, dtype=np.float64)
        if self.constant:
            point[-1] += self.shift @ point[:-1]
        return point

    def weights_of(self, point: Vector) -> Vector:
        """The coefficients w without the intercept."""
        return point[: self.engine.columns_count]

    def _evaluation(self, point: Vector, curvature: bool, buffer: Vector | None) -> Evaluation:
        self.passes += 1
        term = LogisticLoss(
            self.constant,
            None if self.engine.sparse else self.shift,
            curvature,
            diagonal=buffer is not None,
            ranges=self.ranges is None,
            row_curvature=buffer,
        )
        total: LogisticTotal = self.engine.total(term, self.raw_point(point)[None])[0][0]
        if total.ranges is not None:
            parts = (np.array(total.loss), total.gradient, total.diagonal, total.hessian)
            if not all(np.isfinite(part).all() for part in parts if part is not None):
                raise NotFiniteError
            self.ranges = total.ranges
        d = self.engine.columns_count
        w = point[:d]
        gradient = self._into_shifted(total.gradient) / self._weight
        gradient[:d] += self.strength * w
        hessian = diagonal = None
        if total.hessian is not None:
            hessian = total.hessian / self._weight
            np.einsum("ii->i", hessian)[:d] += self.strength
        if total.diagonal is not None:
            diagonal = total.diagonal / self._weight
            diagonal[:d] += self.strength
        return Evaluation(
            point,
            total.loss / self._weight + 0.5 * self.strength * float(w @ w),
            gradient,
            hessian,
            diagonal,
            total.mistakes,
            total.slope_size / self._weight,
            total.curvature / self._weight,
            total.loss,
        )

    def _into_shifted(self, raw: Vector) -> Vector:
        """A gradient in (w, b) as one in (w, b′): the part along w loses shift times the constant's."""
        gradient = np.array(raw, dtype=np.float64)
        if self.constant:
            gradient[:-1] -= self.shift * gradient[-1]
        return gradient
