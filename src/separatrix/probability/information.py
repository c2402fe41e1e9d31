"""Self-information, entropy, cross-entropy and KL divergence, in natural logarithms (nats).

    I(x) = −log p(x)                 how surprising x is
    H(p) = E_p[−log p]               how surprising p is on average
    H(p, q) = E_p[−log q]            the surprise of one who believes q
    KL(p‖q) = H(p, q) − H(p) ≥ 0     what believing q costs (Gibbs); 0 only for p = q

Over n outcomes 0 ≤ H ≤ log n. For densities sums become integrals, H may be negative,
and of all densities with a given mean and variance the normal has the greatest H. An
outcome with p = 0 adds nothing (0·log 0 = 0); q = 0 < p makes H(p, q) and KL infinite.

Each function takes probabilities along an axis, one of this module's laws (closed
form), or densities (by quadrature): functions with an ``interval``, infinite too, or
frozen continuous laws of SciPy. A density that underflows to zero where the other has
mass above 1e-10 counts as zero there; give its logarithm (``log=True``) if it is not.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr, xlogy

from separatrix.probability.closed_forms import Law, law_cross_entropy, law_divergence, log_ratio, same_family
from separatrix.probability.density import cross_entropy_of, density_of, divergence_of
from separatrix.probability.sigmoid import Vector
from separatrix.probability.simplex import finite, first, refuse, simplex

Interval = tuple[float, float]


def self_information(p: ArrayLike) -> Vector:
    """−log p, value by value: 0 for the certain, ∞ for the impossible.

    >>> self_information([1.0, 0.5, 0.0])
    array([0.        , 0.69314718,        inf])
    """
    array = finite(p, "p")
    outside = (array < 0.0) | (array > 1.0)
    if outside.any():
        refuse(f"p is {float(array[first(outside)])!r}.", "a probability lies between 0 and 1.")
    with np.errstate(divide="ignore"):
        answer: Vector = 0.0 - np.log(array)
    return answer


def entropy(
    p: Any, axis: int = -1, *, interval: Interval | None = None, log: bool = False, points: Sequence[float] = ()
) -> Vector:
    """H(p) = −Σ p log p, or −∫ p log p.

    >>> entropy([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])
    array([0.69314718, 0.        ])
    >>> entropy(lambda x: 4.0, interval=(0, 0.25)).round(6)  # log of the length; negative
    np.float64(-1.386294)
    """
    if isinstance(p, Law):
        return np.float64(p.entropy())  # type: ignore[return-value]
    if _is_density(p):
        only = density_of(p, interval, log, points, "p")
        return np.float64(cross_entropy_of(only, only))  # type: ignore[return-value]
    answer: Vector = entr(simplex(p, axis)).sum(axis=axis)
    return answer


def cross_entropy(
    p: Any, q: Any, axis: int = -1, *, interval: Interval | None = None, log: bool = False, points: Sequence[float] = ()
) -> Vector:
    """H(p, q) = −Σ p log q, or −∫ p log q.

    >>> cross_entropy([0.5, 0.5, 0.0], [0.25, 0.75, 0.0])
    np.float64(0.8369882167858358)
    """
    pair = _pair(p, q, axis, law_cross_entropy, cross_entropy_of, interval, log, points)
    if not isinstance(pair, tuple):
        return pair
    answer: Vector = 0.0 - xlogy(*pair).sum(axis=axis)
    return answer


def kl_divergence(
    p: Any, q: Any, axis: int = -1, *, interval: Interval | None = None, log: bool = False, points: Sequence[float] = ()
) -> Vector:
    """KL(p‖q) = Σ p log(p/q), or ∫ p log(p/q): not symmetric.

    >>> from separatrix.probability import Normal
    >>> kl_divergence(Normal(0, 1), Normal(0, 4)).round(6), kl_divergence(Normal(0, 4), Normal(0, 1)).round(6)
    (np.float64(0.318147), np.float64(0.806853))
    >>> kl_divergence([0.5, 0.5], [1.0, 0.0])
    np.float64(inf)
    """
    pair = _pair(p, q, axis, law_divergence, divergence_of, interval, log, points)
    if not isinstance(pair, tuple):
        return pair
    a, b = (part / part.sum(axis=axis, keepdims=True) for part in pair)
    answer: Vector = np.maximum(log_ratio(a, b).sum(axis=axis), 0.0)
    return answer


def _pair(
    p: Any,
    q: Any,
    axis: int,
    of_laws: Callable[[Any, Any], float],
    of_densities: Callable[[Any, Any], float],
    interval: Interval | None,
    log: bool,
    points: Sequence[float],
) -> Vector | tuple[Vector, Vector]:
    """The answer for two laws or densities; two arrays of probabilities that fit each other otherwise."""
    if isinstance(p, Law) or isinstance(q, Law) or _is_density(p) or _is_density(q):
        if same_family(p, q):
            return np.float64(of_laws(p, q))  # type: ignore[return-value]
        ours, theirs = (density_of(law, interval, log, points, name) for law, name in ((p, "p"), (q, "q")))
        return np.float64(of_densities(ours, theirs))  # type: ignore[return-value]
    a, b = simplex(p, axis, "p"), simplex(q, axis, "q")
    if a.shape[axis] != b.shape[axis]:
        refuse(f"p has {a.shape[axis]} outcomes, but q has {b.shape[axis]}.", "compare laws over the same outcomes.")
    try:
        np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        refuse(f"p has the shape {a.shape}, but q {b.shape}.", "give shapes that fit each other.")
    return a, b


def _is_density(given: Any) -> bool:
    return callable(given) or hasattr(given, "logpdf")
