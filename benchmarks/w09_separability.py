"""W9: is it separable? A verdict with a proof against the linear program.

The peer solves the linear program that textbooks give, with HiGHS through SciPy: is there a v
with yᵢ⟨v, xᵢ⟩ ≥ 1 for all rows? It answers yes or no in floating point, without a proof.
"""

import time
from typing import Any

import numpy as np
from scipy.optimize import linprog

from benchmarks.harness import Contender, Options, Role, print_runs, print_table, race
from separatrix import separability


def run(options: Options) -> None:
    scale = options.size(1, quick=50)
    for title, (X, y), rounds in (
        ("50,000 × 100, overlapping", rows(50_000 // scale, 100, noise=0.5), 3),
        ("10,000 × 100, separable", rows(10_000 // scale, 100, noise=0.0), 3),
    ):
        print(f"\n### {title}")
        _race(X, y, options.rounds(rounds))
    n = options.size(1_000_000, quick=10_000)
    print("\n### A million rows of 100 columns: ours alone")
    X, score = _scores(n, 100)
    logistic = np.random.default_rng(3).logistic(size=n)
    flipped = score > 0
    flipped[int(np.argsort(np.abs(score))[n // 2])] ^= True
    wide = np.abs(score) > 0.05
    _alone(
        [
            ("overlapping", X, score + 0.5 * logistic > 0),
            ("overlapping, little noise", X, score + 0.05 * logistic > 0),
            ("separable", X, score > 0),
            ("separable with a gap", X[wide], score[wide] > 0),
            ("one flipped label", X, flipped),
        ]
    )


def _scores(n: int, d: int) -> tuple[Any, Any]:
    random = np.random.default_rng(9)
    X = random.standard_normal((n, d))
    return X, X @ random.standard_normal(d) / np.sqrt(d)


def rows(n: int, d: int, noise: float) -> tuple[Any, Any]:
    """Standard normal rows; labels by the side of a plane through the origin, with logistic noise."""
    X, score = _scores(n, d)
    return X, score + noise * np.random.default_rng(1).logistic(size=n) > 0


def linear_program(X: Any, y: Any) -> bool:
    """Whether HiGHS finds a separating direction."""
    signed = np.where(y, 1.0, -1.0)[:, None] * np.hstack([X, np.ones((len(X), 1))])
    result = linprog(
        np.zeros(signed.shape[1]), A_ub=-signed, b_ub=-np.ones(len(signed)), bounds=(None, None), method="highs"
    )
    return bool(result.status == 0)


def _race(X: Any, y: Any, rounds: int) -> None:
    found: dict[str, Any] = {}

    def ours() -> None:
        found["**separatrix**"] = separability(X, y).kind

    def theirs() -> None:
        found["HiGHS, linear program"] = "separable" if linear_program(X, y) else "not separable"

    results = race([Contender("**separatrix**", ours, Role.OURS), Contender("HiGHS, linear program", theirs)], rounds)
    slow = results[1].seconds
    print_table(
        ("contender", "seconds", "speed ÷ linear program", "answer"),
        [
            (r.contender.name, f"{r.seconds:.3f}", f"{slow / r.seconds:.1f}", str(found[r.contender.name]))
            for r in results
        ],
    )
    print_runs(results, "runs")


def _alone(cases: list[tuple[str, Any, Any]]) -> None:
    lines = []
    for name, X, y in cases:
        seconds, checking = float("inf"), float("inf")
        for _ in range(2):
            start = time.perf_counter()
            verdict = separability(X, y)
            middle = time.perf_counter()
            verdict.verify(X, y)
            seconds = min(seconds, middle - start)
            checking = min(checking, time.perf_counter() - middle)
        lines.append((name, f"{seconds:.2f}", f"{checking:.2f}", verdict.kind))
    print_table(("rows", "seconds", "seconds to verify", "verdict"), lines)
