"""The log loss by descent: exact iterates, the bound against Newton, separable data, streams, bad input."""

import math
import warnings
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris

from separatrix import ConvergenceWarning, InputError, LogisticRegression, SeparationWarning, SGDClassifier
from separatrix.core.errors import CertificateError

LECTURE = np.array([[-1.0], [-2.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])


def scaled(load):
    X, y = load(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def quiet(model, X, y, weights=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, sample_weight=weights)


def full(**options):
    """Steps over all rows; a hundred of them, with a penalty of a hundredth, unless told otherwise."""
    return SGDClassifier(**{"batch_size": "all", "max_iter": 100, "alpha": 0.01} | options)


def online(**options):
    """The same, a row a step."""
    return full(**{"batch_size": 1} | options)


def mixed(l1_ratio):
    """The penalty with this share of an L1 part."""
    return {"penalty": "elasticnet", "l1_ratio": l1_ratio}


def noisy(n=300, d=4, seed=0):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n, d))
    return X, (X @ draw.normal(size=d) + draw.logistic(size=n) > 0.3).astype(int)


# --- iterates ------------------------------------------------------------------------------------------------------


def test_full_steps_are_exact():
    """w ← w − η((1/S) Σ a(σ(wx + b) − y)x + κw), in fifty digits."""
    x, y, a, alpha, eta = [-1, 2, 3, 5], [0, 1, 0, 1], [1, 2, 1, 3], Fraction(1, 16), Fraction(1, 4)
    with mpmath.workdps(50):
        w, b, S = mpmath.mpf(0), mpmath.mpf(0), sum(a)
        kappa = mpmath.mpf(1) / 16
        losses = []
        for _ in range(60):
            slopes = [k * (1 / (1 + mpmath.exp(-(w * xi + b))) - yi) for xi, yi, k in zip(x, y, a, strict=True)]
            gw = sum(s * xi for s, xi in zip(slopes, x, strict=True)) / S + kappa * w
            w, b = w - mpmath.mpf(0.25) * gw, b - mpmath.mpf(0.25) * sum(slopes) / S
            signs = [2 * yi - 1 for yi in y]
            loss = sum(k * mpmath.log1p(mpmath.exp(-s * (w * xi + b))) for k, s, xi in zip(a, signs, x, strict=True))
            losses.append(float(loss / S + kappa * w * w / 2))
    model = full(alpha=float(alpha), eta0=float(eta), max_iter=60, n_iter_no_change=None)
    quiet(model, np.array(x, dtype=float)[:, None], y, a)
    assert math.isclose(model.coef_[0, 0], float(w), rel_tol=1e-13)
    assert math.isclose(model.intercept_[0], float(b), rel_tol=1e-13)
    np.testing.assert_allclose(model.trace_.objective, losses, rtol=1e-13)
    assert model.n_iter_ == 60
    assert model.t_ == 61.0


def test_the_first_epochs_of_the_lecture_by_hand():
    X, y = LECTURE
    with pytest.warns(SeparationWarning):
        model = full(penalty=None, eta0=1.0, max_iter=1).fit(X, y)
    assert model.coef_[0, 0] == 0.75  # mean of (½, 1, ½, 1)
    assert model.intercept_[0] == 0.0
    row_by_row = online(alpha=0.0, eta0=1.0, shuffle=False, learning_rate="constant", max_iter=1)
    with pytest.warns(SeparationWarning):
        row_by_row.fit(X, y)
    w = b = 0.0
    for x, t in zip(X[:, 0], y, strict=True):
        pi = 1 / (1 + math.exp(-(w * x + b)))
        w, b = w + (t - pi) * x, b + (t - pi)
    np.testing.assert_allclose([row_by_row.coef_[0, 0], row_by_row.intercept_[0]], [w, b], rtol=1e-14)


def test_a_batch_of_all_rows_is_a_full_step():
    X, y = noisy()
    weights = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    for l1_ratio in (0.0, 0.5):
        common = {"eta0": 0.3, "learning_rate": "constant", "max_iter": 7} | mixed(l1_ratio)
        whole = quiet(full(**common), X, y, weights)
        batch = online(batch_size=int((weights > 0).sum()), **common)
        np.testing.assert_allclose(quiet(batch, X, y, weights).coef_, whole.coef_, rtol=1e-10)


def test_full_steps_of_softmax_keep_their_promise():
    X, y = scaled(load_iris)
    model = quiet(full(max_iter=400), X, y)
    assert (np.diff(model.trace_.objective) <= 0).all()  # 1/L never raises F
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-12)


# --- the certificate -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [load_breast_cancer, load_iris])
@pytest.mark.parametrize("l1_ratio", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("batch_size", ["all", 1])
def test_the_bound_holds_after_any_number_of_epochs(data, l1_ratio, batch_size):
    X, y = scaled(data)
    best = LogisticRegression(l1_ratio=l1_ratio, C=0.5).fit(X, y).certificate_.objective
    for epochs in (1, 10, 200):
        model = full(batch_size=batch_size, alpha=2.0 / len(y), max_iter=epochs, **mixed(l1_ratio))
        quiet(model, X, y)
        certificate = model.certificate_
        assert 0.0 <= certificate.objective - best <= certificate.bound < math.inf
        assert certificate.verify(X, y) is certificate
    assert certificate.objective - best < 0.1 * best


def test_near_the_optimum_the_bound_is_that_of_curvature():
    X, y = noisy()
    model = quiet(full(alpha=1 / len(y), max_iter=2000, certify_every=10, n_iter_no_change=None), X, y)
    assert model.certificate_.kind == "optimum"
    assert model.certificate_.met
    assert len(model.trace_) % 10 == 0
    assert np.isfinite(model.trace_.bound[9::10][-1])
    np.testing.assert_allclose(model.coef_, LogisticRegression().fit(X, y).coef_, rtol=1e-3)


def test_a_tampered_bound_fails():
    X, y = noisy()
    model = quiet(online(max_iter=3), X, y)
    certificate = model.certificate_
    with pytest.raises(CertificateError):
        replace(certificate, bound=certificate.bound / 3).verify(X, y)
    with pytest.raises(CertificateError):
        certificate.verify(X, 1 - y)
    other = replace(certificate, problem=replace(certificate.problem, C=2.0 * certificate.problem.C))
    with pytest.raises(CertificateError):
        other.verify(X, y)


def test_without_a_penalty_dependent_columns_are_set_aside():
    X, y = noisy()
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    model = quiet(full(penalty=None, max_iter=3000), X, y)
    best = LogisticRegression(C=np.inf).fit(X, y).certificate_.objective
    assert model.certificate_.aliased
    assert 0.0 <= model.certificate_.objective - best <= model.certificate_.bound < 1e-3
    model.certificate_.verify(X, y)


def test_many_columns_are_certified_by_products():
    draw = np.random.default_rng(4)
    X = sp.random_array((3000, 1800), density=0.02, rng=draw, format="csr")
    y = (X @ draw.normal(size=1800) + 0.1 * draw.normal(size=3000) > 0).astype(int)
    best = LogisticRegression(C=0.05).fit(X, y).certificate_.objective
    model = quiet(full(alpha=20 / len(y), max_iter=300), X, y)
    assert 0.0 <= model.certificate_.objective - best <= model.certificate_.bound < 0.01
    model.certificate_.verify(X, y)


# --- separable data ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_size", ["all", 1])
def test_the_lectures_points_never_converge(batch_size):
    X, y = LECTURE
    model = full(batch_size=batch_size, penalty=None, max_iter=10_000, keep_epochs=(1, 1000, 10_000))
    with pytest.warns(SeparationWarning, match="where the descent stopped(.|\n)*Hint: use a penalty"):
        model.fit(X, y)
    assert model.n_iter_ == 10_000
    assert model.certificate_.kind == "complete"
    model.certificate_.verify(X, y)
    lengths = [np.linalg.norm(model.kept_[epoch][0]) for epoch in (1, 1000, 10_000)]
    assert lengths == sorted(lengths)
    assert lengths[2] > 1.1 * lengths[1]
    np.testing.assert_array_equal(model.kept_[10_000][0], model.coef_)
    np.testing.assert_allclose(model.trace_.norm[[0, 999, 9999]], lengths)
    assert np.isfinite(model.decision_function(X)).all()
    with pytest.raises(InputError, match="separable"):
        clone(model).set_params(on_separation="raise", max_iter=10, keep_epochs=()).fit(X, y)


# --- streams, weights, bits ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"batch_size": 7, "average": 3}, {"batch_size": "all"}, mixed(0.4)])
@pytest.mark.parametrize("data", [noisy, lambda: scaled(load_iris)])
def test_calls_of_partial_fit_are_epochs_of_fit(options, data):
    X, y = data()
    options = {"n_iter_no_change": None} | options
    whole = quiet(online(max_iter=3, **options), X, y)
    pieces = online(**options)
    for _ in range(3):
        pieces.partial_fit(X, y, classes=np.unique(y))
    np.testing.assert_array_equal(pieces.coef_, whole.coef_)
    np.testing.assert_array_equal(pieces.intercept_, whole.intercept_)
    np.testing.assert_array_equal(pieces.trace_.objective, whole.trace_.objective)
    assert not pieces.certificate_.proved
    taken_up = quiet(online(max_iter=2, **options), X, y).partial_fit(X, y)
    assert taken_up.t_ == pieces.t_ == whole.t_
    np.testing.assert_array_equal(taken_up.coef_, whole.coef_)


def test_a_stream_of_single_rows_is_an_epoch_in_order():
    X, y = noisy()
    weights = np.random.default_rng(5).uniform(0.5, 2.0, len(y))
    for some, mean in ((None, None), (weights, weights.mean())):
        whole = quiet(online(max_iter=1, eta0=0.2, shuffle=False), X, y, some)
        stream = online(eta0=0.2, shuffle=False)
        for k in range(len(y)):
            own = None if some is None else some[k : k + 1]
            stream.partial_fit(X[k : k + 1], y[k : k + 1], [0, 1], own, mean_weight=mean)
        np.testing.assert_allclose(stream.coef_, whole.coef_, rtol=1e-12)
        np.testing.assert_allclose(stream.intercept_, whole.intercept_, rtol=1e-12)


def test_a_piece_that_cannot_be_learned_from_changes_nothing():
    X, y = noisy()
    model = online()
    with pytest.raises(InputError, match="classes must be passed"):
        model.partial_fit(X, y)
    with pytest.raises(InputError, match="hold out"):
        model.set_params(early_stopping=True).partial_fit(X, y, classes=[0, 1])
    model.set_params(early_stopping=False).partial_fit(X, y, classes=[0, 1])
    before = model.coef_.copy()
    holes = [np.where(np.arange(4) == 2, value, X) for value in (np.nan, np.inf, -np.inf)]
    for bad in (*holes, X[:, :2]):
        with pytest.raises(InputError):
            model.partial_fit(bad, y)
    with pytest.raises(InputError, match="not the same as on last call"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    for mean in (-1, 0, "1", math.nan):
        with pytest.raises(InputError, match="mean_weight"):
            model.partial_fit(X, y, mean_weight=mean)
    np.testing.assert_array_equal(model.coef_, before)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), power=st.integers(-3, 3), batch_size=st.sampled_from(["all", 1]))
def test_only_shares_of_the_weight_count_and_zero_means_absent(seed, power, batch_size):
    X, y = noisy(80, 3, seed)
    weights = np.random.default_rng(seed).integers(0, 3, 80).astype(float)
    weights[:2], y[:2] = 1.0, [0, 1]
    factor = 2.0**power
    options = {"batch_size": batch_size, "max_iter": 4, "eta0": 0.1, "n_iter_no_change": None}
    one = quiet(full(**options), X, y, weights)
    scaled_up = quiet(full(**options), X, y, factor * weights)
    np.testing.assert_allclose(scaled_up.coef_, one.coef_, rtol=1e-12)
    kept = weights > 0
    np.testing.assert_allclose(quiet(full(**options), X[kept], y[kept], weights[kept]).coef_, one.coef_, rtol=1e-12)


def test_twice_a_row_is_weight_two_for_full_steps():
    X, y = noisy()
    twice = np.concatenate([X, X[:50]]), np.concatenate([y, y[:50]])
    weights = np.where(np.arange(len(y)) < 50, 2.0, 1.0)
    np.testing.assert_allclose(
        quiet(full(max_iter=30), X, y, weights).coef_, quiet(full(max_iter=30), *twice).coef_, rtol=1e-9
    )


@pytest.mark.parametrize("options", [{}, {"batch_size": 8}, mixed(1.0), {"average": True}, {"batch_size": "all"}])
def test_sparse_rows_take_the_same_way(options):
    X, y = noisy()
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    model = online(max_iter=10, **options)
    dense = quiet(model, X, y).coef_
    for table in (sp.csr_array(X), sp.csc_array(X), X.astype(np.float32).astype(np.float64)[::1]):
        np.testing.assert_allclose(quiet(clone(model), table, y).coef_, dense, rtol=1e-6)
    single = sp.csr_array(X.astype(np.float32))
    np.testing.assert_allclose(quiet(clone(model), single, y).coef_, dense, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("batch_size", ["all", 5])
def test_same_bits_for_any_number_of_threads(batch_size):
    X, y = noisy(60_000, 40)
    fits = [quiet(full(max_iter=3, batch_size=batch_size, n_jobs=jobs), X, y) for jobs in (1, 2, 4)]
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.coef_, fits[0].coef_)
        assert fit.certificate_.bound == fits[0].certificate_.bound


def test_a_fit_repeats_itself_and_a_seed_changes_it():
    X, y = noisy()
    fits = [quiet(online(random_state=seed), X, y).coef_ for seed in (None, 0, 7)]
    np.testing.assert_array_equal(fits[0], fits[1])
    assert not np.array_equal(fits[0], fits[2])


# --- stopping ------------------------------------------------------------------------------------------------------


def test_patience_ends_a_descent_that_no_longer_improves():
    X, y = noisy()
    model = full(max_iter=100_000).fit(X, y)  # no warning
    assert model.n_iter_ < 2000
    assert model.certificate_.bound < 1e-6
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        full(max_iter=2).fit(X, y)


def test_rows_held_out_choose_the_weights():
    X, y = noisy(400)
    model = quiet(online(early_stopping=True, n_iter_no_change=3, max_iter=50), X, y)
    scores = model.validation_scores_
    assert len(scores) == model.n_iter_ < 50
    assert int(np.argmax(scores)) == len(scores) - 4  # three epochs without a better one
    assert model.certificate_.verify(X, y)
    kept = quiet(clone(model).set_params(keep_epochs=(len(scores) - 3,)), X, y)
    np.testing.assert_array_equal(kept.kept_[len(scores) - 3][0], model.coef_)
    assert quiet(online(), X, y).validation_scores_ is None


def test_an_adaptive_rate_settles_where_a_constant_one_hovers():
    X, y = noisy()
    best = LogisticRegression().fit(X, y).certificate_.objective
    excess = {
        rate: quiet(online(alpha=1 / len(y), learning_rate=rate, max_iter=300), X, y).certificate_.objective - best
        for rate in ("constant", "adaptive")
    }
    assert excess["adaptive"] < 1e-6 < excess["constant"]


def test_a_hook_may_stop_and_sees_every_epoch():
    X, y = noisy()
    seen = []
    model = online(on_pass=lambda entry: seen.append(entry.number) or entry.number == 3)
    assert model.fit(X, y).n_iter_ == 3
    assert seen == [1, 2, 3]


@pytest.mark.parametrize(
    "options",
    [
        {"eta0": 1e4},
        {"eta0": 1e300},
        {"eta0": 1e4, **mixed(0.5)},
        {"batch_size": 1, "eta0": 1e4, "learning_rate": "constant"},
        {"batch_size": 1, "eta0": 1e308, "learning_rate": "constant"},
        {"batch_size": 10, "eta0": 1e308},
    ],
)
def test_divergence_is_reported_and_weights_stay_finite(options):
    X, y = noisy()
    with pytest.warns(ConvergenceWarning, match="lower eta0"):
        model = full(max_iter=20, **options).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()


def test_a_random_start_is_small_and_warm_starts_go_on():
    X, y = noisy()
    start = quiet(full(init="random", eta0=1e-12, max_iter=1), X, y).coef_
    assert 0.0 < np.abs(start).max() < 0.05
    model = full(warm_start=True, max_iter=5)
    first = quiet(model, X, y).certificate_.objective
    assert quiet(model, X, y).certificate_.objective < first


def test_a_start_that_is_given_is_where_a_warm_start_would_begin():
    for X, y in (noisy(), scaled(load_iris)):
        first = quiet(full(max_iter=5), X, y)
        again = clone(first)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            again.fit(X, y, coef_init=first.coef_, intercept_init=first.intercept_)
        went_on = quiet(first.set_params(warm_start=True), X, y)
        np.testing.assert_array_equal(again.coef_, went_on.coef_)
    with pytest.raises(InputError, match="coef_init has shape"):
        full().fit(X, y, coef_init=[1.0])


# --- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"eta0": 0.0},
        {"eta0": -1.0},
        {"eta0": math.nan},
        {"eta0": math.inf},
        {"eta0": "fast"},
        {"eta0": True},
        {"learning_rate": "sometimes"},
        {"learning_rate": lambda t: -1.0},
        {"learning_rate": lambda t: 1.0 if t < 5 else math.nan},
        {"learning_rate": "optimal", "penalty": None},
        {"learning_rate": "optimal", "alpha": 0.0},
        {"power_t": -0.5},
        {"batch_size": 0},
        {"batch_size": 2.5},
        {"batch_size": 301},
        {"batch_size": 280, "early_stopping": True},
        {"init": "ones"},
        {"average": 0},
        {"average": "yes"},
        {"n_iter_no_change": 0},
        {"n_iter_no_change": None, "early_stopping": True},
        {"n_iter_no_change": None, "learning_rate": "adaptive"},
        {"early_stopping": True, "validation_fraction": 1e-9},
        {"validation_fraction": 1.0},
        {"validation_fraction": math.nan},
        {"keep_epochs": 5},
        {"keep_epochs": iter((1, 2))},  # it would be read to its end before the fit
        {"keep_epochs": (0,)},
        {"keep_epochs": (101,)},
        {"keep_epochs": "12"},
        {"certify_every": 0},
        {"alpha": 1e-320},
        {"penalty": "l3"},
        {"penalty": "elasticnet", "l1_ratio": None},
        {"batch_size": "some"},
        {"batch_size": "all", "loss": "perceptron"},
        {"loss": "hinge"},
        {"loss": "squared_error"},
        {"loss": "logistic"},
    ],
)
def test_bad_parameters_are_refused(options):
    X, y = noisy()
    model = online(**options)
    with pytest.raises(InputError, match="Hint"):
        model.fit(X, y)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("batch_size", ["all", 1])
@pytest.mark.parametrize("eta0", [None, 0.1])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_value_that_is_not_finite_is_named(batch_size, eta0, bad):
    X, y = noisy()
    X[17, 2] = bad
    with pytest.raises(InputError, match="Column 2 has it at row 17"):
        full(batch_size=batch_size, eta0=eta0, max_iter=2).fit(X, y)
