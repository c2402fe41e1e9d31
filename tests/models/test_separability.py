"""Verdicts against exact arithmetic, published values and theorems; proofs that cannot be forged."""

import copy
import gc
import math
import pickle
import weakref
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.svm import SVC

from exact_simplex import exact_verdict
from separatrix import CertificateError, InputError, separability

IRIS, SPECIES = load_iris(return_X_y=True)


def drawn(kind, seed):
    draw = np.random.default_rng(seed)
    n, d = int(draw.integers(1, 13)), int(draw.integers(1, 5))
    X = {
        "integers": lambda: draw.integers(-2, 3, (n, d)).astype(float),
        "dummies": lambda: (draw.random((n, d)) < 0.3).astype(float),
        "decimals": lambda: draw.integers(-3, 4, (n, d)) * 0.1,
        "last digits": lambda: draw.integers(-2, 3, (n, d)) + draw.integers(-2, 3, (n, d)) * 2.0**-52,
        "scales": lambda: draw.integers(-2, 3, (n, d)) * 10.0 ** draw.integers(-12, 13, d),
    }[kind]()
    if kind == "dummies":
        X = np.hstack([X, 1 - X[:, :1]])
    if kind == "decimals":
        X = np.hstack([X, X[:, :1] + X[:, -1:]])
    return X, draw.random(n) < 0.5, bool(draw.integers(2))


@pytest.mark.parametrize("kind", ["integers", "dummies", "decimals", "last digits", "scales"])
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_the_verdict_is_that_of_the_simplex_method_in_fractions(kind, seed):
    X, y, constant = drawn(kind, seed)
    if len(np.unique(y)) < 2:
        y[0] = not y[0]
    if len(np.unique(y)) < 2:
        return
    wanted, separated = exact_verdict(X, y, constant)
    verdict = separability(X, y, constant, exact=True)
    assert verdict.kind == wanted
    assert set(verdict.separated_rows.tolist()) == separated
    assert verdict.verify(X, y) is verdict


def test_iris():
    setosa = separability(IRIS, SPECIES == 0)
    assert setosa.kind == "complete"
    assert setosa.rank == 5
    others = separability(IRIS[50:], SPECIES[50:])
    assert others.kind == "overlap"
    assert len(others.rows) <= 2 * others.rank
    assert set(others.coefficients.values()) == {"finite"}
    assert "overlap" in str(others)
    assert not setosa.exists
    assert others.exists


def test_breast_cancer_is_completely_separable():
    X, y = load_breast_cancer(return_X_y=True)
    verdict = separability(X, y)
    assert verdict.kind == "complete"
    verdict.verify(X, y)
    signs = np.where(y == 1, 1, -1)
    for row, s in zip(X, signs, strict=True):
        assert s * sum(Fraction(float(a)) * b for a, b in zip([*row, 1.0], verdict.integers, strict=True)) > 0


def test_all_labellings_are_counted_by_covers_theorem():
    # n points in general position in the plane, the constant counted: 2·Σ_{k<3} C(n−1, k) labellings
    points = np.random.default_rng(0).normal(size=(7, 2))
    separable = 0
    for labels in product([0, 1], repeat=7):
        separable += separability(points, np.array(labels)).kind == "complete"
    assert separable == 2 * sum(math.comb(6, k) for k in range(3))


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**9), power=st.integers(-30, 30))
def test_rows_columns_and_powers_of_two_do_not_matter(seed, power):
    X, y, constant = drawn("decimals", seed)
    if len(np.unique(y)) < 2:
        return
    draw = np.random.default_rng(seed + 1)
    kind = separability(X, y, constant).kind
    order = draw.permutation(len(X))
    assert separability(X[order], y[order], constant).kind == kind
    twice = draw.integers(0, len(X), 3)
    assert separability(np.vstack([X, X[twice]]), np.append(y, y[twice]), constant).kind == kind
    assert separability(np.hstack([X, X[:, :1]]), y, constant).kind == kind
    assert separability(X * 2.0 ** (power * np.arange(X.shape[1])), y, constant).kind == kind
    assert separability(X, ~y, constant).kind == kind
    assert separability(sp.csr_array(X), y, constant).kind == kind
    assert separability(sp.csc_array(X), y, constant).kind == kind


@pytest.mark.parametrize("power", [-9, -3, 3, 9])
def test_powers_of_ten_do_not_matter_where_margins_exceed_rounding(power):
    draw = np.random.default_rng(5)
    X = draw.normal(size=(300, 4))
    for y in (X[:, 0] > 0.1 * X[:, 1], X[:, 0] + draw.normal(size=300) > 0):
        assert separability(X, y).kind == separability(X * 10.0 ** (power * np.arange(4)), y).kind


def test_one_flipped_label_among_many():
    draw = np.random.default_rng(2)
    X = draw.normal(size=(60_000, 10))
    score = X @ draw.normal(size=10)
    y = score > 0
    y[int(np.argmax(np.abs(score)))] ^= True
    verdict = separability(X, y)
    assert verdict.kind == "overlap"
    assert int(np.argmax(np.abs(score))) in verdict.rows
    verdict.verify(X, y)


@pytest.mark.parametrize("margin", [1e-6, 1e-12])
def test_a_narrow_corridor_is_found(margin):
    draw = np.random.default_rng(3)
    X = draw.normal(size=(2000, 6))
    w = draw.normal(size=6)
    w /= np.linalg.norm(w)
    s = np.where(draw.random(2000) < 0.5, 1.0, -1.0)
    X += (s * margin - X @ w)[:, None] * w
    verdict = separability(X, s, exact=True)
    assert verdict.kind == "complete"
    verdict.verify(X, s)
    assert verdict.max_margin().margin == pytest.approx(margin, rel=0.5)


def test_a_rare_category_runs_away_alone():
    draw = np.random.default_rng(4)
    X = np.hstack([draw.normal(size=(5000, 3)), np.zeros((5000, 1))])
    y = X[:, 0] + draw.logistic(size=5000) > 0
    X[[7, 4000], 3] = 1
    y[[7, 4000]] = True
    verdict = separability(X, y)
    assert verdict.kind == "quasi"
    assert verdict.separated_rows.tolist() == [7, 4000]
    assert len(verdict.overlapping_rows) == 4998
    names = ["column 0", "column 1", "column 2", "column 3", "intercept"]
    assert verdict.coefficients == dict(zip(names, ["finite"] * 3 + ["+inf", "finite"], strict=True))
    assert not verdict.fragile
    verdict.verify(X, y)
    assert "column 3" in str(verdict)


def test_one_hot_columns_depend_on_each_other():
    draw = np.random.default_rng(5)
    group = draw.integers(0, 6, 2000)
    X = np.hstack([np.eye(6)[group], np.eye(2)[draw.integers(0, 2, 2000)]])
    y = draw.random(2000) < 0.4
    y[group == 5] = False  # the last category has one label only: its weight, and no other, is not finite
    verdict = separability(X, y)
    assert (verdict.kind, verdict.rank) == ("quasi", 7)
    assert [name for name, what in verdict.coefficients.items() if what == "-inf"] == ["column 5"]
    assert sum(what == "aliased" for what in verdict.coefficients.values()) == 2
    verdict.verify(X, y)


def test_either_sign_is_unbounded():
    # both columns may lead: v₀ + v₁ > 0 is all that is asked
    verdict = separability([[1.0, 1.0], [-1.0, -1.0], [0.0, 1.0], [0.0, 1.0]], [1, 0, 0, 1], fit_intercept=False)
    assert verdict.kind == "quasi"
    assert verdict.coefficients == {"column 0": "+inf", "column 1": "finite"}
    wide = separability([[1.0, 1.0], [-1.0, -1.0]], [1, 0], fit_intercept=False)
    assert wide.kind == "complete"
    assert wide.rank == 1
    assert separability(IRIS, SPECIES == 0).coefficients["column 0"] == "unbounded"


def test_more_columns_than_rows_and_the_same_row_with_both_labels():
    draw = np.random.default_rng(6)
    X = draw.normal(size=(20, 100))
    y = draw.integers(0, 2, 20)
    y[:2] = [0, 1]
    verdict = separability(X, y)
    assert (verdict.kind, verdict.rank) == ("complete", 20)
    verdict.verify(X, y)
    again, labels = np.vstack([X, X[:3]]), np.append(y, 1 - y[:3])
    verdict = separability(again, labels)
    assert verdict.kind == "quasi"
    assert verdict.overlapping_rows.tolist() == [0, 1, 2, 20, 21, 22]
    verdict.verify(again, labels)


def test_very_many_columns():
    draw = np.random.default_rng(7)
    S = sp.random_array((60, 5000), density=0.01, rng=draw, format="csr")
    y = draw.integers(0, 2, 60)
    verdict = separability(S, y)
    assert verdict.kind == "complete"
    verdict.verify(S, y)
    assert verdict.rank == 60


def test_decimals_that_only_look_level_are_called_fragile():
    # in decimals all four rows lie on x₁ + x₂ = 0.3; as stored floats they do not
    X = np.array([[0.1, 0.2], [0.15, 0.15], [0.3, 0.0], [0.05, 0.25]])
    verdict = separability(X, [0, 1, 0, 1], exact=True)
    assert verdict.kind == exact_verdict(X, [0, 1, 0, 1])[0]
    plain = separability([[0.0], [1.0], [2.0]], [0, 1, 0])
    assert not plain.fragile
    assert separability([[0.1 + 0.2, 1.0], [0.3, 1.0]], [1, 0]).fragile


def test_one_class_alone_is_complete():
    verdict = separability([[1.0, 2.0], [3.0, -4.0]], ["a", "a"])
    assert verdict.kind == "complete"
    verdict.verify([[1.0, 2.0], [3.0, -4.0]], ["a", "a"])
    assert separability([[1.0], [-1.0]], ["a", "a"], fit_intercept=False).kind == "overlap"
    assert separability([[0.0], [0.0]], [0, 1], fit_intercept=False).kind == "overlap"


def test_three_classes():
    verdict = separability(IRIS, SPECIES)
    assert verdict.kind == "quasi"
    assert {pair: found.kind for pair, found in verdict.pairs.items()} == {
        (0, 1): "complete",
        (0, 2): "complete",
        (1, 2): "overlap",
    }
    assert {label: found.kind for label, found in verdict.against_rest.items()} == {
        0: "complete",
        1: "overlap",
        2: "overlap",
    }
    verdict.verify(IRIS, SPECIES)
    wine, cultivar = load_wine(return_X_y=True)
    assert separability(wine, cultivar).verify(wine, cultivar).kind == "complete"
    mixed = np.random.default_rng(0).integers(0, 3, 150)
    assert separability(IRIS, mixed).verify(IRIS, mixed).exists
    forged = replace(verdict, pairs={**verdict.pairs, (1, 2): replace(verdict.pairs[1, 2], kind="complete")})
    with pytest.raises(CertificateError):
        forged.verify(IRIS, SPECIES)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_softmax_verdicts_are_those_of_the_lifted_rows(seed):
    draw = np.random.default_rng(seed)
    n, d = int(draw.integers(3, 9)), int(draw.integers(1, 3))
    X = draw.integers(-2, 3, (n, d)).astype(float)
    y = np.append([0, 1, 2], draw.integers(0, 3, n - 3))
    lifted = []
    for row, own in zip(X, y, strict=True):
        for wrong in set(range(3)) - {int(own)}:
            spread = np.zeros((3, d + 1))
            spread[own], spread[wrong] = [*row, 1.0], [-value for value in [*row, 1.0]]
            lifted.append(spread[1:].ravel())
    verdict = separability(X, y, others=False)
    assert verdict.kind == exact_verdict(np.array(lifted), np.ones(len(lifted)), False)[0]
    verdict.verify(X, y)


def quasi_data():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [1.0, 1.0], [2.0, 1.0]])
    return X, np.array([0, 1, 0, 1, 1, 1])


def test_tampered_verdicts_fail():
    X, y = quasi_data()
    quasi = separability(X, y)
    complete = separability(IRIS, SPECIES == 0)
    overlap = separability(IRIS[50:], SPECIES[50:])
    forged = [
        (replace(quasi, kind="overlap"), X, y),
        (replace(quasi, kind="complete"), X, y),
        (replace(quasi, integers=tuple(-v for v in quasi.integers)), X, y),
        (replace(quasi, separated=quasi.separated[:-1]), X, y),
        (replace(quasi, margin=2 * quasi.margin), X, y),
        (replace(quasi, null=()), X, y),
        (replace(quasi, balance=None), X, y),
        (replace(quasi, limits={**quasi.coefficients, "column 1": "finite"}), X, y),
        (replace(complete, kind="quasi"), IRIS, SPECIES == 0),
        (replace(complete, integers=(1, 0, 0, 0, 0)), IRIS, SPECIES == 0),
        (replace(complete, margin=1.0), IRIS, SPECIES == 0),
        (replace(complete, basis=complete.basis[:4], rank=4), IRIS, SPECIES == 0),
        (replace(overlap, kind="complete"), IRIS[50:], SPECIES[50:]),
        (replace(overlap, kind="sure"), IRIS[50:], SPECIES[50:]),
        (replace(overlap, rank=4), IRIS[50:], SPECIES[50:]),
    ]
    balance = overlap.balance
    moved = balance.multipliers.copy()
    moved[0] *= 3
    others = [
        replace(balance, multipliers=moved),
        replace(balance, multipliers=-balance.multipliers),
        replace(balance, rows=np.append(balance.rows[:-1], balance.rows[-1] - 1)),
        replace(balance, rows=balance.rows[:-1], multipliers=balance.multipliers[:-1]),
        replace(balance, columns=balance.columns[:-1]),
        replace(balance, integers=(1,) * len(balance.rows)),
    ]
    forged += [(replace(overlap, balance=other), IRIS[50:], SPECIES[50:]) for other in others]
    for verdict, table, labels in forged:
        with pytest.raises(CertificateError):
            verdict.verify(table, labels)
    with pytest.raises(CertificateError, match="rows"):
        overlap.verify(IRIS[50:][::-1], SPECIES[50:][::-1])
    with pytest.raises(CertificateError):
        complete.verify(IRIS, SPECIES == 1)


def test_exact_proofs_can_be_forged_no_more_than_others():
    X, y, constant = next(
        (X, y, c)
        for seed in range(10**4)
        for X, y, c in [drawn("decimals", seed)]
        if len(np.unique(y)) == 2
        and (found := separability(X, y, c)).balance is not None
        and found.balance.integers is not None
    )
    verdict = separability(X, y, constant)
    verdict.verify(X, y)
    whole = verdict.balance.integers
    for integers in ((whole[0] + 1, *whole[1:]), tuple(-v for v in whole), whole[:-1]):
        with pytest.raises(CertificateError):
            replace(verdict, balance=replace(verdict.balance, integers=integers)).verify(X, y)


def trends(seed, size, kind, n=250):
    """Eight columns that follow three walks up to ``size``, a year, and labels of a verdict of this kind."""
    draw = np.random.default_rng(seed)
    walks = np.cumsum(draw.normal(size=(n, 3)), axis=0) @ draw.normal(size=(3, 8))
    X = np.column_stack([walks + size * draw.normal(size=(n, 8)), 1e3 * np.linspace(0, 1, n)])
    if kind == "overlap":
        return X, draw.integers(0, 2, n)
    if kind == "complete":
        hidden = draw.normal(size=n)
        return np.column_stack([X, X[:, 0] + size * hidden]), (hidden > 0).astype(int)
    rare = (draw.random((n, 2)) < 0.02).astype(float)
    y = (X[:, 0] - np.median(X[:, 0]) + X[:, 0].std() * draw.logistic(size=n) > 0).astype(int)
    y[rare[:, 0] > 0], y[rare[:, 1] > 0] = 1, 0
    return np.column_stack([X, rare, rare.sum(axis=1) + 1e-9 * draw.normal(size=n)]), y


@pytest.mark.parametrize("kind", ["quasi", "overlap", "complete"])
@pytest.mark.parametrize("size", [1e-9, 1e-11])
def test_nearly_dependent_columns_need_no_fractions(size, kind, monkeypatch):
    """The linear program in fractions takes a minute where whole tables depend on each other nearly."""

    def refused(*_):
        raise AssertionError("the program was solved in fractions")

    monkeypatch.setattr("separatrix.models.separability.answers.exact_alternative", refused)
    for seed in range(4):
        X, y = trends(seed, size, kind)
        verdict = separability(X, y, exact=True)
        assert verdict.kind == kind
        verdict.verify(X, y)


def test_past_the_budget_it_says_so():
    verdict = separability(IRIS, SPECIES == 0, budget=0)
    assert verdict.kind == "undecided"
    assert not verdict.met
    assert "budget" in str(verdict)
    with pytest.raises(CertificateError, match="claims nothing"):
        verdict.verify(IRIS, SPECIES == 0)


def test_bad_input():
    X = IRIS.copy()
    X[17, 2] = np.nan
    with pytest.raises(InputError, match="NaN"):
        separability(X, SPECIES == 0)
    with pytest.raises(InputError, match="NaN"):
        separability(np.vstack([IRIS] * 40 + [X]), np.tile(SPECIES > 1, 41))
    with pytest.raises(InputError, match="budget"):
        separability(IRIS, SPECIES, budget=-1)
    with pytest.raises(InputError, match="labels"):
        separability(IRIS, SPECIES[:-1])


def test_rows_without_weight_are_left_out():
    X, y = [[-1.0], [-2.0], [1.0], [2.0], [5.0]], [0, 0, 1, 1, 0]
    assert separability(X, y).kind == "overlap"
    verdict = separability(X, y, sample_weight=[1, 1, 1, 1, 0])
    assert verdict.kind == "complete"
    assert verdict.separated_rows.tolist() == [0, 1, 2, 3]
    verdict.verify(X, y, [1, 1, 1, 1, 0])


def test_frames_give_their_names_and_other_types_the_same_verdict():
    X, y = quasi_data()
    frame = pd.DataFrame(X, columns=["dose", "rare"])
    verdict = separability(frame, np.where(y == 1, "yes", "no"))
    assert verdict.coefficients["rare"] == "+inf"
    for dtype in (np.float32, np.int8, bool):
        assert separability(X.astype(dtype), y).kind == separability(X.astype(dtype).astype(float), y).kind


def test_a_verdict_survives_pickling_and_copying():
    X, y = quasi_data()
    verdict = separability(X, y)
    for made in (pickle.loads(pickle.dumps(verdict)), copy.copy(verdict), copy.deepcopy(verdict)):
        assert str(made.verify(X, y)) == str(verdict)
        assert made == verdict
        assert made.infinite == verdict.infinite == ["column 1"]
        assert made.coefficients == verdict.coefficients
    assert verdict.to_dict()["kind"] == "quasi"


def test_a_stored_verdict_asks_for_the_data_that_it_lost():
    verdict = separability(IRIS, SPECIES == 0)
    stored = pickle.loads(pickle.dumps(verdict))
    with pytest.raises(CertificateError, match="without its data"):
        stored.max_margin()
    assert stored.max_margin(IRIS, SPECIES == 0) == verdict.max_margin()
    assert stored.widened(IRIS, SPECIES == 0).margin == verdict.widened().margin


def test_a_verdict_without_its_data_lets_go_of_it():
    X = IRIS.copy()
    verdict = separability(X, SPECIES).without_data()
    watch = weakref.ref(X)
    del X
    gc.collect()
    assert watch() is None
    verdict.verify(IRIS, SPECIES)


def test_the_largest_margin_is_that_of_a_support_vector_machine():
    verdict = separability(IRIS, SPECIES == 0)
    best = verdict.max_margin()
    machine = SVC(kernel="linear", C=1e8, tol=1e-8).fit(IRIS, SPECIES == 0)
    assert best.margin == pytest.approx(1 / np.linalg.norm(machine.coef_), rel=1e-6)
    assert best.met
    assert best.verify(IRIS, SPECIES == 0) is best
    assert set(best.support.tolist()) == set(machine.support_.tolist())
    for forged in (
        replace(best, margin=1.01 * best.margin),
        replace(best, bound=-0.1 * best.margin),
        replace(best, direction=-best.direction),
        replace(best, support=best.support[:-1], multipliers=best.multipliers[:-1]),
        replace(best, multipliers=-best.multipliers),
    ):
        with pytest.raises(CertificateError):
            forged.verify(IRIS, SPECIES == 0)
    assert verdict.widened().margin == pytest.approx(best.margin, rel=1e-9)
    with pytest.raises(CertificateError, match="not completely separable"):
        separability(IRIS[50:], SPECIES[50:]).max_margin()


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_no_hyperplane_has_a_larger_margin(seed):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(12, 2))
    y = X @ draw.normal(size=2) > draw.normal() * 0.3
    if len(np.unique(y)) < 2:
        return
    best = separability(X, y).max_margin()
    s = np.where(y, 1.0, -1.0)
    angles = np.linspace(0, 2 * np.pi, 4000)
    widest = max(
        0.5 * ((X[y] @ w).min() - (X[~y] @ w).max()) for w in np.column_stack([np.cos(angles), np.sin(angles)])
    )
    assert widest <= best.margin + best.bound + 1e-12
    assert widest >= best.margin * (1 - 1e-2) - 1e-3
    w, b = best.direction[:2], best.direction[2]
    assert (s * (X @ w + b)).min() / np.linalg.norm(w) == pytest.approx(best.margin, rel=1e-9)
