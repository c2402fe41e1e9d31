"""Whether two classes can be separated by a hyperplane: a stand-in by linear programming, to be replaced.

Maximise Σ min(1, s⟨w, x⟩) subject to s⟨w, x⟩ ≥ 0: all rows reach 1 when the classes are completely separable,
some when quasi-completely, none when they overlap.
"""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy.optimize import linprog

from separatrix.core.arrays import Vector
from separatrix.core.errors import CertificateError
from separatrix.engines import block_of


@dataclass(frozen=True)
class Separability:
    """The verdict: "complete", "quasi", "overlap" or "undecided"."""

    kind: str
    direction: Vector | None = field(default=None, repr=False)
    rows: Any = field(default=None, repr=False)
    multipliers: Any = field(default=None, repr=False)
    met: bool = True
    fit_intercept: bool = True

    def __str__(self) -> str:
        return f"The classes are {self.kind}."

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {"kind": self.kind, "met": self.met}

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Decide again."""
        if separability(X, y, self.fit_intercept).kind != self.kind:
            raise CertificateError(f"The classes of this data are not {self.kind}.")
        return self

    def max_margin(self) -> Any:
        """Not part of the stand-in."""
        raise NotImplementedError


def separability(X: Any, y: Any, fit_intercept: bool = True, budget: float = 60.0) -> Separability:
    """The verdict on labelled rows."""
    block = block_of(X)
    values = block.take(np.arange(block.shape[0]))
    A = np.asarray(values.toarray() if block.sparse else values, dtype=np.float64)
    A = A / np.maximum(np.abs(A).max(axis=0), 1e-300)
    if fit_intercept:
        A = np.column_stack([A, np.ones(len(A))])
    labels = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    S = np.where(labels == np.unique(labels)[-1], 1.0, -1.0)[:, None] * A
    n, p = S.shape
    cost = np.concatenate([np.zeros(p), -np.ones(n)])
    answer = linprog(
        cost,
        A_ub=np.column_stack([-S, np.eye(n)]),
        b_ub=np.zeros(n),
        bounds=[(None, None)] * p + [(0, 1)] * n,
        options={"time_limit": budget},
    )
    if not answer.success:
        return Separability("undecided", met=False, fit_intercept=fit_intercept)
    reached = int((answer.x[p:] > 0.5).sum())
    kind = "complete" if reached == n else "quasi" if reached else "overlap"
    return Separability(kind, answer.x[:p] if reached else None, fit_intercept=fit_intercept)
