"""Network: epochs of MLPClassifier on 60,000 × 784 float32, ten classes, Adam, batches of 200.

Both start from the same weights and see the same number of epochs; the loss is the mean
over the last epoch's batches, which both define alike. Our time includes the pass over
all rows that the certificate takes.
"""

from typing import Any

import numpy as np
from sklearn.neural_network import MLPClassifier as Peer
from threadpoolctl import threadpool_limits

from benchmarks.harness import NOTHING, Contender, Fit, Options, Result, Role, print_runs, print_table, race
from separatrix import MLPClassifier

LAYERS = ((100,), (256, 128))


def images(rows: int) -> tuple[Any, Any]:
    """Rows like images, 784 grey values from 0 to 1, of ten classes that overlap a little."""
    draw = np.random.default_rng(0)
    X = draw.random((rows, 784), dtype=np.float32)
    scores = (X - 0.5) @ draw.normal(size=(784, 10)).astype(np.float32)
    return X, np.argmax(scores + draw.gumbel(size=scores.shape), axis=1)


def run(options: Options) -> None:
    X, y = images(options.size(60_000, quick=2_000))
    epochs = options.size(5, quick=2)
    for hidden in LAYERS:
        print(f"\n### Hidden units {hidden}, {epochs} epochs of {X.shape[0]:,} × {X.shape[1]}")
        common = {"hidden_layer_sizes": hidden, "max_iter": epochs, "batch_size": 200, "random_state": 0}
        entries = [
            _entry("**separatrix**", MLPClassifier, common, X, y, Role.OURS),
            _entry("**separatrix**, one thread", MLPClassifier, common | {"n_jobs": 1}, X, y, Role.OURS),
            _entry("scikit-learn", Peer, common, X, y, Role.DEFAULT),
            _entry("scikit-learn, BLAS on 1 thread", Peer, common, X, y, Role.PEER, blas=1),
        ]
        _print(race(entries, options.rounds(3)), epochs)


def _entry(name: str, kind: Any, common: Any, X: Any, y: Any, role: Role, blas: int | None = None) -> Contender:
    def fit() -> Fit:
        with threadpool_limits(blas, user_api="blas"):
            return Fit(kind(**common).fit(X, y), None)

    return Contender(name, fit, role)


def _print(results: list[Result], epochs: int) -> None:
    default = next(result.seconds for result in results if result.contender.role is Role.DEFAULT)
    print_table(
        ("contender", "seconds per epoch", "speed ÷ scikit-learn", "loss of the last epoch"),
        [
            (
                result.contender.name,
                f"{result.seconds / epochs:.3g}",
                f"{default / result.seconds:.2f}",
                NOTHING if result.fit is None else f"{result.fit.coef.loss_:.4f}",
            )
            for result in results
        ],
    )
    print_runs(results, "fits")
