"""W16: the grid of shapes, L2 logistic regression, C = 1: ours against the fastest exact peer in every cell."""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import product
from pathlib import Path
from statistics import median

from benchmarks import contenders
from benchmarks.grid import Cell, Standing, compete, peers
from benchmarks.harness import Options, load, print_table

ROWS = (300, 3_000, 30_000, 300_000, 3_000_000)
COLUMNS = (5, 30, 100, 300, 1_000, 3_000, 10_000)
MOST_NUMBERS = 10**8
RESULTS = Path(__file__).parent / "results" / "w16.json"


def cells(options: Options) -> Iterator[Cell]:
    """Every cell of up to 1e8 numbers; SEPARATRIX_CELLS="dense float64 unit 30000x1000" picks by words."""
    words = os.environ.get("SEPARATRIX_CELLS", "").split()
    most = MOST_NUMBERS if not options.quick else 10**5
    for sparse, dtype, correlated in product((False, True), ("float64", "float32"), (False, True)):
        for rows, columns in product(ROWS, COLUMNS):
            cell = Cell(rows, columns, correlated, dtype, sparse)
            name = f"{cell.kind} {rows}x{columns} "
            sizes = [word for word in words if "x" in word]
            if rows * columns > most or not all(word in name for word in words if "x" not in word):
                continue
            if not sizes or any(f" {size} " in name for size in sizes):
                yield cell


def run(options: Options) -> None:
    standings: list[Standing] = []
    warm = Cell(300, 5).problem()
    for _ in range(20):  # the first fits of a process are slow, everybody's
        compete(Cell(300, 5), warm, contenders.separatrix(warm)[0], peers(warm), 0)
    for cell in cells(options):
        problem = cell.problem()
        ours = contenders.separatrix(problem)[0]
        numbers = cell.rows * cell.columns
        rounds = options.rounds(12 if numbers <= 10**5 else 5 if numbers <= 10**6 else 2)
        standings.append(compete(cell, problem, ours, peers(problem), rounds))
        one = standings[-1]
        print(
            f"{cell.kind}, {cell.rows} x {cell.columns}: {one.ratio:.2f} ({one.ours:.4f} s, {one.peer_name} "
            f"{one.peer:.4f} s, excess {one.excess:.0e}, verify {one.verify / one.ours:.2f}, {one.solver}, {load()})",
            file=sys.stderr,
            flush=True,
        )
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps([asdict(each) for each in standings], indent=1))
    print_grid(standings)


def print_grid(standings: Sequence[Standing]) -> None:
    """Peer's seconds over ours, a table for each kind of cell; then the worst cell, the median, and verify."""
    for kind in dict.fromkeys(one.cell.kind for one in standings):
        of_kind = [one for one in standings if one.cell.kind == kind]
        print(f"\n### {kind}")
        columns = sorted({one.cell.columns for one in of_kind})
        found = {(one.cell.rows, one.cell.columns): one for one in of_kind}
        print_table(
            ("rows", *(f"d = {d:,}" for d in columns)),
            [
                (f"{n:,}", *(_ratio(found.get((n, d))) for d in columns))
                for n in sorted({one.cell.rows for one in of_kind})
            ],
        )
    if not standings:
        return
    worst = min(standings, key=lambda one: one.ratio)
    dear = max(standings, key=lambda one: one.verify / one.ours)
    print(
        f"\nWorst cell: {worst.ratio:.2f} ({worst.cell.kind}, {worst.cell.rows:,} x {worst.cell.columns:,}, against "
        f"{worst.peer_name}); median {median(one.ratio for one in standings):.2f} of {len(standings)} cells, "
        f"{sum(one.ratio < 1.0 for one in standings)} below 1. Largest certified distance "
        f"{max(one.certified for one in standings):.0e}. verify takes at most {dear.verify / dear.ours:.2f} of the fit "
        f"({dear.cell.kind}, {dear.cell.rows:,} x {dear.cell.columns:,}); {load()}."
    )


def _ratio(one: Standing | None) -> str:
    if one is None:
        return ""
    sign = "> " if one.peer_name == "none in time" else ""
    return f"{sign}**{one.ratio:.2f}**" if one.ratio < 1.0 else f"{sign}{one.ratio:.2g}"
