"""``separability(X, y)``: can a hyperplane part the classes? The verdict with its proof."""

import time
from dataclasses import replace
from typing import Any

import numpy as np

from separatrix.certificates.separability import MOST_CLASSES, Separability
from separatrix.core.arrays import Codes, Positions, Vector
from separatrix.core.errors import OutOfTime
from separatrix.core.parameters import FLAG, SECONDS, check_value
from separatrix.core.protocols import Engine
from separatrix.kernels.threads import thread_limit
from separatrix.models.class_rows import class_counts, members_of
from separatrix.models.labels import Target, block_of, encode, open_table, sample_weights
from separatrix.models.separability.findings import out_of_time
from separatrix.models.separability.problem import (
    SoftmaxProblem,
    TwoClassProblem,
    check_finite,
    plain_labels,
)
from separatrix.models.separability.search import Search
from separatrix.models.separability.set_aside import columns_aside


def separability(
    X: Any,
    y: Any,
    fit_intercept: bool = True,
    budget: float = 60.0,
    *,
    sample_weight: Any = None,
    others: bool = True,
    exact: bool = False,
    n_jobs: int | None = None,
) -> Separability:
    """Can a hyperplane part the classes? "complete", "quasi" or "overlap", with a proof of either.

    The answer concerns the stored floats, taken as exact fractions. It is the same for
    any order of rows, for repeated rows and columns, and for columns times powers of two. Its proof is
    re-checked by ``verify(X, y)`` without trusting how it was found; see ``Separability``.

    Columns that are combinations of others to the rounding of their decimals, and not exactly, are set aside first
    (``verdict.set_aside``): what lives on that rounding is of no use. ``exact=True`` leaves them in.

    For more than two classes the verdict is about softmax: whether its likelihood has a
    maximum (``kind == "overlap"``). ``verdict.pairs`` and ``verdict.against_rest`` hold the
    verdicts for two classes at a time and for each class against all others; of more than a hundred classes
    neither, because they are thousands.

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
    exact : bool, default=False
        Whether to ask about the stored floats of all columns, nearly dependent ones included.
    n_jobs : int, optional
        At most so many threads; None and -1 mean all there are. The verdict does not depend on it.

    >>> verdict = separability([[-1.0], [-2.0], [1.0], [2.0]], [0, 0, 1, 1])
    >>> print(verdict)
    Completely separable: every row lies on its side, at a distance of 1 at least.
    >>> separability([[0.0], [1.0], [2.0]], [0, 1, 0]).rows
    array([0, 1, 2])
    """
    for name, value in (("fit_intercept", fit_intercept), ("others", others), ("exact", exact)):
        check_value(name, value, FLAG)
    check_value("budget", budget, SECONDS)
    with thread_limit(n_jobs):
        deadline = time.monotonic() + float(budget)
        block = block_of(X)
        target = encode(y, block.shape[0])
        weights = sample_weights(sample_weight, block.shape[0])
        table = open_table(block)
        check_finite(table, None if weights is None else np.flatnonzero(weights))
        return judged(table, target, weights, bool(fit_intercept), deadline, others, exact)


def judged(
    table: Engine,
    target: Target,
    weights: Vector | None,
    fit_intercept: bool,
    deadline: float,
    others: bool = True,
    exact: bool = False,
) -> Separability:
    """The verdict on rows that are finite and labels that are encoded already."""
    live = None if weights is None or (weights > 0).all() else weights > 0
    counts = class_counts(target.codes, len(target.classes), live)
    present, names = counts > 0, table.titles
    classes = target.classes[present]

    def decide(problem: TwoClassProblem | SoftmaxProblem, codes: Codes, members: Positions | None) -> Separability:
        rows = problem.rows(table, codes, members)
        if time.monotonic() > deadline:
            return out_of_time(rows, problem)
        if not exact:
            try:
                aside = columns_aside(table, members, problem.fit_intercept, deadline)
            except OutOfTime:
                return out_of_time(rows, problem)
            if aside:
                problem = replace(problem, set_aside=aside)
                rows = problem.rows(table, codes, members)
        return Search.over(rows, problem, deadline).run()

    def two(positive: list[int], negative: list[int]) -> Separability:
        problem = TwoClassProblem(
            fit_intercept, names, positive=target.classes[positive], negative=target.classes[negative]
        )
        inside = rows_of(positive + negative)
        side = np.zeros(len(target.classes), dtype=np.int32)
        side[positive] = 1
        if inside is None and side.tolist() == [0, 1]:
            return decide(problem, target.codes, None)
        return decide(problem, side[target.codes if inside is None else target.codes[inside]], inside)

    there = np.flatnonzero(present).tolist()
    rows_of = members_of(target.codes, len(target.classes), live, sorted_once=others and len(there) > 2)
    if len(there) <= 2:
        return two(there[-1:], there[:-1])
    softmax = SoftmaxProblem(fit_intercept, names, classes=classes)
    members = None if live is None else np.flatnonzero(live)
    codes = (np.cumsum(present) - 1).astype(np.int32)[target.codes]
    whole = decide(softmax, codes if members is None else codes[members], members)
    if not others or len(there) > MOST_CLASSES:
        return whole
    plain = plain_labels(classes)
    return replace(
        whole,
        pairs={(plain[a], plain[b]): two([there[b]], [there[a]])
               for a in range(len(plain)) for b in range(a + 1, len(plain))},
        against_rest={label: two([there[k]], there[:k] + there[k + 1 :]) for k, label in enumerate(plain)},
    )  # fmt: skip
