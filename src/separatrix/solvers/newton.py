"""Newton's method with the full Hessian, Cholesky-factorised at every point."""

from separatrix.core.arrays import Positions, Vector
from separatrix.core.factor import factorise, nudged
from separatrix.core.protocols import Evaluation, Objective
from separatrix.core.stop import Stop
from separatrix.solvers.line_search import backtrack
from separatrix.solvers.outcome import Judge, Outcome, Patience


def newton(
    objective: Objective,
    start: Vector | Evaluation,
    judge: Judge,
    patience: Patience,
    keep: Positions | None = None,
) -> Outcome:
    """Step by −H⁻¹g, halved while it does not help, until the bound is met.

    ``start`` may be an evaluation with its Hessian. ``keep`` restricts the steps to
    coordinates that are linearly independent.
    """

    def evaluate(point: Vector) -> Evaluation:
        return objective.evaluate(point, curvature=True)

    here = start if isinstance(start, Evaluation) else evaluate(start)
    best: Outcome | None = None
    while True:
        assert here.hessian is not None
        factor = factorise(here.hessian, here.point, keep)
        exact = factor is not None
        if factor is None:
            factor = nudged(here.hessian, here.point, keep)
        step = -objective.centred(factor.solve(here.gradient))
        bound = judge(here, factor) if exact else float("inf")
        stop = patience.judge(here, bound)
        if best is None or bound < best.bound or best.bound == float("inf"):
            best = Outcome(here, factor if exact else None, bound, stop or Stop.STALLED)
        if stop is not None:
            return Outcome(best.evaluation, best.factor, best.bound, stop)
        if best.bound == float("inf") and -float(here.gradient @ step) <= 1e-22 * abs(here.value):
            return best  # as good as floats allow, but not provable
        found = backtrack(evaluate, here, step, float(here.gradient @ step))
        if found is None:
            met = best.bound <= patience.tol * min(best.evaluation.value, 1.0)
            return Outcome(best.evaluation, best.factor, best.bound, Stop.FLOOR if met else Stop.STALLED)
        here = found
