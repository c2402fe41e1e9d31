"""Many small cases: what is read, and what is fitted to a few rows, in two forms that mean the same.

    python tests/fuzz_small.py --cases 1000000 [--first SEED] [--jobs 2]
    python tests/fuzz_small.py --minutes 10

A case is its seed, which draws one question of ``QUESTIONS``: whether a table, labels, weights, class weights or a
parameter are read alike in two forms, whether a kernel adds up what its twin in NumPy does, whether models of a few
rows agree across layouts, and whether a verdict is the one that the simplex method in fractions finds. An error has
to be one of ours, with a hint, and leaves the estimator as it was. Every fault is printed with its seed.
"""

import inspect
import io
import sys
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from sklearn.base import BaseEstimator

import separatrix as sx
import tables
import twins
from exact_simplex import exact_verdict
from fuzz_fits import LAYOUTS, OURS, run
from separatrix.core.errors import CertificateError
from separatrix.engines import MemoryEngine, block_of
from separatrix.kernels import stretches
from separatrix.models.labels import class_factors, encode, sample_weights
from separatrix.terms.logistic import LogisticLoss

EPSILON = float(np.finfo(float).eps)

ODD: list[Any] = [
    "False", "two", "auto", "balanced", b"x", 2.5, -1, 0, 1, 2, 3, 0.5, 1e-9, float("nan"), float("inf"),
    -float("inf"), 1e300, 5e-324, 10**30, -(10**400), 1j, object(), [], {}, (), None, True, False, np.True_,
    np.float32(0.5), np.int8(3), np.array(3), np.array([1.0, 2.0]), [[1], [1, 2]], ["a", "b"], (2, 2), {0: 1}, {"a": 2},
]  # fmt: skip
"""Values for any parameter: a few are right for some."""


class Fault(AssertionError):
    """What should not have happened."""


def expect(right: bool, text: str) -> None:
    """Raise where it is not right."""
    if not right:
        raise Fault(text)


def ended(work: Callable[[], Any]) -> Any:
    """What the work returns, or our error with its hint; any other error is passed on."""
    try:
        return work()
    except OURS as error:
        expect("\n\nHint: " in str(error) or str(error).startswith(("Sample weights", "sample_weight.")), f"{error}")
        return error


def small(draw: np.random.Generator, most: int = 12) -> np.ndarray:
    """A few rows of a few small numbers, of any type, with columns that are constant, repeated, large or tiny."""
    n, d = int(draw.integers(1, most)), int(draw.integers(1, 5))
    X = draw.integers(-2, 3, (n, d)).astype(float) if draw.random() < 0.5 else draw.normal(size=(n, d))
    for j in range(d):
        kind = draw.integers(0, 12)
        if kind == 0:
            X[:, j] = X[0, j]
        elif kind == 1:
            X[:, j] = X[:, draw.integers(0, d)]
        elif kind == 2:
            X[:, j] *= 10.0 ** draw.integers(-9, 10)
        elif kind == 3:
            X[:, j] += 10.0 ** draw.integers(0, 9)
    if draw.random() < 0.3:
        dtype = tables.DTYPES[draw.integers(0, len(tables.DTYPES))]
        X = np.abs(X).clip(0, 100) if dtype[0] in "ub" else X.clip(-100, 100) if dtype[0] == "i" else X
        return X.astype(dtype)
    return X


def tables_are_read_alike(draw: np.random.Generator) -> str:
    """The numbers that every layout holds, and sums over them."""
    X = small(draw)
    if X.dtype.kind == "f" and draw.random() < 0.1:
        X[draw.integers(0, len(X)), 0] = draw.choice([np.nan, np.inf, -np.inf])
    layout = LAYOUTS[draw.integers(0, len(LAYOUTS))]
    block = block_of(tables.LAYOUTS[layout](X))
    which = draw.integers(0, len(X), int(draw.integers(0, 2 * len(X))))
    taken = block.take(which)
    taken = taken.toarray() if hasattr(taken, "toarray") else taken
    expect(block.shape == X.shape, f"{layout}: shape {block.shape}")
    expect(np.array_equal(taken, X[which].astype(float), equal_nan=True), f"{layout}: {taken.tolist()} of {X.tolist()}")
    if not np.isfinite(X.astype(float)).all():
        return "read"
    direction = draw.normal(size=X.shape[1] + 1)
    product, size = stretches.brackets(block.rows, direction, True, 0, block.shape[0], block.entries_per_row)
    Z = np.column_stack([X.astype(float), np.ones(len(X))])
    room = 16 * EPSILON * (np.abs(Z) @ np.abs(direction))
    expect(bool((np.abs(product - Z @ direction) <= room).all()), f"{layout}: products {product.tolist()}")
    expect(bool((np.abs(size - np.abs(Z) @ np.abs(direction)) <= room).all()), f"{layout}: sizes {size.tolist()}")
    return "read"


def kernels_add_up_what_their_twins_do(draw: np.random.Generator) -> str:
    """Loss, gradient and Hessian of any layout, against NumPy."""
    X = small(draw)
    layout = LAYOUTS[draw.integers(0, len(LAYOUTS))]
    block, n, d = block_of(tables.LAYOUTS[layout](X)), len(X), X.shape[1]
    codes = draw.integers(0, 2, n).astype(np.int32)
    weights = draw.integers(0, 3, n).astype(float) if draw.random() < 0.5 else None
    point = draw.normal(size=(1, d + 1)) / np.append(np.maximum(np.abs(X.astype(float)).max(axis=0), 1.0), 1.0)
    term = LogisticLoss(constant=True, shift=np.zeros(d), curvature=True)
    read: Any = MemoryEngine(block, codes, 2, weights).total(term, point)[0][0]
    header, gradient, hessian = twins.logistic(X, codes, point[0], weights)
    scale = np.append(np.abs(X.astype(float)).max(axis=0), 1.0) * n * 4
    expect(abs(read.loss - header[0]) <= 1e-12 * (1 + header[0]), f"{layout}: loss {read.loss}")
    expect(bool((np.abs(read.gradient - gradient) <= 1e-12 * scale).all()), f"{layout}: gradient")
    expect(bool((np.abs(read.hessian - hessian) <= 1e-12 * np.outer(scale, scale)).all()), f"{layout}: Hessian")
    return "read"


def _label_pool(draw: np.random.Generator) -> list[Any]:
    pools: list[list[Any]] = [
        [0, 1], [1, -1], [3, 7, 5], ["no", "yes"], ["a", "b", "ä"], [True, False], [0.0, 1.0], [2.0, -4.0, 1e6],
        [b"x", b"y"], [0.5, 1.5], [np.nan, 1.0], [None, "a"], [1j, 2], [(), (1,)], [frozenset([1]), frozenset([2])],
        ["", "a"],
        [np.datetime64("2020-01-01"), np.datetime64("NaT")], [np.datetime64("2020-01-01"), np.datetime64("2021-01-01")],
        [2**62, 2**62 + 1], [-(2**63), 2**63 - 1], [0, "0"], [pd.NA, 1], [1e308, -1e308], [np.int8(1), np.uint64(2)],
    ]  # fmt: skip
    return pools[draw.integers(0, len(pools))]


def _as_objects(values: list[Any]) -> np.ndarray:
    out = np.empty(len(values), dtype=object)
    for k, value in enumerate(values):
        out[k] = value
    return out


HOLDERS: list[Callable[[list[Any]], Any]] = [
    list,
    tuple,
    np.array,
    _as_objects,
    pd.Series,
    lambda values: pd.Series(values, index=range(5, 5 + len(values)), dtype=object),
    pl.Series,
    pa.array,
    lambda values: pa.chunked_array([values[:1], values[1:]]),
    lambda values: pd.Series(pd.Categorical(values)),
    lambda values: np.array(values).reshape(-1, 1),
    lambda values: np.array(values)[::-1][::-1],
]


def _held(draw: np.random.Generator, values: list[Any]) -> Any:
    """The values in some container; in a list where that container cannot hold them."""
    try:
        return HOLDERS[draw.integers(0, len(HOLDERS))](values)
    except Exception:  # the container's own complaint, which is not ours to judge
        return values


def labels_are_what_they_were(draw: np.random.Generator) -> str:
    """classes[codes] are the labels, or they are refused."""
    pool = _label_pool(draw)
    n = int(draw.integers(1, 9))
    values = [pool[k] for k in draw.integers(0, len(pool), n)]
    given = _held(draw, values)
    rows = n if draw.random() < 0.95 else n + int(draw.integers(-1, 3))
    target = ended(lambda: encode(given, rows))
    if isinstance(target, OURS):
        return "refused"
    expect(rows == n, "labels of another number were read")
    back = target.classes[target.codes].tolist()
    same = len(back) == n and all(str(a) == str(b) or a == b for a, b in zip(back, _plain(given), strict=True))
    expect(same, f"{values!r} in a {type(given).__name__} became {back!r}")
    expect(len(set(map(str, target.classes.tolist()))) == len(target.classes), f"classes {target.classes!r}")
    expect(len(np.unique(target.codes)) == len(target.classes), f"codes {target.codes!r}")
    return "read"


def _plain(given: Any) -> list[Any]:
    """What a container says it holds."""
    if hasattr(given, "to_pylist"):
        return list(given.to_pylist())
    array = np.asarray(given.to_numpy() if hasattr(given, "to_numpy") else given)
    return list(array.ravel().tolist())


def weights_are_what_they_were(draw: np.random.Generator) -> str:
    """Weights are the numbers given, or refused."""
    n = int(draw.integers(1, 9))
    values: list[Any] = (
        draw.random(n) * 10.0 ** draw.integers(-200, 200)
        if draw.random() < 0.3
        else draw.choice([0.0, 1.0, 2.0, 0.25], n)
    ).tolist()
    if draw.random() < 0.3:
        values[draw.integers(0, n)] = ODD[draw.integers(0, len(ODD))]
    given = _held(draw, values)
    rows = n if draw.random() < 0.95 else n + 1
    weights = ended(lambda: sample_weights(given, rows))
    if isinstance(weights, OURS):
        return "refused"
    if weights is None:
        return "read"
    expect(weights.shape == (rows,), f"shape {weights.shape}")
    expect(bool(np.isfinite(weights).all() and (weights >= 0).all() and weights.any()), f"{values!r}: {weights!r}")
    expect(weights.tolist() == [float(value) for value in _plain(given)], f"{values!r} became {weights!r}")
    return "read"


def class_weights_count_or_are_refused(draw: np.random.Generator) -> str:
    """A factor for every class that is named, and no class that is not there in the place of one that is."""
    pool: list[Any] = [["a", "b", "c"], [0, 1, 2], [True, False], [1.0, 2.0]][draw.integers(0, 4)]
    target = encode([*pool, pool[0]], len(pool) + 1)
    keys: list[Any] = [*pool, *pool, "0", 5, "a", 0, 1.0, None]
    values: list[Any] = [1, 2.0, np.float32(3), 0, *ODD] if draw.random() < 0.3 else [1, 2.0, np.float32(3), 0]
    given: Any = {
        keys[draw.integers(0, len(keys))]: values[draw.integers(0, len(values))]
        for _ in range(int(draw.integers(0, 4)))
    }
    if draw.random() < 0.1:
        given = ODD[draw.integers(0, len(ODD))]
    factors = ended(lambda: class_factors(given, target, None))
    if isinstance(factors, OURS):
        return "refused"
    if isinstance(given, dict):
        for label, factor in given.items():
            known = [code for code, own in enumerate(target.classes.tolist()) if own == label]
            expect(all(factors[code] == float(factor) for code in known), f"{given!r} became {factors!r}")
    return "read"


MODELS: list[BaseEstimator] = [
    sx.LogisticRegression(), sx.LogisticRegression(l1_ratio=1.0), sx.LogisticRegression(C=np.inf),
    sx.LogisticRegression(C=np.inf, firth=True), sx.SGDClassifier(batch_size="all", max_iter=3),
    sx.SGDClassifier(max_iter=3), sx.SGDClassifier("perceptron", max_iter=5),
    sx.Perceptron(max_iter=5), sx.Perceptron(max_iter=5, rule="batch"),
    sx.LinearDiscriminantAnalysis(), sx.BernoulliNB(), sx.RidgeClassifier(), sx.RidgeClassifierCV(),
    sx.MLPClassifier((2,), max_iter=2), sx.GaussianBasis(count=2, random_state=0), sx.SigmoidBasis(count=2),
    sx.BayesDecisionClassifier(sx.BernoulliNB()),
]  # fmt: skip
PARAMETERS = [list(inspect.signature(type(model)).parameters) for model in MODELS]
FEW = np.random.default_rng(0).normal(size=(7, 2))
FEW_LABELS = np.array([0, 1, 0, 1, 1, 0, 1])


def parameters_are_right_or_refused(draw: np.random.Generator) -> str:
    """Any one or two parameters with any value: a fit, or an error of ours that leaves the estimator as it was."""
    which = draw.integers(0, len(MODELS))
    model = type(MODELS[which])(**MODELS[which].get_params(deep=False))
    for _ in range(int(draw.integers(1, 3))):
        setattr(model, PARAMETERS[which][draw.integers(0, len(PARAMETERS[which]))], ODD[draw.integers(0, len(ODD))])
    before = dict(vars(model))
    with redirect_stdout(io.StringIO()):  # verbose is a parameter too
        found = ended(lambda: model.fit(FEW, FEW_LABELS))
    if not isinstance(found, OURS):
        return "fitted"
    expect(vars(model).keys() == before.keys(), f"{model}: changed by a fit that failed")
    expect(all(vars(model)[key] is before[key] for key in before), f"{model}: a parameter was changed")
    return "refused"


QUICK: list[Callable[[], Any]] = [
    lambda: sx.BernoulliNB(),
    lambda: sx.LinearDiscriminantAnalysis(),
    lambda: sx.RidgeClassifier(),
    lambda: sx.RidgeClassifier(alpha=1e-3, fit_intercept=False),
    lambda: sx.Perceptron(max_iter=10),
    lambda: sx.LogisticRegression(),
    lambda: sx.LogisticRegression(C=100.0, fit_intercept=False),
    lambda: sx.LogisticRegression(l1_ratio=1.0, C=0.3),
    lambda: sx.SGDClassifier(alpha=0.1, max_iter=2),
]


def models_of_a_few_rows_agree(draw: np.random.Generator) -> str:
    """The same end in two layouts; what is claimed of one holds in the other."""
    X = small(draw)
    if X.dtype.kind == "f" and draw.random() < 0.05:
        X[draw.integers(0, len(X)), 0] = draw.choice([np.nan, np.inf])
    n = len(X)
    y = draw.integers(0, int(draw.choice([1, 2, 2, 2, 3])), n)
    weights = draw.integers(0, 3, n) if draw.random() < 0.3 else None
    layout = LAYOUTS[draw.integers(0, len(LAYOUTS))]
    other = tables.LAYOUTS[layout](X)
    make = QUICK[draw.integers(0, len(QUICK))]
    one, two = make(), make()
    first = ended(lambda: one.fit(X, y, sample_weight=weights))
    second = ended(lambda: two.fit(other, y, sample_weight=weights))
    expect(isinstance(first, OURS) == isinstance(second, OURS), f"{one} {layout}: {first!r} and {second!r}")
    if isinstance(first, OURS):
        expect(not hasattr(one, "classes_") and not hasattr(two, "classes_"), f"{one}: changed by a fit that failed")
        return "refused"
    expect(set(two.predict(other).tolist()) <= set(y.tolist()), f"{one} {layout}: predictions are no classes")
    if hasattr(two, "predict_proba"):
        shares = two.predict_proba(other)
        expect(bool(np.isfinite(shares).all() and np.allclose(shares.sum(axis=1), 1.0)), f"{one} {layout}: {shares}")
    for model, table in ((one, X), (two, other)):
        if model.certificate_.met:
            try:
                model.certificate_.verify(table, y, weights)
            except CertificateError as error:
                raise Fault(f"{model} {layout}: {error}") from error
    return "fitted"


def verdicts_are_those_of_fractions(draw: np.random.Generator) -> str:
    """Two classes, small whole numbers, any layout: kind and separated rows as the simplex method finds them."""
    n, d = int(draw.integers(2, 8)), int(draw.integers(1, 4))
    X = draw.integers(-2, 3, (n, d)).astype(float) * 10.0 ** draw.integers(-3, 4)
    y = draw.integers(0, 2, n)
    if len(np.unique(y)) < 2:
        y[0] = 1 - y[0]
    constant = bool(draw.random() < 0.7)
    layout = LAYOUTS[draw.integers(0, len(LAYOUTS))]
    other = tables.LAYOUTS[layout](X)
    verdict = sx.separability(other, y, fit_intercept=constant, exact=True)
    kind, separated = exact_verdict(X, y, constant)
    expect(verdict.kind == kind, f"{layout}: {verdict.kind}, not {kind}, of {X.tolist()}, {y.tolist()}, {constant}")
    expect(set(verdict.separated_rows.tolist()) == separated, f"{layout}: rows {verdict.separated_rows.tolist()}")
    verdict.verify(other, y)
    return "judged"


QUESTIONS: list[tuple[Callable[[np.random.Generator], str], float]] = [
    (tables_are_read_alike, 0.22),
    (kernels_add_up_what_their_twins_do, 0.12),
    (labels_are_what_they_were, 0.18),
    (weights_are_what_they_were, 0.16),
    (class_weights_count_or_are_refused, 0.08),
    (parameters_are_right_or_refused, 0.12),
    (models_of_a_few_rows_agree, 0.10),
    (verdicts_are_those_of_fractions, 0.02),
]


def tried(seed: int) -> tuple[str, list[str]]:
    """Which question the seed asked, how it ended, and its faults."""
    draw = np.random.default_rng(seed)
    shares = np.array([share for _, share in QUESTIONS])
    question = QUESTIONS[int(draw.choice(len(QUESTIONS), p=shares / shares.sum()))][0]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return f"{question.__name__}: {question(draw)}", []
        except Exception as error:  # whatever is raised here is what is looked for
            text = str(error).splitlines()[0] if str(error) else ""
            return f"{question.__name__}: fault", [f"seed {seed}, {question.__name__}: {type(error).__name__}: {text}"]


if __name__ == "__main__":
    sys.exit(run(tried, __doc__))
