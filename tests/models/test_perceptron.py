"""The perceptron: the lecture's numbers, scikit-learn's weights, proofs, and that it always ends."""

import inspect
import os
import pickle
import signal
import threading
import warnings

import numpy as np
import pytest
import sklearn.linear_model
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris

import tables
import twins
from separatrix import CertificateError, InputError, LogisticRegression, Perceptron
from separatrix.certificates.separator import SeparatorCertificate
from separatrix.core import lanes
from separatrix.core.errors import ConvergenceWarning
from separatrix.core.sweeping import SweepState
from separatrix.engines import MemoryEngine, block_of
from separatrix.models.perceptron.batch_rule import BatchRule
from separatrix.solvers import perceptron as epochs

FOUR = np.array([[-1.0, 2.0], [-2.0, 2.0], [1.0, 0.0], [2.0, 1.0]])
SIDES = np.array([-1, -1, 1, 1])
START = {"coef_init": [[0.0, 1.0]], "intercept_init": [1.0]}
XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])
plain = {"shuffle": False, "verdict_after": None, "pocket": False}
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def overlapping(n=300, d=4, seed=0):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n, d))
    return X, (X @ draw.normal(size=d) + draw.normal(size=n) > 0).astype(int)


def gapped(n=300, d=4, seed=0, gap=0.3):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n, d))
    w = draw.normal(size=d)
    w /= np.linalg.norm(w)
    return X + np.outer(np.sign(X @ w) * gap, w), (X @ w > 0).astype(int)


def test_every_parameter_of_scikit_learn_is_accepted():
    theirs = inspect.signature(sklearn.linear_model.Perceptron.__init__).parameters
    ours = inspect.signature(Perceptron.__init__).parameters
    assert set(theirs) <= set(ours)
    different = {"tol"}  # stated in the docs: None goes on to a separator or a proof
    for name in set(theirs) - {"self"} - different:
        assert ours[name].default == theirs[name].default, name
    for method in ("fit", "partial_fit"):
        names = list(inspect.signature(getattr(sklearn.linear_model.Perceptron, method)).parameters)
        assert list(inspect.signature(getattr(Perceptron, method)).parameters) == names


def test_the_lectures_table_line_by_line():
    steps = list(Perceptron(shuffle=False).steps(FOUR, SIDES, **START))
    first = steps[0]
    assert (first.row, first.z, first.mistake) == (0, 3.0, True)
    np.testing.assert_array_equal(first.before, [1, 0, 1])
    np.testing.assert_array_equal(first.after, [0, 1, -1])
    assert [step.z for step in steps[1:5]] == [-4, 1, 1, -3]
    assert [step.row for step in steps[1:5]] == [1, 2, 3, 0]
    assert not any(step.mistake for step in steps[1:])
    assert [step.visit for step in steps] == list(range(1, 9))
    assert all((step.after == [0, 1, -1]).all() for step in steps)
    model = Perceptron(shuffle=False).fit(FOUR, SIDES, **START)
    assert model.mistakes_ == 1
    np.testing.assert_array_equal(np.append(model.intercept_, model.coef_), [0, 1, -1])


@pytest.mark.parametrize(("eta0", "mistakes"), [(0.1, 5), (1.0, 1), (10.0, 2)])
def test_from_a_given_start_the_rate_matters(eta0, mistakes):
    model = Perceptron(shuffle=False, eta0=eta0).fit(FOUR, SIDES, **START)
    assert model.mistakes_ == mistakes
    assert model.certificate_.verify(FOUR, SIDES).bound >= mistakes


def test_from_zero_the_rate_only_scales_and_the_order_and_start_matter():
    X, y = gapped(60, 3)
    models = [Perceptron(shuffle=False, eta0=eta0).fit(X, y) for eta0 in (0.25, 1.0, 8.0)]
    assert len({model.mistakes_ for model in models}) == 1
    for model, eta0 in zip(models, (0.25, 1.0, 8.0), strict=True):
        np.testing.assert_array_equal(model.coef_, eta0 * models[1].coef_)  # powers of two: the same bits
    directions = [
        Perceptron(**options).fit(X, y).coef_[0]
        for options in (
            {"shuffle": False},
            {"random_state": 1},
            {"random_state": 2},
            {"shuffle": False, "init": "random"},
        )
    ]
    assert len({tuple(d / np.linalg.norm(d)) for d in directions}) == 4


def test_steps_are_those_of_the_fit():
    X, y = gapped(40, 3)
    steps = list(Perceptron(random_state=5).steps(X, y))
    model = Perceptron(random_state=5).fit(X, y)
    assert sum(step.mistake for step in steps) == model.mistakes_
    assert steps[-1].epoch == model.n_iter_
    np.testing.assert_array_equal(np.roll(steps[-1].after, -1), np.append(model.coef_, model.intercept_))
    for step in steps:
        assert step.mistake == (step.sign * step.z <= 0)
        np.testing.assert_array_equal(step.after, step.before + step.mistake * step.sign * np.append(1.0, X[step.row]))


@quiet
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"fit_intercept": False},
        {"eta0": 0.3},
        {"penalty": "l2", "alpha": 1e-3},
        {"penalty": "l1", "alpha": 1e-3},
        {"penalty": "elasticnet", "alpha": 1e-3, "l1_ratio": 0.4},
        {"class_weight": {0: 3.0}},
        {"class_weight": "balanced"},
        {"penalty": "l2", "alpha": 10.0},
    ],
)
@pytest.mark.parametrize("epochs_run", [1, 2, 7])
def test_weights_are_scikit_learns_in_the_same_order(options, epochs_run):
    X, y = overlapping()
    theirs = sklearn.linear_model.Perceptron(shuffle=False, max_iter=epochs_run, tol=None, **options).fit(X, y)
    ours = Perceptron(max_iter=epochs_run, **plain, **options).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-9, atol=1e-11)
    if options.get("alpha", 0.0) < 1.0:  # else the weights are seen to repeat themselves, and ours stops
        assert ours.n_iter_ == theirs.n_iter_
        assert ours.t_ == theirs.t_


@quiet
def test_sample_weights_and_three_classes_as_in_scikit_learn():
    X, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(0).random(150)
    theirs = sklearn.linear_model.Perceptron(shuffle=False, max_iter=5, tol=None).fit(X, y, sample_weight=weights)
    ours = Perceptron(max_iter=5, **plain).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-10)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-10)
    assert (ours.predict(X) == theirs.predict(X)).all()


@quiet
def test_tol_stops_where_scikit_learn_does():
    X, y = overlapping(seed=3)
    for tol in (1e-3, 1e-2):
        theirs = sklearn.linear_model.Perceptron(shuffle=False, tol=tol).fit(X, y)
        ours = Perceptron(tol=tol, **plain).fit(X, y)
        assert ours.n_iter_ == theirs.n_iter_
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)


def test_a_batch_step_is_a_gradient_step_on_the_perceptron_criterion():
    X, y = overlapping(80, 3)
    signs = np.where(y == 1, 1.0, -1.0)
    Z = twins.with_constant(X, True)
    weights = np.random.default_rng(1).random(80)

    def criterion(w, margin):
        return np.sum(weights * np.maximum(0.0, margin - signs * (Z @ w)))

    for margin in (0.0, 0.7):
        w = np.random.default_rng(2).normal(size=4)
        gradient = [(criterion(w + h, margin) - criterion(w - h, margin)) / 2e-6 for h in 1e-6 * np.eye(4)]
        engine = MemoryEngine(block_of(X), y.astype(np.int32), 2, weights)
        state = SweepState(w.copy())
        BatchRule(margin=margin).epoch(engine, state, None)
        np.testing.assert_allclose(state.point - w, -np.array(gradient), rtol=1e-6, atol=1e-6)
        assert state.error == pytest.approx(criterion(w, margin))


@pytest.mark.parametrize("layout", ["c", "fortran", "csr", "csc", "pandas"])
def test_the_batch_rule_ends_with_a_separator_and_no_bound(layout):
    X, y = gapped()
    model = Perceptron(rule="batch", eta0=0.1).fit(tables.LAYOUTS[layout](X), y)
    assert model.certificate_.verify(X, y).kind == "separator"
    assert model.certificate_.bound == np.inf
    assert "no theorem" in str(model.certificate_)
    assert model.score(tables.LAYOUTS[layout](X), y) == 1.0


@quiet
def test_it_is_online_gradient_descent_on_a_rectified_margin():
    """ReLU(−t·xᵀw) has the slope −t·x where −t·xᵀw ≥ 0; so has the logistic update with a label in place of π."""
    X, y = overlapping(50, 3)
    Z, t = twins.with_constant(X, True), np.where(y == 1, 1.0, -1.0)
    relu, logistic = np.zeros(4), np.zeros(4)
    for _ in range(3):
        for x, sign, code in zip(Z, t, y, strict=True):
            slope = -sign * x if -sign * (x @ relu) >= 0 else 0.0 * x
            relu = relu - 0.5 * slope
            # π(x) → the most probable label; at a tie, f = 0, the label that is wrong
            f = x @ logistic
            label = float(f > 0) if f != 0 else 1.0 - code
            logistic = logistic + 0.5 * (code - label) * x
    model = Perceptron(eta0=0.5, max_iter=3, **plain).fit(X, y)
    weights = np.append(model.coef_, model.intercept_)
    np.testing.assert_allclose(weights, relu, atol=1e-12)
    np.testing.assert_allclose(weights, logistic, atol=1e-12)


def test_a_separator_comes_with_its_proof():
    X, y = gapped()
    model = Perceptron().fit(X, y)
    certificate = model.certificate_
    assert isinstance(certificate, SeparatorCertificate)
    assert certificate.met
    assert certificate.mistakes == model.mistakes_ <= certificate.bound
    assert model.score(X, y) == 1.0
    assert model.trace_.mistakes[-1] == 0
    assert model.trace_.mistakes.sum() == model.mistakes_
    assert len(model.trace_) == model.n_iter_
    assert model.trace_.norm[-1] == pytest.approx(np.linalg.norm(model.coef_))
    assert model.n_parameters_ == 5
    assert pickle.loads(pickle.dumps(model)).certificate_.verify(X, y)
    with pytest.raises(CertificateError):
        certificate.verify(X, 1 - y)


@pytest.mark.parametrize(
    "options",
    [
        {"average": True},
        {"average": 20},
        {"learning_rate": "invscaling"},
        {"learning_rate": lambda t: 1.0 / (1.0 + 0.001 * t)},
        {"class_weight": {0: 2.0}},
        {"penalty": "l2", "alpha": 1e-6},
        {"rule": "batch", "average": True, "eta0": 0.1},
        {"early_stopping": True, "tol": 0.0, "n_iter_no_change": 50},
    ],
)
def test_variants_without_a_theorem_claim_the_separator_alone(options):
    X, y = gapped(gap=0.6)
    model = Perceptron(**options).fit(X, y)
    assert model.certificate_.verify(X, y).kind == "separator"
    assert model.certificate_.bound == np.inf


def test_overlapping_classes_end_with_a_proof_and_the_pocket():
    X, y = overlapping()
    model = Perceptron(shuffle=False).fit(X, y)
    assert model.certificate_.kind == "overlap"
    assert 10 < model.n_iter_ < 100
    impatient = Perceptron(shuffle=False, n_iter_no_change=1).fit(X, y)
    assert impatient.n_iter_ < model.n_iter_
    model.certificate_.verify(X, y)
    last = Perceptron(shuffle=False, pocket=False).fit(X, y)
    assert model.score(X, y) >= last.score(X, y)
    assert Perceptron().fit(*XOR).certificate_.kind == "overlap"


def test_one_point_with_both_labels_and_touching_classes_end():
    touching = [[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1]
    assert Perceptron().fit(*touching).certificate_.kind == "quasi"
    assert Perceptron().fit([[1.0], [1.0]], [0, 1]).certificate_.kind == "overlap"
    assert Perceptron(fit_intercept=False).fit([[1.0], [2.0]], [0, 1]).certificate_.kind == "overlap"


def test_a_cycle_is_found_and_named():
    with pytest.warns(ConvergenceWarning, match="neither a separator nor a proof"):
        model = Perceptron(shuffle=False, verdict_after=None).fit(*XOR)
    assert "repeat" in model.certificate_.reason
    assert model.n_iter_ < 20
    assert not model.certificate_.met
    assert Perceptron(shuffle=False, verdict_after=500).fit(*XOR).certificate_.kind == "overlap"  # asked at the cycle
    # the cycle is real: the plain algorithm meets its own weights again
    order = np.tile(np.arange(4), 50)
    path, _ = twins.perceptron(XOR[0], np.where(XOR[1] == 1, 1, -1), np.zeros(3), order, np.ones(200))
    ends = [tuple(point) for point in path[3::4]]
    assert len(set(ends)) < len(ends)


@pytest.mark.parametrize("seed", range(40))
@quiet
def test_it_always_ends(seed):
    draw = np.random.default_rng(seed)
    n, d = int(draw.integers(2, 30)), int(draw.integers(1, 4))
    X = draw.integers(-2, 3, (n, d)).astype(float)
    y = draw.integers(0, 2, n)
    y[:2] = [0, 1]
    for shuffle in (True, False):
        model = Perceptron(shuffle=shuffle, max_iter=3000).fit(X, y)
        assert model.certificate_.kind in ("separator", "overlap", "quasi")
        model.certificate_.verify(X, y)


def test_max_iter_gives_the_pockets_weights_and_says_so():
    X, y = gapped(500, 20, gap=0.01)
    with pytest.warns(ConvergenceWarning, match=r"(?s)A separator does exist.*raise max_iter"):
        model = Perceptron(max_iter=2, random_state=3).fit(X, y)
    assert model.certificate_.kind == "unproved"
    assert model.certificate_.separable
    assert "A separator does exist" in str(model.certificate_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        last = Perceptron(max_iter=2, random_state=3, pocket=False, verdict_after=None).fit(X, y)
    assert model.score(X, y) >= last.score(X, y)
    with pytest.raises(CertificateError, match="claims nothing"):
        model.certificate_.verify(X, y)


@quiet
def test_the_pocket_is_never_worse_than_the_last_weights():
    for seed in range(30):
        X, y = overlapping(seed=seed)
        weights = np.random.default_rng(seed).random(len(y))
        scores = [
            Perceptron(max_iter=15, verdict_after=None, pocket=pocket, random_state=seed)
            .fit(X, y, sample_weight=weights)
            .score(X, y, sample_weight=weights)
            for pocket in (True, False)
        ]
        assert scores[0] >= scores[1]


def test_the_lectures_summed_error_may_stop_it():
    """Σ|y − ŷ| with y and ŷ = ±1: two for every wrong row, counted anew here, and less than the threshold."""
    X, y = overlapping()
    signs = np.where(y == 1, 1, -1)
    weights, order, errors = np.zeros(5), np.arange(len(X)), []
    for _ in range(30):
        path, _ = twins.perceptron(X, signs, weights, order, np.ones(len(X)))
        before = np.vstack([weights, path[:-1]])
        scores = np.einsum("ij,ij->i", twins.with_constant(X, True), before)
        errors.append(np.abs(signs - np.where(scores >= 0.0, 1, -1)).sum())
        weights = path[-1]
    threshold = float(np.sort(errors)[3])
    for scale in (1.0, 2.0**20, 2.0**-20):
        for limit in (threshold, threshold + 0.5):
            model = Perceptron(
                max_iter=30, shuffle=False, verdict_after=None, error_threshold=limit, fit_intercept=False, eta0=1.0
            )
            rows = scale * twins.with_constant(X, True)  # the constant as a column, so that all of it scales
            with pytest.warns(ConvergenceWarning):
                model.fit(rows, y)
            assert model.n_iter_ == int(np.argmax(np.array(errors) < limit)) + 1
            assert "error_threshold" in model.certificate_.reason


@pytest.mark.parametrize("options", [{}, {"rule": "batch", "eta0": 0.1}, {"penalty": "l2"}, {"margin": 0.5}])
def test_the_summed_error_is_counted_by_every_rule(options):
    X, y = overlapping()
    weights = np.random.default_rng(2).integers(1, 4, len(X)).astype(float)
    given = {"max_iter": 1, "shuffle": False, "verdict_after": None, "pocket": False} | options
    rule = Perceptron(**given)
    wrong = 0.0
    if options.get("rule") == "batch":
        wrong = 2.0 * weights[y != 1].sum()  # at zero weights every score is 0: the positive class
    else:
        for place in range(len(X)):
            upto = Perceptron(**given)
            if place == 0:
                score = 0.0
            else:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    upto.partial_fit(X[:place], y[:place], classes=[0, 1], sample_weight=weights[:place])
                score = float(X[place] @ upto.coef_[0] + upto.intercept_[0])
            wrong += weights[place] * abs((1 if y[place] == 1 else -1) - (1 if score >= 0 else -1))
    for threshold, stops in ((wrong, False), (wrong + 1.0, True)):
        rule.set_params(error_threshold=threshold)
        with pytest.warns(ConvergenceWarning):
            rule.fit(X, y, sample_weight=weights)
        assert ("error_threshold" in rule.certificate_.reason) == stops


def test_the_summed_loss_may_stop_it():
    X, y = overlapping()
    full = Perceptron(max_iter=30, shuffle=False, verdict_after=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        errors = full.fit(X, y).trace_.objective
    threshold = float(np.sort(errors)[3])
    model = Perceptron(max_iter=30, shuffle=False, verdict_after=None, loss_threshold=threshold)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    assert model.n_iter_ == int(np.argmax(errors <= threshold)) + 1
    assert model.trace_.objective[-1] <= threshold
    assert "loss_threshold" in model.certificate_.reason
    # the loss is Σ −s·z over the mistakes, at the weights of the visit
    order = np.arange(len(X))
    path, wrong = twins.perceptron(X, np.where(y == 1, 1, -1), np.zeros(5), order, np.ones(len(X)))
    before = np.vstack([np.zeros(5), path[:-1]])
    scores = np.where(y == 1, 1, -1) * np.einsum("ij,ij->i", twins.with_constant(X, True), before)
    assert errors[0] == pytest.approx(-scores[wrong].sum())


def test_a_falling_rate_and_a_function_of_t():
    X, y = overlapping(60, 3)
    order = np.tile(np.arange(60), 4)
    signs = np.where(y == 1, 1.0, -1.0)
    for rate, rates in (
        ("invscaling", 0.5 * np.arange(1, 241) ** -0.5),
        (lambda t: 1.0 / t, 1.0 / np.arange(1, 241)),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = Perceptron(learning_rate=rate, eta0=0.5, max_iter=4, **plain).fit(X, y)
        path, _ = twins.perceptron(X, signs, np.zeros(4), order, rates)
        np.testing.assert_array_equal(np.append(model.coef_, model.intercept_), path[-1])


def test_the_margin_is_reached():
    X, y = gapped()
    model = Perceptron(margin=5.0).fit(X, y)
    assert (np.where(y == 1, 1, -1) * model.decision_function(X) > 5.0).all()
    assert model.certificate_.verify(X, y).bound >= model.mistakes_


@quiet
def test_a_row_without_weight_is_as_good_as_absent():
    X, y = overlapping()
    weights = (np.random.default_rng(0).random(300) < 0.7).astype(float)
    for options in ({}, {"rule": "batch"}, {"shuffle": False}, {"average": True}, {"penalty": "l1"}):
        model = Perceptron(verdict_after=None, max_iter=5, **options)
        whole = clone(model).fit(X, y, sample_weight=weights)
        part = clone(model).fit(X[weights > 0], y[weights > 0])
        np.testing.assert_array_equal(whole.coef_, part.coef_)
    overlap = Perceptron().fit(X, y, sample_weight=weights)
    assert overlap.certificate_.kind == "overlap"
    X, y = gapped()
    y[0] = 1 - y[0]
    weights = np.ones(300)
    weights[0] = 0.0
    Perceptron().fit(X, y, sample_weight=weights).certificate_.verify(X, y, weights)


@quiet
@pytest.mark.parametrize("layout", ["c", "fortran", "strided", "pandas", "polars", "arrow-chunks", "csr", "csc", "coo"])
def test_any_layout_gives_the_same_model(layout):
    X = tables.values(120, 5, "int16", 3)  # whole numbers: sums have the same bits in any order
    y = (X @ [1, -2, 1, 0, 3] + 1 > 0).astype(int)
    for options in ({}, {"average": True}, {"rule": "batch"}):
        model = Perceptron(max_iter=20, verdict_after=None, **options)
        expected = clone(model).fit(X.astype(float), y)
        got = clone(model).fit(tables.LAYOUTS[layout](X), y)
        np.testing.assert_array_equal(got.coef_, expected.coef_)
        np.testing.assert_array_equal(got.intercept_, expected.intercept_)


@quiet
def test_pieces_in_a_row_are_epochs():
    X, y = overlapping()
    for options in ({}, {"penalty": "l1"}, {"average": True}, {"learning_rate": "invscaling"}, {"rule": "batch"}):
        whole = Perceptron(max_iter=3, **plain, **options).fit(X, y)
        pieces = Perceptron(**plain, **options)
        for _ in range(3):
            pieces.partial_fit(X, y, classes=[0, 1])
        np.testing.assert_array_equal(pieces.coef_, whole.coef_)
        assert pieces.mistakes_ == whole.mistakes_
        assert pieces.t_ == whole.t_
    assert pieces.certificate_.kind == "unproved"
    halves = Perceptron(**plain).partial_fit(X[:150], y[:150], classes=[0, 1]).partial_fit(X[150:], y[150:])
    np.testing.assert_array_equal(halves.coef_, Perceptron(max_iter=1, **plain).fit(X, y).coef_)


def test_pieces_are_checked():
    X, y = overlapping()
    with pytest.raises(InputError, match="classes must be passed"):
        Perceptron().partial_fit(X, y)
    with pytest.raises(InputError, match="only one class"):
        Perceptron().partial_fit(X[:5], np.zeros(5, int), classes=[0])
    model = Perceptron().partial_fit(X[:5], np.zeros(5, int), classes=[0, 1])  # one class in a piece is fine
    with pytest.raises(InputError, match="not the same as on last call"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(InputError, match="features"):
        model.partial_fit(X[:, :2], y)
    with pytest.raises(InputError, match="not among"):
        model.partial_fit(X, y + 1)
    with pytest.raises(InputError, match="balanced"):
        Perceptron(class_weight="balanced").partial_fit(X, y, classes=[0, 1])
    with pytest.raises(InputError, match="hold out"):
        Perceptron(early_stopping=True).partial_fit(X, y, classes=[0, 1])


@quiet
def test_warm_start_goes_on_where_the_last_fit_ended():
    X, y = overlapping()
    once = Perceptron(max_iter=4, **plain).fit(X, y)
    twice = Perceptron(max_iter=2, warm_start=True, **plain).fit(X, y).fit(X, y)
    np.testing.assert_array_equal(once.coef_, twice.coef_)
    X, y = gapped()
    model = Perceptron(warm_start=True).fit(X, y)
    assert model.fit(X, y).mistakes_ == 0
    assert model.certificate_.verify(X, y).mistakes == 0


@quiet
def test_early_stopping_holds_rows_out():
    X, y = overlapping(2000, 5)
    model = Perceptron(early_stopping=True, tol=1e-3, n_iter_no_change=3).fit(X, y)
    assert model.n_iter_ < 100
    assert "validation" in model.certificate_.reason
    with pytest.raises(InputError, match="validation_fraction"):
        Perceptron(early_stopping=True).fit([[0.0], [1.0]], [0, 1])


def test_ties_belong_to_the_positive_class():
    model = Perceptron(shuffle=False).fit(FOUR, ["no", "no", "yes", "yes"], **START)
    assert model.predict([[1.0, 1.0]]) == ["yes"]  # on the boundary x₁ = x₂
    assert model.signed_distance([[1.0, 0.0]])[0] == pytest.approx(1 / np.sqrt(2))
    np.testing.assert_allclose(model.project([[1.0, 0.0]]), [[0.5, 0.5]])
    assert model.origin_distance_ == 0.0


def test_it_gives_no_probabilities_and_says_where_to_find_them():
    model = Perceptron().fit(FOUR, SIDES)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match=r"(?s)no probabilities.*LogisticRegression"):
        model.predict_proba(FOUR)
    with pytest.raises(AttributeError, match="predict_log_proba"):
        model.predict_log_proba(FOUR)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = model.nonsense
    assert hasattr(LogisticRegression(), "predict_proba")


@pytest.mark.one_block
@quiet
def test_skipping_changes_no_bit_of_a_fit(monkeypatch):
    monkeypatch.setattr(epochs, "LITTLE", 0)
    X, y = gapped(3000, 6, gap=0.02)
    quick = Perceptron(max_iter=60, verdict_after=None).fit(X, y)
    skipped = []
    monkeypatch.setattr(epochs.Skipping, "note", lambda self, state, visited: skipped.append(visited))
    monkeypatch.setattr(epochs.Skipping, "prepare", lambda self, state: None)
    slow = Perceptron(max_iter=60, verdict_after=None).fit(X, y)
    assert set(skipped) == {1.0}
    np.testing.assert_array_equal(quick.coef_, slow.coef_)
    assert quick.mistakes_ == slow.mistakes_
    np.testing.assert_array_equal(quick.trace_.mistakes, slow.trace_.mistakes)


@pytest.mark.one_block
@quiet
def test_rows_are_skipped_in_a_fit(monkeypatch):
    monkeypatch.setattr(epochs, "LITTLE", 0)
    shares = []
    note = epochs.Skipping.note
    monkeypatch.setattr(
        epochs.Skipping, "note", lambda self, state, visited: shares.append(visited) or note(self, state, visited)
    )
    X, y = gapped(3000, 6, gap=0.02)
    Perceptron(max_iter=60, verdict_after=None).fit(X, y)
    assert min(shares) < 0.5


@quiet
def test_the_same_bits_for_any_number_of_threads(monkeypatch):
    from separatrix.kernels import rows as table_rows

    monkeypatch.setattr(lanes, "LANE_WORK", 2**8)
    monkeypatch.setattr(table_rows, "THREAD_WORK", 0)
    monkeypatch.setattr(epochs, "LITTLE", 0)
    X, y = gapped(3000, 6, gap=0.02)
    for options in ({}, {"rule": "batch", "max_iter": 50}):
        fits = [Perceptron(verdict_after=None, n_jobs=jobs, **options).fit(X, y) for jobs in (1, 2, None)]
        assert len({fit.coef_.tobytes() for fit in fits}) == 1
        assert len({str(fit.certificate_) for fit in fits}) == 1


def test_labels_columns_and_units_change_nothing_but_names():
    X, y = gapped(80, 3)
    model = Perceptron(shuffle=False).fit(X, y)
    swapped = Perceptron(shuffle=False).fit(X, 1 - y)
    np.testing.assert_array_equal(swapped.coef_, -model.coef_)
    mirrored = Perceptron(shuffle=False).fit(-X, y)
    np.testing.assert_array_equal(mirrored.coef_, -model.coef_)
    words = Perceptron(shuffle=False).fit(X, np.where(y == 1, "yes", "no"))
    np.testing.assert_array_equal(words.coef_, model.coef_)
    order = np.random.default_rng(0).permutation(80)
    permuted = Perceptron(shuffle=False).fit(X[order], y[order])
    assert permuted.certificate_.verify(X, y).met
    doubled = Perceptron(shuffle=False, fit_intercept=False, eta0=2.0).fit(X * 4.0, y)
    unscaled = Perceptron(shuffle=False, fit_intercept=False).fit(X, y)
    np.testing.assert_array_equal(doubled.coef_, 8.0 * unscaled.coef_)


def test_three_classes_one_against_the_rest():
    X, y = load_iris(return_X_y=True)
    model = Perceptron().fit(X, y)
    assert model.coef_.shape == (3, 4)
    assert model.certificate_[0].kind == "separator"
    assert {model.certificate_[1].kind, model.certificate_[2].kind} == {"overlap"}
    model.certificate_.verify(X, y)
    assert model.score(X, y) > 0.6
    assert model.n_parameters_ == 15
    assert model.trace_.mistakes.sum() == model.mistakes_
    two = X[y < 2], y[y < 2]
    alone = Perceptron().fit(*two)
    assert alone.certificate_.verify(*two).kind == "separator"
    with pytest.raises(InputError, match="3 classes"):
        model.steps(X, y)


@quiet
def test_raw_breast_cancer_ends_in_time():
    X, y = load_breast_cancer(return_X_y=True)
    model = Perceptron().fit(X, y)
    assert model.certificate_.kind in ("separator", "overlap", "unproved")
    assert model.score(X, y) > 0.85


def test_a_random_start_repeats_itself_and_a_hook_may_stop():
    X, y = gapped()
    first, again = (Perceptron(init="random", random_state=4).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(first.coef_, again.coef_)
    other = Perceptron(init="random", random_state=np.random.RandomState(4)).fit(X, y)
    assert other.certificate_.verify(X, y)
    model = Perceptron(on_pass=lambda entry: entry.number == 1).fit(*overlapping())
    assert model.n_iter_ == 1
    assert "asked" in model.certificate_.reason


def test_verbose_prints_a_line_per_epoch(capsys):
    model = Perceptron(verbose=1).fit(FOUR, SIDES)
    assert capsys.readouterr().out.count("epoch") == model.n_iter_


BAD = {
    "NaN": (np.where(np.arange(8).reshape(4, 2) == 5, np.nan, FOUR), SIDES, {}, {}, "Column 1 has it at row 2"),
    "infinity": (np.where(np.arange(8).reshape(4, 2) == 5, np.inf, FOUR), SIDES, {}, {}, "Column 1 has it at row 2"),
    "one class": (FOUR, [1, 1, 1, 1], {}, {}, "only one class"),
    "a class without weight": (FOUR, [0, 1, 2, 2], {}, {"sample_weight": [0, 1, 1, 1]}, "no row of positive weight"),
    "eta0": (FOUR, SIDES, {"eta0": 0.0}, {}, "eta0 must be"),
    "eta0 NaN": (FOUR, SIDES, {"eta0": np.nan}, {}, "eta0 must be"),
    "margin": (FOUR, SIDES, {"margin": -1.0}, {}, "margin must be"),
    "alpha": (FOUR, SIDES, {"alpha": -1.0}, {}, "alpha must be"),
    "max_iter": (FOUR, SIDES, {"max_iter": 0}, {}, "max_iter must be"),
    "tol": (FOUR, SIDES, {"tol": -1.0}, {}, "tol must be"),
    "penalty": (FOUR, SIDES, {"penalty": "l3"}, {}, "choose one of"),
    "rule": (FOUR, SIDES, {"rule": "mini"}, {}, "choose one of"),
    "init": (FOUR, SIDES, {"init": "ones"}, {}, "choose one of"),
    "learning_rate": (FOUR, SIDES, {"learning_rate": "fast"}, {}, "choose one of"),
    "rate NaN": (FOUR, SIDES, {"learning_rate": lambda t: np.nan}, {}, r"learning_rate\(1\) is nan"),
    "average": (FOUR, SIDES, {"average": 0}, {}, "average must be"),
    "verdict_after": (FOUR, SIDES, {"verdict_after": 0}, {}, "verdict_after must be"),
    "validation_fraction": (FOUR, SIDES, {"validation_fraction": 1.0}, {}, "validation_fraction must be"),
    "random_state": (FOUR, SIDES, {"random_state": "x"}, {}, "random_state is"),
    "coef_init": (FOUR, SIDES, {}, {"coef_init": [1.0]}, r"must have shape \(1, 2\)"),
    "coef_init NaN": (FOUR, SIDES, {}, {"coef_init": [1.0, np.nan]}, "not finite"),
    "coef_init words": (FOUR, SIDES, {}, {"coef_init": ["a", "b"]}, "not numbers"),
    "intercept_init": (FOUR, SIDES, {}, {"intercept_init": [1.0, 2.0]}, "shape"),
    "no intercept": (FOUR, SIDES, {"fit_intercept": False}, {"intercept_init": [1.0]}, "fit_intercept is False"),
    "weights": (FOUR, SIDES, {}, {"sample_weight": [1, 1, 1, -1]}, "row 3: -1"),
    "overflow": (FOUR * 1e307, SIDES, {"eta0": 1e10}, {}, "overflow"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_and_the_estimator_stays_as_it_was(case):
    X, y, parameters, extra, says = BAD[case]
    model = Perceptron().fit(FOUR, SIDES)
    model.set_params(**parameters)
    before = {name: id(value) for name, value in vars(model).items()}
    with pytest.raises(InputError, match=says):
        model.fit(X, y, **extra)
    assert {name: id(value) for name, value in vars(model).items()} == before


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_leaves_the_estimator_as_it_was():
    X, y = overlapping(20_000, 10)
    model = Perceptron(verdict_after=None).fit(*gapped())
    before = {name: id(value) for name, value in vars(model).items()}
    ready = threading.Event()

    def hook(entry):
        ready.set()
        return False

    def interrupt():
        ready.wait()
        os.kill(os.getpid(), signal.SIGINT)

    model.set_params(on_pass=hook, max_iter=10**6)
    before |= {"on_pass": id(hook), "max_iter": id(model.max_iter)}
    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    thread.join()
    assert {name: id(value) for name, value in vars(model).items()} == before
