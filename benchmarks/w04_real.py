"""W4: L2 logistic regression of real data as they come, C = 1, nothing scaled.

Breast cancer ships with scikit-learn. a9a, w8a and mushrooms (LIBSVM text) and
spambase.data (CSV without a header, the label last) are read from the folder that the
environment variable SEPARATRIX_DATA names; those that are not there are skipped.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.datasets import load_breast_cancer, load_svmlight_file

from benchmarks import contenders
from benchmarks.harness import Contender, Options, print_fits, race
from benchmarks.problem import Problem

FOLDER = "SEPARATRIX_DATA"


def run(options: Options) -> None:
    print(f"\n“{contenders.PENALISED}”: a different problem, so even its exact solution has an excess here.")
    for name, problem in _problems():
        rows, columns = problem.X.shape
        print(f"\n### {name}, {rows:,} × {columns}, {'sparse' if issparse(problem.X) else 'dense'}")
        results = race(_entries(problem), options.rounds(3), at_least=0.0 if options.quick else 10.0)
        print_fits(problem, results)


def _problems() -> Iterator[tuple[str, Problem]]:
    yield "breast cancer", Problem(*load_breast_cancer(return_X_y=True))
    readers: dict[str, Callable[[Path], Problem]] = {
        "spambase.data": _read_csv,
        "a9a": _read_libsvm,
        "w8a": _read_libsvm,
        "mushrooms": _read_libsvm,
    }
    folder = os.environ.get(FOLDER)
    for file, read in readers.items():
        if folder is None:
            print(f"\nskipped {file}: {FOLDER} does not name a folder")
        elif not (path := Path(folder) / file).is_file():
            print(f"\nskipped {file}: not in the folder that {FOLDER} names")
        else:
            yield path.stem, read(path)


def _read_csv(path: Path) -> Problem:
    table = np.loadtxt(path, delimiter=",")
    return Problem(np.ascontiguousarray(table[:, :-1]), _zero_one(table[:, -1]))


def _read_libsvm(path: Path) -> Problem:
    X, y = load_svmlight_file(str(path))
    return Problem(X, _zero_one(y))


def _zero_one(labels: Any) -> Any:
    return (labels == labels.max()).astype(np.int64)


def _entries(problem: Problem) -> list[Contender]:
    return [
        *contenders.separatrix(problem),
        *contenders.scikit_learn(problem),
        *_newton_cholesky(problem),
        *contenders.scikit_learn(problem, "newton-cg", solver="newton-cg"),
        *contenders.scikit_learn(problem, "newton-cg tol=1e-8", solver="newton-cg", tol=1e-8),
        *contenders.liblinear(problem, _short_indices(problem.X)),
        *contenders.glum(problem),
    ]


def _short_indices(X: Any) -> Any:
    """The same matrix with 32-bit indices, made beforehand: LIBSVM files are read with 64, which liblinear refuses."""
    if not issparse(X):
        return X
    return type(X)((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


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
