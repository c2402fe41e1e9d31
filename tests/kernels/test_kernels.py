"""The compiled kernels against their NumPy twins, on every layout and type."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import cython_blas, cython_lapack

import tables
import twins
from separatrix.engines import block_of
from separatrix.kernels import _kernels
from separatrix.kernels.threads import one_blas_thread

SPARSE = {"csr", "csr_matrix", "csc", "csc_matrix", "csr64", "csc64", "coo"}


def run(X, codes, weights, points, constant=True, lanes=1, shift=None, **wanted):
    rows = block_of(X).rows
    options = {"curvature": False, "diagonal": False, "ranges": False, "row_curvature": None} | wanted
    return _kernels.logistic(
        rows, codes, 1, weights, options.get("folds"), options.get("fold_count", 1), np.atleast_2d(points), shift,
        constant, options["curvature"], options["diagonal"], options["ranges"], options["row_curvature"],
        0, rows.n, lanes, 2,
    )  # fmt: skip


@pytest.mark.parametrize("layout", tables.LAYOUTS)
@settings(max_examples=60, deadline=None)
@given(problem=tables.labelled(), constant=st.booleans(), lanes=st.integers(1, 5))
def test_logistic_kernel_equals_its_twin(layout, problem, constant, lanes):
    X, codes, weights, point = problem
    point = point if constant else point[:-1]
    table = tables.LAYOUTS[layout](X)
    shift = None if layout in SPARSE else twins.dense(X).mean(axis=0)
    header, gradient, hessian = twins.logistic(X, codes, point, weights, constant, shift)
    row_curvature = np.empty(len(X))
    sums, maxima = run(
        table, codes, weights, point, constant, lanes, shift, curvature=True, ranges=True, row_curvature=row_curvature
    )
    p = len(point)
    scale = 1 + np.abs(twins.dense(X)).max()
    np.testing.assert_allclose(sums[0, 0, :5], header, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(sums[0, 0, 5 : 5 + p], gradient, rtol=1e-11, atol=1e-11 * scale)
    np.testing.assert_allclose(sums[0, 0, 5 + p :].reshape(p, p), hessian, rtol=1e-10, atol=1e-11 * scale**2)
    np.testing.assert_allclose(row_curvature.sum(), header[2], rtol=1e-12, atol=1e-300)
    kept = twins.dense(X)[slice(None) if weights is None else weights > 0]
    if len(kept):
        high, low = kept.max(axis=0), kept.min(axis=0)
        if layout in SPARSE:
            high, low = np.maximum(high, 0), np.minimum(low, 0)
        d = X.shape[1]
        np.testing.assert_array_equal(maxima[:d], high)
        np.testing.assert_array_equal(-maxima[d : 2 * d], low)
        np.testing.assert_allclose(maxima[-1], np.square(kept).sum(axis=1).max(), rtol=1e-12)
    sums, _ = run(table, codes, weights, point, constant, lanes, shift, diagonal=True)
    np.testing.assert_allclose(sums[0, 0, 5 + p :], np.diagonal(hessian), rtol=1e-10, atol=1e-11 * scale**2)


@pytest.mark.parametrize("layout", ["c", "fortran", "csr", "csc", "pandas"])
@settings(max_examples=40, deadline=None)
@given(problem=tables.labelled(), constant=st.booleans(), seed=st.integers(0, 1000))
def test_product_and_score_kernels_equal_their_twins(layout, problem, constant, seed):
    X = problem[0]
    draw = np.random.default_rng(seed)
    rows = block_of(tables.LAYOUTS[layout](X)).rows
    p = X.shape[1] + constant
    directions, row_weights = draw.normal(size=(3, p)), draw.random(len(X))
    products = _kernels.product(rows, row_weights, directions, constant, 0, rows.n, 2, 2)
    np.testing.assert_array_equal(
        _kernels.product(rows, None, directions, constant, 0, rows.n, 2, 2),
        _kernels.product(rows, np.ones(len(X)), directions, constant, 0, rows.n, 2, 2),
    )
    for direction, got in zip(directions, products, strict=True):
        expected = twins.product(X, row_weights, direction, constant)
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-9)
    out = np.empty((len(X), 3))
    _kernels.score(rows, directions, constant, False, out, 0, rows.n, 2, 2)
    scores = twins.with_constant(twins.dense(X), constant) @ directions.T
    np.testing.assert_allclose(out, scores, rtol=1e-11, atol=1e-11)
    both = np.empty((len(X), 2))
    _kernels.score(rows, directions[:1], constant, True, both, 0, rows.n, 2, 2)
    np.testing.assert_allclose(both[:, 1], 1 / (1 + np.exp(-scores[:, 0])), rtol=1e-11)
    np.testing.assert_allclose(both[:, 0], 1 / (1 + np.exp(scores[:, 0])), rtol=1e-11)


def test_probabilities_keep_their_digits_in_both_tails():
    X = np.array([[-745.0], [-700.0], [-40.0], [0.0], [40.0], [800.0]])
    out = np.empty((len(X), 2))
    _kernels.score(block_of(X).rows, np.array([[1.0]]), False, True, out, 0, len(X), 1, 1)
    small = np.exp(-np.abs(X[:, 0]))
    lower, upper = small / (1 + small), 1 / (1 + small)
    # below 1e-308 an ulp is coarse: one step of the smallest float is allowed there
    np.testing.assert_allclose(out[:, 1], np.where(X[:, 0] < 0, lower, upper), rtol=1e-15, atol=5e-324)
    np.testing.assert_allclose(out[:, 0], np.where(X[:, 0] < 0, upper, lower), rtol=1e-15, atol=5e-324)


def test_loss_is_exact_to_a_few_ulp_at_any_margin():
    margins = np.concatenate([-np.logspace(-300, 5, 400), [0.0], np.logspace(-300, 2.8, 400)])
    codes = np.ones(len(margins), dtype=np.int32)
    for k in range(0, len(margins), 7):
        sums, _ = run(np.array([[margins[k]]]), codes[:1], None, np.array([1.0]), constant=False)
        assert sums[0, 0, 0] == pytest.approx(np.logaddexp(0.0, -margins[k]), rel=4e-16, abs=0.0)


@settings(max_examples=40, deadline=None)
@given(problem=tables.labelled(rows=(4, 80)), folds=st.integers(1, 4))
def test_folds_and_points_of_one_pass_equal_separate_passes(problem, folds):
    X, codes, weights, point = problem
    fold = (np.arange(len(X)) % folds).astype(np.int32)
    points = np.stack([point, -point, 0.5 * point])
    sums, _ = run(X, codes, weights, points, curvature=True, folds=fold, fold_count=folds)
    assert sums.shape[:2] == (folds, 3)
    for f in range(folds):
        inside = np.flatnonzero(fold == f)
        for k, at in enumerate(points):
            header, gradient, hessian = twins.logistic(
                X[inside], codes[inside], at, None if weights is None else weights[inside]
            )
            scale = 1 + np.abs(twins.dense(X)).max()
            np.testing.assert_allclose(sums[f, k, :5], header, rtol=1e-12, atol=1e-300)
            p = len(point)
            np.testing.assert_allclose(sums[f, k, 5 : 5 + p], gradient, rtol=1e-11, atol=1e-11 * scale)
            np.testing.assert_allclose(sums[f, k, 5 + p :].reshape(p, p), hessian, rtol=1e-10, atol=1e-11 * scale**2)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("weight", [0.0, 1.0])
@pytest.mark.parametrize("layout", ["c", "fortran", "csr"])
def test_a_value_that_is_not_finite_shows_in_the_loss_or_gradient(bad, weight, layout):
    X = np.ones((20, 3))
    X[7, 1] = bad
    weights = np.ones(20)
    weights[7] = weight
    for point in (np.zeros(4), np.array([0.1, 2.0, -1.0, 0.0]), np.array([0.1, -2.0, -1.0, 0.0])):
        for code in (0, 1):
            sums, _ = run(tables.LAYOUTS[layout](X), np.full(20, code, np.int32), weights, point)
            assert not np.isfinite(sums).all()


def test_kernels_refuse_wrong_shapes():
    rows = block_of(np.ones((4, 2))).rows
    codes = np.zeros(4, np.int32)
    with pytest.raises(ValueError, match="points must be"):
        run(np.ones((4, 2)), codes, None, np.zeros(2))
    with pytest.raises(ValueError, match="one label per row"):
        run(np.ones((4, 2)), codes[:3], None, np.zeros(3))
    with pytest.raises(ValueError, match="one weight per row"):
        run(np.ones((4, 2)), codes, np.ones(3), np.zeros(3))
    with pytest.raises(ValueError, match="out of range"):
        rows.gather(np.array([4]))
    with pytest.raises(ValueError, match="out of range"):
        _kernels.score(rows, np.zeros((1, 2)), False, False, np.empty(4), 0, 5, 1, 1)


def test_the_build_says_what_it_has():
    assert isinstance(_kernels.multiversioned, bool)
    assert isinstance(_kernels.openmp, bool)
    assert _kernels.max_threads() >= 1


@pytest.mark.parametrize("layout", ["c", "fortran", "csr", "csc", "pandas", "arrow-chunks"])
@settings(max_examples=25, deadline=None)
@given(problem=tables.labelled(), classes=st.integers(2, 5), constant=st.booleans(), lanes=st.integers(1, 4))
def test_softmax_kernels_equal_their_twins(layout, problem, classes, constant, lanes):
    X, _, weights, _ = problem
    draw = np.random.default_rng(classes)
    codes = draw.integers(0, classes, len(X)).astype(np.int32)
    n, p = len(X), X.shape[1] + constant
    point, direction = draw.normal(size=(2, classes, p))
    rows = block_of(tables.LAYOUTS[layout](X)).rows
    shift = None if layout in SPARSE else twins.dense(X).mean(axis=0)
    loss, pi, gradient, hessian = twins.softmax(X, codes, point, weights, constant, shift)
    kept = np.empty((classes, n))
    sums, _ = _kernels.softmax(
        rows, codes, classes, weights, point, shift, constant, True, 0, False, False, True, True, kept, 0, n, lanes, 2
    )
    scale = 1 + np.abs(twins.dense(X)).max()
    q, begin = classes * p, 4 + classes * classes
    each = np.ones(n) if weights is None else weights
    slopes = each[:, None] * (pi - np.eye(classes)[codes])
    assert sums[0] == pytest.approx(loss, rel=1e-11, abs=1e-12)
    assert sums[3] == pytest.approx(np.abs(slopes).sum(), rel=1e-11, abs=1e-12)
    np.testing.assert_allclose(kept.T, pi, rtol=1e-11, atol=1e-300)
    scores = np.diag(each @ pi) - (pi * each[:, None]).T @ pi
    np.testing.assert_allclose(sums[4:begin].reshape(classes, classes), scores, atol=1e-11 * (1 + each.sum()))
    np.testing.assert_allclose(sums[begin : begin + q].reshape(classes, p), gradient, atol=1e-11 * scale, rtol=1e-10)
    np.testing.assert_allclose(sums[begin + q :].reshape(q, q), hessian, atol=1e-11 * scale**2, rtol=1e-9)
    blocks = np.stack([hessian.reshape(classes, p, classes, p)[k, :, k, :] for k in range(classes)])
    weighted = (each[:, None] * pi * (1 - pi)).T @ twins.with_constant(twins.dense(X), constant)
    for count, expected in ((classes, blocks), (1, blocks.sum(axis=0)), (0, np.diagonal(hessian))):
        options = (False, count, count == 0, True, False, False, None)
        parts, _ = _kernels.softmax(rows, codes, classes, weights, point, shift, constant, *options, 0, n, lanes, 2)
        assert not parts[4:begin].any()
        np.testing.assert_allclose(parts[begin : begin + q], sums[begin : begin + q], atol=1e-11 * scale, rtol=1e-10)
        np.testing.assert_allclose(parts[begin + q : -q], expected.ravel(), atol=1e-11 * scale**2, rtol=1e-9)
        np.testing.assert_allclose(parts[-q:], weighted.ravel(), atol=1e-11 * scale, rtol=1e-9)
    product = _kernels.softmax_product(rows, classes, weights, kept, direction, constant, 0, n, lanes, 2)
    raw = twins.softmax(X, codes, point, weights, constant)[3]
    np.testing.assert_allclose(product, raw @ direction.ravel(), atol=1e-10 * scale**2, rtol=1e-9)


@pytest.mark.parametrize("blas", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_many_classes_and_columns_at_once_equal_one_after_the_other(blas, reverse):
    """Wide products go to BLAS, where there is one; rows that lie backwards do not."""
    draw = np.random.default_rng(6)
    n, d, classes = 700, 40, 12
    X = draw.normal(size=(n, d))[:: -1 if reverse else 1]
    codes, point = draw.integers(0, classes, n).astype(np.int32), draw.normal(size=(classes, d + 1))
    scores = twins.with_constant(X, True) @ point.T
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    pi = shares / shares.sum(axis=1, keepdims=True)
    gradient = (pi - np.eye(classes)[codes]).T @ twins.with_constant(X, True)
    rows, options = block_of(X).rows, (None, True, False, 0, False, False, True, False, None)
    try:
        with one_blas_thread():
            if not blas:
                _kernels.without_blas()
            found = [
                _kernels.softmax(rows, codes, classes, None, point, *options, 0, n, 5, threads)[0] for threads in (1, 2)
            ]
    finally:
        capi = cython_blas.__pyx_capi__
        _kernels.use_blas(capi["dsyrk"], capi["dgemm"], cython_lapack.__pyx_capi__["dpotrf"])
    np.testing.assert_array_equal(found[0], found[1])
    begin = 4 + classes * classes
    np.testing.assert_allclose(found[0][begin:].reshape(classes, -1), gradient, atol=1e-10)
    np.testing.assert_allclose(
        found[0][4:begin].reshape(classes, classes), np.diag(pi.sum(axis=0)) - pi.T @ pi, atol=1e-10
    )


@pytest.mark.parametrize("sparse", [False, True])
def test_combinations_lose_nothing_however_many_rows(sparse):
    """A sum of large terms that cancel, against exact rational arithmetic."""
    draw = np.random.default_rng(0)
    X = np.concatenate([draw.normal(size=2000) * 1e8, draw.normal(size=3)])[:, None]
    factors = np.ones((2003, 1))
    X[1000:2000] = -X[:1000][::-1]
    table = tables.LAYOUTS["csr" if sparse else "c"](X)
    exact = float(sum((Fraction(float(v)) for v in X[:, 0]), Fraction(0)))
    high, lost = _kernels.combine(block_of(table).rows, factors, True, 0, 2003, 5, 2)
    assert (high + lost)[0, 0] == pytest.approx(exact, rel=1e-15)
    assert (high + lost)[0, 1] == 2003.0


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 8))
def test_coordinate_descent_finds_the_minimum_of_the_model(seed, p):
    draw = np.random.default_rng(seed)
    A = draw.normal(size=(p + 3, p))
    hessian, gradient, point = A.T @ A, draw.normal(size=p) * 3, draw.normal(size=p) * draw.integers(0, 2, p)
    penalty = draw.random(p) * draw.integers(0, 2, p)
    step, _ = _kernels.descend_quadratic(hessian, gradient, point, penalty, 1e-18, 100_000)
    slope, at = gradient + hessian @ step, point + step
    off = np.where(at != 0, np.abs(slope + penalty * np.sign(at)), np.maximum(np.abs(slope) - penalty, 0))
    assert off.max() <= 1e-5
    best = twins.quadratic(hessian, gradient, point, penalty, step)
    for _ in range(20):
        assert twins.quadratic(hessian, gradient, point, penalty, step + 0.1 * draw.normal(size=p)) >= best - 1e-9


def test_a_small_gain_near_the_minimum_does_not_drown_in_rounding():
    """|u + t| − |u| of a tiny t is rounding; descent must not take that for the end."""
    hessian = np.array([[1.0, 0.9], [0.9, 1.0]])
    point, penalty = np.array([1.0, -2.0]), np.array([0.3, 0.3])
    gradient = -penalty * np.sign(point) + np.array([1e-11, -2e-11])
    step, _ = _kernels.descend_quadratic(hessian, gradient, point, penalty, 1e-30, 1000)
    assert np.abs(gradient + hessian @ step + penalty * np.sign(point)).max() <= 1e-14


def test_curvature_of_a_class_that_is_nearly_certain_keeps_its_digits():
    """1 − π of a probability next to one is the sum of the others: else the Hessian would be that of no convex loss."""
    rows = block_of(np.array([[1e150]])).rows
    point = np.array([[0.0], [-40e-150], [-45e-150]])
    codes = np.zeros(1, dtype=np.int32)
    options = (None, False, True, 0, False, False, False, False, None)
    sums, _ = _kernels.softmax(rows, codes, 3, None, point, *options, 0, 1, 1, 1)
    hessian = sums[-9:].reshape(3, 3) / 1e150 / 1e150
    others = np.exp([-40.0, -45.0])
    np.testing.assert_allclose(hessian[0, 0], others.sum(), rtol=1e-12)
    np.testing.assert_allclose(hessian[0, 1:], -others, rtol=1e-12)
    np.testing.assert_allclose(hessian.sum(axis=1), 0.0, atol=1e-15 * others.sum())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("left_out", ["nobody", "some by weight", "some by fold"])
def test_the_layout_of_dense_rows_changes_no_bit(dtype, left_out):
    draw = np.random.default_rng(6)
    X = draw.normal(size=(1001, 37)).astype(dtype)
    codes, point = draw.integers(0, 2, 1001).astype(np.int32), 0.1 * draw.normal(size=38)
    weights = draw.random(1001) * (draw.random(1001) < 0.6) if left_out == "some by weight" else None
    folds = {"folds": (np.arange(1001) % 3).astype(np.int32), "fold_count": 3} if left_out == "some by fold" else {}
    padded = np.zeros((1001, 40), dtype)
    padded[:, :37] = X
    layouts = [np.asfortranarray(X), X[:, ::-1].copy()[:, ::-1], padded[:, :37], X.astype(X.dtype.newbyteorder())]
    expected = run(X, codes, weights, point, diagonal=True, ranges=True, **folds)
    for table in [*layouts, X.astype(np.float64)]:
        sums = run(table, codes, weights, point, diagonal=True, ranges=True, **folds)
        for found, known in zip(sums, expected, strict=True):
            np.testing.assert_array_equal(found, known)
