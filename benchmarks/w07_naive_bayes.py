"""W7: Bernoulli naive Bayes, 500,000 × 100 uint8, and the sparse matrix of W3.

The floor of the dense one is a single read of 50 MB. Both sides must count the same.
"""

from typing import Any

import numpy as np
from sklearn.naive_bayes import BernoulliNB as Peer

from benchmarks import simulate
from benchmarks.harness import Contender, Options, Role, print_times, race
from separatrix import BernoulliNB


def run(options: Options) -> None:
    random = np.random.default_rng(7)
    rows = options.size(500_000, quick=5_000)
    X = (random.random((rows, 100), dtype=np.float32) < 0.3).astype(np.uint8)
    y = random.integers(0, 2, rows)
    _compare(f"{rows:,} × 100 uint8", X, y, options, lambda: _read(X))
    S, z = simulate.words(options.size(200_000, quick=4_000), options.size(50_000, quick=5_000), length=74)
    _compare(f"{S.shape[0]:,} × {S.shape[1]:,} sparse, {S.nnz:,} non-zeros", S, z, options, lambda: _read(S.data))


def _compare(title: str, X: Any, y: Any, options: Options, read: Any) -> None:
    ours, peer = BernoulliNB().fit(X, y), Peer().fit(X, y)
    assert np.array_equal(ours.feature_count_, peer.feature_count_)
    print(f"\n### {title}")
    entries = [
        Contender("**separatrix**", lambda: _fit(BernoulliNB(), X, y), Role.OURS),
        Contender("scikit-learn", lambda: _fit(Peer(), X, y), Role.DEFAULT),
        Contender("largest value: one read", read),
    ]
    print_times(race(entries, options.rounds(7)))


def _fit(model: Any, X: Any, y: Any) -> None:
    model.fit(X, y)


def _read(values: Any) -> None:
    values.max()
