"""The network against scikit-learn's, against certified logistic regression, and against its own promises."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.neural_network
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.preprocessing import StandardScaler

from separatrix import CertificateError, InputError, LogisticRegression, MLPClassifier
from separatrix.core.errors import ConvergenceWarning

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

IRIS, KIND = load_iris(return_X_y=True)
IRIS = StandardScaler().fit_transform(IRIS)
DIGITS, DIGIT = load_digits(return_X_y=True)
DIGITS = DIGITS[:700] / 16.0
DIGIT = DIGIT[:700]
CANCER, BENIGN = load_breast_cancer(return_X_y=True)
CANCER = StandardScaler().fit_transform(CANCER)

RECIPES = {
    "adam": {},
    "two layers": {"hidden_layer_sizes": (20, 10)},
    "one number": {"hidden_layer_sizes": 30, "batch_size": 64},
    "tanh": {"activation": "tanh"},
    "logistic": {"activation": "logistic", "alpha": 0.1},
    "identity": {"activation": "identity"},
    "sgd": {"solver": "sgd", "learning_rate_init": 0.05},
    "plain sgd": {"solver": "sgd", "momentum": 0.0, "learning_rate_init": 0.05},
    "heavy ball": {"solver": "sgd", "nesterovs_momentum": False},
    "invscaling": {"solver": "sgd", "learning_rate": "invscaling", "power_t": 0.3, "learning_rate_init": 0.1},
    "adaptive": {"solver": "sgd", "learning_rate": "adaptive", "tol": 0.1, "n_iter_no_change": 1, "max_iter": 30},
    "patience": {"tol": 0.05, "n_iter_no_change": 2, "max_iter": 100},
}


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("labels", ["two", "ten"])
def test_the_same_seed_without_shuffling_is_scikit_learns_fit(recipe, labels):
    options = {"random_state": 3, "shuffle": False, "max_iter": 6} | RECIPES[recipe]
    y = DIGIT if labels == "ten" else DIGIT % 2
    ours = MLPClassifier(**options).fit(DIGITS, y)
    theirs = sklearn.neural_network.MLPClassifier(**options).fit(DIGITS, y)
    np.testing.assert_allclose(ours.loss_curve_, theirs.loss_curve_, rtol=1e-10)
    for name in ("n_iter_", "t_", "n_layers_", "n_outputs_", "out_activation_"):
        assert getattr(ours, name) == getattr(theirs, name), name
    for mine, yours in zip(ours.coefs_ + ours.intercepts_, theirs.coefs_ + theirs.intercepts_, strict=True):
        np.testing.assert_allclose(mine, yours, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours.predict_proba(DIGITS), theirs.predict_proba(DIGITS), rtol=1e-7, atol=1e-12)
    assert ours.best_loss_ == pytest.approx(theirs.best_loss_, rel=1e-10)


def test_weighted_rows_without_shuffling_are_scikit_learns_too():
    weights = np.random.default_rng(0).random(700) + 0.1
    options = {"random_state": 1, "shuffle": False, "max_iter": 5}
    ours = MLPClassifier(**options).fit(DIGITS, DIGIT, sample_weight=weights)
    theirs = sklearn.neural_network.MLPClassifier(**options).fit(DIGITS, DIGIT, sample_weight=weights)
    np.testing.assert_allclose(ours.coefs_[0], theirs.coefs_[0], rtol=1e-8, atol=1e-10)


def test_float32_and_shuffled_training_are_as_good_as_scikit_learns():
    X = DIGITS.astype(np.float32)
    ours = MLPClassifier(random_state=0, max_iter=30).fit(X, DIGIT)
    theirs = sklearn.neural_network.MLPClassifier(random_state=0, max_iter=30).fit(X, DIGIT)
    assert ours.coefs_[0].dtype == np.float32
    assert ours.loss_ <= theirs.loss_ * 1.05
    assert ours.score(X, DIGIT) >= theirs.score(X, DIGIT) - 0.01
    ours.certificate_.verify(X, DIGIT)
    ours.certificate_.verify(X.astype(np.float64), DIGIT)
    with pytest.raises(CertificateError):
        replace(ours.certificate_, gradient_norm=0.97 * ours.certificate_.gradient_norm).verify(X, DIGIT)


@pytest.mark.parametrize(("C", "K"), [(1.0, 2), (0.05, 2), (1.0, 3), (10.0, 3)])
def test_without_hidden_layers_lbfgs_reaches_the_certified_logistic_optimum_at_alpha_one_over_C(C, K):
    X, y = (CANCER, BENIGN) if K == 2 else (IRIS, KIND)
    logistic = LogisticRegression(C=C).fit(X, y)
    network = MLPClassifier((), solver="lbfgs", alpha=1.0 / C, tol=1e-8, max_iter=10_000).fit(X, y)
    assert network.certificate_.met
    claim = logistic.certificate_
    # the logistic objective at the network's weights is no further from the certified optimum than was asked for
    raw = np.column_stack([network.coefs_[0].T, network.intercepts_[0]])
    if K > 2:
        raw -= raw.mean(axis=0)  # softmax does not see what all classes share
    tolerance = claim.tol * min(claim.objective, 1.0)
    value = claim.problem.restate(X, y, None, None).evaluate(raw.ravel(), curvature=False).value
    assert value == pytest.approx(network.loss_, rel=1e-9)
    assert value <= claim.verify(X, y).objective + tolerance
    np.testing.assert_allclose(network.predict_proba(X), logistic.predict_proba(X), atol=1e-5)


def test_exclusive_or_needs_a_hidden_layer():
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    deep = MLPClassifier((4,), activation="tanh", solver="lbfgs", random_state=1).fit(X, y)
    flat = MLPClassifier((), solver="lbfgs").fit(X, y)
    assert deep.score(X, y) == 1.0
    assert flat.score(X, y) <= 0.75


@pytest.mark.parametrize("solver", ["lbfgs", "adam", "sgd"])
def test_weight_two_equals_the_row_twice(solver):
    draw = np.random.default_rng(2)
    X, y = IRIS[::3], KIND[::3]
    weights = draw.integers(0, 4, len(X))
    options = {"hidden_layer_sizes": (5,), "activation": "tanh", "solver": solver, "random_state": 0, "alpha": 0.1}
    options |= {"max_iter": 50, "tol": 1e-12 if solver == "lbfgs" else 0.0}
    weighted = MLPClassifier(**options).fit(X, y, sample_weight=weights)
    repeated = MLPClassifier(**options).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-5)
    assert weighted.loss_ == pytest.approx(repeated.loss_, rel=1e-7)


def test_permuted_hidden_units_are_the_same_classifier():
    model = MLPClassifier((8, 6), max_iter=20).fit(IRIS, KIND)
    order = np.random.default_rng(0).permutation(8)
    twin = pickle.loads(pickle.dumps(model))
    twin.coefs_[0], twin.intercepts_[0] = model.coefs_[0][:, order], model.intercepts_[0][order]
    twin.coefs_[1] = model.coefs_[1][order]
    np.testing.assert_allclose(twin.predict_proba(IRIS), model.predict_proba(IRIS), rtol=1e-12)


@pytest.mark.parametrize("solver", ["adam", "sgd"])
def test_partial_fit_is_one_epoch_and_ten_of_them_are_a_fit_of_ten(solver):
    options = {"hidden_layer_sizes": (12,), "solver": solver, "batch_size": 32, "random_state": 5, "tol": 0.0}
    whole = MLPClassifier(max_iter=10, n_iter_no_change=np.inf, **options).fit(IRIS, KIND)
    part = MLPClassifier(**options)
    for _ in range(10):
        part.partial_fit(IRIS, KIND, classes=[0, 1, 2])
        part = pickle.loads(pickle.dumps(part))
    np.testing.assert_array_equal(whole.coefs_[0], part.coefs_[0])
    assert whole.loss_curve_ == part.loss_curve_
    assert part.n_iter_ == 1
    assert part.t_ == 1500


def test_partial_fit_takes_batches_of_one_class_and_refuses_what_it_must():
    model = MLPClassifier((5,)).partial_fit(IRIS[:50], KIND[:50], classes=[0, 1, 2])
    assert model.predict_proba(IRIS).shape == (150, 3)
    model.partial_fit(IRIS[50:], KIND[50:])
    before = {name: id(value) for name, value in vars(model).items()}
    for X, y, extra, says in [
        (IRIS[:, :2], KIND, {}, "expecting 4"),
        (IRIS, KIND + 1, {}, "not among"),
        (IRIS, KIND, {"classes": [0, 1]}, "last call"),
        (np.full((150, 4), np.nan), KIND, {}, "NaN"),
    ]:
        with pytest.raises(InputError, match=says):
            model.partial_fit(X, y, **extra)
    assert {name: id(value) for name, value in vars(model).items()} == before
    with pytest.raises(InputError, match="first call"):
        MLPClassifier().partial_fit(IRIS, KIND)
    with pytest.raises(InputError, match="early_stopping"):
        MLPClassifier(early_stopping=True).partial_fit(IRIS, KIND, classes=[0, 1, 2])
    with pytest.raises(AttributeError, match="partial_fit"):
        MLPClassifier(solver="lbfgs").partial_fit(IRIS, KIND)
    assert not hasattr(MLPClassifier(solver="lbfgs"), "partial_fit")


def test_early_stopping_returns_the_weights_with_the_best_validation_score():
    seen = []
    model = MLPClassifier(
        (30,), early_stopping=True, validation_fraction=0.2, n_iter_no_change=3, max_iter=200, random_state=0,
        learning_rate_init=0.01, on_pass=lambda entry: bool(seen.append(entry.point)),
    )  # fmt: skip
    model.fit(DIGITS, DIGIT)
    scores = np.array(model.validation_scores_)
    assert len(scores) == model.n_iter_ == len(model.trace_) < 200
    assert model.best_loss_ is None
    assert model.best_validation_score_ == scores.max()
    best = seen[int(scores.argmax())]
    np.testing.assert_array_equal(np.concatenate([w.ravel() for w in model.coefs_ + model.intercepts_]), best)


def test_validation_rows_are_never_trained_on():
    # one row in five carries a label that training rows with the same point contradict
    from separatrix.models.mlp.fitting import held_out
    from separatrix.models.mlp.problem import Labelled

    data = Labelled.of(IRIS, KIND, np.where(np.arange(150) % 10 == 0, 0.0, 1.0))
    train, validation = held_out(data, 0.2, seed=4)
    assert not set(train) & set(validation)
    assert sorted([*train, *validation]) == [i for i in range(150) if i % 10]
    assert np.bincount(KIND[validation]).tolist() == [9, 9, 9]
    with pytest.raises(InputError, match="too small"):
        held_out(data, 0.001, seed=4)


def test_warm_start_goes_on_from_the_last_weights():
    model = MLPClassifier((10,), warm_start=True, max_iter=5, random_state=0)
    first = model.fit(IRIS, KIND).loss_
    again = model.fit(IRIS, KIND)
    assert again.loss_ < first
    assert len(again.loss_curve_) == 10
    assert again.n_iter_ == 5
    with pytest.raises(InputError, match="same classes"):
        model.fit(IRIS, KIND % 2)
    given = MLPClassifier((), solver="sgd", learning_rate_init=1e-12, warm_start=True, max_iter=1).fit(IRIS, KIND)
    given.coefs_[0][:] = 7.0
    np.testing.assert_allclose(given.fit(IRIS, KIND).coefs_[0], 7.0)
    optimum = MLPClassifier((), solver="lbfgs", alpha=1.0, tol=1e-8, warm_start=True).fit(IRIS, KIND)
    assert optimum.fit(IRIS, KIND).n_iter_ <= 2


@pytest.mark.parametrize("kind", ["csr", "csc", "frame", "fortran"])
def test_any_kind_of_table_gives_the_same_fit(kind):
    X = np.where(DIGITS > 0.5, DIGITS, 0.0)
    other = {
        "csr": sp.csr_array,
        "csc": sp.csc_matrix,
        "frame": lambda A: pd.DataFrame(A, columns=[f"c{k}" for k in range(64)]),
        "fortran": np.asfortranarray,
    }[kind](X)
    plain = MLPClassifier((20,), max_iter=3).fit(X, DIGIT)
    fit = MLPClassifier((20,), max_iter=3).fit(other, DIGIT)
    np.testing.assert_allclose(fit.predict_proba(other), plain.predict_proba(X), rtol=1e-9, atol=1e-12)
    fit.certificate_.verify(other, DIGIT)


def test_the_certificate_tells_the_gradient_and_tampering_is_found():
    X, y = IRIS, KIND
    model = MLPClassifier((6,), activation="tanh", solver="lbfgs", alpha=0.1, tol=1e-6, max_iter=2000).fit(X, y)
    certificate = model.certificate_
    assert certificate.kind == "network"
    assert certificate.met
    assert certificate.verify(X, y) is certificate
    assert "Nothing is claimed about other weights" in str(certificate)
    assert certificate.to_dict()["problem"]["units"] == [4, 6, 3]
    for tampered in (
        replace(certificate, gradient_norm=0.0),
        replace(certificate, bound=certificate.bound / 3),
        replace(certificate, objective=certificate.objective * 0.99),
        replace(certificate, point=certificate.point + 0.01),
        replace(certificate, point=certificate.point * np.nan),
        replace(certificate, bound=-1.0),
        replace(certificate, precision="float16"),
        replace(certificate, kind="optimum"),
        replace(certificate, problem=replace(certificate.problem, alpha=0.0)),
    ):
        with pytest.raises(CertificateError):
            tampered.verify(X, y)
    with pytest.raises(CertificateError, match="objective"):
        certificate.verify(X[:-1], y[:-1])
    with pytest.raises(CertificateError, match="objective"):
        certificate.verify(X, np.roll(y, 1))
    with pytest.raises(InputError, match="columns"):
        certificate.verify(X[:, :2], y)


def test_the_trace_and_the_hook():
    seen = []
    model = MLPClassifier((7,), max_iter=50, on_pass=lambda entry: bool(seen.append(entry)) or entry.number == 4)
    model.fit(IRIS, KIND)
    assert model.n_iter_ == len(seen) == len(model.trace_) == 4
    assert model.trace_.objective.tolist() == model.loss_curve_
    norm = np.sqrt(sum((matrix**2).sum() for matrix in model.coefs_))
    assert model.trace_.norm[-1] == pytest.approx(norm)
    assert (np.diff(model.trace_.seconds) >= 0).all()
    assert (model.trace_.mistakes <= 150).all()
    assert not np.array_equal(seen[0].point, seen[1].point)
    lbfgs = MLPClassifier((7,), solver="lbfgs", on_pass=lambda entry: entry.number == 3).fit(IRIS, KIND)
    assert lbfgs.n_iter_ == 3


def test_callbacks_of_scikit_learn_see_every_epoch():
    callback = pytest.importorskip("sklearn.callback")
    monitor = callback.ScoringMonitor(scoring="accuracy")
    MLPClassifier((5,), max_iter=3).set_callbacks(monitor).fit(IRIS, KIND)
    assert monitor.get_logs()


def test_describe_and_the_number_of_parameters(capsys):
    model = MLPClassifier((100,), max_iter=1).fit(DIGITS, DIGIT)
    model.describe()
    text = capsys.readouterr().out
    assert model.n_parameters_ == 64 * 100 + 100 + 100 * 10 + 10
    assert "64 × 100" in text
    assert "7,510" in text
    assert "softmax" in text


def test_verbose_prints_a_line_per_epoch(capsys):
    MLPClassifier((3,), max_iter=4, verbose=True).fit(IRIS, KIND)
    assert capsys.readouterr().out.count("epoch") == 4


def test_ties_go_to_the_positive_class():
    model = MLPClassifier((), solver="lbfgs").fit([[-1.0], [1.0], [-1.0], [1.0]], [0, 1, 1, 0])
    model.coefs_[0][:] = 0.0
    model.intercepts_[0][:] = 0.0
    assert model.predict([[5.0]]) == [1]


def test_log_probabilities_are_exact_where_probabilities_underflow():
    model = MLPClassifier((), solver="lbfgs", max_iter=5).fit([[-1.0], [1.0]], [0, 1])
    model.coefs_[0][:] = 2000.0
    assert model.predict_log_proba([[1.0]])[0, 0] == pytest.approx(-2000.0 - model.intercepts_[0][0])
    np.testing.assert_array_equal(model.predict_proba([[1.0]]), [[0.0, 1.0]])


def test_a_fit_that_ran_out_of_epochs_says_so():
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        MLPClassifier((3,), max_iter=2).fit(IRIS, KIND)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        MLPClassifier((3,), solver="lbfgs", max_iter=2).fit(IRIS, KIND)
    with pytest.warns(UserWarning, match="all are taken at once"):
        MLPClassifier((3,), batch_size=1000, tol=1.0).fit(IRIS, KIND)


def test_a_rate_that_is_too_large_is_an_error_never_a_weight():
    model = MLPClassifier((5,), max_iter=2).fit(IRIS, KIND)
    before = {name: id(value) for name, value in vars(model).items()}
    model.set_params(solver="sgd", learning_rate_init=1e200, max_iter=50)
    with pytest.raises(InputError, match="lower learning_rate_init"):
        model.fit(IRIS, KIND)
    after = {name: id(value) for name, value in vars(model).items() if name in before}
    unchanged = set(before) - {"solver", "learning_rate_init", "max_iter"}
    assert {name: after[name] for name in unchanged} == {name: before[name] for name in unchanged}


CASES = {
    "NaN": ({}, np.where(np.arange(600).reshape(150, 4) == 41, np.nan, IRIS), KIND, {}, "Column 1 has it at row 10"),
    "infinity, sparse": ({}, sp.csr_array(np.where(np.arange(600).reshape(150, 4) == 41, np.inf, IRIS)), KIND, {},
                         "Column 1 has it at row 10"),
    "one class": ({}, IRIS, np.zeros(150), {}, "only one class"),
    "one class by weight": ({}, IRIS, KIND, {"sample_weight": (KIND == 1) * 1.0}, "only one class"),
    "labels": ({}, IRIS, KIND[:-1], {}, "150 rows, but y has 149"),
    "continuous": ({}, IRIS, IRIS[:, 0], {}, "Unknown label type"),
    "two columns of labels": ({}, IRIS, np.ones((150, 2)), {}, "1d array"),
    "weights": ({}, IRIS, KIND, {"sample_weight": -np.ones(150)}, "Negative"),
    "no units": ({"hidden_layer_sizes": (3, 0)}, IRIS, KIND, {}, "hidden_layer_sizes must be > 0"),
    "half a unit": ({"hidden_layer_sizes": 1.5}, IRIS, KIND, {}, "hidden_layer_sizes"),
    "activation": ({"activation": "swish"}, IRIS, KIND, {}, "choose one of relu"),
    "solver": ({"solver": "magic"}, IRIS, KIND, {}, "choose one of adam"),
    "schedule": ({"learning_rate": "warm"}, IRIS, KIND, {}, "choose one of constant"),
    "alpha": ({"alpha": -1.0}, IRIS, KIND, {}, "alpha"),
    "alpha NaN": ({"alpha": np.nan}, IRIS, KIND, {}, "alpha"),
    "rate": ({"learning_rate_init": 0.0}, IRIS, KIND, {}, "learning_rate_init must be positive"),
    "batch": ({"batch_size": 0}, IRIS, KIND, {}, "batch_size"),
    "epochs": ({"max_iter": 0}, IRIS, KIND, {}, "max_iter"),
    "momentum": ({"momentum": 1.5}, IRIS, KIND, {}, "momentum"),
    "beta": ({"beta_1": 1.0}, IRIS, KIND, {}, "beta_1"),
    "patience": ({"n_iter_no_change": 0}, IRIS, KIND, {}, "n_iter_no_change"),
    "seed": ({"random_state": -1}, IRIS, KIND, {}, "random_state"),
    "validation": ({"early_stopping": True, "validation_fraction": 0.001}, IRIS, KIND, {}, "too small"),
    "huge values": ({"solver": "lbfgs"}, IRIS * 1e300, KIND, {}, "one scale"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_refused_and_the_estimator_stays_as_it_was(case):
    options, X, y, extra, says = CASES[case]
    model = MLPClassifier((4,), max_iter=2).fit(IRIS, KIND)
    model.set_params(**options)
    before = {name: id(value) for name, value in vars(model).items()}
    with pytest.raises(InputError, match=says):
        model.fit(X, y, **extra)
    assert {name: id(value) for name, value in vars(model).items()} == before


@pytest.mark.parametrize(
    ("X", "says"),
    [
        (IRIS[:, :2], "X has 2 features, but MLPClassifier is expecting 4"),
        (np.where(np.arange(600).reshape(150, 4) == 41, np.nan, IRIS), "Column 1 has it at row 10"),
        (np.ones(4), "Reshape your data"),
    ],
)
def test_prediction_refuses_bad_rows(X, says):
    model = MLPClassifier((4,), max_iter=2).fit(IRIS, KIND)
    with pytest.raises(InputError, match=says):
        model.predict(X)


def test_random_states_and_clones():
    assert clone(MLPClassifier((3,), alpha=0.5)).alpha == 0.5
    one = MLPClassifier((3,), max_iter=2).fit(IRIS, KIND)
    two = MLPClassifier((3,), max_iter=2, random_state=0).fit(IRIS, KIND)
    other = MLPClassifier((3,), max_iter=2, random_state=np.random.RandomState(0)).fit(IRIS, KIND)
    np.testing.assert_array_equal(one.coefs_[0], two.coefs_[0])
    assert not np.array_equal(one.coefs_[0], other.coefs_[0])
    words = np.array(["setosa", "versicolor", "virginica"])[KIND]
    assert set(MLPClassifier((3,), max_iter=2).fit(IRIS, words).predict(IRIS)) <= set(words)


def test_an_interrupt_leaves_the_estimator_as_it_was():
    model = MLPClassifier((4,), max_iter=2).fit(IRIS, KIND)

    def interrupt(entry):
        raise KeyboardInterrupt

    model.set_params(on_pass=interrupt)
    before = {name: id(value) for name, value in vars(model).items()}
    with pytest.raises(KeyboardInterrupt):
        model.fit(IRIS + 1.0, KIND)
    assert {name: id(value) for name, value in vars(model).items()} == before


def test_a_fit_that_is_not_stationary_says_so():
    """Patience ran out long before the gradient vanished, and nothing was said."""
    with pytest.warns(ConvergenceWarning, match="no longer improves by tol. The largest entry of the gradient is"):
        model = MLPClassifier((5,), random_state=0, tol=1e-3, n_iter_no_change=1, max_iter=5000).fit(IRIS, KIND)
    assert not model.certificate_.met
