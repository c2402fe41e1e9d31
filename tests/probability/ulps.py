"""How far a float64 result is from the true value, in units in the last place."""

import math
import sys
from collections.abc import Callable

import mpmath
import numpy as np

PRECISION = 256
"""Bits of the true values; mpmath's exponents are unbounded, so tiny results keep them all."""

PROMISE = 4.0
"""Units in the last place that no result is further from the truth."""

Exact = Callable[[mpmath.mpf], mpmath.mpf]


def rounded(exact: mpmath.mpf) -> float:
    """The float64 nearest to the true value, subnormals and overflow included."""
    if exact == 0 or mpmath.mag(exact) < -1100:
        return 0.0
    if mpmath.mag(exact) > 1100:
        return math.copysign(math.inf, exact)
    # float(mpf) rounds to 53 bits first and a subnormal twice; a quotient of integers rounds once
    sign, mantissa, exponent, _ = exact._mpf_
    top, bottom = (int(mantissa) << max(exponent, 0)), (1 << max(-exponent, 0))
    try:
        return math.copysign(top / bottom, -1 if sign else 1)
    except OverflowError:
        return math.copysign(math.inf, exact)


def ulps(computed: float, exact: mpmath.mpf) -> float:
    """|computed − exact| in ulps of the correctly rounded exact value; infinity counts as 2¹⁰²⁴."""
    unit = math.ulp(min(abs(rounded(exact)), sys.float_info.max))
    return float(abs(bounded(mpmath.mpf(computed)) - bounded(exact)) / unit)


def bounded(value: mpmath.mpf) -> mpmath.mpf:
    """The value, brought back to ±2¹⁰²⁴ where it is beyond: the float after the largest, were there one."""
    limit = mpmath.mpf(2) ** 1024
    return min(max(value, -limit), limit)


def worst(function: Callable[..., np.ndarray], exact: Exact, points: np.ndarray) -> tuple[float, float]:
    """The largest distance over the points, and the point where it is."""
    with np.errstate(all="raise"):
        computed = function(points)
    with mpmath.workprec(PRECISION):
        distances = [
            ulps(float(value), exact(mpmath.mpf(float(point)))) for value, point in zip(computed, points, strict=True)
        ]
    place = int(np.argmax(distances))
    return distances[place], float(points[place])


def magnitudes(rng: np.random.Generator, count: int, low: int = -1074, high: int = 1024) -> np.ndarray:
    """Positive floats, log-uniform between 2^low and 2^high: by default the whole range."""
    return np.ldexp(rng.uniform(1.0, 2.0, count), rng.integers(low, high, count))


def neighbours(values: list[float], steps: int = 3) -> np.ndarray:
    """The values and the floats next to them on either side."""
    around = [np.array(values, dtype=np.float64)]
    down = up = around[0]
    with np.errstate(over="ignore", under="ignore"):
        for _ in range(steps):
            down, up = np.nextafter(down, -np.inf), np.nextafter(up, np.inf)
            around += [down, up]
    joined = np.concatenate(around)
    return joined[np.isfinite(joined)]


def scores(seed: int) -> np.ndarray:
    """Arguments over the whole line, and more where a sigmoid or a log-loss is hard."""
    rng = np.random.default_rng(seed)
    positive = np.concatenate(
        [
            magnitudes(rng, 400),
            magnitudes(rng, 250, -60, 10),
            rng.uniform(0.0, 1.0, 250),
            rng.uniform(1.0, 36.0, 250),
            rng.uniform(36.0, 38.0, 100),
            rng.uniform(38.0, 708.0, 100),
            rng.uniform(708.0, 745.2, 300),
        ]
    )
    ends = [0.0, 5e-324, sys.float_info.min, 0.5, 1.0, math.log(2.0), 36.75, 37.5, 40.0, sys.float_info.max]
    edges = neighbours([*ends, 708.3964185322641, 709.782712893384, 744.4400719213812, 745.1332191019412, 745.2])
    return np.concatenate([positive, -positive, edges, -edges])


def probabilities(seed: int) -> np.ndarray:
    """Numbers in [0, 1]: spread over all magnitudes, and close to 0, 1/4, 1/2 and 1."""
    rng = np.random.default_rng(seed)
    small = magnitudes(rng, 600, -1074, -1)
    close = magnitudes(rng, 500, -54, -2)
    points = [
        small,
        rng.uniform(0.0, 1.0, 600),
        0.5 - close,
        0.5 + close,
        1.0 - close,
        magnitudes(rng, 300, -1074, -1021),
        neighbours([5e-324, sys.float_info.min, 2.0**-60, 2.0**-54, 0.25, 1 / 3, 0.5, 2 / 3, 0.75, 1.0]),
    ]
    joined = np.concatenate(points)
    return joined[(joined > 0.0) & (joined < 1.0)]
