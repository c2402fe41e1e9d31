"""Fit every model to every table, compare with others, print what is wrong and a summary; exit 1 if anything is."""

import argparse
import math
import os
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor

from benchmarks.realdata.tables import names, tables
from benchmarks.realdata.trials import Trial, trials


def _all_of(name: str) -> list[Trial]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [trial for table in tables(name) for trial in trials(table)]


def _summary(done: list[Trial]) -> str:
    lines = [
        "| model | tables | errors | not met | other faults | largest relative bound | slowest, CPU s | on |",
        "|---|---:|---:|---:|---:|---:|---:|---|",
    ]
    for model in dict.fromkeys(trial.model for trial in done):
        mine = [trial for trial in done if trial.model == model]
        faults = [fault for trial in mine for fault in trial.faults]
        errors = sum(fault.startswith(("fit:", "verify:", "predict:", "peer:")) for fault in faults)
        unmet = sum(fault.startswith(("not met", "undecided")) for fault in faults)
        slowest = max(mine, key=lambda trial: trial.seconds)
        bounds = [trial.bound for trial in mine if not trial.faults and math.isfinite(trial.bound)]
        largest = f"{max(bounds):.0e}" if bounds else "–"
        other = len(faults) - errors - unmet
        name = slowest.table.split(" ")[0]
        lines.append(
            f"| {model} | {len(mine)} | {errors} | {unmet} | {other} | {largest} | {slowest.seconds:.2f} | {name} |"
        )
    kinds = [trial.kind for trial in done if trial.model == "verdict"]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in ("complete", "quasi", "overlap", "undecided"))
    return "\n".join([*lines, "", f"{len(kinds)} tables: {counts}."])


def main() -> int:
    """Run and report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.realdata", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="PACKAGE[/ITEM]", help="only these; all if none")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes; as many as cores")
    arguments = parser.parse_args()
    done: list[Trial] = []
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for found in pool.map(_all_of, names(arguments.names), chunksize=1):
            done += found
            for trial in found:
                for fault in trial.faults:
                    print(f"{trial.table}: {trial.model}: {fault}", flush=True)
    print(f"\n{_summary(done)}")
    return int(any(trial.faults for trial in done))


if __name__ == "__main__":
    sys.exit(main())
