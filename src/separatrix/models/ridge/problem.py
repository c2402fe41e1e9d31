"""Least squares on ±1 stated without the data, so that a certificate can state it again from it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import svdvals

from separatrix.certificates.closed_form import (
    PLENTY,
    ClosedFormCertificate,
    Measured,
    extreme_eigenvalues,
    measure_system,
    sum_error,
)
from separatrix.certificates.orthonormal import orthonormal
from separatrix.core.arrays import UNIT_ROUNDOFF, AnyArray, Matrix, Positions
from separatrix.core.certificate import stated_array, stated_entries
from separatrix.core.errors import CertificateError, refuse
from separatrix.core.factor import DEPENDENT
from separatrix.core.plain_values import plain
from separatrix.core.protocols import Engine
from separatrix.engines import Block, block_of
from separatrix.kernels.threads import one_blas_thread
from separatrix.models.labels import (
    Target,
    class_factors,
    encode,
    open_engine,
    refuse_not_finite,
    sample_weights,
    weighted,
)
from separatrix.models.logistic.fitting import LARGEST_HESSIAN
from separatrix.models.posterior import check_classes, names_of, written_out
from separatrix.models.ridge.solution import RidgeSolution
from separatrix.terms.exact_residual import few_enough, least_squares_residual
from separatrix.terms.least_squares import (
    NormalEquations,
    equation_residual,
    independent_columns,
    row_blocks,
    signs_of,
    triangle,
)
from separatrix.terms.moments import class_moments
from separatrix.terms.wide_least_squares import WideEquations

TOLERANCE = 1e-6
"""A bound on the weights' relative error above this is not met."""

MOST_WORK = 1e8
"""Rows × columns² up to which a triangle's rounding is measured."""

NEARLY_ZERO = 1e-6
"""Scaled weights that are all below this share of the targets' length are exact to a share of that."""


@dataclass(frozen=True, slots=True)
class RidgeProblem:
    """What was minimised: Σ aᵢ(yᵢ − ⟨w, xᵢ⟩ − b)² + α‖w‖², with factors on the classes' weights."""

    classes: AnyArray
    alpha: float
    fit_intercept: bool
    factors: dict[int, float] | None = None

    equations = "The normal equations"
    subject = "the weights"
    tolerance = TOLERANCE

    def equations_of(self, engine: Engine) -> NormalEquations:
        """One pass over the rows."""
        moments = class_moments(engine, len(self.classes))
        if not np.isfinite(moments.scatters).all() or not np.isfinite(moments.means).all():
            refuse_not_finite(engine)
        equations = NormalEquations.of(moments, self.fit_intercept)
        # one row in a class has no scatter, and its square may overflow all the same
        if not np.isfinite(equations.gram).all() or not np.isfinite(equations.side).all():
            refuse_not_finite(engine)
        return equations

    def wide_equations_of(self, engine: Engine) -> WideEquations:
        """Without the Gram matrix."""
        equations = WideEquations.of(engine, len(self.classes), self.fit_intercept)
        if not np.isfinite(equations.side).all() or not np.isfinite(equations.diagonal).all():
            refuse_not_finite(engine)
        return equations

    def measured_wide(self, engine: Engine, equations: WideEquations, parameters: Mapping[str, AnyArray]) -> Measured:
        """All eigenvalues are at least α, and their sum is the trace: that bounds error and condition."""
        coef, intercept = parameters["coef"], parameters["intercept"]
        if self.alpha <= 0 or not np.array_equal(parameters["keep"], np.arange(coef.shape[1])):
            raise CertificateError("With this many columns all are kept, and the penalty is positive.")
        residual, misses = equation_residual(engine, equations, coef, self.alpha, intercept)
        spread = np.sqrt(equations.diagonal)
        reach = np.abs(coef) @ (np.abs(equations.centre) + spread / equations.weight**0.5) + 1.0
        entries = engine.entries_per_row + 8.0
        blur = UNIT_ROUNDOFF * entries * float(reach.max()) * float(np.linalg.norm(spread)) * equations.weight**0.5
        blur += 8.0 * UNIT_ROUNDOFF * misses * (1.0 + float(np.linalg.norm(equations.centre)))
        off, size, length = (float(np.linalg.norm(part)) for part in (residual, equations.side, coef))
        lost = float(np.abs(intercept - equations.intercept(coef)).max() / (1.0 + float(reach.max())))
        rounding = blur / max(size, 1e-300) + 1e3 * UNIT_ROUNDOFF
        floor = self.alpha * max(length, 1e-300)
        condition = (float(equations.diagonal.sum()) + self.alpha) / self.alpha
        relative = off / size if size > 0 else off
        # not Python's max, which forgets NaN
        worst = float(np.max([relative, lost]))
        return Measured(worst, (off + blur) / floor, condition, rounding, (0.1 * off + blur) / floor)

    def certify(self, engine: Engine, equations: NormalEquations, at: RidgeSolution, X: Any) -> ClosedFormCertificate:
        """What the rows say about the weights, one more pass."""
        parameters = {"coef": at.coef, "intercept": at.intercept, "keep": at.keep}
        error = self._error(engine, equations)
        found, exactly = self._measured(engine, equations, parameters, (error,), False)[0], False
        if not found.claim()[1] <= PLENTY * TOLERANCE and few_enough(engine, len(at.coef)):
            found, exactly = self._measured(engine, equations, parameters, (error,), True)[0], True
        left_out = np.setdiff1d(np.arange(at.coef.shape[1]), at.keep)
        found = replace(found, aliased=names_of(X, left_out))
        return ClosedFormCertificate.of(found, parameters, self, error, exactly)

    def columns(self, claim: Any) -> int:
        """How many columns a claim about this problem is about."""
        return int(claim.parameters["coef"].shape[1])

    def measure(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        parameters: Mapping[str, AnyArray],
        rounding: float,
        exactly: bool = False,
    ) -> tuple[Measured, Measured]:
        """How well the stored weights solve the equations of the data given; a small sparse table is written out."""
        block = block_of(X)
        if block.shape[1] <= LARGEST_HESSIAN:
            block = written_out(block)
        target = encode(y, block.shape[0], self.classes)
        count = len(self.classes)
        rows = 1 if count == 2 else count
        stated_entries(parameters, "parameters", ("coef", "intercept", "keep"))
        stated_array(parameters["coef"], "weights", (rows, block.shape[1]))
        stated_array(parameters["intercept"], "offsets", (rows,))
        keep = stated_array(parameters["keep"], "kept columns", (len(parameters["keep"]),), kind="i")
        weights = weighted(target, sample_weights(sample_weight, block.shape[0]), self.factors)
        engine = open_engine(block, target, weights)
        aliased = names_of(X, np.setdiff1d(np.arange(block.shape[1]), keep))
        with one_blas_thread(), np.errstate(all="ignore"):
            if block.shape[1] > LARGEST_HESSIAN:
                found = self.measured_wide(engine, self.wide_equations_of(engine), parameters)
                return found, found
            equations = self.equations_of(engine)
            errors = (self._error(engine, equations), rounding)
            self._check_keep(equations, keep, parameters["coef"], errors[0])
            found, claim = self._measured(engine, equations, parameters, errors, exactly)
        return replace(found, aliased=aliased), claim

    def _error(self, engine: Engine, equations: NormalEquations) -> float:
        """How far an entry of the scaled Gram matrix may be off: its sums, and what their shifts have lost."""
        return sum_error(engine.rows, engine.sparse) * equations.lost

    def _measured(
        self,
        engine: Engine,
        equations: NormalEquations,
        parameters: Mapping[str, AnyArray],
        errors: tuple[float, ...],
        exactly: bool,
    ) -> list[Measured]:
        """One answer for each share by which the Gram matrix may be off."""
        coef, intercept, keep = parameters["coef"], parameters["intercept"], parameters["keep"]
        gram = equations.gram[np.ix_(keep, keep)]
        matrix = gram + self.alpha * np.eye(len(keep))
        scale = np.sqrt(matrix.diagonal())
        solution = (coef[:, keep] * scale).T
        reach = np.abs(coef) @ (np.abs(equations.centre) + np.sqrt(equations.gram.diagonal() / equations.weight)) + 1.0
        residual, slack, row_slack = self._left(engine, equations, parameters, scale, float(reach.max()), exactly)
        side = equations.side[keep] / scale[:, None]
        size = max(float(np.linalg.norm(side)), UNIT_ROUNDOFF * float(np.sqrt(equations.weight)))
        scaled = matrix / np.outer(scale, scale)
        values = extreme_eigenvalues(scaled)
        left = residual[keep] / scale[:, None]
        off = np.abs(intercept - equations.intercept(coef)).max(initial=0.0) / (1.0 + float(reach.max()))
        least_length = NEARLY_ZERO * float(np.sqrt(equations.weight))
        root: tuple[float, float] | None = None
        answers = []
        for error in errors:
            low, wide = values[0], 4.0 * len(keep) * error
            held: Matrix | None = scaled
            if len(keep) and low < 100.0 * wide:
                held = None
                # the Gram matrix has lost its least eigenvalue; an orthogonal triangle of the rows has its root
                root = self._least_root(engine, equations, keep, scale) if root is None else root
                low, wide = root[0] ** 2, root[0] ** 2 - max(root[0] - root[1], 0.0) ** 2
            system = (left, solution, size, slack, wide, least_length, held, 4.0 * len(keep) * error, row_slack)
            found = measure_system((low, values[1]), *system)
            rounding = found.residual_rounding + 8 * error
            # not Python's max, which forgets NaN
            worst = float(np.max([found.residual, off]))
            answers.append(replace(found, residual=worst, residual_rounding=rounding))
        return answers

    def _left(
        self,
        engine: Engine,
        equations: NormalEquations,
        parameters: Mapping[str, AnyArray],
        scale: Matrix,
        reach: float,
        exactly: bool,
    ) -> tuple[Matrix, float, float]:
        """The residual (d × targets), how far it may be off in scaled coordinates, and how far the rows' errors are."""
        coef, intercept, keep = parameters["coef"], parameters["intercept"], parameters["keep"]
        if exactly:
            signs = signs_of(len(self.classes))
            exact = least_squares_residual(engine, signs, equations.centre, coef, intercept, self.alpha)
            off = float(np.linalg.norm(exact.sums[keep] / scale[:, None]))
            return exact.values, off, float(np.linalg.norm(exact.rows)) * (1.0 + 1e-6)
        residual, misses = equation_residual(engine, equations, coef, self.alpha, intercept)
        # every row's residual is rounded as a sum of numbers of the size of w x, and so are the sums over rows
        blur = UNIT_ROUNDOFF * (coef.shape[1] + 4) * reach * np.sqrt(equations.weight)
        blur += 8.0 * UNIT_ROUNDOFF * misses * float((np.abs(equations.centre[keep]) / scale).max(initial=0.0) + 1.0)
        return residual, 4.0 * len(keep) * UNIT_ROUNDOFF * float(np.linalg.norm(coef[:, keep] * scale)) + blur, 0.0

    def _least_root(
        self, engine: Engine, equations: NormalEquations, keep: Positions, scale: Matrix
    ) -> tuple[float, float]:
        """The root of the least eigenvalue, and how far it may be off: measured where the rows are few."""
        if engine.rows * len(keep) ** 2 <= MOST_WORK:
            spread = np.vstack(
                [part[:, keep] for block in engine.blocks() for _, part in row_blocks(block, equations.centre)]
            )
            spread /= scale
            weights = np.ones(len(spread)) if engine.row_weights is None else engine.row_weights.array()
            frame = orthonormal(spread, weights, self.alpha / np.square(scale))
            if frame is not None and frame.usable:
                found = svdvals(frame.triangle)
                certain = np.sqrt(1.0 - frame.off) - frame.error
                return float(found[-1]), float(found[-1] * (1.0 - certain) + 8.0 * len(keep) * UNIT_ROUNDOFF * found[0])
        unit = np.ones(len(equations.gram))
        unit[keep] = scale
        upper, _ = triangle(engine, equations, self.alpha, keep, unit)
        return float(svdvals(upper)[-1]), 4.0 * len(keep) * sum_error(engine.rows, False)

    def _check_keep(self, equations: NormalEquations, keep: Positions, coef: Matrix, error: float) -> None:
        d = len(equations.gram)
        if len(keep) and (keep[0] < 0 or keep[-1] >= d or (np.diff(keep) <= 0).any()):
            raise CertificateError("Columns may be left out each once and in order.")
        if np.delete(coef, keep, axis=1).any():
            raise CertificateError("A column that was left out has a weight.")
        if len(keep) == d:
            return
        if self.alpha > 0:
            raise CertificateError("With a penalty no column is left out.")
        gram = equations.gram
        rest = np.setdiff1d(np.arange(d), keep)
        # to a unit diagonal: in raw units small columns would be lost in the rounding of large ones
        unit = np.sqrt(np.where(gram.diagonal() > 0, gram.diagonal(), 1.0))
        scaled = gram / np.outer(unit, unit)
        across = scaled[np.ix_(keep, rest)]
        explained = np.einsum("ij,ij->j", across, np.linalg.lstsq(scaled[np.ix_(keep, keep)], across)[0])
        floor = np.square(16.0 * UNIT_ROUNDOFF * equations.centre[rest] / unit[rest]) * equations.weight
        # as the fit decides it, or so close to that that sums in another order decide otherwise
        alike = np.array_equal(keep, independent_columns(equations))
        most = d * (DEPENDENT + 4.0 * error) + floor
        if not (alike or (scaled.diagonal()[rest] - explained <= most).all()):
            raise CertificateError("Columns that were left out as linearly dependent are not so in this data.")

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "model": "least squares",
            "classes": plain(self.classes),
            "alpha": self.alpha,
            "fit_intercept": self.fit_intercept,
            "class_factors": self.factors,
        }


def opened(
    X: Any, y: Any, sample_weight: Any, class_weight: Any, wide: bool = False
) -> tuple[Block, Target, dict[int, float] | None, Engine]:
    """Rows and labels checked, and the engine over them; ``wide`` allows more columns than a Gram matrix can have."""
    block = block_of(X)
    if block.shape[1] > LARGEST_HESSIAN and not wide:
        refuse(
            f"X has {block.shape[1]} columns: their Gram matrix would need {block.shape[1]}² numbers; "
            f"the most is {LARGEST_HESSIAN} columns.",
            "select columns or project them first, for example with sklearn.decomposition.TruncatedSVD.",
        )
    target = encode(y, block.shape[0])
    weights = sample_weights(sample_weight, block.shape[0])
    factors = class_factors(class_weight, target, weights)
    weights = weighted(target, weights, factors)
    check_classes(target, weights)
    return block, target, factors, open_engine(block, target, weights)
