"""The objectives that judge every contender, computed with NumPy alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.sparse import issparse

BLOCK = 1 << 16  # rows that are converted to float64 at a time


class Judge(Protocol):
    """What says how good weights are."""

    def objective(self, coef: Any, intercept: Any) -> Any:
        """One number, or one for each of several penalties; smaller is better."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """F(w, b) = C Σ log(1 + exp(−sᵢ(⟨w, xᵢ⟩ + b))) + R(w) over rows X (n × d) and labels y of 0 and 1.

    R(w) is ‖w‖²/2, or ‖w‖₁ with ``l1_ratio`` 1. This is scikit-learn's objective: the
    intercept b is not penalised.
    """

    X: Any
    y: Any
    C: float = 1.0
    fit_intercept: bool = True
    l1_ratio: float = 0.0

    def objective(self, coef: Any, intercept: Any) -> np.longdouble:
        """F at (w, b): margins in float64, sums in long double.

        >>> Problem(np.ones((3, 1)), np.array([0, 1, 1])).objective(np.zeros(1), 0.0) / np.log(2)
        np.longdouble('3.0')
        """
        w = np.ravel(coef).astype(np.float64)
        sign = 2.0 * np.asarray(self.y) - 1.0
        loss = np.longdouble(0.0)
        for rows in _blocks(len(sign)):
            margin = sign[rows] * (_as_float64(self.X[rows]) @ w + intercept)
            loss += np.sum(np.logaddexp(0.0, -margin), dtype=np.longdouble)
        return self.C * loss + self._penalty(w)

    def _penalty(self, w: Any) -> np.longdouble:
        if self.l1_ratio not in (0.0, 1.0):
            raise NotImplementedError(f"an l1_ratio of {self.l1_ratio}")
        if self.l1_ratio:
            return np.sum(np.abs(w), dtype=np.longdouble)
        return np.sum(w * w, dtype=np.longdouble) / 2


@dataclass(frozen=True, slots=True, eq=False)
class PathProblem:
    """The same rows with each of several penalties C: one F and one row of weights for each."""

    X: Any
    y: Any
    Cs: Any
    l1_ratio: float = 1.0

    def objective(self, coef: Any, intercept: Any) -> Any:
        """F at every C, from weights (C × d) and intercepts (C)."""
        pairs = zip(self.Cs, coef, intercept, strict=True)
        return np.array([self.at(C).objective(w, b) for C, w, b in pairs])

    def at(self, C: float) -> Problem:
        """The problem with this C."""
        return Problem(self.X, self.y, C, l1_ratio=self.l1_ratio)


@dataclass(frozen=True, slots=True, eq=False)
class SoftmaxProblem:
    """F(W, b) = C Σ (log Σₖ exp zᵢₖ − zᵢᵧ) + ‖W‖²/2 with z = X Wᵀ + b, and labels y of 0 to K − 1."""

    X: Any
    y: Any
    C: float = 1.0
    fit_intercept: bool = True
    l1_ratio: float = 0.0  # always: it is here because the contenders ask for it

    def objective(self, coef: Any, intercept: Any) -> np.longdouble:
        """F at (W, b): scores in float64, sums in long double.

        >>> problem = SoftmaxProblem(np.ones((3, 1)), np.array([0, 1, 2]))
        >>> round(float(problem.objective(np.zeros((3, 1)), np.zeros(3)) / np.log(3)), 12)
        3.0
        """
        W = np.asarray(coef, dtype=np.float64)
        loss = np.longdouble(0.0)
        for rows in _blocks(len(self.y)):
            z = _as_float64(self.X[rows]) @ W.T + intercept
            of_label = np.take_along_axis(z, self.y[rows, np.newaxis], axis=1)[:, 0]
            loss += np.sum(np.logaddexp.reduce(z, axis=1) - of_label, dtype=np.longdouble)
        return self.C * loss + np.sum(W * W, dtype=np.longdouble) / 2


def _blocks(rows: int) -> Iterator[slice]:
    return (slice(start, start + BLOCK) for start in range(0, rows, BLOCK))


def _as_float64(rows: Any) -> Any:
    return rows.astype(np.float64) if issparse(rows) else np.asarray(rows, dtype=np.float64)
