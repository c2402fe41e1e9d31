"""Cells of a grid of shapes: data, the peers that may be the fastest there, and a race with a limit of patience."""

import gc
import math
import multiprocessing
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import scipy.sparse

from benchmarks import contenders
from benchmarks.harness import EXACT, Contender, Result, Role
from benchmarks.problem import Judge, Problem

FULL = 0.05
"""Share of the entries of a sparse cell that are not zero."""

PATIENCE, AT_LEAST = 5.0, 0.2
"""A peer is given so many times our seconds, and so many seconds beside."""

LONG, IMPATIENCE = 2.0, 3.0
"""From so many seconds of ours on peers are given only so many times them."""

APART = 0.05
"""From so many seconds of ours on peers are first seen in a process of their own: compiled code hears no alarm."""

CLOSE = 1.6
"""Peers within this factor of the fastest run again, in turn with ours; the others were seen once."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A shape of data; ``correlated`` columns follow each other with 0.9 and stand in units from 0.1 to 10."""

    rows: int
    columns: int
    correlated: bool = False
    dtype: str = "float64"
    sparse: bool = False

    @property
    def kind(self) -> str:
        """What the cell is called, without its size."""
        columns = "correlated columns in units 0.1 … 10" if self.correlated else "unit columns"
        return f"{'CSR 5 % full' if self.sparse else 'dense'}, {self.dtype}, {columns}"

    def problem(self, seed: int = 16) -> Problem:
        """Rows and labels: weights N(0, 1/d) behind them, so that classes overlap in every shape."""
        random = np.random.default_rng([seed, self.rows, self.columns])
        X: Any = self._sparse(random) if self.sparse else self._dense(random)
        size = np.ones(self.columns)
        if self.correlated:
            size = np.geomspace(0.1, 10.0, self.columns)
        weights = random.normal(0.0, 1.0, self.columns) / (
            size * math.sqrt(self.columns * (FULL if self.sparse else 1))
        )
        score = X @ weights.astype(X.dtype) + 0.5
        y = (random.random(self.rows) < 1.0 / (1.0 + np.exp(-score.astype(np.float64)))).astype(np.int64)
        y[:2] = 0, 1
        return Problem(X, y)

    def _dense(self, random: np.random.Generator) -> Any:
        X = random.standard_normal((self.rows, self.columns), dtype=self.dtype)  # type: ignore[arg-type]
        if self.correlated:
            for j in range(1, self.columns):
                X[:, j] = 0.9 * X[:, j - 1] + math.sqrt(0.19) * X[:, j]
            X *= np.geomspace(0.1, 10.0, self.columns).astype(self.dtype)
        return X

    def _sparse(self, random: np.random.Generator) -> Any:
        """Each row stores the same share of the columns; correlated ones store stretches that share a factor."""
        each = max(1, round(FULL * self.columns))
        step = self.columns / each
        begin = random.random((self.rows, 1)) + np.arange(each)[None, :]
        indices = np.minimum((begin * step).astype(np.int32), self.columns - 1)
        values = random.standard_normal((self.rows, each), dtype=self.dtype)  # type: ignore[arg-type]
        if self.correlated:
            values *= math.sqrt(0.19)
            values += 0.9 * random.standard_normal((self.rows, 1), dtype=self.dtype)  # type: ignore[arg-type]
            values *= np.geomspace(0.1, 10.0, self.columns).astype(self.dtype)[indices]
        ends = np.arange(0, self.rows * each + 1, each, dtype=np.int32)
        return scipy.sparse.csr_matrix((values.ravel(), indices.ravel(), ends), shape=(self.rows, self.columns))


@dataclass(frozen=True, slots=True)
class Standing:
    """One cell's outcome: our seconds, the fastest exact peer's, and what ``verify`` costs."""

    cell: Cell
    ours: float
    peer: float
    peer_name: str
    certified: float
    excess: float
    verify: float
    solver: str

    @property
    def ratio(self) -> float:
        """Peer's seconds over ours."""
        return self.peer / self.ours


def peers(problem: Problem) -> list[list[Contender]]:
    """scikit-learn's solvers, each from the loosest tolerance on, BLAS on all threads and on one; glum if dense."""
    families: list[list[Contender]] = []
    for solver, tolerances in (
        ("lbfgs", (1e-4, 1e-6, 1e-8)),
        ("newton-cg", (1e-4, 1e-6)),
        ("newton-cholesky", (1e-4, 1e-8)),
    ):
        families.append([])
        for tol in tolerances:
            options = {"solver": solver, "tol": tol, "max_iter": 2000}
            families[-1] += contenders.scikit_learn(problem, f"{solver} tol={tol:g}", **options)
    if not scipy.sparse.issparse(problem.X):
        families.append(contenders.glum(problem))
    families = [each for family in families for each in (family, contenders.on_one_blas_thread(family))]
    if problem.X.dtype == np.float32:
        families.append([_doubled(problem, tol) for tol in (1e-4, 1e-6)])
    return families


def _doubled(problem: Problem, tol: float) -> Contender:
    """Lbfgs on a float64 copy that is made in the time taken: in float32 it may not reach the optimum."""

    def run() -> Any:
        wide = Problem(problem.X.astype(np.float64), problem.y, problem.C)
        return contenders.scikit_learn(wide, "lbfgs", solver="lbfgs", tol=tol, max_iter=2000)[0].run()

    return Contender(f"scikit-learn lbfgs tol={tol:g} on a float64 copy", run)


class OutOfPatience(Exception):
    """A peer took too long."""


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Raise OutOfPatience in the block after so many seconds, where the system has such a clock."""

    def ring(*_: object) -> None:
        raise OutOfPatience(f"not within {seconds:.3g} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def compete(
    cell: Cell, problem: Problem, ours: Contender, families: Sequence[Sequence[Contender]], rounds: int
) -> Standing:
    """Everybody once, each family until it is exact or patience ends; then ours and the fastest exact peers in turn."""
    mine = Result(ours)
    mine.again()
    mine.again()
    if mine.error:
        raise RuntimeError(f"{cell}: {mine.error}")
    seen: list[Result] = []
    fastest = math.inf
    for family in families:
        for rival in family:
            result = Result(rival)
            limit = min((PATIENCE if mine.seconds < LONG else IMPATIENCE) * mine.seconds, CLOSE**2 * fastest) + AT_LEAST
            if mine.seconds >= APART:
                _apart(result, limit)
            else:
                _within(limit, result.again)
            if result.error:
                break  # a tighter tolerance takes longer
            seen.append(result)
            if excesses_of(problem, [mine, result])[1] <= EXACT:
                fastest = min(fastest, result.seconds)
                break
    excesses = excesses_of(problem, [mine, *seen])
    exact = [r for r, excess in zip(seen, excesses[1:], strict=True) if excess <= EXACT]
    close = sorted(exact, key=lambda r: r.seconds)[:3]
    close = [r for r in close if r.seconds <= CLOSE * close[0].seconds]
    for turn in range(rounds):
        for result in [mine, *close] if turn % 2 else [*close, mine]:
            gc.collect()
            result.again()
    best = min(close, key=lambda r: r.seconds, default=None)
    verify, solver = _verify_seconds(problem)
    assert mine.fit is not None
    return Standing(
        cell,
        mine.seconds,
        (PATIENCE if mine.seconds < LONG else IMPATIENCE) * mine.seconds if best is None else best.seconds,
        "none in time" if best is None else best.contender.name,
        mine.fit.certified or 0.0,
        float(excesses[0]),
        verify,
        solver,
    )


def excesses_of(problem: Judge, results: Sequence[Result]) -> list[float]:
    """(F − F_best)/F_best of each, infinite where there is no fit."""
    values = [
        math.inf if r.fit is None or r.error else np.longdouble(problem.objective(r.fit.coef, r.fit.intercept))
        for r in results
    ]
    best = min(values)
    return [float((value - best) / best) for value in values]


def _apart(result: Result, seconds: float) -> None:
    """One run in a process of its own, which is killed when patience ends."""
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=_report, args=(result, send))
    process.start()
    send.close()
    try:
        if receive.poll(seconds):
            result.seconds, result.fit, result.error = receive.recv()
        else:
            result.error = f"OutOfPatience: not within {seconds:.3g} s"
    except EOFError:
        result.error = "the process ended without an answer"
    finally:
        process.kill()
        process.join()


def _report(result: Result, send: Connection) -> None:
    """In a new thread: OpenMP's team of the main thread did not outlive the fork, and a new thread makes its own."""
    alone = threading.Thread(target=result.again)
    alone.start()
    alone.join()
    send.send((result.seconds, result.fit, result.error))


def _within(seconds: float, run: Callable[[], None]) -> None:
    with patience(seconds):
        run()


def _verify_seconds(problem: Problem) -> tuple[float, str]:
    from separatrix import LogisticRegression

    model = LogisticRegression(C=problem.C).fit(problem.X, problem.y)
    taken = math.inf
    numbers = problem.X.shape[0] * problem.X.shape[1]
    for _ in range(8 if numbers <= 10**6 else 5 if numbers <= 10**7 else 2):  # as often as the fit, or so
        start = time.perf_counter()
        model.certificate_.verify(problem.X, problem.y)
        taken = min(taken, time.perf_counter() - start)
    return taken, str(getattr(model.trace_, "solver", ""))


__all__ = ["Cell", "Role", "Standing", "compete", "excesses_of", "patience", "peers"]
