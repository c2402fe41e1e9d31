"""Memory: what a fit needs beside its data, 10,000,000 × 50 float32.

Every fit runs in a process of its own, which draws the rows in blocks, waits for the pages of the data, resets the
system's mark of the most memory used, fits, and reads the mark (Linux: ``/proc``). The goal is a tenth of the data.
"""

import gc
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Options, load, print_table
from separatrix import (
    BernoulliNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MLPClassifier,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    separability,
)

ROWS, QUICK_ROWS, COLUMNS, BLOCK = 10_000_000, 100_000, 50, 1 << 18
GOAL = 0.1

ESTIMATORS: dict[str, tuple[int, Callable[[], Any]]] = {
    "logistic, L2": (2, LogisticRegression),
    "logistic, newton-cholesky": (2, lambda: LogisticRegression(solver="newton-cholesky")),
    "logistic, newton-cg": (2, lambda: LogisticRegression(solver="newton-cg")),
    "logistic, quasi-newton": (2, lambda: LogisticRegression(solver="quasi-newton")),
    "logistic, no penalty": (2, lambda: LogisticRegression(C=np.inf)),
    "logistic, L1": (2, lambda: LogisticRegression(l1_ratio=1.0, C=1e-3)),
    "logistic, Firth": (2, lambda: LogisticRegression(C=np.inf, firth=True)),
    "softmax, 5 classes": (5, LogisticRegression),
    "perceptron, 2 epochs": (2, lambda: Perceptron(max_iter=2)),
    "discriminant analysis": (2, LinearDiscriminantAnalysis),
    "naive Bayes": (2, BernoulliNB),
    "least squares": (2, RidgeClassifier),
    "least squares, penalty chosen": (2, lambda: RidgeClassifierCV(alphas=[0.1, 1.0, 10.0])),
    "network, 1 epoch": (2, lambda: MLPClassifier(hidden_layer_sizes=(10,), max_iter=1, batch_size=2000)),
    "separability": (2, lambda: None),
}


def run(options: Options) -> None:
    if not Path("/proc/self/clear_refs").exists():
        print("The system does not say how much memory was used at most; nothing is measured.")
        return
    rows = options.size(ROWS, QUICK_ROWS)
    found = []
    for name in ESTIMATORS:
        command = [sys.executable, "-m", __name__, name, str(rows)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        if ended.returncode:
            found.append((name, "failed", ended.stderr.strip().splitlines()[-1][:100], ""))
            continue
        extra, seconds = map(float, ended.stdout.split())
        share = extra / (rows * COLUMNS * 4)
        shown = f"**{share:.1%}**" if share > GOAL else f"{share:.1%}"
        found.append((name, f"{extra / 1e6:.0f}", shown, f"{seconds:.3g}"))
    print(f"\n{rows:,} × {COLUMNS} float32, {rows * COLUMNS * 4 / 1e6:,.0f} MB.\n")
    print_table(("fit", "MB beside the data", "share of the data", "seconds"), found)
    print(f"\n{load()}.")


def drawn(rows: int, classes: int) -> tuple[Any, Any]:
    """Independent columns, and labels from the scores of random weights with noise; block by block."""
    random = np.random.default_rng(10)
    X, y = np.empty((rows, COLUMNS), dtype=np.float32), np.empty(rows, dtype=np.int64)
    weights = random.normal(0.0, 0.3, (COLUMNS, classes)).astype(np.float32)
    for begin in range(0, rows, BLOCK):
        part = X[begin : begin + BLOCK]
        random.standard_normal(out=part, dtype=np.float32)
        noise = random.gumbel(size=(len(part), classes))
        y[begin : begin + BLOCK] = np.argmax(part @ weights + noise, axis=1)
    return X, y


def measure(name: str, rows: int) -> tuple[float, float]:
    """Bytes beside what was in use before the fit, and seconds."""
    classes, model = ESTIMATORS[name]
    small, labels = drawn(2_000, classes)
    _fit(model(), small, labels)  # what is loaded and allocated once is not the data's
    X, y = drawn(rows, classes)
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    before, start = _status("VmRSS"), time.perf_counter()
    _fit(model(), X, y)
    return _status("VmHWM") - before, time.perf_counter() - start


def _fit(model: Any, X: Any, y: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        separability(X, y, budget=30.0) if model is None else model.fit(X, y)


def _status(what: str) -> float:
    """A line of /proc/self/status, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024.0 * int(line.split()[1]) for line in lines if line.startswith(what))


if __name__ == "__main__":
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    print(*measure(sys.argv[1], int(sys.argv[2])))
