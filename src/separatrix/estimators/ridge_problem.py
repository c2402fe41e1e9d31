"""Least squares on ±1 stated without the data, so that a certificate can state it again from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import _get_feature_names

from separatrix.certificates.closed_form import ClosedFormCertificate, Measured, measure_system, sum_error
from separatrix.core.arrays import UNIT_ROUNDOFF, AnyArray, Matrix, Positions
from separatrix.core.errors import CertificateError, refuse
from separatrix.core.protocols import Engine
from separatrix.core.threads import one_blas_thread
from separatrix.engines import Block, block_of
from separatrix.estimators.generative import check_classes
from separatrix.estimators.inputs import (
    Target,
    class_factors,
    encode,
    open_engine,
    refuse_not_finite,
    sample_weights,
    weighted,
)
from separatrix.estimators.solving import LARGEST_HESSIAN
from separatrix.terms.least_squares import NormalEquations, RidgeSolution, equation_residual
from separatrix.terms.moments import class_moments
from separatrix.terms.wide_least_squares import WideEquations

TOLERANCE = 1e-6
"""A bound on the weights' relative error above this is not met."""


@dataclass(frozen=True)
class RidgeProblem:
    """What was minimised: Σ aᵢ(yᵢ − ⟨w, xᵢ⟩ − b)² + α‖w‖², with factors on the classes' weights."""

    classes: AnyArray
    alpha: float
    fit_intercept: bool
    factors: dict[int, float] | None = None

    equations = "The normal equations"
    subject = "the weights"

    def equations_of(self, engine: Any) -> NormalEquations:
        """One pass over the rows."""
        moments = class_moments(engine, len(self.classes))
        if not np.isfinite(moments.scatters).all() or not np.isfinite(moments.means).all():
            refuse_not_finite(engine.block)
        return NormalEquations.of(moments, self.fit_intercept)

    def wide_equations_of(self, engine: Any) -> WideEquations:
        """Without the Gram matrix."""
        equations = WideEquations.of(engine, len(self.classes), self.fit_intercept)
        if not np.isfinite(equations.side).all() or not np.isfinite(equations.diagonal).all():
            refuse_not_finite(engine.block)
        return equations

    def measured_wide(self, engine: Engine, equations: WideEquations, parameters: Mapping[str, AnyArray]) -> Measured:
        """All eigenvalues are at least α, and their sum is the trace: that bounds error and condition."""
        coef, intercept = np.atleast_2d(parameters["coef"]), np.asarray(parameters["intercept"])
        if self.alpha <= 0 or len(parameters["keep"]) != coef.shape[1]:
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
        return Measured(max(relative, lost), (off + blur) / floor, condition, rounding, (0.1 * off + blur) / floor)

    def certify(self, engine: Engine, equations: NormalEquations, at: RidgeSolution, X: Any) -> ClosedFormCertificate:
        """What the rows say about the weights, one more pass."""
        parameters = {"coef": at.coef, "intercept": at.intercept, "keep": at.keep}
        found = self._measured(engine, equations, parameters)
        left_out, names = np.setdiff1d(np.arange(at.coef.shape[1]), at.keep), _get_feature_names(X)
        aliased = [str(names[j]) if names is not None else f"column {j}" for j in left_out]
        return ClosedFormCertificate.of(found, TOLERANCE, parameters, self, aliased)

    def measure(self, X: Any, y: Any, sample_weight: Any, parameters: Mapping[str, AnyArray]) -> Measured:
        """How well the stored weights solve the equations of the data given."""
        block = block_of(X)
        if np.atleast_2d(parameters["coef"]).shape[1] != block.shape[1]:
            raise CertificateError(f"The stored weights are not those of {block.shape[1]} columns.")
        target = encode(y, block.shape[0], self.classes)
        weights = weighted(target, sample_weights(sample_weight, block.shape[0]), self.factors)
        engine = open_engine(block, target, weights)
        with one_blas_thread(), np.errstate(all="ignore"):
            if block.shape[1] > LARGEST_HESSIAN:
                return self.measured_wide(engine, self.wide_equations_of(engine), parameters)
            return self._measured(engine, self.equations_of(engine), parameters)

    def _measured(self, engine: Engine, equations: NormalEquations, parameters: Mapping[str, AnyArray]) -> Measured:
        coef, intercept = np.atleast_2d(parameters["coef"]), np.asarray(parameters["intercept"])
        keep = np.asarray(parameters["keep"], dtype=np.int64)
        self._check_keep(equations, keep, coef)
        residual, misses = equation_residual(engine, equations, coef, self.alpha, intercept)
        gram = equations.gram[np.ix_(keep, keep)]
        matrix = gram + self.alpha * np.eye(len(keep))
        scale = np.sqrt(matrix.diagonal())
        error = sum_error(engine.rows, engine.sparse)
        # every row's residual is rounded as a sum of numbers of the size of w x, and so are the sums over rows
        reach = np.abs(coef) @ (np.abs(equations.centre) + np.sqrt(equations.gram.diagonal() / equations.weight)) + 1.0
        d = coef.shape[1]
        blur = UNIT_ROUNDOFF * (d + 4) * float(reach.max()) * np.sqrt(equations.weight)
        blur += 8.0 * UNIT_ROUNDOFF * misses * float((np.abs(equations.centre[keep]) / scale).max(initial=0.0) + 1.0)
        side = equations.side[keep] / scale[:, None]
        size = float(np.linalg.norm(side))
        found = measure_system(
            matrix / np.outer(scale, scale),
            residual[keep] / scale[:, None],
            (coef[:, keep] * scale).T,
            max(size, UNIT_ROUNDOFF * float(np.sqrt(equations.weight))),
            4 * UNIT_ROUNDOFF,
            blur,
        )
        off = float(np.abs(intercept - equations.intercept(coef)).max(initial=0.0) / (1.0 + float(reach.max())))
        rounding = found.residual_rounding + 8 * error * (1.0 + d * UNIT_ROUNDOFF)
        return Measured(max(found.residual, off), found.bound, found.condition, rounding, found.bound_rounding)

    def _check_keep(self, equations: NormalEquations, keep: Positions, coef: Matrix) -> None:
        d = len(equations.gram)
        if coef.shape[1] != d or (len(keep) and (keep[0] < 0 or keep[-1] >= d or (np.diff(keep) <= 0).any())):
            raise CertificateError("Columns may be left out each once and in order.")
        if np.delete(coef, keep, axis=1).any():
            raise CertificateError("A column that was left out has a weight.")
        if len(keep) == d:
            return
        if self.alpha > 0:
            raise CertificateError("With a penalty no column is left out.")
        gram = equations.gram
        part = gram[np.ix_(keep, keep)]
        rest = np.setdiff1d(np.arange(d), keep)
        explained = np.einsum("ij,ij->j", gram[np.ix_(keep, rest)], np.linalg.lstsq(part, gram[np.ix_(keep, rest)])[0])
        own = gram.diagonal()[rest]
        floor = np.square(16.0 * UNIT_ROUNDOFF * equations.centre[rest]) * equations.weight
        if (own - explained > 1e-7 * own + floor).any():
            raise CertificateError("Columns that were left out as linearly dependent are not so in this data.")

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "model": "least squares",
            "classes": self.classes.tolist(),
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
