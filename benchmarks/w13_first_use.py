"""W13: first use, that is to import and fit 100 rows in a new process.

Every time is that of a whole process, from its start to its end. The data are made of
sines, because drawing them would import numpy.random on top.
"""

import subprocess
import sys

from benchmarks.harness import Contender, Options, print_runs, print_table, race

FIT = """
import numpy as np
X = np.sin(np.arange(300.0)).reshape(100, 3)
LogisticRegression().fit(X, X.sum(axis=1) + np.cos(np.arange(100.0)) > 0)
"""
FLOOR = "import sklearn.base"
PROGRAMS = {
    "Python alone": "",
    FLOOR: "import sklearn.base",
    "**separatrix**: import": "import separatrix",
    "**separatrix**: import and fit": f"from separatrix import LogisticRegression{FIT}",
    "scikit-learn: import linear_model": "import sklearn.linear_model",
    "scikit-learn: import linear_model and fit": f"from sklearn.linear_model import LogisticRegression{FIT}",
}


def run(options: Options) -> None:
    results = race([_process(name, program) for name, program in PROGRAMS.items()], options.rounds(7))
    floor = next(result.seconds for result in results if result.contender.name == FLOOR)
    print_table(
        ("process", "seconds", "seconds over sklearn.base"),
        [(result.contender.name, f"{result.seconds:.3f}", f"{result.seconds - floor:+.3f}") for result in results],
    )
    print_runs(results, "processes")


def _process(name: str, program: str) -> Contender:
    def run() -> None:
        subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)

    return Contender(name, run)
