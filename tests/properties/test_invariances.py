"""Laws that hold whatever the data: repetition, order, flips, scales, layouts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tables
from separatrix import LogisticRegression

seeds = st.integers(0, 2**32 - 1)


def draw_problem(seed, n=60, d=3):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n, d)) * 10.0 ** draw.uniform(-2, 2, d) + draw.normal(size=d)
    y = ((X[:, 0] - X[:, 0].mean()) / X[:, 0].std() + draw.logistic(size=n) > 0).astype(int)
    y[:2] = [0, 1]
    return X, y, draw


def assert_close(a, b, X):
    scale = np.append(np.abs(X).max(axis=0), 1)
    left = np.append(a.coef_[0], a.intercept_)
    right = np.append(b.coef_[0], b.intercept_)
    np.testing.assert_allclose(left * scale, right * scale, rtol=1e-6, atol=1e-7 * np.abs(right * scale).max())


@settings(max_examples=30, deadline=None)
@given(seeds, st.sampled_from(["newton-cholesky", "newton-subsample", "newton-cg"]))
def test_weight_two_equals_the_row_twice(seed, solver):
    X, y, draw = draw_problem(seed)
    counts = draw.integers(0, 4, len(y))
    counts[:2] = 1
    weighted = LogisticRegression(solver=solver).fit(X, y, sample_weight=counts)
    repeated = LogisticRegression(solver=solver).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert_close(weighted, repeated, X)
    assert weighted.certificate_.objective == pytest.approx(repeated.certificate_.objective, rel=1e-9)
    weighted.certificate_.verify(np.repeat(X, counts, axis=0), np.repeat(y, counts))


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_the_order_of_the_rows_does_not_matter(seed):
    X, y, draw = draw_problem(seed)
    order = draw.permutation(len(y))
    assert_close(LogisticRegression().fit(X, y), LogisticRegression().fit(X[order], y[order]), X)


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_flipped_labels_flip_the_weights(seed):
    X, y, _ = draw_problem(seed)
    flipped = LogisticRegression().fit(X, 1 - y)
    flipped.coef_, flipped.intercept_ = -flipped.coef_, -flipped.intercept_
    assert_close(LogisticRegression().fit(X, y), flipped, X)


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_scaled_columns_scale_the_weights_of_maximum_likelihood(seed):
    X, y, draw = draw_problem(seed, n=200)  # more rows: hardly ever separable
    scale = 2.0 ** draw.integers(-40, 40, 3)
    plain, scaled = LogisticRegression(C=np.inf).fit(X, y), LogisticRegression(C=np.inf).fit(X * scale, y)
    scaled.coef_ = scaled.coef_ * scale
    assert_close(plain, scaled, X)


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_weights_times_a_number_and_c_divided_by_it_is_the_same_problem(seed):
    X, y, draw = draw_problem(seed)
    weights = draw.random(len(y)) + 0.1
    assert_close(
        LogisticRegression(C=2.0).fit(X, y, sample_weight=weights),
        LogisticRegression(C=0.5).fit(X, y, sample_weight=4 * weights),
        X,
    )


@pytest.mark.parametrize("layout", tables.LAYOUTS)
def test_every_layout_gives_the_same_model(layout):
    X = tables.values(300, 4, "float32", 1)
    y = (X[:, 0] + np.random.default_rng(2).logistic(size=300) > 0).astype(int)
    table = tables.LAYOUTS[layout](X)
    model, plain = LogisticRegression().fit(table, y), LogisticRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(model.predict_proba(table), plain.predict_proba(X), rtol=1e-8)
    model.certificate_.verify(table, y)
