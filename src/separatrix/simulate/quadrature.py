"""Integrals over one variable, cut at the places where the integrand has kinks."""

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import SupportsFloat

import numpy as np
from scipy.integrate import quad

REACH = 12.0
"""Standard deviations beyond which a normal law has no mass that a float64 would notice."""


def integral(f: Callable[[float], float], cuts: Iterable[float], low: float, high: float) -> float:
    """∫ f from low to high, smooth between the cuts.

    >>> integral(abs, [0.0], -1.0, 2.0)
    2.5
    """
    edges = sorted({low, high, *(float(x) for x in cuts if low < x < high)})
    # full_output: quadrature asks for all the digits there are, and need not warn that there are no more
    return float(sum(quad(f, a, b, epsabs=1e-14, epsrel=1e-12, full_output=1)[0] for a, b in pairwise(edges)))


def normal_average(g: Callable[[float], SupportsFloat], mean: float, scale: float) -> float:
    """E[g(f)] for f ~ N(mean, scale²); g may have a kink at 0 and bends within a few units of it."""
    near = [(at - mean) / scale for at in (-30.0, -3.0, 0.0, 3.0, 30.0)]

    def integrand(z: float) -> float:
        return float(g(mean + scale * z)) * float(np.exp(-0.5 * z * z))

    return integral(integrand, [-3.0, 0.0, 3.0, *near], -REACH, REACH) / float(np.sqrt(2.0 * np.pi))
