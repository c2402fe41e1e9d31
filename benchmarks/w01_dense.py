"""W1: dense L2 logistic regression, 1,000,000 × 50 float64, C = 1.

Standard normal columns. With ``--slow`` also statsmodels (without a penalty) and
snapml, which take about half a minute each.
"""

from benchmarks import contenders, simulate
from benchmarks.harness import Contender, Options, print_fits, race
from benchmarks.problem import Problem


def run(options: Options) -> None:
    compare("float64", options)


def compare(dtype: str, options: Options) -> None:
    X, y = simulate.dense(options.size(1_000_000, quick=20_000), 50)
    problem = Problem(X.astype(dtype, copy=False), y)
    del X
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
