"""The certificate that a solved logistic problem states."""

from typing import Any

import numpy as np

from separatrix.certificates.gap import GapCertificate
from separatrix.certificates.optimum import OptimumCertificate
from separatrix.certificates.subgradient import SubgradientCertificate
from separatrix.models.logistic.choice import MANY_COLUMNS
from separatrix.models.logistic.fitting import Solved
from separatrix.models.logistic.problem import LogisticProblem
from separatrix.terms.penalised import PenalisedLoss


def certificate_of(
    solved: Solved, problem: LogisticProblem, objective: PenalisedLoss, alpha: float, tol: float, X: Any
) -> OptimumCertificate | GapCertificate:
    """What is claimed of the weights found, by the kind of proof that was found with them; X has the columns' names."""
    from separatrix.models.logistic.proof import stated_value

    outcome = solved.outcome
    if alpha > 0.0 or solved.dual:
        rows = solved.raw.reshape(problem.outputs, -1)
        coef = rows[:, :-1] if problem.fit_intercept else rows
        value = stated_value(objective, solved.raw, outcome.evaluation) + alpha * float(np.abs(coef).sum())
        stated = (outcome.bound, tol, value, solved.raw, problem)
        nonzero = int(np.count_nonzero(coef))
        if solved.way is None:
            return GapCertificate(*stated, nonzero=nonzero)
        how = (solved.typical, solved.way, objective.engine.rows, objective.shift)
        return SubgradientCertificate(*stated, "subgradient", nonzero, *how)
    aliased: tuple[str, ...] = ()
    if solved.involved is not None:
        from separatrix.models.logistic.proof import named

        aliased = named(X, solved.involved)
    # by way of an anchor it is measured already
    anchored = solved.anchor is not None
    value = outcome.evaluation.value if anchored else stated_value(objective, solved.raw, outcome.evaluation)
    claim = (outcome.bound, tol, value, solved.raw, problem)
    shift = objective.shift if solved.shift is None else solved.shift
    witness = (solved.direction, shift, solved.keep, aliased)
    if solved.anchor is not None:
        from separatrix.certificates.anchored import AnchoredCertificate

        return AnchoredCertificate(*claim, *witness, anchor=solved.anchor, _rows=objective.engine.rows)
    return OptimumCertificate(*claim, *witness, _rows=objective.engine.rows)


def magnified(outcome: Any) -> float:
    """The largest Hⱼⱼ(H⁻¹)ⱼⱼ: how far columns that nearly depend on each other magnify rounding; 1 where unknown."""
    factor = getattr(outcome, "factor", None)
    if factor is None or len(factor.diagonal) > MANY_COLUMNS:
        return 1.0
    return float(np.max(factor.diagonal * np.square(factor.inverse_lengths)))
