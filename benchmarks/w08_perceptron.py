"""W8: the perceptron on separable rows, 200,000 × 100, per epoch and until it stops with a proof.

The rows are standard normal, pushed 0.05 away from a hyperplane. Both sides run 50 epochs without a stopping rule;
scikit-learn then has some rows wrong still. Ours runs on until an epoch passes without a mistake, which is checked
again from the data; scikit-learn has no such end and would go on to ``max_iter``.
"""

import time
from typing import Any

import numpy as np
from sklearn.linear_model import Perceptron as Peer

from benchmarks.harness import Contender, Options, Result, Role, print_runs, print_table, race
from separatrix import Perceptron

EPOCHS = 50
GAP = 0.05


def run(options: Options) -> None:
    X, y = separable(options.size(200_000, quick=4_000), 100)
    for title, table, shuffle in (
        ("float64, shuffled", X, True),
        ("float64, in the order of the rows", X, False),
        ("float32, shuffled", X.astype(np.float32), True),
    ):
        print(f"\n### {title}")
        results = race(_entries(table, y, shuffle), options.rounds(5))
        _print(results, table, y)
    _prove(X, y)


def separable(rows: int, columns: int, seed: int = 8) -> tuple[Any, Any]:
    """Standard normal rows, each pushed by ``GAP`` away from a plane through the origin; labels by side."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((rows, columns))
    normal = random.standard_normal(columns)
    normal /= np.linalg.norm(normal)
    side = np.sign(X @ normal)
    X += np.outer(GAP * side, normal)
    return X, (side > 0).astype(np.int64)


def _entries(X: Any, y: Any, shuffle: bool) -> list[Contender]:
    fitted: dict[str, Any] = {}

    def ours() -> None:
        fitted["ours"] = Perceptron(max_iter=EPOCHS, shuffle=shuffle, verdict_after=None).fit(X, y)

    def theirs() -> None:
        fitted["theirs"] = Peer(max_iter=EPOCHS, tol=None, shuffle=shuffle).fit(X, y)

    entries = [
        Contender("**separatrix**", ours, Role.OURS),
        Contender("scikit-learn", theirs, Role.DEFAULT),
    ]
    _MODELS.clear()
    _MODELS.update({entries[0].name: lambda: fitted["ours"], entries[1].name: lambda: fitted["theirs"]})
    return entries


_MODELS: dict[str, Any] = {}


def _print(results: list[Result], X: Any, y: Any) -> None:
    per_epoch = {r.contender.name: r.seconds / _MODELS[r.contender.name]().n_iter_ for r in results}
    slowest = per_epoch["scikit-learn"]
    print_table(
        ("contender", "seconds per epoch", "speed ÷ scikit-learn", "epochs", "wrong rows"),
        [
            (
                name,
                f"{seconds:.4f}",
                f"{slowest / seconds:.2f}",
                str(_MODELS[name]().n_iter_),
                f"{1.0 - _MODELS[name]().score(X, y):.0e}",
            )
            for name, seconds in per_epoch.items()
        ],
    )
    print_runs(results, "fits")


def _prove(X: Any, y: Any) -> None:
    print("\n### To the end, float64, shuffled")
    start = time.perf_counter()
    model = Perceptron(max_iter=10_000, verdict_after=None).fit(X, y)
    seconds = time.perf_counter() - start
    model.certificate_.verify(X, y)
    print(f"\n**separatrix**: {model.n_iter_} epochs, {seconds:.2f} s. {model.certificate_}")
