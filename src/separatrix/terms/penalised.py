"""The objective of penalised logistic and softmax regression, as an average over rows.

    F(w, b) = (1/S) Σ aᵢ ℓ(scores of row i) + κ·((1−ρ)/2·‖w‖² + ρ·‖w‖₁),   S = Σ aᵢ

scikit-learn minimises C Σ aᵢ ℓ(…) + (1−ρ)/2·‖w‖² + ρ‖w‖₁ with ρ = ``l1_ratio``, which is
C·S·F with κ = 1/(C·S): the same minimiser. Dividing by S makes F free of the number
of rows, so that a weight of two and a row given twice are the same problem. C = ∞
gives κ = 0, maximum likelihood. Intercepts are never penalised.

Here is the smooth part: ``strength`` = κ(1−ρ). The L1 part is the solver's.

Solvers see the coordinates (w, b + ⟨c, w⟩), where c is a typical row: in them the
intercept hardly depends on w, and columns far from zero are well conditioned.
For sparse rows c is zero: subtracting it would fill them.

Two classes have one weight vector (one output), K > 2 classes have K. Adding the same
vector to all of K classes changes no probability, and an L2 penalty is least when the
vectors sum to zero: minimisers are sought, and certified, among those. So the Hessian
may be given any curvature along the other directions, and gets as much as it has
elsewhere; no step moves along them. With an L1 part this holds for intercepts only.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from separatrix.core.arrays import Matrix, Positions, Vector
from separatrix.core.errors import NotFiniteError
from separatrix.core.protocols import Engine, Evaluation
from separatrix.core.row_vector import RowVector
from separatrix.terms.combination import Combination
from separatrix.terms.logistic import CurvatureProduct, LogisticLoss, Scores
from separatrix.terms.losses import LossTotal, Ranges
from separatrix.terms.softmax import SoftmaxLoss, SoftmaxProduct


@dataclass(slots=True)
class PenalisedLoss:
    """The smooth part of F over an engine's rows; see ``core.protocols.Objective``.

    A point is flat (outputs × p): w and, if ``constant``, b′ = b + ⟨shift, w⟩ last in each
    row. ``centred_classes`` says that the minimiser's weights sum to zero over the classes
    (no penalty, or L2; not with an L1 part). ``ranges`` is known after the first evaluation.
    """

    engine: Engine
    constant: bool
    strength: float
    shift: Vector
    outputs: int = 1
    centred_classes: bool = True
    ranges: Ranges | None = None
    size: int = field(init=False)
    prepared: Vector | None = field(default=None, init=False, repr=False)
    _kept: RowVector | None = field(default=None, init=False, repr=False)
    _weight: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.size = self.outputs * (self.engine.columns_count + self.constant)
        self._weight = self.engine.weight

    @property
    def weight(self) -> float:
        """S, the sum of the weights."""
        return self._weight

    def evaluate(self, point: Vector, curvature: bool = False) -> Evaluation:
        """One pass: value, gradient, and the Hessian if asked for."""
        return self._evaluation(point, curvature, None)

    def glance(self, point: Vector) -> Evaluation:
        """One pass without the curvature of the scores, which of many classes is dear: for steps, not for proofs."""
        return self._evaluation(point, False, None, scores=False)

    def class_curvature(self, point: Vector, blocks: int) -> tuple[Matrix, Matrix]:
        """The Hessian's blocks of one class each (``blocks`` = outputs), their sum (1), or their diagonals (0).

        Beside them Σ aᵢπᵢₖ(1 − πᵢₖ)(xᵢ − shift, 1) of each class. All without the penalty, and for steps only.
        """
        shift = None if self.engine.sparse else self.shift
        term = SoftmaxLoss(
            self.outputs,
            self.constant,
            shift,
            diagonal=not blocks,
            blocks=blocks,
            weighted_rows=True,
            scores=False,
        )
        total: LossTotal = self.engine.total(term, self.raw_point(point)[None])[0][0]
        found = total.blocks if blocks else total.diagonal
        assert found is not None
        assert total.weighted_rows is not None
        rows = self._into_shifted(total.weighted_rows.ravel())
        return found / self._weight, rows.reshape(self.outputs, -1) / self._weight

    def prepare_products(self, point: Vector, diagonal: bool = True) -> Evaluation:
        """One pass, with the Hessian's diagonal, that keeps what ``product`` needs of every row."""
        if self._kept is None:
            self._kept = self.engine.room() if self.outputs == 1 else self.engine.room((self.outputs,))
        self.prepared = point
        return self._evaluation(point, False, self._kept, diagonal)

    @property
    def row_curvature(self) -> RowVector:
        """Each row's curvature times its weight at the prepared point; of one output."""
        assert self._kept is not None
        return self._kept

    def gathered(self, factors: RowVector) -> Vector:
        """Σ rᵢ(xᵢ − shift, 1) over the rows, in the coordinates of a gradient; of one output."""
        last = np.append(np.zeros(self.engine.columns_count), 1.0)
        raw = self.engine.total(CurvatureProduct(True, factors), last[None])[0]
        return self._into_shifted(raw if self.constant else raw[:-1])

    def product(self, direction: Vector) -> Vector:
        """The Hessian at the prepared point times a direction."""
        at = self.raw_point(direction)[None]
        assert self._kept is not None
        if self.outputs == 1:
            raw = self.engine.total(CurvatureProduct(self.constant, self._kept), at)[0]
        else:
            raw = self.engine.total(SoftmaxProduct(self.outputs, self.constant, self._kept), at)[0]
        result = self._into_shifted(raw) / self._weight
        self._weights_part(result)[...] += self.strength * self._weights_part(direction)
        return result

    def quick_start(self, begin: Vector, way: Any) -> Any:
        """The first passes of a fit of two classes with a penalty, all in one call."""
        shift, engine = None if self.engine.sparse else self.shift, self.engine
        work = LogisticLoss(self.constant, curvature=way.newton).work(engine.entries_per_row, engine.columns_count)
        return engine.quick_start(begin, shift, self.strength, work, way)

    def on_columns(self) -> Any:
        """The same objective on columns that are packed as they are chosen; of two classes."""
        return self.engine.on_columns(self.constant, self._weight, self.strength)

    def scores(self, point: Vector) -> RowVector:
        """Scores of every row (n × outputs)."""
        return self.raw_scores(self.raw_point(point))

    def raw_scores(self, raw: Vector) -> RowVector:
        """The same at (w, b)."""
        return self.engine.map(Scores(self.constant), np.ascontiguousarray(raw.reshape(self.outputs, -1)))

    def combine(self, factors: RowVector) -> Matrix:
        """Σ rᵢₖ x̃ᵢ over the rows (count × columns + 1), the plain sum of the factors last."""
        combined: Matrix = self.engine.total(Combination(factors, True), np.empty((1, 0)))
        return combined

    def column_sizes(self) -> Vector:
        """√(Σ aᵢ(xᵢⱼ − shiftⱼ)²/S) of each column."""
        shift = None if self.engine.sparse else self.shift
        at = np.zeros((1, self.engine.columns_count))
        total: LossTotal = self.engine.total(LogisticLoss(False, shift, diagonal=True), at)[0][0]
        assert total.diagonal is not None
        sizes: Vector = np.sqrt(4.0 * total.diagonal / self._weight)  # at zero the curvature is ¼
        return sizes

    def narrowed(self, which: Positions) -> "PenalisedLoss":
        """The same objective on some of the columns."""
        return replace(self, engine=self.engine.narrow(which), shift=self.shift[which], ranges=None)

    def raw_point(self, point: Vector) -> Vector:
        """(w, b) from (w, b′)."""
        raw = np.array(point, dtype=np.float64)
        if self.constant:
            rows = raw.reshape(self.outputs, -1)
            rows[:, -1] -= rows[:, :-1] @ self.shift
        return raw

    def shifted_point(self, raw: Vector) -> Vector:
        """(w, b′) from (w, b)."""
        point = np.array(raw, dtype=np.float64)
        if self.constant:
            rows = point.reshape(self.outputs, -1)
            rows[:, -1] += rows[:, :-1] @ self.shift
        return point

    def centred(self, raw: Vector) -> Vector:
        """The same probabilities with coefficients that sum to zero over the classes, where they may."""
        rows = np.array(raw, dtype=np.float64).reshape(self.outputs, -1)
        if self.outputs > 1:
            first = 0 if self.centred_classes else self.engine.columns_count
            rows[:, first:] -= rows[:, first:].mean(axis=0)
        return rows.ravel()

    def weights_of(self, point: Vector) -> Vector:
        """The coefficients w without the intercepts, flat."""
        return self._weights_part(point).ravel()

    def uncentred(self, point: Vector) -> float:
        """κK/2·‖mean of the classes' weights‖²: what F exceeds that of ``centred`` weights by, exactly."""
        k = self.outputs
        if k == 1 or not self.centred_classes:
            return 0.0
        mean = self._weights_part(point).mean(axis=0)
        return 0.5 * self.strength * k * float(mean @ mean)

    def _weights_part(self, point: Vector) -> Matrix:
        return point.reshape(self.outputs, -1)[:, : self.engine.columns_count]

    def _term(
        self, curvature: bool, buffer: RowVector | None, diagonal: bool, scores: bool
    ) -> LogisticLoss | SoftmaxLoss:
        shift = None if self.engine.sparse else self.shift
        if self.outputs == 1:
            return LogisticLoss(self.constant, shift, curvature, diagonal, self.ranges is None, row_curvature=buffer)
        return SoftmaxLoss(
            self.outputs,
            self.constant,
            shift,
            curvature,
            diagonal,
            self.ranges is None,
            scores=scores,
            row_probabilities=buffer,
        )

    def _evaluation(
        self, point: Vector, curvature: bool, buffer: RowVector | None, squares: bool = False, scores: bool = True
    ) -> Evaluation:
        term = self._term(curvature, buffer, squares, scores)
        total: LossTotal = self.engine.total(term, self.raw_point(point)[None])[0][0]
        if total.ranges is not None:
            parts = (np.array(total.loss), total.gradient, total.diagonal, total.hessian)
            if not all(np.isfinite(part).all() for part in parts if part is not None):
                raise NotFiniteError
            self.ranges = total.ranges
        w = self._weights_part(point)
        gradient = self._into_shifted(total.gradient) / self._weight
        self._weights_part(gradient)[...] += self.strength * w
        hessian = diagonal = None
        if total.hessian is not None:
            hessian = total.hessian / self._weight
            self._weights_part(np.einsum("ii->i", hessian))[...] += self.strength
            if self.outputs > 1:
                self._hold_classes(hessian)
        if total.diagonal is not None:
            diagonal = total.diagonal / self._weight
            self._weights_part(diagonal)[...] += self.strength
        return Evaluation(
            point,
            total.loss / self._weight + 0.5 * self.strength * float(np.square(w).sum()),
            gradient,
            hessian,
            diagonal,
            total.mistakes,
            total.slope_size / self._weight,
            total.scores_curvature / self._weight,
            total.loss,
        )

    def _into_shifted(self, raw: Vector) -> Vector:
        """A gradient in (w, b) as one in (w, b′): the part along w loses shift times the constant's."""
        gradient = np.array(raw, dtype=np.float64)
        if self.constant:
            rows = gradient.reshape(self.outputs, -1)
            rows[:, :-1] -= rows[:, -1:] * self.shift
        return gradient

    def _hold_classes(self, hessian: Matrix) -> None:
        """Curvature along "the same for all classes", where the loss has none."""
        k, p = self.outputs, self.size // self.outputs
        blocks = hessian.reshape(k, p, k, p)
        first = 0 if self.centred_classes else self.engine.columns_count
        for j in range(first, p):
            blocks[:, j, :, j] += blocks[:, j, :, j].trace() / (k * k)
