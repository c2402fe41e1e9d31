"""The objective that judges every contender, computed with NumPy alone."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

BLOCK = 1 << 16  # rows that are converted to float64 at a time


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """F(w, b) = C Σ log(1 + exp(−sᵢ(⟨w, xᵢ⟩ + b))) + ‖w‖²/2 over rows X (n × d) and labels y of 0 and 1.

    This is scikit-learn's objective: the intercept b is not penalised.
    """

    X: Any
    y: Any
    C: float = 1.0
    fit_intercept: bool = True

    def objective(self, coef: Any, intercept: float) -> np.longdouble:
        """F at (w, b): margins in float64, sums in long double.

        >>> Problem(np.ones((3, 1)), np.array([0, 1, 1])).objective(np.zeros(1), 0.0) / np.log(2)
        np.longdouble('3.0')
        """
        w = np.ravel(coef).astype(np.float64)
        sign = 2.0 * np.asarray(self.y) - 1.0
        loss = np.longdouble(0.0)
        for start in range(0, len(sign), BLOCK):
            rows = slice(start, start + BLOCK)
            margin = sign[rows] * (_as_float64(self.X[rows]) @ w + intercept)
            loss += np.sum(np.logaddexp(0.0, -margin), dtype=np.longdouble)
        return self.C * loss + np.sum(w * w, dtype=np.longdouble) / 2


def _as_float64(rows: Any) -> Any:
    return rows.astype(np.float64) if issparse(rows) else np.asarray(rows, dtype=np.float64)
