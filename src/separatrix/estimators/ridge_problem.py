"""Least squares on ±1 stated without the data, so that a certificate can state it again from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.certificates.closed_form import ClosedFormCertificate, Measured, measure_system, sum_error
from separatrix.core.arrays import UNIT_ROUNDOFF, AnyArray, Matrix, Positions, Vector
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
from separatrix.terms.least_squares import NormalEquations, equation_residual
from separatrix.terms.moments import class_moments

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

    def certificate(
        self, engine: Engine, equations: NormalEquations, coef: Matrix, intercept: Vector, keep: Positions, names: Any
    ) -> ClosedFormCertificate:
        """What the rows say about the weights, one more pass."""
        parameters = {"coef": coef, "intercept": intercept, "keep": keep}
        found = self._measured(engine, equations, parameters)
        left_out = np.setdiff1d(np.arange(coef.shape[1]), keep)
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
    X: Any, y: Any, sample_weight: Any, class_weight: Any
) -> tuple[Block, Target, dict[int, float] | None, Engine]:
    """Rows and labels checked, and the engine over them."""
    block = block_of(X)
    if block.shape[1] > LARGEST_HESSIAN:
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
