"""W1: dense L2 logistic regression, 1,000,000 × 50 float64, C = 1.

Twice: independent standard normal columns, the easiest there are, and the same columns in
units from 0.1 to 10, as data comes. With ``--slow`` also statsmodels (without a
penalty) and snapml, which take about half a minute each.
"""

from benchmarks import contenders, simulate
from benchmarks.harness import Contender, Options, print_fits, race
from benchmarks.problem import Problem


def run(options: Options) -> None:
    compare("float64", options)


def compare(dtype: str, options: Options) -> None:
    for title, decades in (("unit columns", 0.0), ("columns in units from 0.1 to 10", 1.0)):
        X, y = simulate.dense(options.size(1_000_000, quick=20_000), 50, decades=decades)
        problem = Problem(X.astype(dtype, copy=False), y)
        del X
        print(f"\n### {title}")
        print_fits(problem, race(_entries(problem, options.slow), options.rounds(3)))


def _entries(problem: Problem, slow: bool) -> list[Contender]:
    entries = [
        *contenders.separatrix(problem),
        *contenders.scikit_learn(problem),
        *contenders.scikit_learn(problem, "newton-cholesky", solver="newton-cholesky"),
        *contenders.scikit_learn(problem, "newton-cholesky tol=1e-8", solver="newton-cholesky", tol=1e-8),
        *contenders.glum(problem),
    ]
    if slow:
        entries += [*contenders.snapml(problem), *contenders.statsmodels(problem)]
    return entries
