"""The floating-point proof of balance: what it accepts is true in fractions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exact_simplex import exact_rank, exact_verdict
from separatrix import separability
from separatrix.certificates.balance import balance_slack


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 10**9))
def test_what_is_accepted_overlaps_exactly(seed):
    # rows close to a configuration that just balances, or just does not: the proof must not take the wrong side
    draw = np.random.default_rng(seed)
    p = int(draw.integers(1, 4))
    base = draw.integers(-2, 3, (2 * p, p)).astype(float)
    rows = np.vstack([base, -base]) + draw.integers(-3, 4, (4 * p, p)) * 10.0 ** -float(draw.integers(0, 17))
    multipliers = 10.0 ** draw.uniform(-3, 3, 4 * p) if draw.integers(2) else np.ones(4 * p)
    if balance_slack(rows, multipliers) < 1.0:
        assert exact_verdict(rows, np.ones(len(rows)), False)[0] == "overlap"
        assert exact_rank(rows) == p


@pytest.mark.parametrize("noise", [1e-6, 1e-9, 1e-12, 1e-15])
def test_nearly_dependent_columns_are_decided(noise):
    draw = np.random.default_rng(1)
    X = draw.normal(size=(300, 3))
    X = np.hstack([X, X[:, :1] + 1e-6 * X[:, 1:2] + noise * draw.normal(size=(300, 1))])
    y = draw.integers(0, 2, 300)
    verdict = separability(X, y, exact=True)
    assert (verdict.kind, verdict.rank) == ("overlap", 5)
    verdict.verify(X, y)


@pytest.mark.parametrize("scale", [1e-200, 1e-100, 1.0, 1e100, 1e200])
def test_scales_of_columns_and_rows_do_not_matter(scale):
    square = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    assert balance_slack(square * [1.0, scale], np.ones(4)) < 1e-12
    weights = np.array([1.0, 1.0, scale, scale]) if 1e-150 < scale < 1e150 else np.ones(4)
    assert balance_slack(square, weights) < 1e-12


def test_what_cannot_be_a_proof_is_refused():
    square = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    assert balance_slack(square, np.array([1.0, 1.0, 1.0, -1.0])) == np.inf
    assert balance_slack(square, np.array([1.0, 1.0, 1.0, np.nan])) == np.inf
    assert balance_slack(square[:1], np.ones(1)) == np.inf
    assert balance_slack(np.zeros((4, 2)), np.ones(4)) == np.inf
    assert not balance_slack(square[:, [0, 0]], np.ones(4)) < 1.0
