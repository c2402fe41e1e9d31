"""Where coefficients run, against Farkas' lemma in fractions."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

from exact_simplex import maximise
from separatrix import CertificateError, separability
from separatrix.certificates import limits


def never_negative(signed, separated, column):
    """Whether v_column ≥ 0 for all v with ⟨y, v⟩ ≥ 0, = 0 on the rows that overlap."""
    rows = [[Fraction(float(value)) for value in row] for row in signed]
    generators = [row for i, row in enumerate(rows) if i in separated]
    for i, row in enumerate(rows):
        if i not in separated:
            generators += [row, [-value for value in row]]
    generators.append([Fraction(-int(k == column)) for k in range(len(rows[0]))])
    equations = [[row[k] for row in generators] for k in range(len(rows[0]))]
    gain = [Fraction(0)] * (len(generators) - 1) + [Fraction(1)]
    most = [None] * (len(generators) - 1) + [Fraction(1)]
    return maximise(equations, gain, most)[-1] == 1


@pytest.mark.parametrize("kind", ["integers", "dummies", "nearly dependent", "scales"])
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_every_coefficient_runs_where_farkas_says(kind, seed):
    draw = np.random.default_rng(seed)
    n, d = int(draw.integers(2, 10)), int(draw.integers(1, 4))
    X = draw.integers(-2, 3, (n, d)).astype(float)
    if kind == "dummies":
        X = np.abs(np.sign(X))
        X = np.hstack([X, 1 - X[:, :1]])
    if kind == "nearly dependent":
        X = np.hstack([X, X[:, :1] * (1 + draw.integers(-2, 3, (n, 1)) * 2.0**-52)])
    if kind == "scales":
        X = X * 10.0 ** draw.integers(-12, 13, d)
    y = np.append([0, 1], draw.integers(0, 2, n - 2))
    verdict = separability(X, y, exact=True)
    if verdict.kind == "overlap":
        return
    signed = np.where(y == 1, 1.0, -1.0)[:, None] * np.c_[X, np.ones(n)]
    basis = verdict.basis.tolist()
    separated = set(verdict.separated_rows.tolist())
    for j, (name, what) in enumerate(verdict.coefficients.items()):
        if j not in basis:
            assert what == "aliased", name
            continue
        up = never_negative(signed[:, basis], separated, basis.index(j))
        flipped = signed[:, basis].copy()
        flipped[:, basis.index(j)] *= -1  # the sign of one coordinate of v turned around
        down = never_negative(flipped, separated, basis.index(j))
        assert what == {(True, True): "finite", (True, False): "+inf", (False, True): "-inf"}.get(
            (up, down), "unbounded"
        ), name


def test_a_rank_above_the_true_one_is_refused():
    X, y = np.array([[1.0, 2.0], [-1.0, -2.0]]), [1, 0]
    verdict = separability(X, y)
    assert verdict.rank == 2
    for forged in (
        replace(verdict, rank=3, basis=np.arange(3), dependences=(), limits=None),
        replace(verdict, rank=3, basis=np.arange(3), dependences=(), limits={**verdict.limits, "column 1": "+inf"}),
    ):
        with pytest.raises(CertificateError):
            forged.verify(X, y)


def test_least_squares_is_not_believed_when_it_says_that_nothing_is_missing(monkeypatch):
    """SciPy's least squares may give factors that are nowhere near, and 0 for the distance."""
    draw = np.random.default_rng(4)
    X = draw.integers(0, 3, (400, 4)).astype(float)
    y = (X[:, 0] > 0).astype(int)
    honest = separability(X, y)
    told = []

    def lies(table, target, maxiter):
        told.append(len(told) % 3 == 0)
        factors, rest = scipy.optimize.nnls(table, target, maxiter=maxiter)
        return (np.full_like(factors, 0.25), 0.0) if told[-1] else (factors, rest)

    monkeypatch.setattr(limits, "nnls", lies)
    deceived = separability(X, y)
    assert any(told)
    assert deceived.limits == honest.limits
    assert "unbounded" in honest.limits.values()
