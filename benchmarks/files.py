"""Real data, read from the folder that the environment variable SEPARATRIX_DATA names."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.datasets import load_svmlight_file

FOLDER = "SEPARATRIX_DATA"


def read(*names: str) -> Iterator[tuple[str, Any, Any]]:
    """Name, X and labels 0 and 1 of each file; those that are not there are skipped, and named.

    A name that ends with .data is CSV without a header, the label last; others are LIBSVM text.
    """
    folder = os.environ.get(FOLDER)
    for name in names:
        if folder is None:
            print(f"\nskipped {name}: {FOLDER} does not name a folder")
        elif not (path := Path(folder) / name).is_file():
            print(f"\nskipped {name}: not in the folder that {FOLDER} names")
        else:
            X, y = _csv(path) if path.suffix == ".data" else load_svmlight_file(str(path))
            yield path.stem, X, (y == y.max()).astype(np.int64)


def short_indices(X: Any) -> Any:
    """The same matrix with 32-bit indices: LIBSVM files are read with 64, which some peers refuse."""
    if not issparse(X):
        return X
    return type(X)((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def _csv(path: Path) -> tuple[Any, Any]:
    table = np.loadtxt(path, delimiter=",")
    return np.ascontiguousarray(table[:, :-1]), table[:, -1]
