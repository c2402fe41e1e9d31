"""W11 (ridge): leave-one-out over 10 penalties, 100,000 × 100.

Both choose by the mean squared left-out error, in closed form; their errors are compared first.
"""

from typing import Any

import numpy as np
from sklearn.linear_model import RidgeClassifierCV as Peer

from benchmarks import simulate
from benchmarks.harness import Contender, Options, Role, print_times, race
from separatrix import RidgeClassifierCV

ALPHAS = np.logspace(-3, 6, 10)


def run(options: Options) -> None:
    X, y = simulate.dense(options.size(100_000, quick=3_000), 100)
    ours, peer = RidgeClassifierCV(ALPHAS).fit(X, y), Peer(ALPHAS).fit(X, y)
    difference = abs(ours.best_score_ - peer.best_score_)
    print(f"\nPenalty {ours.alpha_:g} and {peer.alpha_:g}; scores differ by {difference:.0e}.")
    entries = [
        Contender("**separatrix**", lambda: _fit(RidgeClassifierCV(ALPHAS), X, y), Role.OURS),
        Contender("scikit-learn", lambda: _fit(Peer(ALPHAS), X, y), Role.DEFAULT),
    ]
    print_times(race(entries, options.rounds(3)))


def _fit(model: Any, X: Any, y: Any) -> None:
    model.fit(X, y)
