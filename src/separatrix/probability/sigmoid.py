"""The sigmoid σ(x) = 1/(1 + exp(−x)), its slope, its logarithm and its inverse.

Exponentials are taken only where they cannot overflow. Each formula is a few correctly
rounded steps on quantities of one sign, so no digits cancel and the relative error
stays a few roundings, down to the subnormal results.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float64]
"""Float64 numbers, of any shape here."""

FAR = -40.0
"""Left of this exp(x) is below 2⁻⁵⁷, and σ(x) = exp(x)·(1 − exp(x) + …) rounds as exp(x) does."""

TINY = 2.0**-60
"""Below this p, logit p = log p + p + … rounds as log p does."""


def sigmoid(x: ArrayLike) -> Vector:
    """σ(x) = 1/(1 + exp(−x)): the probability of the positive class at log-odds x.

    The usual exp(x)/(1 + exp(x)) for x < 0 can step down by a rounding where x goes
    up; 1/(1 + exp(−x)) cannot, unless exp does, so it is kept as far as ``FAR``.
    ``x`` of any shape; the same shape back.

    >>> sigmoid([-800.0, 0.0, np.log(3.0)])
    array([0.  , 0.5 , 0.75])
    """
    x = np.asarray(x, dtype=np.float64)
    with np.errstate(under="ignore"):
        near = np.asarray(1.0 / (1.0 + np.exp(-np.maximum(x, FAR))))
        probability: Vector = np.exp(x, out=near, where=x < FAR)[()]
    return probability


def sigmoid_slope(x: ArrayLike) -> Vector:
    """σ'(x) = σ(x)σ(−x) = e/(1 + e)² with e = exp(−|x|): even, 1/4 at 0 and nowhere more.

    The square is taken as 1 + e·(2 + e): the square of a rounded 1 + e would double its
    rounding, and exceed 1/4 by an ulp beside 0.
    ``x`` of any shape; the same shape back.

    >>> sigmoid_slope([-np.log(3.0), 0.0, 800.0])
    array([0.1875, 0.25  , 0.    ])
    """
    x = np.asarray(x, dtype=np.float64)
    with np.errstate(under="ignore"):
        e = np.exp(-np.abs(x))
        slope: Vector = e / (1.0 + e * (2.0 + e))
    return slope


def log_sigmoid(x: ArrayLike) -> Vector:
    """The logarithm log σ(x) = min(x, 0) − log(1 + e) with e = exp(−|x|): two terms of one sign.

    ``x`` of any shape; the same shape back.

    >>> log_sigmoid([-800.0, 0.0, 40.0])
    array([-8.00000000e+02, -6.93147181e-01, -4.24835426e-18])
    """
    x = np.asarray(x, dtype=np.float64)
    with np.errstate(under="ignore"):
        logarithm: Vector = np.minimum(x, 0.0) - np.log1p(np.exp(-np.abs(x)))
    return logarithm


def logit(p: ArrayLike) -> Vector:
    """log(p/(1 − p)), the log-odds whose probability is p: −∞ at 0, ∞ at 1.

    With q = min(p, 1 − p) the larger odds are (1 − q)/q = 1 + |2p − 1|/q, hence

        logit p = ±log1p(|2p − 1|/q),    + where p > 1/2.

    For p ≥ 1/4 both 2p − 1 and q are exact in floats (Sterbenz), so the quotient is
    the only rounding before log1p and the digits near p = 1/2 survive.
    ``p`` of any shape, within [0, 1]; the same shape back.

    >>> logit([0.0, 0.25, 0.5 + 2.0**-52, 1.0])
    array([           -inf, -1.09861229e+00,  8.88178420e-16,  inf])
    """
    p = np.asarray(p, dtype=np.float64)
    _refuse_outside(p)
    with np.errstate(divide="ignore", over="ignore"):
        distance = np.log1p(np.abs((2.0 * p - 1.0) / np.minimum(p, 1.0 - p)))
        near = np.asarray(np.copysign(distance, p - 0.5))
        # 1/p overflows where p is subnormal
        log_odds: Vector = np.log(p, out=near, where=p < TINY)[()]
    return log_odds


def _refuse_outside(p: Vector) -> None:
    outside = (p < 0.0) | (p > 1.0)
    if not np.any(outside):
        return
    place = tuple(int(i) for i in np.argwhere(outside)[0])
    where = "" if not place else f" at position {place[0] if len(place) == 1 else place}"
    raise ValueError(
        f"The probability{where} is {float(p[place])!r}.\n\n"
        "Hint: logit takes numbers from 0 to 1; sigmoid turns a score into one."
    )
