"""One table through every model: fits, proofs and verdicts, and what is wrong with them."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import separatrix as sx
from benchmarks.realdata import oracles
from benchmarks.realdata.tables import Table

SLOWEST_VERDICT = 2.0
"""CPU seconds that a verdict may take at these sizes."""

CLOSE = 1e-7
"""A peer's objective may lie below ours by this share of it, and no more."""


@dataclass(slots=True)
class Trial:
    """One model on one table: seconds of CPU, the relative bound, and its faults."""

    table: str
    model: str
    seconds: float = 0.0
    bound: float = math.nan
    kind: str = ""
    faults: list[str] = field(default_factory=list)


def _attempt(trial: Trial, what: str, call: Callable[[], Any]) -> Any:
    start = time.process_time()
    try:
        return call()
    except Exception as error:  # whatever is raised is a fault of the trial, to be listed
        trial.faults.append(f"{what}: {type(error).__name__}: {str(error).splitlines()[0][:120]}")
        return None
    finally:
        trial.seconds = max(trial.seconds, time.process_time() - start)


def _fitted(table: Table, model: str, estimator: Any, must_be_met: bool = True) -> tuple[Trial, Any]:
    trial = Trial(str(table), model)
    fitted = _attempt(trial, "fit", lambda: estimator.fit(table.X, table.y))
    if fitted is None:
        return trial, None
    certificate = fitted.certificate_
    trial.kind = certificate.kind
    trial.bound = float(getattr(certificate, "relative", math.nan))
    if must_be_met and not certificate.met:
        trial.faults.append(f"not met: {str(certificate)[:100]}")
    if certificate.met:
        _attempt(trial, "verify", lambda: certificate.verify(table.X, table.y))
    return trial, fitted


def _compare(trial: Trial, table: Table, fitted: Any, other: float, C: float, l1_ratio: float) -> None:
    ours = oracles.objective(table.X, table.y, fitted.coef_.ravel(), float(fitted.intercept_[0]), C, l1_ratio)
    if ours > other * (1.0 + CLOSE) + 1e-12:
        trial.faults.append(f"objective {ours:.12g}, another finds {other:.12g}")


def trials(table: Table) -> list[Trial]:
    """Every model on the table."""
    X, y = table.X, table.y
    done = []
    trial, fitted = _fitted(table, "L2", sx.LogisticRegression())
    if fitted is not None:
        _compare(trial, table, fitted, oracles.peer_objective(X, y, 1.0), 1.0, 0.0)
    done.append(trial)
    for model, l1_ratio in (("L1", 1.0), ("elastic net", 0.5)):
        trial, fitted = _fitted(table, model, sx.LogisticRegression(l1_ratio=l1_ratio))
        if fitted is not None:
            other = oracles.lower_objective(X, y, fitted.coef_.ravel(), float(fitted.intercept_[0]), 1.0, l1_ratio)
            _compare(trial, table, fitted, other, 1.0, l1_ratio)
        done.append(trial)
    done += _verdict_and_likelihood(table)
    done.append(_fitted(table, "Firth", sx.LogisticRegression(C=np.inf, firth=True))[0])
    done.append(_discriminant(table))
    done.append(_fitted(table, "perceptron", sx.Perceptron(max_iter=20), must_be_met=False)[0])
    done.append(_fitted(table, "naive Bayes", sx.BernoulliNB(), must_be_met=False)[0])
    done.append(_fitted(table, "ridge", sx.RidgeClassifier(), must_be_met=False)[0])
    done.append(_fitted(table, "ridge, penalty chosen", sx.RidgeClassifierCV(), must_be_met=False)[0])
    return done


def _discriminant(table: Table) -> Trial:
    """A direction without spread within the classes decides every row; elsewhere the labels are scikit-learn's."""
    trial, fitted = _fitted(table, "LDA", sx.LinearDiscriminantAnalysis(), must_be_met=False)
    if fitted is None:
        return trial
    labels = fitted.predict(table.X)
    if len(fitted.separating_):
        if (labels != table.y).any():
            trial.faults.append("a direction has no spread within the classes, and not every row is decided by it")
        return trial
    peer = _attempt(trial, "peer", lambda: oracles.discriminant(table.X, table.y))
    if peer is not None and (differ := float(np.mean((labels != peer[0]) & peer[1]))) > 0.01:
        trial.faults.append(f"labels differ from scikit-learn's in {differ:.1%}")
    return trial


def _verdict_and_likelihood(table: Table) -> list[Trial]:
    X, y = table.X, table.y
    trial = Trial(str(table), "verdict")
    verdict = _attempt(trial, "verdict", lambda: sx.separability(X, y))
    if verdict is None:
        return [trial]
    trial.kind = verdict.kind
    if trial.seconds > SLOWEST_VERDICT:
        trial.faults.append(f"slow: {trial.seconds:.1f} s")
    if verdict.kind == "undecided":
        trial.faults.append("undecided")
    else:
        _attempt(trial, "verify", lambda: verdict.verify(X, y))
    sure = oracles.separability(X, y)
    if sure is not None and verdict.kind not in (sure, "undecided"):
        trial.faults.append(f"{verdict.kind}, a linear program says {sure}")
    overlap = verdict.kind == "overlap"
    likelihood, fitted = _fitted(table, "maximum likelihood", sx.LogisticRegression(C=np.inf), must_be_met=overlap)
    if fitted is not None and overlap:
        _compare(likelihood, table, fitted, oracles.peer_objective(X, y, np.inf), np.inf, 0.0)
    elif fitted is not None:
        _attempt(likelihood, "predict", lambda: fitted.predict_proba(X))
    return [trial, likelihood]
