"""Drawn tables, labels, weights and parameters through every estimator, for so many cases or minutes.

    python tests/fuzz_fits.py --cases 100000 [--first SEED] [--jobs 2]
    python tests/fuzz_fits.py --minutes 10

A case is its seed. It is fitted as a plain array and in another layout; both must end alike: the same kind of error,
one of ours with a reason and a hint, the estimator as it was; or fits that agree as far as their certificates say, with
finite probabilities that add up and a certificate that verifies. Every fault is printed with its seed.
"""

import argparse
import math
import pickle
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas

import separatrix as sx
import tables
from separatrix.core.errors import CertificateError, InputError, InputTypeError
from separatrix.engines import block_of

LAYOUTS = [name for name in tables.LAYOUTS if name not in ("c",)]
OURS = (InputError, InputTypeError)


@dataclass(slots=True)
class Case:
    """What one seed draws."""

    seed: int
    X: np.ndarray
    y: Any
    weights: Any
    estimator: Any
    layout: str
    faults: list[str] = field(default_factory=list)

    def fault(self, text: str) -> None:
        self.faults.append(f"seed {self.seed}, {self.layout}, {self.estimator}: {text}")


def _columns(draw: np.random.Generator, n: int, d: int) -> np.ndarray:
    X = draw.normal(size=(n, d))
    for j in range(d):
        kind = draw.integers(0, 12)
        if kind == 0:
            X[:, j] = draw.integers(0, 2, n)
        elif kind == 1:
            X[:, j] = draw.integers(-3, 4, n)
        elif kind == 2:
            X[:, j] = float(draw.integers(-2, 3))
        elif kind == 3:
            X[:, j] = X[:, int(draw.integers(0, d))]
        elif kind == 4:
            X[:, j] *= 10.0 ** draw.integers(-12, 13)
        elif kind == 5:
            X[:, j] += 10.0 ** draw.integers(0, 9)
        elif kind == 6:
            X[:, j] *= draw.random(n) < 0.3
        elif kind == 7 and draw.random() < 0.2:
            X[:, j] *= 10.0 ** draw.choice([-300, -150, 150, 300])
    if draw.random() < 0.04:
        X[draw.integers(0, n), draw.integers(0, d)] = draw.choice([np.nan, np.inf, -np.inf])
    return X if draw.random() < 0.7 else np.round(X * 4).clip(-100, 100)


def _labels(draw: np.random.Generator, X: np.ndarray) -> Any:
    n = len(X)
    classes = int(draw.choice([1, 2, 2, 2, 2, 3, 4]))
    with np.errstate(all="ignore"):
        scores = np.nan_to_num(X @ draw.normal(size=X.shape[1]), posinf=0.0, neginf=0.0)
    scores = scores / (np.abs(scores).max() or 1.0) + draw.choice([0.0, 0.3, 2.0]) * draw.normal(size=n)
    codes = np.searchsorted(np.quantile(scores, np.linspace(0, 1, classes + 1)[1:-1]), scores)
    kind = draw.integers(0, 9)
    if kind == 0:
        return 2 * codes - 1
    if kind == 1:
        return np.array(["no", "yes", "perhaps", "never"])[codes]
    if kind == 2:
        return codes.astype(bool)
    if kind == 3:
        return codes.astype(float)
    if kind == 4:
        return np.array(["no", "yes", "perhaps", "never"], dtype=object)[codes]
    if kind == 5 and draw.random() < 0.2:
        labels = codes.astype(object)
        labels[draw.integers(0, n)] = None
        return labels
    return codes.tolist() if kind == 6 else codes


def _weights(draw: np.random.Generator, n: int) -> Any:
    kind = draw.integers(0, 12)
    if kind == 0:
        return draw.random(n)
    if kind == 1:
        return draw.integers(0, 3, n)
    if kind == 2:
        return draw.random(n) * 10.0 ** draw.integers(-8, 9)
    if kind == 3 and draw.random() < 0.2:
        return np.where(draw.random(n) < 0.2, draw.choice([-1.0, np.nan, np.inf]), 1.0)
    return None


def _number(draw: np.random.Generator, *good: Any) -> Any:
    """One of the good values, and rarely what is none."""
    bad = ["x", None, -1.0, float("nan"), True, 1j, [1.0], 1e300, 0]
    return bad[draw.integers(0, len(bad))] if draw.random() < 0.02 else good[draw.integers(0, len(good))]


def _estimator(draw: np.random.Generator) -> Any:
    kind = draw.integers(0, 10)
    intercept = bool(draw.random() < 0.8)
    if kind <= 3:
        return sx.LogisticRegression(
            C=_number(draw, 1.0, 0.01, 100.0, 1e6, 1.0),
            l1_ratio=_number(draw, 0.0, 0.0, 1.0, 0.5),
            fit_intercept=intercept,
            class_weight="balanced" if draw.random() < 0.1 else None,
            solver=str(draw.choice(["auto", "auto", "newton-cholesky", "newton-cg"])),
            max_iter=_number(draw, 100, 100, 3),
        )
    if kind == 4:
        return sx.LogisticRegression(C=np.inf, fit_intercept=intercept, firth=bool(draw.random() < 0.3))
    if kind == 5:
        return sx.SGDClassifier(
            "perceptron" if draw.random() < 0.2 else "log_loss",
            alpha=_number(draw, 0.1, 1e-3),
            max_iter=_number(draw, 5, 20),
            batch_size=_number(draw, 1, 1, "all"),
        )
    if kind == 6:
        return sx.Perceptron(max_iter=_number(draw, 5, 30), eta0=_number(draw, 1.0, 0.1), fit_intercept=intercept)
    if kind == 7:
        return sx.LinearDiscriminantAnalysis(shrinkage=[None, None, 0.3][draw.integers(0, 3)], solver="lsqr")
    if kind == 8:
        return sx.BernoulliNB(alpha=_number(draw, 1.0, 0.1), binarize=_number(draw, 0.0, 0.5))
    return sx.RidgeClassifier(alpha=_number(draw, 1.0, 0.01), fit_intercept=intercept)


def drawn(seed: int) -> Case:
    """The case of a seed."""
    draw = np.random.default_rng(seed)
    n, d = int(draw.integers(2, 60)), int(draw.integers(1, 7))
    X = _columns(draw, n, d)
    y, weights, estimator = _labels(draw, X), _weights(draw, n), _estimator(draw)
    return Case(seed, X, y, weights, estimator, str(draw.choice(LAYOUTS)))


def _fit(case: Case, X: Any) -> Any:
    """The fitted model, or the error it ended with; the estimator must be as it was."""
    model = type(case.estimator)(**case.estimator.get_params())
    before = dict(vars(model))
    try:
        return model.fit(X, case.y, sample_weight=case.weights)
    except OURS as error:
        if vars(model).keys() != before.keys():
            case.fault(f"changed by a failed fit: {sorted(vars(model).keys() - before.keys())}")
        return error


def _check_predictions(case: Case, model: Any, X: Any) -> None:
    labels = model.predict(X)
    if len(labels) != len(case.X) or not set(labels.tolist()) <= set(model.classes_.tolist()):
        case.fault("predictions are no classes")
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(X)
        if not (np.isfinite(shares).all() and np.allclose(shares.sum(axis=1), 1.0) and (shares >= 0).all()):
            case.fault("probabilities are not finite or do not add up")


def _check_certificate(case: Case, model: Any, X: Any) -> None:
    certificate = model.certificate_
    if math.isnan(float(certificate.bound)):
        case.fault("the bound is NaN")
    if certificate.met:
        try:
            certificate.verify(X, case.y, case.weights)
        except CertificateError as error:
            case.fault(f"does not verify: {str(error).splitlines()[0]}")


def _check_across(case: Case, one: Any, two: Any, other: Any) -> None:
    """Claims about one layout hold in the other; about a table with names, in a frame with the same names."""
    names = block_of(other).names
    plain = case.X
    if names is not None:
        plain = pandas.DataFrame(case.X, columns=other.columns if isinstance(other, pandas.DataFrame) else list(names))
        one = _fit(case, plain)
    _check_certificate(case, one, other)
    _check_certificate(case, pickle.loads(pickle.dumps(two)), plain)


def _check_agreement(case: Case, one: Any, other: Any) -> None:
    first, second = one.certificate_, other.certificate_
    if first.kind != second.kind or not (first.met and second.met) or not hasattr(first, "objective"):
        return
    apart = abs(first.objective - second.objective)
    if not apart <= first.bound + second.bound + 1e-9 * abs(first.objective):
        case.fault(f"objectives {first.objective!r} and {second.objective!r} differ by more than the bounds")


def tried(seed: int) -> tuple[str, list[str]]:
    """How the case ended (fitted or refused), and its faults."""
    case = drawn(seed)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            other = tables.LAYOUTS[case.layout](case.X)
            one, two = _fit(case, case.X), _fit(case, other)
            if isinstance(one, OURS) != isinstance(two, OURS):
                case.fault(f"an array gives {one!r}, the other layout {two!r}")
            elif isinstance(one, OURS):
                if "\n\nHint: " not in str(one) and not str(one).startswith(("Sample weights", "sample_weight.")):
                    case.fault(f"no hint: {one}")
                return "refused", case.faults
            else:
                _check_predictions(case, one, case.X)
                _check_predictions(case, two, other)
                _check_agreement(case, one, two)
                _check_certificate(case, one, case.X)
                _check_certificate(case, pickle.loads(pickle.dumps(two)), other)
                if seed % 7 == 0:
                    _check_across(case, one, two, other)
        except Exception as error:  # whatever is raised here is what is looked for
            case.fault(f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
    return "fitted", case.faults


def _many(tried: Callable[[int], tuple[str, list[str]]], span: tuple[int, int]) -> tuple[Counter[str], list[str]]:
    ends: Counter[str] = Counter()
    faults: list[str] = []
    for seed in range(*span):
        end, found = tried(seed)
        ends[end] += 1
        faults += found
    return ends, faults


def run(tried: Callable[[int], tuple[str, list[str]]], about: str) -> int:
    """Try seeds from the command line's first on, in several processes; every fault is printed. 1 if there was any."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--cases", type=int, default=10**9)
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    until, step = time.monotonic() + 60 * given.minutes, 200
    ends: Counter[str] = Counter()
    faults = 0
    with ProcessPoolExecutor(given.jobs) as pool:
        at = given.first
        while at < given.first + given.cases and time.monotonic() < until:
            spans = [
                (at + k * step, min(at + (k + 1) * step, given.first + given.cases)) for k in range(8 * given.jobs)
            ]
            for counted, found in pool.map(partial(_many, tried), [span for span in spans if span[0] < span[1]]):
                ends += counted
                faults += len(found)
                for text in found:
                    print(text, flush=True)
            at = spans[-1][1]
    each = ", ".join(f"{count} {end}" for end, count in sorted(ends.items()))
    print(f"{ends.total()} cases from seed {given.first} on: {each}; {faults} faults", flush=True)
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(run(tried, __doc__))
