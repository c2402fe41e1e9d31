"""W6: linear discriminant analysis, 500,000 × 100, two classes; the floor is the product XᵀX.

BLAS may use all processors for the product. The posteriors of both sides are compared first.
"""

from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as Peer

from benchmarks import simulate
from benchmarks.harness import Contender, Options, Role, print_times, race
from separatrix import LinearDiscriminantAnalysis


def run(options: Options) -> None:
    X, y = simulate.dense(options.size(500_000, quick=5_000), 100)
    ours, peer = LinearDiscriminantAnalysis().fit(X, y), Peer(solver="lsqr").fit(X, y)
    difference = np.abs(ours.predict_proba(X[:5_000]) - peer.predict_proba(X[:5_000])).max()
    print(f"\nLargest difference between the posteriors: {difference:.0e}. {ours.certificate_.verify(X, y)}")
    for title, table in (("float64", X), ("float32", X.astype(np.float32)), ("Fortran order", np.asfortranarray(X))):
        print(f"\n### {X.shape[0]:,} × {X.shape[1]}, {title}")
        print_times(race(_entries(table, y, options), options.rounds(5)))


def _entries(X: Any, y: Any, options: Options) -> list[Contender]:
    entries = [
        Contender("**separatrix**", lambda: _fit(LinearDiscriminantAnalysis(), X, y), Role.OURS),
        Contender("scikit-learn lsqr", lambda: _fit(Peer(solver="lsqr"), X, y), Role.DEFAULT),
        Contender("XᵀX alone", lambda: _product(X)),
    ]
    if options.slow or options.quick:
        entries.append(Contender("scikit-learn svd", lambda: _fit(Peer(), X, y)))
    return entries


def _fit(model: Any, X: Any, y: Any) -> None:
    model.fit(X, y)


def _product(X: Any) -> None:
    _ = X.T @ X
