"""The member of a family nearest to a target law, in either direction of the KL divergence.

- forward, argmin_q KL(p‖q): q must have mass wherever p has. For the normal family
  KL(p‖q) = −H(p) + ½ log(2πσ²) + E_p[(x − μ)²]/(2σ²), least at μ = E_p[x] and
  σ² = Var_p[x]: the moments match, and two peaks are covered by one wide hill.
- reverse, argmin_q KL(q‖p) = −H(q) − E_q[log p]: q must have none where p has none. It
  settles on a peak; every peak may give a local minimum, so many starts are taken.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Never

import numpy as np
from scipy.optimize import minimize

from separatrix.probability.density import LEAST_LOG, Density, density_of, divergence_of, integral
from separatrix.probability.normal import Normal
from separatrix.probability.sigmoid import Vector
from separatrix.probability.simplex import refuse

Direction = Literal["forward", "reverse"]


@dataclass(frozen=True)
class KLFit:
    """The nearest law, its divergence, and every local minimum found (law and divergence), best first."""

    direction: Direction
    law: Normal
    divergence: float
    minima: tuple[tuple[Normal, float], ...]

    @property
    def n_minima(self) -> int:
        """How many local minima were found; one for the forward direction, where there are no others."""
        return len(self.minima)

    def __str__(self) -> str:
        written = "KL(p‖q)" if self.direction == "forward" else "KL(q‖p)"
        many = "the only minimum" if self.n_minima == 1 else f"the least of {self.n_minima} local minima found"
        found = f"N({self.law.mean:.4g}, {self.law.variance:.4g})"
        return f"{self.direction}: {found} with {written} = {self.divergence:.4g}, {many}"


def fit_kl(
    target: Any,
    family: type[Normal] = Normal,
    direction: Direction = "forward",
    *,
    interval: tuple[float, float] | None = None,
    log: bool = False,
    points: Sequence[float] = (),
) -> KLFit:
    """The normal law nearest to ``target``, a density as ``kl_divergence`` takes it.

    >>> def two_hills(x):
    ...     return 0.6 * Normal(-2, 0.25).pdf(x) + 0.4 * Normal(2, 0.25).pdf(x)
    >>> print(fit_kl(two_hills, direction="forward", interval=(-np.inf, np.inf)))
    forward: N(-0.4, 4.09) with KL(p‖q) = 0.7245, the only minimum
    >>> print(fit_kl(two_hills, direction="reverse", interval=(-np.inf, np.inf)))
    reverse: N(-2, 0.2503) with KL(q‖p) = 0.5107, the least of 3 local minima found
    """
    if family is not Normal:
        refuse(f"family is {family!r}.", "the family is Normal.")
    if direction not in ("forward", "reverse"):
        refuse(f"direction is {direction!r}.", '"forward" is KL(target‖q), "reverse" is KL(q‖target).')
    p = density_of(target, interval, log, points, "target")
    if direction == "reverse" and p.interval != (-math.inf, math.inf):
        _refuse_infinite()
    if direction == "forward":
        try:
            law = _moments(p)
        except ValueError:
            refuse("The target has no finite mean and variance to match.", 'take direction="reverse".')
        divergence = divergence_of(p, _density(law))
        return KLFit(direction, law, divergence, ((law, divergence),))
    minima = _reverse_minima(p, _middle(p))
    return KLFit(direction, *minima[0], tuple(minima))


def _density(law: Normal) -> Density:
    return density_of(law, None, False, (), "q")


def _moments(p: Density) -> Normal:
    mean = integral(lambda x, lp: x, p)
    variance = integral(lambda x, lp: (x - mean) ** 2, p)
    return Normal(mean, variance)


def _middle(p: Density) -> Normal:
    """Where p is and how wide, even without moments: by its quartiles on a grid that is fine near 0."""
    try:
        return _moments(p)
    except ValueError:
        t = np.linspace(-16.0, 16.0, 8001)
        x = np.sinh(t)
        with np.errstate(under="ignore"):
            mass = np.cumsum(np.exp(p.at(x)) * np.cosh(t))
        low, middle, high = (float(x[np.searchsorted(mass, share * mass[-1])]) for share in (0.25, 0.5, 0.75))
        return Normal(middle, ((high - low) / 1.35) ** 2)


def _reverse_minima(p: Density, matched: Normal) -> list[tuple[Normal, float]]:
    """Local minima of KL(q‖p) from many starts, best first, each checked to be one."""
    cuts = np.array(p.cuts[:64])

    def objective(at: Vector) -> float:
        centre, scale = matched.mean + at[0] * matched.standard_deviation, matched.standard_deviation * math.exp(at[1])
        nodes, shares = _gaussian_rule((cuts - centre) / scale)
        logs = p.at(centre + scale * nodes)
        return float(-at[1] - shares @ np.where(np.isneginf(logs), LEAST_LOG, logs))

    found: list[tuple[Vector, float]] = []
    for start in _starts(p, matched):
        result = minimize(objective, start, method="BFGS", options={"gtol": 1e-9, "maxiter": 200})
        at, value = np.asarray(result.x), float(result.fun)
        # two that lie within a fraction of their width are one, told apart by the quadrature's rounding
        known = any(np.abs((at - other) / (math.exp(at[1]), 1.0)).max() < 0.03 for other, _ in found)
        if not known and abs(at[1]) < 20 and _is_minimum(objective, at, value):
            found.append((at, value))
    minima = []
    for at, _ in found:
        law = Normal(matched.mean + at[0] * matched.standard_deviation, matched.variance * math.exp(2.0 * at[1]))
        divergence = divergence_of(_density(law), p)
        if math.isfinite(divergence):
            minima.append((law, divergence))
    if not minima:
        _refuse_infinite()
    return sorted(minima, key=lambda pair: pair[1])


def _refuse_infinite() -> Never:
    refuse(
        "Every normal law puts mass where the target has none, so KL(q‖target) is infinite.",
        'take direction="forward", or a target that is positive on the whole line.',
    )


def _gaussian_rule(cuts: Vector, width: float = 8.0, panels: int = 40, order: int = 10) -> tuple[Vector, Vector]:
    """Nodes and weights for E[f(z)], z standard normal: Gauss–Legendre in panels, with cuts where f may have kinks."""
    x, w = np.polynomial.legendre.leggauss(order)
    edges = np.unique(np.concatenate([np.linspace(-width, width, panels + 1), cuts[np.abs(cuts) < width]]))
    middle, half = 0.5 * (edges[:-1] + edges[1:])[:, None], 0.5 * np.diff(edges)[:, None]
    nodes = (middle + half * x).ravel()
    shares = (half * w).ravel() * np.exp(-0.5 * nodes**2)
    return nodes, shares / shares.sum()


def _starts(p: Density, matched: Normal) -> list[Vector]:
    """Peaks of the target with the width of their curvature, and places over its whole width."""
    sd = matched.standard_deviation
    grid = np.linspace(-5.0, 5.0, 801)
    logs = p.at(matched.mean + grid * sd)
    inner = np.isfinite(logs[1:-1]) & (logs[1:-1] >= logs[:-2]) & (logs[1:-1] >= logs[2:])
    inner &= (logs[1:-1] > logs[:-2]) | (logs[1:-1] > logs[2:])
    peaks = np.flatnonzero(inner) + 1
    step = grid[1] - grid[0]
    starts = []
    for k in peaks[np.argsort(-logs[peaks])][:12]:
        bend = -(logs[k - 1] - 2.0 * logs[k] + logs[k + 1]) / step**2
        width = 1.0 / math.sqrt(bend) if np.isfinite(bend) and bend > 0 else step
        starts.append(np.array([grid[k], math.log(min(max(width, step), 1.0))]))
    for x in p.cuts[:16]:  # where the user, or the law, says that the mass is
        at = (x - matched.mean) / sd
        if abs(at) < 8.0:
            starts.append(np.array([at, math.log(step)]))
    return starts + [np.array([z, s]) for z in (-1.5, -0.75, 0.0, 0.75, 1.5) for s in (-1.0, 0.0)]


def _is_minimum(objective: Any, at: Vector, value: float, step: float = 2e-3) -> bool:
    """Higher on a small circle all around: neither a saddle nor a slope."""
    angles = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)
    around = np.stack([np.cos(angles) * math.exp(at[1]), np.sin(angles)], axis=1)
    return all(objective(at + step * way) > value for way in around)
