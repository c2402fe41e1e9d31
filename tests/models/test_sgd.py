"""SGDClassifier: scikit-learn's contract, LogisticRegression's problem, the perceptron's rule, what it refuses."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.linear_model
from sklearn.base import clone
from sklearn.datasets import load_iris

from separatrix import ConvergenceWarning, InputError, LogisticRegression, Perceptron, SGDClassifier
from separatrix.core.errors import CertificateError

DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(200, 4))
Y = (X[:, 0] + DRAW.logistic(size=200) > 0).astype(int)
APART = (X[:, 0] - 0.5 * X[:, 1] > 0.1).astype(int)
WEIGHTS = DRAW.integers(0, 3, 200).astype(float)
IRIS, KIND = load_iris(return_X_y=True)


def quiet(model, *arguments, **named):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*arguments, **named)


# --- scikit-learn's contract ---------------------------------------------------------------------------------------


def test_every_parameter_of_scikit_learns_class_is_there_in_its_place():
    ours = inspect.signature(SGDClassifier).parameters
    theirs = inspect.signature(sklearn.linear_model.SGDClassifier).parameters
    assert list(ours)[: len(theirs)] == list(theirs)
    for name, parameter in theirs.items():
        assert ours[name].kind == parameter.kind, name
    differs = {name for name in theirs if ours[name].default != theirs[name].default}
    assert differs == {"loss", "tol", "learning_rate", "eta0"}  # listed in docs/from-scikit-learn.md
    own = {"batch_size", "init", "keep_epochs", "certify_every", "on_separation", "on_pass"}
    assert set(ours) - set(theirs) == own
    for method in ("fit", "predict", "predict_proba", "predict_log_proba", "decision_function", "score"):
        here = inspect.signature(getattr(SGDClassifier, method)).parameters
        there = inspect.signature(getattr(sklearn.linear_model.SGDClassifier, method)).parameters
        assert list(here) == list(there), method
    piece = list(inspect.signature(SGDClassifier.partial_fit).parameters)
    assert piece == [*inspect.signature(sklearn.linear_model.SGDClassifier.partial_fit).parameters, "mean_weight"]


STEPS = [
    {"learning_rate": "constant", "eta0": 0.05},
    {"learning_rate": "constant", "eta0": 0.05, "penalty": None},
    {"learning_rate": "invscaling", "eta0": 0.1, "power_t": 0.3},
    {"learning_rate": "invscaling", "eta0": 0.1, "power_t": 0.3, "penalty": None},
    {"learning_rate": "optimal", "eta0": 0.1},
]


@pytest.mark.parametrize("given", STEPS, ids=lambda given: f"{given['learning_rate']}-{given.get('penalty', 'l2')}")
def test_in_order_it_takes_scikit_learns_steps(given):
    options = {"alpha": 0.01, "shuffle": False, "max_iter": 3, "tol": None} | given
    ours = quiet(SGDClassifier(**options), X, Y)
    theirs = quiet(sklearn.linear_model.SGDClassifier("log_loss", **options), X, Y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-6, atol=1e-9)
    assert ours.t_ == theirs.t_
    assert ours.n_iter_ == theirs.n_iter_


# --- the problem of LogisticRegression -----------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
@pytest.mark.parametrize("labels", [Y, np.digitize(X[:, 0], [-0.5, 0.5])])
def test_alpha_is_one_over_C_and_the_weights(labels, penalty, weights):
    """A descent from the optimum of LogisticRegression is there: same F, same certificate."""
    S = len(X) if weights is None else weights.sum()
    ratio = {"l2": 0.0, "l1": 1.0, "elasticnet": 0.4}[penalty]
    best = LogisticRegression(C=1.0 / (0.02 * S), l1_ratio=ratio).fit(X, labels, weights)
    model = SGDClassifier(penalty=penalty, alpha=0.02, l1_ratio=0.4, batch_size="all", tol=1e-7, certify_every=1)
    model.fit(X, labels, best.coef_, best.intercept_, weights)
    assert model.n_iter_ == 1
    assert model.certificate_.kind == best.certificate_.kind
    assert model.certificate_.objective == pytest.approx(best.certificate_.objective, rel=1e-10)
    assert model.certificate_.verify(X, labels, weights) is model.certificate_
    np.testing.assert_allclose(model.predict_proba(X), best.predict_proba(X), atol=1e-4)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X), rtol=1e-12)


def test_the_defaults_are_those_that_the_docs_tell():
    model = SGDClassifier()
    assert quiet(clone(model).set_params(max_iter=3), X, Y).certificate_.tol == 1e-8
    zero = quiet(clone(model).set_params(max_iter=3, alpha=0.0), X, Y)
    none = quiet(clone(model).set_params(max_iter=3, penalty=None), X, Y)
    np.testing.assert_array_equal(zero.coef_, none.coef_)
    same = quiet(clone(model).set_params(max_iter=3, epsilon=7.0), X, Y)
    np.testing.assert_array_equal(same.coef_, quiet(model.set_params(max_iter=3), X, Y).coef_)


@pytest.mark.parametrize(("solver", "named"), [("gd", 'batch_size="all"'), ("sgd", 'SGDClassifier(loss="log_loss")')])
def test_descents_left_logistic_regression_and_it_says_where_to(solver, named):
    with pytest.raises(InputError, match="solver is") as caught:
        LogisticRegression(solver=solver).fit(X, Y)
    for told in ("SGDClassifier", named, "alpha=1/(C·S)", "\n\nHint: "):
        assert told in str(caught.value)
    assert not hasattr(LogisticRegression(), "partial_fit")
    of_a_descent = {
        "learning_rate", "eta0", "power_t", "batch_size", "init", "shuffle", "early_stopping", "validation_fraction",
        "n_iter_no_change", "average", "keep_epochs", "certify_every",
    }  # fmt: skip
    assert of_a_descent <= set(SGDClassifier().get_params())
    assert not of_a_descent & set(LogisticRegression().get_params())


# --- the perceptron's loss -----------------------------------------------------------------------------------------

PERCEPTRONS = {
    "plain": {},
    "rate": {"eta0": 0.1},
    "invscaling": {"learning_rate": "invscaling", "power_t": 0.3},
    "function": {"learning_rate": lambda t: 1.0 / t},
    "in order": {"shuffle": False},
    "no constant": {"fit_intercept": False},
    "l2": {"penalty": "l2", "alpha": 1e-3},
    "l1": {"penalty": "l1", "alpha": 1e-3},
    "elastic net": {"penalty": "elasticnet", "alpha": 1e-3, "l1_ratio": 0.5},
    "average": {"average": 10},
    "patience": {"tol": 1e-3, "n_iter_no_change": 2},
    "held out": {"early_stopping": True, "validation_fraction": 0.2},
    "balanced": {"class_weight": "balanced"},
    "random": {"init": "random", "random_state": 5},
}
TABLES = {
    "overlap": (X, Y),
    "separable": (X, APART),
    "sparse": (sp.csr_array(np.where(np.abs(X) > 0.5, X, 0.0)), Y),
    "three classes": (IRIS, KIND),
}


def pair(options):
    """SGDClassifier with the perceptron's loss, and Perceptron, of the same parameters."""
    given = {"penalty": None, "learning_rate": "constant", "eta0": 1.0, "max_iter": 30, "random_state": 0} | options
    return SGDClassifier("perceptron", **given), Perceptron(**given)


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("options", PERCEPTRONS)
def test_it_is_the_perceptron(options, table, weights):
    rows, labels = TABLES[table]
    given = np.where(np.arange(len(labels)) % 7 == 0, 2.0, 1.0) if weights else None
    ours, theirs = (quiet(model, rows, labels, sample_weight=given) for model in pair(PERCEPTRONS[options]))
    for name in ("coef_", "intercept_", "classes_"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    for name in ("n_iter_", "t_", "mistakes_", "n_parameters_", "n_features_in_"):
        assert getattr(ours, name) == getattr(theirs, name)
    np.testing.assert_array_equal(ours.trace_.objective, theirs.trace_.objective)
    np.testing.assert_array_equal(ours.decision_function(rows), theirs.decision_function(rows))
    assert repr(ours.certificate_) == repr(theirs.certificate_)
    if ours.certificate_.met:
        assert ours.certificate_.verify(rows, labels, given) is ours.certificate_
        with pytest.raises(CertificateError):
            ours.certificate_.verify(-rows[::2], labels[::2])


def test_of_its_own_defaults_too():
    ours = SGDClassifier("perceptron", penalty=None).fit(X, APART)
    theirs = Perceptron().fit(X, APART)
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    assert ours.certificate_.met
    assert ours.certificate_.kind == theirs.certificate_.kind == "separator"


def test_starts_and_warm_starts_are_the_perceptrons():
    start = {"coef_init": [[1.0, 0.0, 0.0, 2.0]], "intercept_init": [0.5]}
    ours, theirs = (quiet(model, X, Y, **start) for model in pair({"max_iter": 3}))
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    ours, theirs = (quiet(model.set_params(warm_start=True, shuffle=False), X, Y) for model in (ours, theirs))
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)


@pytest.mark.parametrize("options", [{}, {"average": True}, {"penalty": "l1"}, {"learning_rate": "invscaling"}])
def test_pieces_are_the_perceptrons(options):
    ours, theirs = pair(options)
    for part in (slice(0, 50), slice(50, 120), slice(120, 200)):
        for model in (ours, theirs):
            model.partial_fit(X[part], Y[part], classes=[0, 1])
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    assert ours.t_ == theirs.t_
    assert ours.mistakes_ == theirs.mistakes_
    assert repr(ours.certificate_) == repr(theirs.certificate_)
    with pytest.raises(InputError, match="X has 2 features, but SGDClassifier is expecting 4"):
        ours.partial_fit(X[:, :2], Y)
    with pytest.raises(InputError, match="mean_weight"):
        ours.partial_fit(X, Y, mean_weight=1.0)


def test_scores_of_the_perceptrons_loss_are_no_probabilities():
    model = SGDClassifier("perceptron")
    for name in ("predict_proba", "predict_log_proba"):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError) as caught:
            getattr(model, name)
        assert "no probabilities" in f"{caught.value} {caught.value.__cause__}"
    assert hasattr(SGDClassifier(), "predict_proba")


WITHOUT = {
    "learning_rate": "optimal",
    "batch_size": 2,
    "keep_epochs": (1,),
    "certify_every": 1,
    "n_iter_no_change": None,
}


@pytest.mark.parametrize("name", WITHOUT)
def test_what_the_perceptron_has_not_is_refused(name):
    model = SGDClassifier("perceptron", **{name: WITHOUT[name]})
    with pytest.raises(InputError, match=f"^{name}(.|\n)*\n\nHint: "):
        model.fit(X, Y)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "modified_huber", "squared_error", "huber"])
def test_other_losses_are_refused_with_a_way_out(loss):
    with pytest.raises(InputError, match=r"^loss is (.|\n)*log_loss(.|\n)*sklearn\.linear_model\.SGDClassifier"):
        SGDClassifier(loss).fit(X, Y)


def test_one_loss_leaves_nothing_of_the_other():
    model = quiet(SGDClassifier("perceptron", penalty=None, max_iter=20), X, Y)
    alone = set(vars(model))
    quiet(model.set_params(loss="log_loss"), X, Y)
    assert not hasattr(model, "mistakes_")
    assert model.kept_ == {}
    quiet(model.set_params(loss="perceptron"), X, Y)
    assert set(vars(model)) == alone


@pytest.mark.filterwarnings("ignore::separatrix.ConvergenceWarning")
@pytest.mark.parametrize("loss", ["log_loss", "perceptron"])
def test_names_of_columns_go_with_the_fit_that_had_them(loss):
    draw = np.random.default_rng(0)
    X = draw.normal(size=(40, 5))
    y = (X[:, 0] > 0).astype(int)
    model = SGDClassifier(loss, max_iter=200).fit(pd.DataFrame(X, columns=list("abcde")), y)
    assert list(model.feature_names_in_) == list("abcde")
    model.fit(X[:, :3], y)
    assert not hasattr(model, "feature_names_in_")


def test_a_piece_with_another_intercept_is_refused():
    X, y = np.arange(8.0)[:, None], np.arange(8) % 2
    model = SGDClassifier().partial_fit(X, y, classes=[0, 1])
    before = model.coef_.copy()
    with pytest.raises(InputError, match="fit_intercept is not what it was"):
        model.set_params(fit_intercept=False).partial_fit(X, y)
    assert (model.coef_ == before).all()
