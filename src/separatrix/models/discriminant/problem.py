"""Gaussian classes stated without the data, so that a certificate can state them again from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from separatrix.certificates.closed_form import (
    PLENTY,
    ClosedFormCertificate,
    Measured,
    extreme_eigenvalues,
    measure_system,
    sum_error,
)
from separatrix.core.arrays import UNIT_ROUNDOFF, AnyArray, Matrix, Positions, Vector
from separatrix.core.certificate import stated_array, stated_entries
from separatrix.core.errors import CertificateError, refuse
from separatrix.core.plain_values import plain
from separatrix.core.protocols import Engine
from separatrix.engines import block_of
from separatrix.kernels.threads import one_blas_thread
from separatrix.models.labels import encode, open_engine, refuse_not_finite, sample_weights
from separatrix.models.posterior import names_of, written_out
from separatrix.terms.exact_residual import ExactResidual, few_enough, gaussian_residual
from separatrix.terms.gaussian import GaussianClasses, LinearPosterior, covariance_of, ledoit_wolf, shrunk
from separatrix.terms.moments import ClassMoments, class_moments
from separatrix.terms.walls import Walls, find_walls

TOLERANCE = 1e-6
"""A bound on the weights' relative error above this is not met."""

NEARLY_ZERO = 1e-6
"""Log-odds per standard deviation that are all below this are exact to a share of it."""

LEAST_UNIT = 1e-290
"""Columns that were left out are compared in units of their size, or of this."""

WALL_TOLERANCE = 1e-5
"""Directions without spread are found to this share of their length: near-dependence takes half the digits."""


@dataclass(frozen=True, slots=True)
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
    tolerance = TOLERANCE

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

    def _estimated(self, engine: Engine, moments: ClassMoments) -> Matrix:
        """What an estimator in scikit-learn's manner says about the rows of each class."""
        if engine.row_weights is not None:
            refuse("covariance_estimator does not know sample weights.", "leave sample_weight out, or use shrinkage.")
        found = []
        for code in range(len(self.classes)):
            rows = engine.take(np.flatnonzero(engine.labels.array() == code))
            estimator = clone(self.covariance_estimator).fit(rows.toarray() if engine.sparse else rows)
            if not hasattr(estimator, "covariance_"):
                refuse(f"{type(estimator).__name__} does not have a covariance_ attribute.", "use sklearn.covariance.")
            found.append(np.asarray(estimator.covariance_, dtype=np.float64))
        return self._mixed(np.array(found), moments)

    def lost(self, moments: ClassMoments, classes: GaussianClasses, keep: Positions) -> float:
        """By how much the sums' rounding has grown in the covariance of the kept columns."""
        count = len(moments.weights)
        shares = moments.weights / moments.weight if self.covariance == "pooled" else np.full(count, 1.0 / count)
        return float(moments.lost(shares, classes.covariance.diagonal())[keep].max(initial=1.0))

    def certificate(
        self,
        classes: GaussianClasses,
        posterior: LinearPosterior,
        keep: Positions,
        walls: Walls,
        error: float,
        X: Any,
        engine: Engine | None,
    ) -> ClosedFormCertificate:
        """What the fit's own sums say about its weights; the rows, if they are at hand, say it better."""
        parameters = {
            "priors": classes.priors,
            "means": classes.means,
            "covariance": classes.covariance,
            "coef": posterior.coef,
            "intercept": posterior.intercept,
            "keep": keep,
            "walls": walls.points,
            "places": walls.places,
        }
        found, exact = self._measured(classes, parameters, error, None), None
        if not found.claim()[1] <= PLENTY * TOLERANCE:
            exact = self._exact(engine, classes, posterior.coef)
            found = found if exact is None else self._measured(classes, parameters, error, exact)
        found = replace(found, aliased=self._left_out(X, keep), separating=names_of(X, walls.columns))
        return ClosedFormCertificate.of(found, parameters, self, error, exact is not None)

    def _left_out(self, X: Any, keep: Positions) -> tuple[str, ...]:
        return names_of(X, np.setdiff1d(np.arange(block_of(X).shape[1]), keep))

    def columns(self, claim: Any) -> int:
        """How many columns a claim about this problem is about."""
        return int(claim.parameters["means"].shape[1])

    def measure(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        parameters: Mapping[str, AnyArray],
        rounding: float,
        exactly: bool = False,
    ) -> tuple[Measured, Measured]:
        """How well the stored parameters fit the data given; a sparse table that is not large is written out."""
        block = written_out(block_of(X))
        target = encode(y, block.shape[0], self.classes)
        keep = self._check_shapes(parameters, block.shape[1])
        engine = open_engine(block, target, sample_weights(sample_weight, block.shape[0]))
        with one_blas_thread(), np.errstate(all="ignore"):
            shift = None if engine.sparse else np.asarray(parameters["means"])
            moments = self.moments(engine, shift)
            if not np.isfinite(moments.scatters).all():
                refuse_not_finite(block)
            here = self.estimate(moments, engine)
            self._check_keep(here, keep, parameters["coef"])
            walls = find_walls(here, here.kept(self.tol), engine)
            self._check_walls(here, walls, parameters)
            error = sum_error(engine.rows, engine.sparse) * self.lost(moments, here, keep)
            exact = self._exact(engine, here, parameters["coef"]) if exactly else None
            found = self._measured(here, parameters, error, exact)
            claim = self._measured(here, parameters, rounding, exact)
            return replace(found, aliased=self._left_out(X, keep), separating=names_of(X, walls.columns)), claim

    def _check_shapes(self, parameters: Mapping[str, AnyArray], d: int) -> Positions:
        count = len(self.classes)
        rows = 1 if count == 2 else count
        shapes = {
            "priors": (count,),
            "means": (count, d),
            "covariance": (d, d),
            "coef": (rows, d),
            "intercept": (rows,),
        }
        stated_entries(parameters, "parameters", (*shapes, "keep", "walls", "places"))
        for name, shape in shapes.items():
            stated_array(parameters[name], name, shape)
        stated_array(parameters["places"], "places", (count,), kind="i")
        stated_array(parameters["walls"], "walls", (len(parameters["walls"]), d + 1))
        return stated_array(parameters["keep"], "kept columns", (len(parameters["keep"]),), kind="i")

    def _check_walls(self, here: GaussianClasses, walls: Walls, parameters: Mapping[str, AnyArray]) -> None:
        stated = parameters["walls"]
        if stated.shape != walls.points.shape or not np.array_equal(parameters["places"], walls.places):
            raise CertificateError("The classes have other places along the directions without spread in this data.")
        if not len(stated):
            return
        means = np.column_stack([here.means, np.ones(len(here.means))])
        off = stated - walls.points
        gap = walls.least_gap
        lost = 64.0 * UNIT_ROUNDOFF * (np.abs(means) @ np.abs(walls.points).T)
        turned = np.abs(off[:, :-1]) * walls.spread <= WALL_TOLERANCE * np.sqrt(gap)
        if not (turned.all() and (np.abs(means @ off.T) <= WALL_TOLERANCE * gap + lost).all()):
            raise CertificateError("The directions that decide first are others in this data.")

    def _exact(self, engine: Engine | None, here: GaussianClasses, coef: Matrix) -> ExactResidual | None:
        """What is left of Σw = μ₁ − μ₀, added up exactly, where the rows are at hand and few and Σ is theirs alone."""
        plain_covariance = self.covariance == "pooled" and not self.shrinkage and self.covariance_estimator is None
        if engine is None or not plain_covariance or not few_enough(engine, len(coef)):
            return None
        count = len(self.classes)
        sides = np.array([[-1.0], [1.0]]) if count == 2 else np.eye(count) - here.priors[:, None]
        return gaussian_residual(engine, here.means, coef, sides)

    def _measured(
        self,
        here: GaussianClasses,
        parameters: Mapping[str, AnyArray],
        error: float,
        exact: ExactResidual | None,
    ) -> Measured:
        keep, coef, intercept = parameters["keep"], parameters["coef"], parameters["intercept"]
        scale = np.sqrt(here.covariance.diagonal()[keep])
        apart = (here.means - here.centre)[:, keep]
        sides = (apart[1] - apart[0])[None] if len(here.means) == 2 else apart
        matrix = here.covariance[np.ix_(keep, keep)] / np.outer(scale, scale)
        side, solution = (sides / scale).T, (coef[:, keep] * scale).T
        # a mean is rounded as a number of its own size
        blur = UNIT_ROUNDOFF * float((np.abs(here.means[:, keep]) / scale).max(initial=0.0))
        size = float(np.linalg.norm(side))
        wide = len(keep) * 4.0 * error
        if exact is None:
            left = matrix @ solution - side
            slack = wide * float(np.linalg.norm(solution)) + 8.0 * (error + blur)
        else:
            left = exact.values[keep] / scale[:, None]
            slack = float(np.linalg.norm(exact.errors[keep] / scale[:, None]))
        system = (left, solution, size, slack, wide, NEARLY_ZERO, matrix, wide)
        found = measure_system(extreme_eigenvalues(matrix), *system)
        # the offset puts the boundary where the log-posteriors of both sides agree
        expected, spread = self._offsets(here, coef)
        # columns that were left out may have no spread at all: their size is that of their values
        unit = np.sqrt(here.covariance.diagonal())
        out = np.setdiff1d(np.arange(len(unit)), keep)
        unit[out] += np.abs(here.means[:, out]).max(axis=0, initial=0.0)
        # nothing is said about digits that weighted sums lose to underflow
        unit = np.where(unit == 0.0, 1.0, np.maximum(unit, LEAST_UNIT))
        off = [
            found.residual,
            np.abs(parameters["priors"] - here.priors).max(initial=0.0),
            (np.abs(parameters["means"] - here.means) / unit).max(initial=0.0),
            # by one after the other: the product of two small units is zero
            (np.abs(parameters["covariance"] - here.covariance) / unit[:, None] / unit).max(initial=0.0),
            (np.abs(intercept - expected) / spread).max(initial=0.0),
        ]
        # not Python's max, which forgets NaN
        return replace(
            found,
            residual=float(np.max(off)),
            residual_rounding=found.residual_rounding + 8 * (error + blur),
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
        if np.delete(coef, keep, axis=1).any():
            raise CertificateError("A column that was left out has a weight.")
        if len(keep) != d and not np.array_equal(keep, here.kept(self.tol)):
            raise CertificateError("Columns that were left out as linearly dependent are not so in this data.")
        if (here.covariance.diagonal()[keep] <= 0).any():
            raise CertificateError("A column that was kept is constant within the classes of this data.")

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "model": "gaussian classes",
            "classes": plain(self.classes),
            "priors": None if self.priors is None else self.priors.tolist(),
            "covariance": self.covariance,
            "shrinkage": self.shrinkage,
            "covariance_estimator": None if self.covariance_estimator is None else repr(self.covariance_estimator),
            "tol": self.tol,
        }
