"""Verdicts keep to their budget and to memory: with many columns, many classes, and where coefficients are asked for.

The clock of these tests moves by a microsecond when it is read: a budget of a thousandth of a second is a thousand
looks at it, on any machine.
"""

import os
import pickle
import signal
import threading
import tracemalloc
import warnings

import numpy as np
import pytest

from separatrix import LogisticRegression, Perceptron, SeparationWarning, separability
from separatrix.certificates import limits
from separatrix.core.errors import CertificateError, InputError
from separatrix.models.labels import block_of, open_table
from separatrix.models.separability import question
from separatrix.models.separability import search as separating
from separatrix.models.separability.findings import Findings
from separatrix.models.separability.search import Search
from separatrix.models.separability.signed_rows import ManyClassRows


def normal(n, d, seed=0):
    draw = np.random.default_rng(seed)
    return draw.normal(size=(n, d)), draw.integers(0, 2, n)


@pytest.mark.parametrize("d", [150, 400])
def test_more_columns_than_rows_are_decided_by_a_direction(d):
    X, y = normal(100, d)
    verdict = separability(X, y, budget=1e-3)
    assert verdict.kind == "complete"
    verdict.verify(X, y)


def test_a_fit_and_a_perceptron_of_wide_data_decide_it_too():
    X, y = normal(100, 200)
    with pytest.warns(SeparationWarning):
        assert LogisticRegression(C=np.inf).fit(X, y).certificate_.kind == "complete"
    X, y = normal(80, 200)
    X[1], y[0], y[1] = X[0], 0, 1  # one pair that contradicts itself
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert Perceptron().fit(X, y).certificate_.kind in ("quasi", "undecided")
    verdict = separability(X, y, budget=10.0)
    assert verdict.kind == "quasi"
    assert set(verdict.overlapping_rows) == {0, 1}


def test_an_elimination_that_the_budget_has_no_time_for_is_not_begun(monkeypatch):
    eliminated = []
    monkeypatch.setattr("separatrix.kernels.eliminate", lambda *given: eliminated.append(given))
    X, y = normal(4000, 1400)
    assert separability(X, y, budget=0.1).kind == "undecided"
    assert not eliminated


def test_hundreds_of_classes_are_told_apart_without_their_signed_rows():
    draw = np.random.default_rng(0)
    y = np.arange(1500) % 300
    X = draw.normal(size=(1500, 20)) + 30.0 * draw.normal(size=(300, 20))[y]
    tracemalloc.start()
    verdict = separability(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert verdict.kind == "complete"
    assert peak < 2**27  # the signed rows alone are 18 GiB
    verdict.verify(X, y)
    for setting in ("pairs", "against_rest"):
        assert getattr(verdict, setting) == {}  # thousands


@pytest.mark.parametrize(("classes", "d"), [(300, 5), (2000, 10)])
def test_what_has_no_room_is_undecided(classes, d):
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(2 * classes, d)), np.arange(2 * classes) % classes
    tracemalloc.start()
    verdict = separability(X, y, budget=1.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert verdict.kind == "undecided"
    assert "room" in str(verdict) or "budget" in str(verdict)
    assert peak < 2**30


def test_of_a_hundred_classes_no_part_is_looked_at_when_time_is_over(monkeypatch):
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(600, 8)), np.arange(600) % 100
    ran = []
    monkeypatch.setattr(question, "columns_aside", lambda *given: ran.append(given) or ())
    verdict = separability(X, y, budget=0)
    assert len(verdict.pairs) == 4950
    assert not ran
    assert {part.kind for part in verdict.pairs.values()} == {"undecided"}


@pytest.mark.one_block
def test_rows_of_many_classes_are_multiplied_out_in_one_go_for_each_pair(monkeypatch):
    n, classes = 400, 40
    codes = (np.arange(n) % classes).astype(np.int32)
    rows = ManyClassRows(open_table(block_of(np.ones((n, 2)))), codes, classes, True)  # every score is a tie
    asked = []
    from separatrix import kernels

    real = kernels.exact_products
    monkeypatch.setattr(kernels, "exact_products", lambda *given: asked.append(len(given[1])) or real(*given))
    everything = rows.exact(np.arange(rows.count), np.ones((1, rows.width)))
    assert len(asked) == classes * (classes - 1)
    assert sum(asked) == rows.count
    scores = np.concatenate([[0.0], np.full(classes - 1, 3.0)])
    own, wrong = rows._pairs(np.arange(rows.count))
    np.testing.assert_array_equal(everything, scores[own] - scores[wrong])


def separable(n=300, d=12):
    draw = np.random.default_rng(1)
    X = draw.normal(size=(n, d))
    return X, (X @ draw.normal(size=d) > 0).astype(int)


def test_a_verdict_without_time_for_coefficients_is_a_verdict(monkeypatch):
    X, y = separable()
    whole = separability(X, y)
    assert whole.limits is not None

    def endless(*_):
        raise separating.OutOfTime

    monkeypatch.setattr(limits, "nearest", endless)
    late = separability(X, y)
    monkeypatch.undo()
    assert (late.kind, late.late, late.limits) == ("complete", True, None)
    with pytest.raises(CertificateError, match="budget"):
        _ = late.coefficients
    pickle.loads(pickle.dumps(late)).verify(X, y)
    assert late.coefficients_of(X, y) == whole.coefficients
    with pytest.raises(InputError, match="budget"):
        late.coefficients_of(X, y, budget=-1)
    with pytest.raises(CertificateError, match="raise budget"):
        late.coefficients_of(X, y, budget=0)


def test_coefficients_are_proved_in_floating_point_where_rounding_allows(monkeypatch):
    X, y = separable()
    expected = separability(X, y).coefficients

    def never(*_):
        raise AssertionError("solved in long integers")

    monkeypatch.setattr(limits._Cone, "_proved", never)
    assert separability(X, y).coefficients == expected
    assert set(expected.values()) > {"unbounded"}


def test_coefficients_in_floating_point_are_those_of_long_integers(monkeypatch):
    found = []
    for proof in (limits._Cone._balanced, lambda *_: False):
        monkeypatch.setattr(limits._Cone, "_balanced", proof)
        for seed in range(20):
            draw = np.random.default_rng(seed)
            X = draw.integers(-3, 4, (40, 4)).astype(float)
            v = draw.integers(-2, 3, 4)
            y = np.where(X @ v > 0, 1, np.where(X @ v < 0, 0, draw.integers(0, 2, 40)))
            if len(np.unique(y)) == 2:
                found.append(separability(X, y).limits)
    half = len(found) // 2
    assert found[:half] == found[half:]
    assert half > 10


SLOW = {
    "an elimination": lambda: normal(3000, 700),
    "a sample": lambda: normal(3000, 600),
    "least squares of wide rows": lambda: normal(2000, 6000),
    "many classes": lambda: (normal(2000, 15)[0], np.arange(2000) % 60),
    "coefficients": lambda: separable(2000, 99),
}


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("phase", SLOW)
def test_an_interrupt_ends_a_verdict(phase, monkeypatch):
    """Each of these takes minutes, and longer than the budget of a test; an interrupt ends it."""
    X, y = SLOW[phase]()
    began = threading.Event()
    where, step = (Findings, "complete") if phase == "coefficients" else (Search, "_decide")
    real = getattr(where, step)

    def begin(*given):
        began.set()
        return real(*given)

    monkeypatch.setattr(where, step, begin)

    def interrupt():
        began.wait()
        os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=interrupt)
    sender.start()
    with pytest.raises(KeyboardInterrupt):
        separability(X, y, budget=1e6)
    sender.join()


@pytest.mark.one_block
def test_a_verdict_keeps_to_its_number_of_threads(monkeypatch):
    from separatrix.kernels import threads

    seen, here = [], threading.get_ident()
    real = threads.thread_count

    def counted():
        if threading.get_ident() == here:  # verdicts that were interrupted before may still be on their way to an end
            seen.append(real())
        return real()

    monkeypatch.setattr("separatrix.kernels.rows.thread_count", counted)
    X, y = normal(150_000, 30)  # smaller tables are read by one thread anyway
    verdict = separability(X, y, n_jobs=1)
    assert set(seen) == {1}
    assert verdict.kind == separability(X, y, n_jobs=-1).kind == separability(X, y).kind
    with pytest.raises(InputError, match="n_jobs"):
        separability(X, y, n_jobs=0)
    seen.clear()
    with pytest.warns(SeparationWarning):
        LogisticRegression(C=np.inf, n_jobs=1).fit(*separable(150_000, 30))
    assert set(seen) == {1}
