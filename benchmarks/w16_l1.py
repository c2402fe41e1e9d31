"""W16, L1: logistic regression with an L1 penalty over a grid of shapes, at 0.1 and 0.01 of λmax.

Every peer gets the loosest of several tolerances at which it comes within 1e-8 of the best objective found; those runs
are then raced. The intercept of liblinear is the weight of one more column, which is made so long that its penalty does
not matter. Rows have independent normal columns, twenty of which decide the labels; CSR rows are 5 % full.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from benchmarks import contenders, files
from benchmarks.harness import EXACT, Contender, Options, load, print_table, race
from benchmarks.problem import Problem
from benchmarks.w05_l1 import FRACTIONS, largest_penalty

SHAPES = (
    (300, 300, False),
    (3_000, 30, False),
    (500, 5_000, False),
    (5_000, 300, False),
    (30_000, 1_000, False),
    (100_000, 50, False),
    (100_000, 300, False),
    (2_000, 20_000, True),
    (50_000, 2_000, True),
)
"""Rows, columns, and whether the rows are CSR."""

TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10)
LONGEST = 5.0  # seconds of a run after which a peer is not asked for more
INTERCEPT_COLUMN = 1000.0  # what stands in the column whose weight is liblinear's intercept


@dataclass(frozen=True, slots=True)
class Peer:
    """A peer at any tolerance."""

    name: str
    at: Callable[[float], Contender]


def run(options: Options) -> None:
    for rows, columns, sparse in SHAPES:
        if options.quick:
            rows, columns = min(rows, 500), min(columns, 200)
        cells(rows, columns, sparse, options)


def cells(rows: int, columns: int, sparse: bool, options: Options, fractions: Sequence[float] = FRACTIONS) -> None:
    """The rows of the table for one shape."""
    X, y = table(rows, columns, sparse)
    largest = largest_penalty(X, y)
    print(f"\n#### {rows:,} × {columns:,}{', CSR, 5 % full' if sparse else ''}")
    lines = [line for fraction in fractions for line in _cell(X, y, fraction, largest, options)]
    print_table(
        ("of λmax", "contender", "seconds", "excess", "best peer ÷ ours", "certified", "passes", "not zero", "verify"),
        lines,
    )
    print(f"\n{load()}.", flush=True)


def table(rows: int, columns: int, sparse: bool) -> tuple[Any, Any]:
    """Rows and labels, the same in every run."""
    draw = np.random.default_rng(16)
    if sparse:
        X = scipy.sparse.random_array(
            (rows, columns), density=0.05, format="csr", rng=draw, data_sampler=lambda size: draw.normal(size=size)
        )
    else:
        X = draw.normal(size=(rows, columns))
    weights = np.zeros(columns)
    weights[draw.choice(columns, 20, replace=False)] = draw.normal(size=20) * (2.0 if sparse else 1.0)
    return X, (draw.random(rows) < 1.0 / (1.0 + np.exp(-(X @ weights + 0.5)))).astype(np.int64)


def _cell(X: Any, y: Any, fraction: float, largest: float, options: Options) -> Iterator[Sequence[str]]:
    problem = Problem(X, y, 1.0 / (fraction * largest), l1_ratio=1.0)
    best = _reference(problem)
    peers = [found for peer in _peers(problem) if (found := _exact(peer, problem, best)) is not None]
    results = race([*contenders.separatrix(problem), *peers], options.rounds(3), at_least=0.0 if options.quick else 3.0)
    fastest = min((result.seconds for result in results[1:] if not result.error), default=None)
    for result in results:
        fit = result.fit
        ours = result is results[0]
        assert fit is not None
        excess = float((problem.objective(fit.coef, fit.intercept) - best) / best)
        yield (
            f"{fraction:g}",
            result.contender.name,
            f"{result.seconds:.3g}",
            f"{max(excess, 0.0):.0e}",
            f"{fastest / result.seconds:.2f}" if fastest is not None else "–",
            f"{fit.certified:.0e}" if fit.certified is not None else "–",
            str(fit.passes) if ours else "–",
            str(np.count_nonzero(fit.coef)),
            f"{_seconds_of_verify(problem):.3g}" if ours else "–",
        )


def _reference(problem: Problem) -> Any:
    """The best objective: ours at a tolerance that leaves no doubt."""
    from separatrix import LogisticRegression

    model = LogisticRegression(C=problem.C, l1_ratio=1.0, tol=1e-12).fit(problem.X, problem.y)
    return problem.objective(model.coef_, model.intercept_)


def _seconds_of_verify(problem: Problem) -> float:
    from separatrix import LogisticRegression

    model = LogisticRegression(C=problem.C, l1_ratio=1.0).fit(problem.X, problem.y)
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        model.certificate_.verify(problem.X, problem.y)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def _peers(problem: Problem) -> list[Peer]:
    sparse = scipy.sparse.issparse(problem.X)
    rows = files.short_indices(problem.X) if sparse else problem.X
    columns = rows.tocsc() if sparse else np.asfortranarray(rows)

    def scikit_learn(solver: str, **options: Any) -> Callable[[float], Contender]:
        def at(tol: float) -> Contender:
            name = f"{solver} tol={tol:.0e}"
            return contenders.scikit_learn(problem, name, rows, solver=solver, tol=tol, max_iter=2_000, **options)[0]

        return at

    def skglm(tol: float) -> Contender:
        return contenders.on_one_blas_thread(contenders.skglm(problem, columns, tol))[0]

    peers = [Peer("liblinear", scikit_learn("liblinear", intercept_scaling=INTERCEPT_COLUMN))]
    try:
        import skglm as _  # noqa: F401

        peers.append(Peer("skglm", skglm))
    except ImportError:
        print("\nskipped skglm: it is not installed")
    return [*peers, Peer("saga", scikit_learn("saga"))]


def _exact(peer: Peer, problem: Problem, best: Any) -> Contender | None:
    """The peer at the loosest tolerance that brings it within ``EXACT`` of the best, if any does in time."""
    for tol in TOLERANCES:
        contender = peer.at(tol)
        start = time.perf_counter()
        fit = contender.run()
        seconds = time.perf_counter() - start
        assert fit is not None
        if (problem.objective(fit.coef, fit.intercept) - best) / best <= EXACT:
            return contender
        if seconds > LONGEST:
            break
    print(f"\n{peer.name} does not come within {EXACT:g} in {LONGEST:g} s.")
    return None
