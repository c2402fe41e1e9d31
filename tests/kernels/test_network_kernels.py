"""The network's kernels against NumPy twins."""

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import expit, log_softmax, logsumexp

from separatrix.kernels import _kernels as kernels

TYPES = [np.float32, np.float64]


def near(dtype):
    return {"rtol": 1e-5, "atol": 1e-6} if dtype is np.float32 else {"rtol": 1e-12, "atol": 1e-14}


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(0, 70), dtype=st.sampled_from(TYPES), steps=st.integers(1, 3))
def test_adam_is_its_formula(seed, n, dtype, steps):
    draw = np.random.default_rng(seed)
    w, m, v = (draw.normal(size=n).astype(dtype) for _ in range(3))
    v = abs(v)
    expect = [part.astype(float) for part in (w, m, v)]
    for _ in range(steps):
        g = draw.normal(size=n).astype(dtype)
        kernels.adam_step(g, w, m, v, 0.5, 0.1, 0.01, 0.9, 0.99, 1e-8)
        slope = 0.5 * g + 0.1 * expect[0]
        expect[1] = 0.9 * expect[1] + (1 - 0.9) * slope
        expect[2] = 0.99 * expect[2] + (1 - 0.99) * slope**2
        expect[0] = expect[0] - 0.01 * expect[1] / (np.sqrt(expect[2]) + 1e-8)
    for found, wanted in zip((w, m, v), expect, strict=True):
        np.testing.assert_allclose(found, wanted, **near(dtype))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("nesterov", [False, True])
def test_momentum_is_its_formula(dtype, nesterov):
    draw = np.random.default_rng(1)
    g, w, v = (draw.normal(size=37).astype(dtype) for _ in range(3))
    slope = 0.25 * g.astype(float) + 0.2 * w
    velocity = 0.9 * v.astype(float) - 0.1 * slope
    expected = w + (0.9 * velocity - 0.1 * slope if nesterov else velocity)
    kernels.momentum_step(g, w, v, 0.25, 0.2, 0.1, 0.9, nesterov)
    np.testing.assert_allclose(w, expected, **near(dtype))
    np.testing.assert_allclose(v, velocity, **near(dtype))


@settings(deadline=None)
@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(0, 20),
    classes=st.integers(2, 6),
    size=st.sampled_from([0.1, 5.0, 2000.0]),
    dtype=st.sampled_from(TYPES),
    weighted=st.booleans(),
)
@example(seed=788, rows=4, classes=4, size=2000.0, dtype=np.float64, weighted=False)  # one row's loss of 7e-153
def test_outputs_are_softmax_or_sigmoid_with_cross_entropy(seed, rows, classes, size, dtype, weighted):
    draw = np.random.default_rng(seed)
    k = 1 if classes == 2 else classes
    z = (draw.normal(size=(rows, k)) * size).astype(dtype)
    codes = draw.integers(0, classes, rows).astype(np.int32)
    weights = draw.random(rows) if weighted else None
    a = np.ones(rows) if weights is None else weights
    scores = z.astype(float) if k > 1 else np.hstack([np.zeros((rows, 1)), z.astype(float)])
    logs = log_softmax(scores, axis=1)
    wanted = a[:, None] * (np.exp(logs) - np.eye(classes)[codes])
    found = z.copy()
    loss, mistakes = kernels.output_slopes(found, codes, weights)
    ahead = scores - scores[np.arange(rows), codes][:, None]
    ahead[np.arange(rows), codes] = -np.inf
    own = np.logaddexp(0.0, logsumexp(ahead, axis=1))  # small losses keep their digits
    assert loss == pytest.approx(np.sum(a * own), rel=1e-12, abs=1e-300)
    np.testing.assert_allclose(found, wanted[:, 1:] if k == 1 else wanted, **near(dtype))
    best = classes - 1 - np.argmax(scores[:, ::-1], axis=1)
    assert mistakes == pytest.approx(np.sum(a * (best != codes)))


def test_small_losses_keep_their_digits():
    z = np.array([[40.0]])
    loss, _ = kernels.output_slopes(z, np.array([1], np.int32), None)
    assert loss == pytest.approx(np.exp(-40.0), rel=1e-12)
    assert z[0, 0] == pytest.approx(-expit(-40.0), rel=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("k", [1, 3])
def test_scores_that_are_not_finite_make_the_loss_so(bad, k):
    for place in range(k):
        z = np.zeros((2, k))
        z[1, place] = bad
        loss, _ = kernels.output_slopes(z, np.array([0, 1], np.int32), None)
        assert not np.isfinite(loss) or (bad == -np.inf and place != 1)


ACTIVATIONS = {
    "identity": (lambda z: z, lambda h: np.ones_like(h)),
    "relu": (lambda z: np.maximum(z, 0), lambda h: (h > 0) * 1.0),
    "tanh": (np.tanh, lambda h: 1 - h * h),
    "logistic": (expit, lambda h: h * (1 - h)),
}


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("kind", ACTIVATIONS)
def test_activations_are_their_formulas_forth_and_back(kind, dtype):
    draw = np.random.default_rng(2)
    index, (forth, back) = list(ACTIVATIONS).index(kind), ACTIVATIONS[kind]
    z, b = draw.normal(size=(9, 5)).astype(dtype) * 3, draw.normal(size=5).astype(dtype)
    wanted = forth((z + b).astype(float))
    kernels.activate(z, b, index)
    np.testing.assert_allclose(z, wanted, rtol=4 * np.finfo(dtype).eps)
    slope = draw.normal(size=(9, 5)).astype(dtype)
    expected = slope * back(z.astype(float))
    kernels.times_derivative(slope, z, index)
    np.testing.assert_allclose(slope, expected, rtol=1e-5, atol=4 * np.finfo(dtype).eps)
    lost = np.full((1, 5), np.nan, dtype)
    kernels.activate(lost, b, index)
    assert np.isnan(lost).all()


@pytest.mark.parametrize("kind", [2, 3])
def test_activations_are_within_three_ulp_and_keep_their_ends(kind):
    sizes = np.concatenate([np.geomspace(1e-300, 800.0, 4000), np.linspace(0.0, 45.0, 4001), [1e308, np.inf]])
    z = np.concatenate([sizes, -sizes])[None]
    with mpmath.workdps(40):
        exact = [mpmath.tanh(x) if kind == 2 else 1 / (1 + mpmath.exp(-mpmath.mpf(x))) for x in z[0]]
    wanted = np.array([float(value) for value in exact])
    found = z.copy()
    kernels.activate(found, np.zeros(z.shape[1]), kind)
    np.testing.assert_array_less(np.abs(found[0] - wanted), 3 * np.spacing(np.abs(wanted)) + 1e-320)
    assert (np.abs(found) <= 1.0).all()


def test_shapes_and_codes_are_checked():
    with pytest.raises(ValueError, match="codes must be classes"):
        kernels.output_slopes(np.zeros((1, 3)), np.array([3], np.int32), None)
    with pytest.raises(ValueError, match="one code per row"):
        kernels.output_slopes(np.zeros((2, 3)), np.array([0], np.int32), None)
    with pytest.raises(ValueError, match="sizes must agree"):
        kernels.adam_step(np.zeros(2), np.zeros(3), np.zeros(3), np.zeros(3), 1, 0, 0.1, 0.9, 0.9, 1e-8)
    with pytest.raises(TypeError):
        kernels.times_derivative(np.zeros(3), np.zeros(3, np.float32), 1)
    with pytest.raises(ValueError, match="four activations"):
        kernels.times_derivative(np.zeros(3), np.zeros(3), 4)
