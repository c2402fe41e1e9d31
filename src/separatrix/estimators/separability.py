"""``separability(X, y)``: can a hyperplane part the classes? The verdict with its proof."""

import time
from dataclasses import replace
from typing import Any

import numpy as np

from separatrix.certificates.separability import Separability
from separatrix.core.arrays import AnyArray
from separatrix.core.errors import OutOfTime
from separatrix.core.parameters import FLAG, SECONDS, check_value
from separatrix.estimators.inputs import block_of, encode, sample_weights
from separatrix.estimators.separability_problem import (
    SoftmaxProblem,
    TwoClassProblem,
    check_finite,
    column_titles,
    plain_labels,
)
from separatrix.estimators.separating import Search
from separatrix.estimators.set_aside import columns_aside

def separability(
    X: Any,
    y: Any,
    fit_intercept: bool = True,
    budget: float = 60.0,
    *,
    sample_weight: Any = None,
    others: bool = True,
    exact: bool = False,
) -> Separability:
    """Can a hyperplane part the classes? "complete", "quasi" or "overlap", with a proof of either.

    The answer concerns the stored floats, taken as exact fractions. It is the same for
    any order of rows, for repeated rows and columns, and for columns times powers of two. Its proof is
    re-checked by ``verify(X, y)`` without trusting how it was found; see ``Separability``.

    Columns that are combinations of others to the rounding of their decimals, and not exactly, are set aside first
    (``verdict.set_aside``): what lives on that rounding is of no use. ``exact=True`` leaves them in.

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
    exact : bool, default=False
        Whether to ask about the stored floats of all columns, nearly dependent ones included.

    >>> verdict = separability([[-1.0], [-2.0], [1.0], [2.0]], [0, 0, 1, 1])
    >>> print(verdict)
    Completely separable: every row lies on its side, at a distance of 1 at least.
    >>> separability([[0.0], [1.0], [2.0]], [0, 1, 0]).rows
    array([0, 1, 2])
    """
    for name, value in (("fit_intercept", fit_intercept), ("others", others), ("exact", exact)):
        check_value(name, value, FLAG)
    check_value("budget", budget, SECONDS)
    block = block_of(X)
    target = encode(y, block.shape[0])
    weights = sample_weights(sample_weight, block.shape[0])
    check_finite(block, None if weights is None else np.flatnonzero(weights))
    present = np.bincount(target.codes, weights, minlength=len(target.classes)) > 0
    classes = target.classes[present]
    labels = y if present.all() else target.classes[target.codes]
    names = column_titles(block)
    deadline = time.monotonic() + float(budget)

    def decide(problem: TwoClassProblem | SoftmaxProblem, given: Any) -> Separability:
        _, codes, members, _ = problem.over(block, given, weights)
        if not exact:
            try:
                aside = columns_aside(block, members, problem.fit_intercept, deadline)
                problem = replace(problem, set_aside=aside)
            except OutOfTime:
                return Search(problem.rows(block, codes, members), problem, deadline).undecided()
        return Search(problem.rows(block, codes, members), problem, deadline).run()

    def two(positive: AnyArray, negative: AnyArray) -> Separability:
        return decide(TwoClassProblem(bool(fit_intercept), names, positive=positive, negative=negative), labels)

    if len(classes) <= 2:
        return two(classes[-1:], classes[:-1])
    whole = decide(SoftmaxProblem(bool(fit_intercept), names, classes=classes), y)
    if not others:
        return whole
    plain = plain_labels(classes)
    return replace(
        whole,
        pairs={(plain[a], plain[b]): two(classes[b : b + 1], classes[a : a + 1])
               for a in range(len(plain)) for b in range(a + 1, len(plain))},
        against_rest={label: two(classes[k : k + 1], np.delete(classes, k)) for k, label in enumerate(plain)},
    )  # fmt: skip
