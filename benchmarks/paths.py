"""The contenders of a race over a whole path of penalties; each gives weights (C × d) and intercepts (C)."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy.io import mmwrite

from benchmarks.harness import Contender, Fit, Role
from benchmarks.problem import PathProblem

GLMNET = Path(__file__).with_name("glmnet_path.R")


def separatrix(problem: PathProblem) -> list[Contender]:
    """Every fit begins at the last one's weights and is certified at the default tol."""
    from separatrix import LogisticRegression

    def run() -> Fit:
        model = LogisticRegression(l1_ratio=problem.l1_ratio, warm_start=True)
        fits = []
        for C in problem.Cs:
            model.set_params(C=C).fit(problem.X, problem.y)
            fits.append(Fit(model.coef_[0], model.intercept_[0], model.certificate_.relative, int(model.n_iter_[0])))
        return _joined(fits)

    return [Contender("**separatrix** warm_start", run, Role.OURS)]


def skglm(problem: PathProblem, X: Any, tol: float) -> list[Contender]:
    """A loop with warm starts, too; the compilation is in nobody's time, as another race came before."""
    try:
        from skglm import SparseLogisticRegression
    except ImportError:
        print("\nskipped skglm: it is not installed")
        return []

    def run() -> Fit:
        model = SparseLogisticRegression(tol=tol, max_iter=200, warm_start=True)
        fits = []
        for C in problem.Cs:
            model.set_params(alpha=1.0 / (X.shape[0] * C)).fit(X, problem.y)
            fits.append(Fit(np.ravel(model.coef_).copy(), float(np.ravel(model.intercept_)[0])))
        return _joined(fits)

    return [Contender(f"skglm tol={tol:.0e} warm_start", run)]


@contextmanager
def glmnet(problem: PathProblem, *thresholds: float) -> Iterator[list[Contender]]:
    """The *mean* loss + λ‖w‖₁ is what glmnet minimises, at λ = 1/(n·C); R takes the time of the fit alone.

    X goes to R once, as a Matrix Market file in a folder that lives as long as the context.
    """
    if not _has_glmnet():
        print("\nskipped glmnet: there is no Rscript, or R has no package glmnet")
        yield []
        return
    with TemporaryDirectory() as name:
        folder = Path(name)
        mmwrite(folder / "X.mtx", problem.X)
        np.savetxt(folder / "y.txt", problem.y, fmt="%d")
        np.savetxt(folder / "lambda.txt", 1.0 / (problem.X.shape[0] * np.asarray(problem.Cs)), fmt="%.17g")
        yield [Contender(f"glmnet thresh={thresh:.0e}", _in_r(folder, thresh)) for thresh in thresholds]


def _in_r(folder: Path, thresh: float) -> Callable[[], Fit]:
    def run() -> Fit:
        subprocess.run(["Rscript", GLMNET, folder, f"{thresh:g}"], check=True, capture_output=True)
        weights = np.loadtxt(folder / "weights.txt", ndmin=2)
        return Fit(weights[:, 1:], weights[:, 0], seconds=float((folder / "seconds.txt").read_text()))

    return run


def _has_glmnet() -> bool:
    if shutil.which("Rscript") is None:
        return False
    return not subprocess.run(["Rscript", "-e", "library(glmnet)"], check=False, capture_output=True).returncode


def _joined(fits: list[Fit]) -> Fit:
    certified = [fit.certified for fit in fits if fit.certified is not None]
    passes = [fit.passes for fit in fits if fit.passes is not None]
    return Fit(
        np.array([fit.coef for fit in fits]),
        np.array([fit.intercept for fit in fits]),
        max(certified, default=None),
        sum(passes) if passes else None,
    )
