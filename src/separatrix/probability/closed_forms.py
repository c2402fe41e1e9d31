"""Cross-entropy and KL divergence between two laws of one family, in closed form."""

import math
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import xlog1py, xlogy

from separatrix.probability.bernoulli import Bernoulli
from separatrix.probability.categorical import Categorical
from separatrix.probability.multivariate import MultivariateNormal
from separatrix.probability.normal import LOG_2PI, Normal
from separatrix.probability.sigmoid import Vector
from separatrix.probability.simplex import refuse

Law = Bernoulli | Categorical | Normal | MultivariateNormal


def law_cross_entropy(p: Law, q: Law) -> float:
    """−E_p[log q]."""
    if isinstance(p, Bernoulli) and isinstance(q, Bernoulli):
        return 0.0 - float(xlogy(p.p, q.p) + xlog1py(1.0 - p.p, -q.p))
    if isinstance(p, Categorical) and isinstance(q, Categorical):
        a, b = aligned(p, q)
        return 0.0 - float(xlogy(a, b).sum())
    if isinstance(p, Normal) and isinstance(q, Normal):
        away = p.variance + (p.mean - q.mean) ** 2
        return 0.5 * (LOG_2PI + math.log(q.variance) + away / q.variance)
    spread, shift = _whitened(p, q)
    return 0.5 * (q.dimension * LOG_2PI + q.log_determinant + spread + shift)  # type: ignore[union-attr]


def law_divergence(p: Law, q: Law) -> float:
    """E_p[log p − log q] ≥ 0, and 0 only if the laws are the same."""
    if isinstance(p, Bernoulli) and isinstance(q, Bernoulli):
        ratio = log_ratio(np.array([p.p, 1.0 - p.p]), np.array([q.p, 1.0 - q.p]))
        return max(0.0, float(ratio.sum()))
    if isinstance(p, Categorical) and isinstance(q, Categorical):
        return max(0.0, float(log_ratio(*aligned(p, q)).sum()))
    if isinstance(p, Normal) and isinstance(q, Normal):
        # r − 1 − log r with r the ratio of variances, from r − 1 so that close laws keep their digits
        excess = (p.variance - q.variance) / q.variance
        rest = (p.mean - q.mean) ** 2 / q.variance
        return max(0.0, 0.5 * (excess - math.log1p(excess) + rest)) if excess > -1 else math.inf
    spread, shift = _whitened(p, q)
    logs = q.log_determinant - p.log_determinant  # type: ignore[union-attr]
    return max(0.0, 0.5 * (spread - q.dimension + shift + logs))  # type: ignore[union-attr]


def log_ratio(p: Vector, q: Vector) -> Vector:
    """P log(p/q) value by value: 0 where p = 0, ∞ where q = 0 < p; close values keep their digits."""
    p, q = np.broadcast_arrays(p, q)
    with np.errstate(all="ignore"):
        close = p * np.log1p((p - q) / q)
        far = p * (np.log(p) - np.log(q))
        ratio = p / q
    terms: Vector = np.where((ratio > 0.5) & (ratio < 2.0), close, far)
    return np.where(p == 0.0, 0.0, np.where(q == 0.0, np.inf, terms))


def aligned(p: Categorical, q: Categorical) -> tuple[Vector, Vector]:
    """The probabilities of two laws over the same states, in p's order."""
    ours, theirs = p.states or (), q.states or ()
    if set(ours) != set(theirs):
        strange = next(iter(set(ours) ^ set(theirs)))
        refuse(f"The state {strange!r} belongs to only one of the two laws.", "give both laws the same states.")
    return p.probabilities, np.asarray(q.pmf(np.array(ours, dtype=object)))


def same_family(p: Any, q: Any) -> bool:
    """Whether both are laws, of one kind; of two kinds, only densities on the line can be compared."""
    laws = [isinstance(law, Law) for law in (p, q)]
    if all(laws) and type(p) is type(q):
        return True
    discrete = next((law for law in (p, q) if isinstance(law, Bernoulli | Categorical | MultivariateNormal)), None)
    if discrete is not None:
        other = q if discrete is p else p
        refuse(
            f"A {type(discrete).__name__} law is compared with a {type(other).__name__}.",
            "give two laws of one kind.",
        )
    return False


def _whitened(p: Any, q: Any) -> tuple[float, float]:
    """tr(Σq⁻¹Σp) and the squared distance of the means in Σq⁻¹."""
    if p.dimension != q.dimension:
        refuse(f"One law has {p.dimension} coordinates, the other {q.dimension}.", "compare laws on the same space.")
    half = solve_triangular(q._root, p._root, lower=True)
    return float(np.sum(half**2)), float(q.mahalanobis(p.mean)) ** 2
