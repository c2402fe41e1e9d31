"""A race: contenders run in turn in one process, and the shortest time of each counts."""

import gc
import math
import os
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import numpy as np

from benchmarks.problem import Judge

EXACT = 1e-8  # a peer whose excess is larger did not solve the problem, so nobody is compared with it
NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line asked for."""

    quick: bool = False
    slow: bool = False
    repeats: int | None = None

    def rounds(self, usual: int) -> int:
        """The number asked for, else one for a smoke run, else the workload's own."""
        return self.repeats or (1 if self.quick else usual)

    def size(self, full: int, quick: int) -> int:
        """A size that depends on whether this is a smoke run."""
        return quick if self.quick else full


class Fit(NamedTuple):
    """Fitted weights; ``certified`` and ``passes`` only where the estimator says them.

    ``seconds`` is for a fit in another process that took its own time: it then counts
    instead of the time that ``race`` sees, which includes the start of that process.
    """

    coef: Any
    intercept: Any
    certified: float | None = None
    passes: int | None = None
    seconds: float | None = None


class Role(Enum):
    """How the tables treat a contender."""

    OURS = "separatrix"
    DEFAULT = "what a user of scikit-learn gets without options"
    PEER = "any other"


@dataclass(frozen=True, slots=True)
class Contender:
    """A name and what is timed; ``run`` gives the Fit, or None where nothing is fitted."""

    name: str
    run: Callable[[], Fit | None]
    role: Role = Role.PEER


@dataclass(slots=True)
class Result:
    """The shortest time of a contender so far, its last fit, and the error that ended it."""

    contender: Contender
    seconds: float = math.inf
    fit: Fit | None = None
    error: str = ""
    runs: int = 0

    def again(self) -> None:
        """Run once more; an error takes the contender out of the race, not the race down."""
        if self.error:
            return
        try:
            start = time.perf_counter()
            self.fit = self.contender.run()
            elapsed = time.perf_counter() - start
            if self.fit is not None and self.fit.seconds is not None:
                elapsed = self.fit.seconds
            self.seconds = min(self.seconds, elapsed)
            self.runs += 1
        except Exception as error:
            self.error = f"{type(error).__name__}: {error}".splitlines()[0][:160]


def race(contenders: Sequence[Contender], rounds: int, at_least: float = 0.0) -> list[Result]:
    """Run all contenders in turn for a number of rounds, and on until ``at_least`` seconds are spent.

    Every round begins with another contender, so that none always follows the same
    one into a warm or a cold cache.
    """
    results = [Result(contender) for contender in contenders]
    start, done = time.perf_counter(), 0
    while done < rounds or time.perf_counter() - start < at_least:
        gc.collect()
        first = done % len(results)
        for result in results[first:] + results[:first]:
            result.again()
        done += 1
    return results


def print_fits(problem: Judge, results: Sequence[Result]) -> None:
    """Seconds, excess and ratios of a race of fits, as a table.

    The excess is (F − F_best)/F_best, with F from ``problem.objective`` for everybody
    and F_best the smallest that any contender found. Where F is many numbers, one for
    each penalty of a path, every penalty has its own F_best and the largest excess counts.
    """
    values = [problem.objective(r.fit.coef, r.fit.intercept) if r.fit else None for r in results]
    best = np.min([np.where(np.isfinite(value), value, np.inf) for value in values if value is not None], axis=0)
    excesses = [None if value is None else float(np.max((value - best) / best)) for value in values]
    exact = [
        result.seconds
        for result, excess in zip(results, excesses, strict=True)
        if result.contender.role is not Role.OURS and not result.error and excess is not None and excess <= EXACT
    ]
    fastest = min(exact, default=None)
    default = _seconds_of_default(results)
    print_table(
        ("contender", "seconds", "excess", f"speed ÷ best peer ≤ {EXACT:g}", "speed ÷ default", "certified", "passes"),
        [
            (
                result.contender.name,
                _seconds(result),
                _scientific(excess),
                _ratio(fastest, result),
                _ratio(default, result),
                _scientific(result.fit.certified if result.fit else None),
                str(result.fit.passes) if result.fit and result.fit.passes is not None else NOTHING,
            )
            for result, excess in zip(results, excesses, strict=True)
        ],
    )
    print_runs(results, "runs")


def print_times(results: Sequence[Result], calls: int = 1) -> None:
    """Seconds per call and the ratio to scikit-learn's default, as a table."""
    default = _seconds_of_default(results)
    print_table(
        ("contender", "seconds per call", "speed ÷ scikit-learn"),
        [(result.contender.name, _seconds(result, calls), _ratio(default, result)) for result in results],
    )
    print_runs(results, f"batches of {calls:,}" if calls > 1 else "calls")


def print_runs(results: Sequence[Result], what: str) -> None:
    """How many times were taken, how busy the machine was, and what went wrong."""
    print(f"\nShortest of {max(result.runs for result in results)} {what}; {load()}.", flush=True)
    for result in results:
        if result.error:
            print(f"\n{result.contender.name} failed: {result.error}", flush=True)


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A GitHub table: the first column to the left, the others to the right."""
    print()
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" + "---:|" * (len(header) - 1))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def environment() -> str:
    """Versions, threads and how busy the machine is: without them a time says nothing."""
    packages = ("separatrix", "numpy", "scipy", "scikit-learn", "glum", "snapml", "skglm", "statsmodels")
    machine = f"Python {platform.python_version()}, {os.cpu_count()} CPUs, {load()}, "
    return machine + ", ".join(map(_version, packages))


def load() -> str:
    """Processes that wanted to run in the last minute; more than the CPUs, and every time is a guess."""
    return f"load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "load unknown"


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"no {package}"


def _seconds_of_default(results: Sequence[Result]) -> float | None:
    return next((r.seconds for r in results if r.contender.role is Role.DEFAULT and not r.error), None)


def _seconds(result: Result, calls: int = 1) -> str:
    return "failed" if result.error else f"{result.seconds / calls:.3g}"


def _ratio(reference: float | None, result: Result) -> str:
    return NOTHING if reference is None or result.error else f"{reference / result.seconds:.2f}"


def _scientific(value: float | None) -> str:
    if value is None:
        return NOTHING
    return f"{value:.0e}" if value else "0"
