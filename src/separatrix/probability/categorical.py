"""The categorical law: one of n outcomes, which may have names."""

import contextlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr

from separatrix.probability.sigmoid import Vector
from separatrix.probability.simplex import refuse, simplex, weights_for, whole


@dataclass(frozen=True, eq=False)
class Categorical:
    """P(state k) = pₖ. As a vector with a one at the state's place, the outcome has mean p.

    The entries of that vector have the variances pₖ(1 − pₖ), and together the covariance
    diag(p) − ppᵀ. The likelihood of a sample is ∏ pₖ^nₖ, so the maximum is at the
    frequencies pₖ = nₖ/n.

    >>> law = Categorical.fit(["rain", "sun", "sun", "sun"])
    >>> law.states, law.probabilities
    (('rain', 'sun'), array([0.25, 0.75]))
    >>> law.pmf("sun")
    np.float64(0.75)
    """

    probabilities: Vector
    states: Sequence[Any] | None = None
    _place: dict[Any, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        p = simplex(self.probabilities, name="probabilities")
        if p.ndim != 1:
            refuse(f"probabilities have {p.ndim} axes.", "a categorical law has one row of probabilities.")
        p = p / p.sum()
        p.flags.writeable = False
        states = tuple(range(len(p))) if self.states is None else tuple(self.states)
        if len(states) != len(p):
            refuse(f"There are {len(p)} probabilities, but {len(states)} states.", "name each outcome once.")
        if not all(isinstance(state, Hashable) for state in states):
            refuse(f"The states {list(states)} cannot be looked up.", "name them with strings, numbers or tuples.")
        place = {state: k for k, state in enumerate(states)}
        if len(place) != len(states):
            twice = next(state for k, state in enumerate(states) if place[state] != k)
            refuse(f"The state {twice!r} is named twice.", "name each outcome once.")
        for name, value in (("probabilities", p), ("states", states), ("_place", place)):
            object.__setattr__(self, name, value)

    @classmethod
    def fit(cls, x: ArrayLike, weights: ArrayLike | None = None, states: Sequence[Any] | None = None) -> Self:
        """The frequencies of a sample, over its sorted values or over the ``states`` given."""
        sample = _as_states(x).ravel()
        share = weights_for(weights, len(sample))
        values, codes = _distinct(sample)
        if any(value is None or value != value for value in values):
            refuse("x has a missing value.", "drop what is missing, or give it a state of its own.")
        sums: Vector = np.bincount(codes, share, minlength=len(values)).astype(np.float64)
        if states is None:
            return cls(sums, values)
        known = {state: k for k, state in enumerate(states)}
        strange = next((value for value in values if value not in known), None)
        if strange is not None:
            refuse(f"x has the value {strange!r}, which is not among the states {list(states)}.", "name every value.")
        p = np.zeros(len(known))
        p[[known[value] for value in values]] = sums
        return cls(p, states)

    @property
    def mean(self) -> Vector:
        """The mean of the vector with a one at the state's place: p."""
        return self.probabilities

    @property
    def variance(self) -> Vector:
        """The variances pₖ(1 − pₖ) of that vector's entries."""
        return self.probabilities * (1.0 - self.probabilities)

    @property
    def covariance(self) -> Vector:
        """The covariance diag(p) − ppᵀ of that vector: singular, for its entries sum to one."""
        return np.diag(self.probabilities) - np.outer(self.probabilities, self.probabilities)

    def pmf(self, x: Any) -> Vector:
        """P(x) of one state or an array of states; what is no state has probability zero."""
        if isinstance(x, tuple) and x in self._place:  # a state that is itself a tuple
            return self.probabilities[self._place[x]]  # type: ignore[no-any-return]
        values = _as_states(x)
        places = [self._place.get(value, -1) for value in values.ravel().tolist()]
        padded = np.append(self.probabilities, 0.0)
        answer: Vector = padded[places].reshape(values.shape)[()]
        return answer

    def log_pmf(self, x: Any) -> Vector:
        """Log P(x): −∞ for what cannot happen."""
        with np.errstate(divide="ignore"):
            answer: Vector = np.log(self.pmf(x))
        return answer

    def entropy(self) -> float:
        """−Σ pₖ log pₖ: between 0 and log n.

        >>> Categorical([0.25] * 4).entropy() == np.log(4.0)
        np.True_
        """
        return float(entr(self.probabilities).sum())

    def sample(self, n: int, seed: int | None = None) -> NDArray[Any]:
        """Draw n states."""
        edges = np.cumsum(self.probabilities)
        codes = np.searchsorted(edges, np.random.default_rng(seed).random(whole(n)) * edges[-1], side="right")
        # the last edge is not reached, but may be rounded to
        last = int(np.flatnonzero(self.probabilities)[-1])
        names: NDArray[Any] = np.array(self.states)
        if names.ndim != 1:  # states that are themselves sequences
            names = np.empty(len(edges), dtype=object)
            names[:] = list(self.states or ())
        drawn: NDArray[Any] = names[np.minimum(codes, last)]
        return drawn


def _as_states(x: Any) -> NDArray[Any]:
    """Values as they are: NumPy would turn [1, "a"] into two strings."""
    array = np.asarray(x)
    return array if array.dtype.kind in "biufO" or isinstance(x, np.ndarray) else np.array(x, dtype=object)


def _distinct(sample: NDArray[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    """The different values, sorted if they can be, and the place of each observation among them."""
    if sample.dtype.kind != "O":
        found, codes = np.unique(sample, return_inverse=True)
        return found.tolist(), codes
    values = list(dict.fromkeys(sample.tolist()))
    with contextlib.suppress(TypeError):
        values.sort()
    place = {value: k for k, value in enumerate(values)}
    return values, np.array([place[value] for value in sample.tolist()], dtype=np.intp)
