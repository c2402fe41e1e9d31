"""Gaussian classes stated without the data, so that a certificate can state them again from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from separatrix.certificates.closed_form import ClosedFormCertificate, Measured, measure_system, sum_error
from separatrix.core.arrays import UNIT_ROUNDOFF, AnyArray, Matrix, Positions, Vector
from separatrix.core.errors import CertificateError, refuse
from separatrix.core.protocols import Engine
from separatrix.core.threads import one_blas_thread
from separatrix.engines import block_of
from separatrix.estimators.inputs import encode, open_engine, sample_weights
from separatrix.terms.gaussian import GaussianClasses, LinearPosterior, covariance_of, ledoit_wolf, shrunk
from separatrix.terms.moments import ClassMoments, class_moments

TOLERANCE = 1e-6
"""A bound on the weights' relative error above this is not met."""


@dataclass(frozen=True)
class GaussianProblem:
    """What was estimated and how; ``priors`` are those given, if any."""

    classes: AnyArray
    priors: Vector | None = None
    covariance: str = "pooled"
    shrinkage: Any = None
    covariance_estimator: Any = field(default=None, repr=False)
    tol: float = 1e-4

    equations = "The moment equations and Σw = μ₁ − μ₀"
    subject = "the weights"

    @property
    def each(self) -> bool:
        """Whether every class needs a scatter of its own."""
        return self.covariance == "average" or self.shrinkage == "auto"

    def moments(self, engine: Engine, shift: Matrix | None = None) -> ClassMoments:
        """One pass over the rows."""
        return class_moments(engine, len(self.classes), self.each, shift)

    def estimate(self, moments: ClassMoments, engine: Engine | None) -> GaussianClasses:
        """Parameters from moments; the rows are read again only for Ledoit and Wolf, or a given estimator."""
        priors = moments.weights / moments.weight if self.priors is None else self.priors
        if self.covariance_estimator is not None:
            assert engine is not None
            covariance = self._estimated(engine, moments)
        elif self.shrinkage == "auto":
            assert engine is not None
            covariance = self._mixed(ledoit_wolf(engine, moments)[0], moments)
        else:
            covariance = covariance_of(moments, self.covariance)
            if self.shrinkage:
                covariance = shrunk(covariance, float(self.shrinkage))
        return GaussianClasses(priors, moments.means, covariance)

    def _mixed(self, covariances: Matrix, moments: ClassMoments) -> Matrix:
        shares = moments.weights / moments.weight if self.covariance == "pooled" else None
        return np.asarray(np.average(covariances, axis=0, weights=shares))

    def _estimated(self, engine: Any, moments: ClassMoments) -> Matrix:
        """What an estimator in scikit-learn's manner says about the rows of each class."""
        if engine.weights is not None:
            refuse("covariance_estimator does not know sample weights.", "leave sample_weight out, or use shrinkage.")
        found = []
        for code in range(len(self.classes)):
            rows = engine.block.take(np.flatnonzero(engine.codes == code))
            estimator = clone(self.covariance_estimator).fit(rows.toarray() if engine.sparse else rows)
            if not hasattr(estimator, "covariance_"):
                refuse(f"{type(estimator).__name__} does not have a covariance_ attribute.", "use sklearn.covariance.")
            found.append(np.asarray(estimator.covariance_, dtype=np.float64))
        return self._mixed(np.array(found), moments)

    def certificate(
        self, classes: GaussianClasses, posterior: LinearPosterior, keep: Positions, error: float, names: Any
    ) -> ClosedFormCertificate:
        """What the fit's own sums say about its weights."""
        parameters = {
            "priors": classes.priors,
            "means": classes.means,
            "covariance": classes.covariance,
            "coef": posterior.coef,
            "intercept": posterior.intercept,
            "keep": keep,
        }
        found = self._measured(classes, parameters, error)
        left_out = np.setdiff1d(np.arange(classes.means.shape[1]), keep)
        aliased = [str(names[j]) if names is not None else f"column {j}" for j in left_out]
        return ClosedFormCertificate.of(found, TOLERANCE, parameters, self, aliased)

    def measure(self, X: Any, y: Any, sample_weight: Any, parameters: Mapping[str, AnyArray]) -> Measured:
        """How well the stored parameters fit the data given."""
        block = block_of(X)
        if parameters["means"].shape != (len(self.classes), block.shape[1]):
            raise CertificateError(f"The stored means are not those of {block.shape[1]} columns.")
        target = encode(y, block.shape[0], self.classes)
        engine = open_engine(block, target, sample_weights(sample_weight, block.shape[0]))
        with one_blas_thread(), np.errstate(all="ignore"):
            shift = None if engine.sparse else np.asarray(parameters["means"])
            moments = self.moments(engine, shift)
            if not np.isfinite(moments.scatters).all():
                raise CertificateError("The moments of this data are not finite.")
            here = self.estimate(moments, engine)
            return self._measured(here, parameters, sum_error(engine.rows, engine.sparse))

    def _measured(self, here: GaussianClasses, parameters: Mapping[str, AnyArray], error: float) -> Measured:
        keep = np.asarray(parameters["keep"], dtype=np.int64)
        coef, intercept = np.atleast_2d(parameters["coef"]), np.asarray(parameters["intercept"])
        self._check_keep(here, keep, coef)
        scale = np.sqrt(here.covariance.diagonal()[keep])
        apart = (here.means - here.centre)[:, keep]
        sides = (apart[1] - apart[0])[None] if len(here.means) == 2 else apart
        matrix = here.covariance[np.ix_(keep, keep)] / np.outer(scale, scale)
        side, solution = (sides / scale).T, (coef[:, keep] * scale).T
        # a mean is rounded as a number of its own size
        blur = UNIT_ROUNDOFF * float((np.abs(here.means[:, keep]) / scale).max(initial=0.0))
        size = float(np.linalg.norm(side))
        found = measure_system(matrix, matrix @ solution - side, solution, size, 4 * error, 8 * (error + blur))
        # the offset puts the boundary where the log-posteriors of both sides agree
        expected, spread = self._offsets(here, coef)
        off = [
            np.abs(parameters["priors"] - here.priors).max(initial=0.0),
            (np.abs(parameters["means"] - here.means)[:, keep] / scale).max(initial=0.0),
            (
                np.abs(np.asarray(parameters["covariance"]) - here.covariance)[np.ix_(keep, keep)]
                / np.outer(scale, scale)
            ).max(initial=0.0),
            (np.abs(intercept - expected) / spread).max(initial=0.0),
        ]
        return Measured(
            max(found.residual, *map(float, off)),
            found.bound,
            found.condition,
            found.residual_rounding + 8 * (error + blur),
            found.bound_rounding,
        )

    def _offsets(self, here: GaussianClasses, coef: Matrix) -> tuple[Vector, Vector]:
        logs = np.log(np.maximum(here.priors, np.finfo(np.float64).tiny))
        if len(here.means) == 2:
            expected = np.array([-0.5 * coef[0] @ (here.means[0] + here.means[1]) + logs[1] - logs[0]])
        else:
            expected = logs - coef @ here.centre - 0.5 * np.einsum("kj,kj->k", coef, here.means - here.centre)
        return expected, 1.0 + np.abs(coef) @ np.abs(here.means).max(axis=0)

    def _check_keep(self, here: GaussianClasses, keep: Positions, coef: Matrix) -> None:
        d = here.means.shape[1]
        if len(keep) and (keep[0] < 0 or keep[-1] >= d or (np.diff(keep) <= 0).any()):
            raise CertificateError("Columns may be left out each once and in order.")
        if np.delete(coef, keep, axis=1).any() or coef.shape[1] != d:
            raise CertificateError("A column that was left out has a weight.")
        if len(keep) != d and not np.array_equal(keep, here.kept(self.tol)):
            raise CertificateError("Columns that were left out as linearly dependent are not so in this data.")
        if (here.covariance.diagonal()[keep] <= 0).any():
            raise CertificateError("A column that was kept is constant within the classes of this data.")

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "model": "gaussian classes",
            "classes": self.classes.tolist(),
            "priors": None if self.priors is None else self.priors.tolist(),
            "covariance": self.covariance,
            "shrinkage": self.shrinkage,
            "covariance_estimator": None if self.covariance_estimator is None else repr(self.covariance_estimator),
            "tol": self.tol,
        }
