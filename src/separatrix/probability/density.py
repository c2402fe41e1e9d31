"""Densities on an interval, and integrals against them by adaptive quadrature.

A density is a callable on numbers, a law with ``log_pdf`` such as ``Normal``, or a
frozen continuous law of SciPy. It is kept by its logarithm, for a density underflows
in the tails where its logarithm still matters.

Quadrature can overlook a narrow peak. So every integral is taken piece by piece, and
whatever is called a density must integrate to one by the same pieces: a peak that is
overlooked is refused, not forgotten.
"""

import contextlib
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.integrate import quad

from separatrix.probability.normal import Normal
from separatrix.probability.sigmoid import Vector
from separatrix.probability.simplex import finite, flag, refuse

NORMALISED = 1e-6
"""How far from one a density may integrate."""

NEGLIGIBLE = 1e-10
"""Mass on places where the other density is zero that is taken for underflow."""

LEAST_LOG = math.log(5e-324)
"""What stands for log 0 on such places."""

PRECISION: dict[str, Any] = {"full_output": 1, "limit": 200, "epsabs": 1e-13, "epsrel": 1e-11}
"""What quadrature is asked for, and that it tells of trouble instead of warning."""

LINE = (-1e6, -1e4, -1e3, -100.0, -30.0, -10.0, -3.0, -1.0, 0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 1e3, 1e4, 1e6)
"""Where an infinite interval is cut, unless the density says where its mass is."""


@dataclass(frozen=True)
class Density:
    """log p on an interval, and the places where it should be cut for quadrature."""

    log: Callable[[Any], Any]
    interval: tuple[float, float]
    cuts: tuple[float, ...] = ()
    name: str = "p"

    def __call__(self, x: float) -> float:
        """The log-density at one number, checked; −∞ outside the interval."""
        if not self.interval[0] <= x <= self.interval[1]:
            return -math.inf
        value = float(self.log(x))
        if value == math.inf and x in self.interval:  # a pole at an end, which quadrature may round to
            value = float(self.log(math.nextafter(x, sum(self.interval) / 2)))
        if math.isnan(value) or value == math.inf:
            refuse(f"The log of {self.name} at x = {x:.6g} is {value}.", "a density is a finite number.")
        return value

    def at(self, x: Vector) -> Vector:
        """The log-density at many numbers: at once if the function takes arrays, else one by one."""
        if self.interval == (-math.inf, math.inf):
            with np.errstate(all="ignore"), contextlib.suppress(Exception):
                together = np.asarray(self.log(x), dtype=np.float64)
                probe = [0, len(x) // 3, len(x) - 1]
                if together.shape == x.shape and np.array_equal(together[probe], [self(float(x[k])) for k in probe]):
                    return together
        return np.array([self(float(value)) for value in x])


def density_of(
    given: Any, interval: tuple[float, float] | None, log: bool, points: Sequence[float], name: str
) -> Density:
    """The density meant by a law or a callable; it must integrate to one.

    ``interval`` is where callables live; a law knows that itself.
    """
    flag(log, "log")
    if isinstance(given, Normal):
        away = (0.0, 1.0, 3.0, 8.0, 40.0)
        sd = given.standard_deviation
        cuts = tuple(given.mean + side * k * sd for k in away for side in (-1.0, 1.0))
        mu, constant = given.mean, float(given.log_pdf(given.mean))
        found = Density(lambda x: constant - 0.5 * ((x - mu) / sd) ** 2, (-math.inf, math.inf), cuts, name)
    elif hasattr(given, "logpdf") and hasattr(given, "support"):
        low, high = (float(end) for end in given.support())
        shares = (1e-12, 1e-6, 1e-3, 0.05, 0.25, 0.5, 0.75, 0.95, 1 - 1e-3, 1 - 1e-6)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # only where to cut: some laws warn of an inexact quantile
            quantiles = (given.ppf if hasattr(given, "ppf") else given.icdf)(np.array(shares))
            cuts = tuple(float(x) for x in quantiles if math.isfinite(x))
        found = Density(_silent(given.logpdf), (low, high), cuts, name)
    elif callable(given):
        if interval is None:
            refuse(f"{name} is a function without an interval.", "say where it lives: interval=(-np.inf, np.inf).")
        found = Density(given if log else _logarithm(given, name), _ends(interval), (), name)
    else:
        refuse(
            f"{name} is of type {type(given).__name__}.",
            "give probabilities, a law of this module, a frozen law of scipy.stats, or a function with an interval.",
        )
    found = Density(found.log, found.interval, (*found.cuts, *finite(points, "points").ravel().tolist()), name)
    mass = integral(lambda x, lp: 1.0, found)
    if abs(mass - 1.0) > NORMALISED:
        refuse(
            f"{name} integrates to {mass:.9g} over {_written(found.interval)}.",
            "a density integrates to one; if it has a narrow peak, say where: points=[...].",
        )
    return found


def integral(f: Callable[[float, float], float], p: Density, others: Sequence[Density] = ()) -> float:
    """∫ p(x) f(x, log p(x)) dx over p's interval."""

    def integrand(x: float) -> float:
        lp = p(x)
        return math.exp(min(lp, 709.0)) * f(x, lp) if lp > -math.inf else 0.0

    def tail(u: float, edge: float, scale: float) -> float:
        if u >= 1.0:  # where nodes are rounded to, the integrand of a convergent integral is nothing
            return 0.0
        return integrand(edge + scale * u / (1.0 - u)) * abs(scale) / (1.0 - u) ** 2

    total = error = 0.0
    trouble = ""
    edges = _pieces(p, others)
    widths = {-math.inf: edges[1] - edges[2], math.inf: edges[-2] - edges[-3]} if len(edges) > 3 else {}
    for low, high in pairwise(edges):
        if math.isinf(low) or math.isinf(high):
            # x = edge + scale·u/(1 − u): a tail at its own scale, so that a far one is not taken for nothing
            edge, end = (high, low) if math.isinf(low) else (low, high)
            value, slack, *rest = quad(tail, 0.0, 1.0, (edge, widths.get(end, math.copysign(1.0, end))), **PRECISION)
        else:
            value, slack, *rest = quad(integrand, low, high, **PRECISION)
        total += value
        error += slack
        if len(rest) > 1:
            trouble = f" between {low:g} and {high:g}"
    if not math.isfinite(total) or (trouble and error > 1e-6 * max(1.0, abs(total))):
        refuse(
            f"The integral over {_written(p.interval)} does not settle{trouble}; it may be infinite.",
            "cut the interval, or say where the peaks are: points=[...].",
        )
    return float(total)


def cross_entropy_of(p: Density, q: Density) -> float:
    """−∫ p log q; ∞ where p has mass and q has none."""
    if _mass_outside(p, q) > NEGLIGIBLE:
        return math.inf
    return -integral(lambda x, lp: _floored(q(x)), p, (q,))


def divergence_of(p: Density, q: Density) -> float:
    """∫ p log(p/q); ∞ where p has mass and q has none."""
    if _mass_outside(p, q) > NEGLIGIBLE:
        return math.inf
    return max(0.0, integral(lambda x, lp: lp - _floored(q(x)), p, (q,)))


def _floored(log: float) -> float:
    return LEAST_LOG if log == -math.inf else log


def _mass_outside(p: Density, q: Density) -> float:
    """P(q = 0) under p."""
    return integral(lambda x, lp: 1.0 if q(x) == -math.inf else 0.0, p, (q,))


def _pieces(p: Density, others: Sequence[Density]) -> list[float]:
    low, high = p.interval
    cuts = set(p.cuts)
    for other in others:
        cuts |= {*other.cuts, *other.interval}
    if not p.cuts:
        cuts |= set(LINE) if math.isinf(low) or math.isinf(high) else set(np.linspace(low, high, 17).tolist())
    return [low, *sorted(x for x in cuts if low < x < high), high]


def _ends(interval: tuple[float, float]) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in interval)
    except (TypeError, ValueError):
        refuse(f"interval is {interval!r}.", "give its two ends.")
    if not low < high:
        refuse(f"interval is ({low:g}, {high:g}).", "the first end lies below the second.")
    return low, high


def _written(interval: tuple[float, float]) -> str:
    return f"({interval[0]:g}, {interval[1]:g})"


def _silent(log: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """SciPy's laws take arrays and may warn at log 0."""

    def quiet(x: Any) -> Any:
        with np.errstate(all="ignore"):
            return log(x)

    return quiet


def _logarithm(density: Callable[[Any], Any], name: str) -> Callable[[Any], Any]:
    def log(x: Any) -> Any:
        value = density(x)
        if isinstance(x, np.ndarray):
            return np.log(value)
        value = float(value)
        if value < 0.0:
            refuse(f"{name} is {value:.6g} at x = {x:.6g}.", "a density is not negative; log=True if this is its log.")
        return -math.inf if value == 0.0 else math.log(value)

    return log
