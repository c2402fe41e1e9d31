"""W5: L1 logistic regression of a9a and w8a at 0.1 and 0.01 of λmax, and a path of 100 penalties on a9a.

λmax is the smallest penalty at which all weights are zero. The path goes in equal
ratios from λmax to λmax/1000. The data are read from the folder that the environment
variable SEPARATRIX_DATA names; those that are not there are skipped.
"""

from typing import Any

import numpy as np

from benchmarks import contenders, files, paths
from benchmarks.harness import Contender, Options, print_fits, race
from benchmarks.problem import PathProblem, Problem

FRACTIONS = (0.1, 0.01)
QUICK = 2_000  # rows of a smoke run


def run(options: Options) -> None:
    print(f"\n“{contenders.PENALISED}”: a different problem, so even its exact solution has an excess here.")
    for name, X, y in files.read("a9a", "w8a"):
        if options.quick:
            X, y = X[:QUICK], y[:QUICK]
        largest = largest_penalty(X, y)
        for fraction in FRACTIONS:
            print(f"\n### {name}, {X.shape[0]:,} × {X.shape[1]}, {fraction:g} λmax")
            problem = Problem(X, y, 1.0 / (fraction * largest), l1_ratio=1.0)
            results = race(_entries(problem, options), options.rounds(3), at_least=0.0 if options.quick else 10.0)
            print_fits(problem, results)
        if name == "a9a":
            _path(X, y, largest, options)


def largest_penalty(X: Any, y: Any) -> float:
    """λmax = max |Xᵀ(y − ȳ)|: with a larger one no weight can leave zero, the intercept being log(ȳ/(1 − ȳ)).

    >>> largest_penalty(np.array([[1.0, 0.0], [3.0, -1.0]]), np.array([0, 1]))
    1.0
    """
    return float(np.abs(X.T @ (y - y.mean())).max())


def _entries(problem: Problem, options: Options) -> list[Contender]:
    X = files.short_indices(problem.X)
    skglm = contenders.skglm(problem, X.tocsc(), 1e-4, 1e-6, 1e-8)
    entries = [
        *contenders.separatrix(problem),
        *skglm,
        *contenders.on_one_blas_thread(skglm),
        *contenders.liblinear(problem, X),
    ]
    if options.slow:
        entries += contenders.scikit_learn(problem, "saga", X, solver="saga")
        entries += contenders.scikit_learn(problem, "saga tol=1e-6", X, solver="saga", tol=1e-6, max_iter=3_000)
    return entries


def _path(X: Any, y: Any, largest: float, options: Options) -> None:
    count = options.size(100, quick=10)
    print(f"\n### a9a, {X.shape[0]:,} × {X.shape[1]}, a path of {count} penalties")
    print("\nThe excess and what is certified are the largest of the path; the passes are all of them.")
    problem = PathProblem(X, y, 1.0 / np.geomspace(largest, largest / 1000.0, count))
    columns = files.short_indices(X).tocsc()
    with paths.glmnet(problem, 1e-7, 1e-10, 1e-12) as in_r:
        skglm = contenders.on_one_blas_thread(paths.skglm(problem, columns, 1e-6))
        entries = [*paths.separatrix(problem), *in_r, *skglm]
        print_fits(problem, race(entries, options.rounds(2)))
