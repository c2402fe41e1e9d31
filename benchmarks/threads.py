"""Threads: two fits in two threads against the same two fits one after the other.

The race runs in a process with ``OMP_NUM_THREADS=1``: each fit is on one thread, so that
the second core is free for the other. 0.5 would be perfect; hashing bytes shows what the
machine allows.
"""

import hashlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from benchmarks import simulate
from benchmarks.harness import Options, load, print_table
from separatrix import (
    BernoulliNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MLPClassifier,
    Perceptron,
    RidgeClassifier,
)

SHAPES = ((20_000, 50), (200_000, 50))
MODELS: dict[str, Callable[[], Any]] = {
    "logistic regression": LogisticRegression,
    "discriminant analysis": LinearDiscriminantAnalysis,
    "least squares": RidgeClassifier,
    "naive Bayes": BernoulliNB,
    "perceptron": lambda: Perceptron(max_iter=5),
    "network": lambda: MLPClassifier(hidden_layer_sizes=(20,), max_iter=2),
}


def run(options: Options) -> None:
    one = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run(
        [sys.executable, "-m", __name__, str(options.rounds(7)), str(int(options.quick))], env=one, check=True
    )


def print_ratios(rounds: int, *, quick: bool) -> None:
    """Every model's race, as a table; in a process whose fits are on one thread."""
    options = Options(quick)
    block = bytes(options.size(200_000_000, quick=2_000_000))
    rows = [("hashing bytes", "", *_race(lambda: hashlib.sha256(block), rounds))]
    for full, columns in SHAPES:
        X, y = simulate.dense(options.size(full, quick=1_000), columns)
        for name, model in MODELS.items():
            rows.append((name, f"{X.shape[0]:,} × {columns}", *_race(_fit(model, X, y), rounds)))
    print_table(("what", "rows × columns", "one after the other", "in two threads", "ratio"), rows)
    print(f"\nShortest of {rounds}; {load()}.", flush=True)


def _fit(model: Callable[[], Any], X: Any, y: Any) -> Callable[[], object]:
    return lambda: model().fit(X, y)


def _race(work: Callable[[], object], rounds: int) -> tuple[str, str, str]:
    """Seconds of both ways in turn, the shortest of each, and their ratio."""
    alone = together = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        work()
        alone = min(alone, time.perf_counter() - start)
        threads = [threading.Thread(target=work) for _ in range(2)]
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        together = min(together, time.perf_counter() - start)
    return f"{alone:.3g}", f"{together:.3g}", f"{together / alone:.2f}"


if __name__ == "__main__":
    print_ratios(int(sys.argv[1]), quick=sys.argv[2] == "1")
