"""W3: sparse L2 logistic regression, 200,000 × 50,000, about 12 million non-zeros, C = 1.

Zipf columns and rows of unit length, in canonical CSR with 32-bit indices. snapml and
liblinear penalise the intercept if they fit one, so the race is held twice: without
an intercept, where everybody has the same problem, and with one.
"""

from benchmarks import contenders, simulate
from benchmarks.harness import Contender, Options, print_fits, race
from benchmarks.problem import Problem


def run(options: Options) -> None:
    X, y = simulate.words(options.size(200_000, quick=4_000), options.size(50_000, quick=5_000), length=74)
    print(f"\n{X.shape[0]:,} × {X.shape[1]:,}, {X.nnz:,} non-zeros.")
    print("\n### Without an intercept: the same problem for everybody")
    _compare(Problem(X, y, fit_intercept=False), options)
    print("\n### With an intercept")
    print(f"\n“{contenders.PENALISED}”: a different problem, so even its exact solution has an excess here.")
    _compare(Problem(X, y), options)


def _compare(problem: Problem, options: Options) -> None:
    print_fits(problem, race(_entries(problem), options.rounds(2)))


def _entries(problem: Problem) -> list[Contender]:
    entries = [
        *contenders.separatrix(problem),
        *contenders.snapml_variants(problem),
        *contenders.liblinear(problem, dual=True),
        *contenders.scikit_learn(problem, "newton-cg", solver="newton-cg"),
        *contenders.scikit_learn(problem),
    ]
    if problem.fit_intercept:  # the only peer that leaves b alone must reach the optimum too
        entries += contenders.scikit_learn(problem, "newton-cg tol=1e-8", solver="newton-cg", tol=1e-8)
    return entries
