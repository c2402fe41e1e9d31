"""``separability(X, y)``: can a hyperplane part the classes? The verdict with its proof."""

import time
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from separatrix.certificates.many_classes import ManyClassSeparability
from separatrix.certificates.separability import Separability
from separatrix.core.arrays import AnyArray
from separatrix.core.errors import refuse
from separatrix.core.protocols import SignedRows
from separatrix.core.threads import one_blas_thread
from separatrix.estimators.inputs import block_of, encode, sample_weights
from separatrix.estimators.separating import Search
from separatrix.estimators.signed_rows import ManyClassRows, TwoClassRows


@dataclass(frozen=True)
class TwoClassProblem:
    """``positive`` labels against ``negative`` ones; rows of other labels or no weight are left out."""

    positive: AnyArray
    negative: AnyArray
    fit_intercept: bool
    names: tuple[str, ...]

    def signed_rows(self, X: Any, y: Any, sample_weight: Any = None) -> SignedRows:
        """The signed rows of the data given."""
        block = block_of(X)
        classes = np.sort(np.concatenate([self.negative, self.positive]))
        labels = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
        target = encode(labels, block.shape[0])
        wanted = np.isin(target.classes, classes)
        inside = wanted[target.codes]
        weights = sample_weights(sample_weight, block.shape[0])
        if weights is not None:
            inside &= weights > 0
        codes = np.isin(target.classes, self.positive)[target.codes].astype(np.int32)
        if inside.all():
            return TwoClassRows(block, codes, self.fit_intercept)
        members = np.flatnonzero(inside)
        return TwoClassRows(block, codes[members], self.fit_intercept, members)

    def column_names(self) -> list[str]:
        """A name for each column of the signed rows."""
        return [*self.names, "intercept"] if self.fit_intercept else list(self.names)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "positive": self.positive.tolist(),
            "negative": self.negative.tolist(),
            "fit_intercept": self.fit_intercept,
        }


@dataclass(frozen=True)
class SoftmaxProblem:
    """All classes at once: directions that never lower the score of a row's own class against another."""

    classes: AnyArray
    fit_intercept: bool
    names: tuple[str, ...]

    def signed_rows(self, X: Any, y: Any, sample_weight: Any = None) -> SignedRows:
        """The signed rows of the data given."""
        block = block_of(X)
        weights = sample_weights(sample_weight, block.shape[0])
        if weights is None or (weights > 0).all():
            target = encode(y, block.shape[0], self.classes)
            return ManyClassRows(block, target.codes, len(self.classes), self.fit_intercept)
        # a class may occur in rows without weight only: those are left out before labels are looked up
        members = np.flatnonzero(weights > 0)
        every = encode(y, block.shape[0])
        target = encode(every.classes[every.codes[members]], len(members), self.classes)
        return ManyClassRows(block, target.codes, len(self.classes), self.fit_intercept, members)

    def column_names(self) -> list[str]:
        """A name for each column of the signed rows: class and column, against the first class."""
        own = [*self.names, "intercept"] if self.fit_intercept else list(self.names)
        return [f"{label}: {name}" for label in self.classes[1:].tolist() for name in own]

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {"classes": self.classes.tolist(), "fit_intercept": self.fit_intercept}


def separability(
    X: Any,
    y: Any,
    fit_intercept: bool = True,
    budget: float = 60.0,
    *,
    sample_weight: Any = None,
    others: bool = True,
) -> Separability:
    """Can a hyperplane part the classes? "complete", "quasi" or "overlap", with a proof of either.

    The answer concerns the stored floats, taken as exact fractions. It is the same for
    any order of rows, for repeated rows and columns, and for columns times powers of two. Its proof is
    re-checked by ``verify(X, y)`` without trusting how it was found; see ``Separability``.

    For more than two classes the verdict is about softmax: whether its likelihood has a
    maximum (``kind == "overlap"``). ``verdict.pairs`` and ``verdict.against_rest`` hold the
    verdicts for two classes at a time and for each class against all others.

    Parameters
    ----------
    X : array, data frame or sparse matrix (n × d)
        Read where it lies; integers beyond 2⁵³ as the nearest float64.
    y : n labels
        Two classes or more; one class alone is completely separable where there is a constant.
    fit_intercept : bool, default=True
        Whether the hyperplane has a constant.
    budget : float, default=60
        Seconds after which the answer is "undecided".
    sample_weight : n numbers, optional
        Rows of weight zero are left out; other weights do not matter.
    others : bool, default=True
        With more than two classes, whether to judge pairs and each class against the rest as well.

    >>> verdict = separability([[-1.0], [-2.0], [1.0], [2.0]], [0, 0, 1, 1])
    >>> print(verdict)
    Completely separable: every row lies on its side, at a distance of 1 at least.
    >>> separability([[0.0], [1.0], [2.0]], [0, 1, 0]).rows
    array([0, 1, 2])
    """
    if not isinstance(budget, (int, float)) or not budget >= 0:
        refuse(f"budget is {budget!r}.", "budget is a number of seconds, at least 0.")
    block = block_of(X)
    target = encode(y, block.shape[0])
    weights = sample_weights(sample_weight, block.shape[0])
    present = np.bincount(target.codes, weights, minlength=len(target.classes)) > 0
    classes = target.classes[present]
    labels = y if present.all() else target.classes[target.codes]
    names = (
        tuple(map(str, block.names)) if block.names is not None else tuple(f"column {j}" for j in range(block.shape[1]))
    )
    deadline = time.monotonic() + float(budget)

    def two(positive: AnyArray, negative: AnyArray) -> Separability:
        problem = TwoClassProblem(positive, negative, bool(fit_intercept), names)
        with one_blas_thread():
            return Search(problem.signed_rows(X, labels, weights), problem, deadline).run()

    if len(classes) <= 2:
        return two(classes[-1:], classes[:-1])
    problem = SoftmaxProblem(classes, bool(fit_intercept), names)
    with one_blas_thread():
        rows = problem.signed_rows(X, y, weights)
        whole = Search(rows, problem, deadline).run()
    if not others:
        return whole
    plain = classes.tolist()
    return ManyClassSeparability(
        **{f.name: getattr(whole, f.name) for f in fields(whole)},
        pairs={(plain[a], plain[b]): two(classes[b : b + 1], classes[a : a + 1])
               for a in range(len(plain)) for b in range(a + 1, len(plain))},
        against_rest={label: two(classes[k : k + 1], np.delete(classes, k)) for k, label in enumerate(plain)},
    )  # fmt: skip
