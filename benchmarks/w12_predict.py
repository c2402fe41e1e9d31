"""W12: predict_proba of one row, and of 400,000 × 100, from a plain ndarray.

scikit-learn's LogisticRegression is given the same coefficients, so that both compute
the same probabilities.
"""

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression as Peer

from benchmarks import simulate
from benchmarks.harness import Contender, Options, Role, print_times, race
from separatrix import LogisticRegression


def run(options: Options) -> None:
    X, y = simulate.dense(options.size(400_000, quick=4_000), 100)
    ours = LogisticRegression().fit(X[:4_000], y[:4_000])
    peer = _same_coefficients(ours)
    difference = np.abs(ours.predict_proba(X) - peer.predict_proba(X)).max()
    print(f"\nLargest difference between the probabilities: {difference:.0e}.")

    print("\n### One row")
    calls = options.size(2_000, quick=50)
    print_times(race(_entries(ours, peer, X[:1], calls), options.rounds(7)), calls)
    print(f"\n### {X.shape[0]:,} × {X.shape[1]}")
    print_times(race(_entries(ours, peer, X, 1), options.rounds(20)))


def _same_coefficients(model: LogisticRegression) -> Peer:
    peer = Peer()
    for name in ("coef_", "intercept_", "classes_", "n_features_in_"):
        setattr(peer, name, getattr(model, name))
    return peer


def _entries(ours: LogisticRegression, peer: Peer, X: Any, calls: int) -> list[Contender]:
    return [
        Contender("**separatrix**", lambda: _repeat(ours.predict_proba, X, calls), Role.OURS),
        Contender("scikit-learn", lambda: _repeat(peer.predict_proba, X, calls), Role.DEFAULT),
    ]


def _repeat(predict: Any, X: Any, calls: int) -> None:
    for _ in range(calls):
        predict(X)
