"""W4: L2 logistic regression of real data as they come, C = 1, nothing scaled.

Breast cancer ships with scikit-learn. a9a, w8a and mushrooms (LIBSVM text) and
spambase.data (CSV without a header, the label last) are read from the folder that the
environment variable SEPARATRIX_DATA names; those that are not there are skipped.
"""

from collections.abc import Iterator

from scipy.sparse import issparse
from sklearn.datasets import load_breast_cancer

from benchmarks import contenders, files
from benchmarks.harness import Contender, Options, print_fits, race
from benchmarks.problem import Problem


def run(options: Options) -> None:
    print(f"\n“{contenders.PENALISED}”: a different problem, so even its exact solution has an excess here.")
    for name, problem in _problems():
        rows, columns = problem.X.shape
        print(f"\n### {name}, {rows:,} × {columns}, {'sparse' if issparse(problem.X) else 'dense'}")
        results = race(_entries(problem), options.rounds(3), at_least=0.0 if options.quick else 10.0)
        print_fits(problem, results)


def _problems() -> Iterator[tuple[str, Problem]]:
    yield "breast cancer", Problem(*load_breast_cancer(return_X_y=True))
    for name, X, y in files.read("spambase.data", "a9a", "w8a", "mushrooms"):
        yield name, Problem(X, y)


def _entries(problem: Problem) -> list[Contender]:
    return [
        *contenders.separatrix(problem),
        *contenders.scikit_learn(problem),
        *_newton_cholesky(problem),
        *contenders.scikit_learn(problem, "newton-cg", solver="newton-cg"),
        *contenders.scikit_learn(problem, "newton-cg tol=1e-8", solver="newton-cg", tol=1e-8),
        *contenders.liblinear(problem, files.short_indices(problem.X)),
        *contenders.glum(problem),
    ]


def _newton_cholesky(problem: Problem) -> list[Contender]:
    """As it comes, with its own tol and a tight one; where that is sparse also made dense, which is not timed."""
    name, tight = "newton-cholesky", {"solver": "newton-cholesky", "tol": 1e-8}
    entries = [
        *contenders.scikit_learn(problem, name, solver=name),
        *contenders.scikit_learn(problem, f"{name} tol=1e-8", **tight),
    ]
    if issparse(problem.X):
        entries += contenders.scikit_learn(problem, f"{name} tol=1e-8, X made dense", problem.X.toarray(), **tight)
    return entries
