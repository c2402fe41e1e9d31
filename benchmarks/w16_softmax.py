"""W16, softmax: L2 logistic regression of 3, 10 and 100 classes over a grid of shapes, C = 1.

In each cell ours races the fastest of scikit-learn's solvers that comes within 1e-6 of the best objective found, and
the fastest within 1e-8, with BLAS on all threads and on one. Unit columns are independent; correlated ones follow each
other with 0.9 and stand in units from 0.1 to 10. SEPARATRIX_CELLS="3x300x5 unit" picks cells by words.
"""

import gc
import json
import math
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.datasets import load_digits

from benchmarks import contenders, simulate
from benchmarks.harness import Contender, Options, Result, load, print_table
from benchmarks.problem import SoftmaxProblem

SHAPES = (
    (3, 300, 5),
    (3, 300, 300),
    (3, 300, 1_000),
    (3, 3_000, 30),
    (3, 3_000, 300),
    (3, 30_000, 100),
    (3, 30_000, 1_000),
    (3, 300_000, 10),
    (3, 300_000, 300),
    (10, 300, 30),
    (10, 300, 1_000),
    (10, 3_000, 100),
    (10, 3_000, 1_000),
    (10, 20_000, 100),
    (10, 30_000, 1_000),
    (10, 300_000, 5),
    (10, 300_000, 50),
    (50, 1_000, 20),
    (100, 1_000, 20),
    (100, 3_000, 100),
    (100, 3_000, 1_000),
    (100, 30_000, 10),
    (100, 30_000, 100),
    (100, 300_000, 10),
)
"""Classes, rows, columns."""

OTHERS = ((3, 30_000, 1_000), (10, 20_000, 100), (10, 3_000, 1_000), (100, 3_000, 100))
"""Those in float32 and as CSR, too."""

KINDS = ("unit", "correlated", "float32", "csr")
FULL = 0.05
GOOD, EXACT = 1e-6, 1e-8
MOST_COEFFICIENTS = 1_500
"""Beyond so many newton-cholesky, whose Hessian has their square, is not asked."""

MOST_WORK = 5e7
"""Beyond so many multiply-adds a pass newton-cg is not asked: lbfgs was always faster there."""

PATIENCE, AT_LEAST = 5.0, 0.5
"""A peer is given so many times our seconds, and so many seconds beside."""

RESULTS = Path(__file__).parent / "results" / "w16_softmax.json"


@dataclass(frozen=True, slots=True)
class Cell:
    """Classes, rows, columns and the kind of the columns."""

    classes: int
    rows: int
    columns: int
    kind: str

    @property
    def name(self) -> str:
        """As it is asked for."""
        return f"{self.classes}x{self.rows}x{self.columns} {self.kind}"

    def problem(self) -> SoftmaxProblem:
        """Scores of deviation two behind the labels, so that classes overlap in every shape."""
        if self.kind == "digits":
            return SoftmaxProblem(*load_digits(return_X_y=True))
        if self.kind == "drawn":
            return SoftmaxProblem(*simulate.classes(self.rows, self.columns, self.classes))
        draw = np.random.default_rng([16, self.classes, self.rows, self.columns])
        X: Any = self._sparse(draw) if self.kind == "csr" else draw.standard_normal((self.rows, self.columns))
        size = np.ones(self.columns)
        if self.kind == "correlated":
            for j in range(1, self.columns):
                X[:, j] = 0.9 * X[:, j - 1] + math.sqrt(0.19) * X[:, j]
            size = np.geomspace(0.1, 10.0, self.columns)
            X *= size
        share = FULL if self.kind == "csr" else 1.0
        weights = (
            draw.normal(0.0, 2.0, (self.columns, self.classes)) / (size * math.sqrt(self.columns * share))[:, None]
        )
        score = X @ weights
        y = np.argmax(score + draw.gumbel(size=score.shape), axis=1)
        y[: self.classes] = np.arange(self.classes)
        return SoftmaxProblem(X.astype(np.float32) if self.kind == "float32" else X, y)

    def _sparse(self, draw: np.random.Generator) -> Any:
        return scipy.sparse.random_array(
            (self.rows, self.columns),
            density=FULL,
            format="csr",
            rng=draw,
            data_sampler=lambda size: draw.normal(size=size),
        )


@dataclass(frozen=True, slots=True)
class Standing:
    """One cell's outcome, in seconds: ours, the fastest peer within 1e-6 and within 1e-8, ``verify``."""

    cell: Cell
    ours: float
    good: float
    good_name: str
    exact: float
    exact_name: str
    certified: float
    excess: float
    met: bool
    verify: float

    @property
    def ratio(self) -> float:
        """Seconds of the fastest peer within 1e-6 over ours."""
        return self.good / self.ours


def cells(options: Options) -> Iterator[Cell]:
    """Every cell that the words in SEPARATRIX_CELLS do not leave out."""
    every = [Cell(*shape, kind) for kind in ("unit", "correlated") for shape in SHAPES]
    every += [Cell(*shape, kind) for kind in ("float32", "csr") for shape in OTHERS]
    every += [Cell(10, 1_797, 64, "digits"), Cell(10, 200_000, 50, "drawn")]
    words = os.environ.get("SEPARATRIX_CELLS", "").split()
    for cell in every:
        sizes, kinds = [word for word in words if "x" in word], [word for word in words if "x" not in word]
        if options.quick and cell.classes * cell.rows * cell.columns > 10**6:
            continue
        if (not sizes or cell.name.split()[0] in sizes) and (not kinds or cell.kind in kinds):
            yield cell


def peers(problem: SoftmaxProblem) -> list[Contender]:
    """scikit-learn's solvers at several tolerances, BLAS on all threads and on one."""
    coefficients = (problem.X.shape[1] + 1) * (int(problem.y.max()) + 1)
    asked: list[tuple[str, tuple[float, ...]]] = [("lbfgs", (1e-4, 1e-5, 1e-6))]
    if coefficients * problem.X.shape[0] <= MOST_WORK:
        asked.append(("newton-cg", (1e-3, 1e-4)))
    if coefficients <= MOST_COEFFICIENTS and not scipy.sparse.issparse(problem.X):
        asked.append(("newton-cholesky", (1e-4,)))
    entries: list[Contender] = []
    for solver, tolerances in asked:
        for tol in tolerances:
            options = {"solver": solver, "tol": tol, "max_iter": 3_000}
            entries += contenders.scikit_learn(problem, f"{solver} tol={tol:g}", **options)
    return [entry for pair in zip(contenders.on_one_blas_thread(entries), entries, strict=True) for entry in pair]


def run(options: Options) -> None:
    standings: list[Standing] = []
    for cell in cells(options):
        standings.append(compete(cell, options))
        one = standings[-1]
        print(
            f"{cell.name}: {one.ratio:.2f} ({one.ours:.4f} s against {one.good:.4f} of {one.good_name}; "
            f"within 1e-8 {one.exact / one.ours:.2f}, {one.exact_name}; excess {one.excess:.0e}, certified "
            f"{one.certified:.0e}{'' if one.met else ' NOT MET'}, verify {one.verify / one.ours:.2f}, {load()})",
            file=sys.stderr,
            flush=True,
        )
    if not standings:
        return
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps([asdict(one) for one in standings], indent=1))
    print_standings(standings)


def print_standings(standings: Sequence[Standing]) -> None:
    """Peer's seconds over ours, a line for each shape; then the worst cell, the median, and verify."""
    found = {one.cell.name: one for one in standings}
    shapes = dict.fromkeys(one.cell.name.split()[0] for one in standings)
    kinds = list(dict.fromkeys(one.cell.kind for one in standings))
    print_table(
        ("classes x rows x columns", *(f"{kind}, within {share}" for kind in kinds for share in ("1e-6", "1e-8"))),
        [(shape, *(text for kind in kinds for text in _ratios(found.get(f"{shape} {kind}")))) for shape in shapes],
    )
    worst = min(standings, key=lambda one: one.ratio)
    dear = max(standings, key=lambda one: one.verify / one.ours)
    print(
        f"\nWorst cell: {worst.ratio:.2f} ({worst.cell.name}, against {worst.good_name}); "
        f"median {median(one.ratio for one in standings):.2f} of {len(standings)} cells, "
        f"{sum(one.ratio < 1.0 for one in standings)} below 1. Largest certified distance "
        f"{max(one.certified for one in standings):.0e}. verify takes at most {dear.verify / dear.ours:.2f} of the fit "
        f"({dear.cell.name}); {load()}."
    )


def compete(cell: Cell, options: Options) -> Standing:
    """Everybody once, each peer as long as patience lasts; then ours and the fastest peers in turn."""
    problem = cell.problem()
    mine = Result(contenders.separatrix(problem)[0])
    mine.again()
    if mine.seconds < 5.0:
        mine.again()
    if mine.error:
        raise RuntimeError(f"{cell.name}: {mine.error}")
    seen = [Result(rival) for rival in peers(problem)]
    fastest = math.inf
    for result in seen:
        with patience(min(PATIENCE * mine.seconds, 10.0 * fastest) + AT_LEAST):
            result.again()
        fastest = min(fastest, result.seconds)
    excess = _excesses(problem, [mine, *seen])
    racing = []
    for share in (GOOD, EXACT):
        able = [r for r, each in zip(seen, excess[1:], strict=True) if each <= share]
        racing.append(sorted(able, key=lambda r: r.seconds)[:2])
    together = list({id(r): r for r in [*racing[0], *racing[1]]}.values())
    small = mine.seconds < 0.1
    for turn in range(options.rounds(8 if small else 1 if mine.seconds > 1.0 else 3)):
        for result in [mine, *together] if turn % 2 else [*together, mine]:
            gc.collect()
            result.again()
    (good, good_name), (exact, exact_name) = (_best(able, mine) for able in racing)
    assert mine.fit is not None
    verify, met = _verify(problem, 3 if small else 1)
    certified = mine.fit.certified or 0.0
    return Standing(cell, mine.seconds, good, good_name, exact, exact_name, certified, excess[0], met, verify)


def _best(able: Sequence[Result], mine: Result) -> tuple[float, str]:
    best = min(able, key=lambda r: r.seconds, default=None)
    return (PATIENCE * mine.seconds, "none in time") if best is None else (best.seconds, best.contender.name)


def _ratios(one: Standing | None) -> tuple[str, str]:
    if one is None:
        return "", ""
    late = "> " if one.good_name == "none in time" else ""
    exact = f"{'> ' if one.exact_name == 'none in time' else ''}{one.exact / one.ours:.2g}"
    return f"{late}**{one.ratio:.2f}**" if one.ratio < 1.0 else f"{late}{one.ratio:.2g}", exact


def _excesses(problem: SoftmaxProblem, results: Sequence[Result]) -> list[float]:
    values = [math.inf if r.fit is None or r.error else problem.objective(r.fit.coef, r.fit.intercept) for r in results]
    best = min(values)
    return [float((value - best) / best) for value in values]


class OutOfPatience(Exception):
    """A peer took too long."""


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Raise OutOfPatience in the block after so many seconds, where the system has such a clock."""

    def ring(*_: object) -> None:
        raise OutOfPatience(f"not within {seconds:.3g} s")

    before: Any = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except OutOfPatience:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def _verify(problem: SoftmaxProblem, times: int) -> tuple[float, bool]:
    from separatrix import LogisticRegression

    model = LogisticRegression(C=problem.C).fit(problem.X, problem.y)
    return min(_seconds(lambda: model.certificate_.verify(problem.X, problem.y)) for _ in range(times)), bool(
        model.certificate_.met
    )


def _seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
