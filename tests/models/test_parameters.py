"""Every parameter of every estimator: a wrong value is refused by name, or the fit stands and verifies."""

import inspect
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

import separatrix as sx
from separatrix.core.errors import CertificateError, InputError
from separatrix.core.parameters import Rule
from separatrix.models.basis import estimator as basis
from separatrix.models.bernoulli import estimator as bernoulli
from separatrix.models.discriminant import estimator as discriminant
from separatrix.models.logistic import parameters as logistic_parameters
from separatrix.models.mlp import parameters as network_parameters
from separatrix.models.perceptron import parameters as perceptron_parameters
from separatrix.models.ridge import choice_of_penalty as ridge_cv
from separatrix.models.ridge import estimator as ridge
from separatrix.models.sgd import parameters as sgd_parameters

DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(24, 3))
Y = (X[:, 0] + DRAW.normal(size=24) > 0).astype(int)

MODELS = {
    "newton": sx.LogisticRegression(),
    "l1": sx.LogisticRegression(l1_ratio=1.0),
    "no penalty": sx.LogisticRegression(C=np.inf),
    "firth": sx.LogisticRegression(C=np.inf, firth=True),
    "gd": sx.SGDClassifier(batch_size="all", max_iter=5),
    "sgd": sx.SGDClassifier(max_iter=5, early_stopping=True),
    "perceptron's loss": sx.SGDClassifier("perceptron", max_iter=20),
    "perceptron": sx.Perceptron(max_iter=20),
    "batch perceptron": sx.Perceptron(max_iter=20, rule="batch", penalty="elasticnet", average=True),
    "held-out perceptron": sx.Perceptron(max_iter=20, early_stopping=True, learning_rate="invscaling"),
    "discriminant": sx.LinearDiscriminantAnalysis(),
    "bernoulli": sx.BernoulliNB(),
    "ridge": sx.RidgeClassifier(),
    "ridge cv": sx.RidgeClassifierCV(),
    "ridge folds": sx.RidgeClassifierCV(cv=3),
    "decision": sx.BayesDecisionClassifier(sx.LogisticRegression()),
    "adam": sx.MLPClassifier((3,), max_iter=5),
    "momentum": sx.MLPClassifier((3,), max_iter=5, solver="sgd", early_stopping=True, validation_fraction=0.3),
    "lbfgs": sx.MLPClassifier((3,), max_iter=5, solver="lbfgs"),
    "gaussian basis": sx.GaussianBasis(count=3, random_state=0),
    "grid basis": sx.GaussianBasis("grid", count=3),
    "sigmoid basis": sx.SigmoidBasis(count=3),
}

WRONG = {
    "'False'": "False",
    "'two'": "two",
    "bytes": b"x",
    "2.5": 2.5,
    "-1": -1,
    "0": 0,
    "nan": float("nan"),
    "inf": float("inf"),
    "-inf": -float("inf"),
    "1e300": 1e300,
    "5e-324": 5e-324,
    "10**30": 10**30,
    "10**400": 10**400,
    "10**5000": 10**5000,
    "-10**400": -(10**400),
    "a fraction beyond floats": Fraction(10**400, 3),
    "complex": 1 + 1j,
    "object": object(),
    "[]": [],
    "{}": {},
    "None": None,
    "True": True,
    "np.True_": np.True_,
    "0-d array": np.array(3),
    "array": np.array([1.0, 2.0]),
    "ragged": [[1], [1, 2]],
    "texts": ["a", "b"],
    "a NaN in a list": [np.nan, 1.0],
}

CASES = [(name, parameter) for name, model in MODELS.items() for parameter in inspect.signature(type(model)).parameters]


def verified(model):
    """What the fit claims holds; a fit that claims nothing says so."""
    try:
        model.certificate_.verify(X, Y)
    except CertificateError as error:
        assert "claims nothing" in str(error)  # noqa: PT017  either outcome is right


@pytest.mark.parametrize(("name", "parameter"), CASES, ids=[f"{name}-{parameter}" for name, parameter in CASES])
@pytest.mark.filterwarnings("ignore")
def test_a_wrong_value_is_refused_by_name_or_the_fit_verifies(name, parameter):
    fitted = clone(MODELS[name]).fit(X, Y)
    for what, value in WRONG.items():
        model = clone(MODELS[name])
        model.__dict__ = dict(vars(fitted))
        setattr(model, parameter, value)
        before = dict(vars(model))
        refused = None
        try:
            model.fit(X, Y)
        except (ValueError, TypeError) as error:
            refused = error
        if refused is None:
            if hasattr(model, "certificate_"):
                verified(model)
            continue
        assert isinstance(refused, InputError), f"{what}: {refused!r}"
        assert parameter in str(refused), f"{what}: {refused}"
        assert "\n\nHint: " in str(refused), f"{what}: {refused}"
        assert len(str(refused)) < 1000, what
        assert vars(model).keys() == before.keys(), what
        assert all(vars(model)[key] is before[key] for key in before), what


def test_the_walk_is_over_every_public_estimator():
    public = {
        found
        for found in (getattr(sx, name) for name in sx.__all__)
        if isinstance(found, type) and issubclass(found, BaseEstimator)
    }
    assert {type(model) for model in MODELS.values()} == public


TABLES = {
    sx.LogisticRegression: logistic_parameters.RULES,
    sx.Perceptron: perceptron_parameters.RULES,
    sx.SGDClassifier: sgd_parameters.RULES,
    sx.MLPClassifier: network_parameters.RULES,
    sx.LinearDiscriminantAnalysis: discriminant.RULES,
    sx.BernoulliNB: bernoulli.RULES,
    sx.RidgeClassifier: ridge.RULES,
    sx.RidgeClassifierCV: ridge_cv.RULES,
    sx.SigmoidBasis: basis.RULES,
}


@pytest.mark.parametrize("kind", TABLES, ids=[kind.__name__ for kind in TABLES])
def test_every_parameter_has_a_rule_and_every_default_keeps_it(kind):
    parameters = inspect.signature(kind).parameters
    assert list(TABLES[kind]) == list(parameters)
    for name, rule in TABLES[kind].items():
        assert isinstance(rule, Rule)
        assert rule.holds(parameters[name].default), name


FLAGS = [
    (name, parameter)
    for name, model in MODELS.items()
    for parameter, value in clone(model).get_params(deep=False).items()
    if isinstance(value, bool) and parameter not in ("average", "verbose")
]


@pytest.mark.parametrize(("name", "flag"), FLAGS, ids=[f"{name}-{flag}" for name, flag in FLAGS])
@pytest.mark.filterwarnings("ignore")
def test_flags_are_true_or_false_alone_numpys_too(name, flag):
    model = clone(MODELS[name])
    for wrong in ("False", "", 0, 1, None, 0.0, [], np.array([True])):
        with pytest.raises(InputError, match=f"^{flag} is .*\n\nHint: {flag} must be True or False"):
            model.set_params(**{flag: wrong}).fit(X, Y)
    value = MODELS[name].get_params(deep=False)[flag]
    one = model.set_params(**{flag: value}).fit(X, Y)
    two = clone(model).set_params(**{flag: np.bool_(value)}).fit(X, Y)
    for attribute in ("coef_", "centres_"):
        if hasattr(one, attribute):
            np.testing.assert_array_equal(getattr(one, attribute), getattr(two, attribute))


def test_numpys_own_numbers_and_texts_are_taken():
    """As a grid search hands them over."""
    plain = sx.LogisticRegression(C=0.5, tol=2.0**-20, max_iter=50, solver="newton-cg", random_state=3).fit(X, Y)
    theirs = sx.LogisticRegression(
        C=np.float32(0.5), tol=np.float64(2.0**-20), max_iter=np.int16(50), solver=np.str_("newton-cg"),
        random_state=np.uint32(3), n_jobs=np.int64(1), fit_intercept=np.bool_(True), l1_ratio=np.int8(0),
    ).fit(X, Y)  # fmt: skip
    np.testing.assert_array_equal(theirs.coef_, plain.coef_)
    theirs.certificate_.verify(X, Y)


SEEDED = ["sgd", "perceptron's loss", "perceptron", "adam", "gaussian basis"]


@pytest.mark.parametrize("name", SEEDED)
@pytest.mark.filterwarnings("ignore")
def test_a_generator_and_a_random_state_are_seeds_that_repeat(name):
    for new in (np.random.default_rng, np.random.RandomState):
        one, two = (clone(MODELS[name]).set_params(random_state=new(5)).fit(X, Y) for _ in range(2))
        for attribute in ("coef_", "centres_"):
            if hasattr(one, attribute):
                np.testing.assert_array_equal(getattr(one, attribute), getattr(two, attribute))


RATES = {
    "text": lambda t: "0.1",
    "NaN": lambda t: float("nan"),
    "infinite": lambda t: float("inf"),
    "negative": lambda t: -0.1,
    "array": lambda t: np.array([0.1]),
    "None": lambda t: None,
    "True": lambda t: True,
    "complex": lambda t: 1j,
    "beyond floats": lambda t: 10**400,
    "wrong later": lambda t: 0.1 if t < 3 else "x",
}


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("name", ["gd", "sgd", "perceptron's loss", "perceptron", "batch perceptron"])
@pytest.mark.filterwarnings("ignore")
def test_rates_that_are_no_numbers_are_refused_and_nothing_changes(name, rate):
    model = clone(MODELS[name]).fit(X, Y).set_params(learning_rate=RATES[rate])
    before = dict(vars(model))
    with pytest.raises(InputError, match=r"learning_rate\(\d+\) is .*\n\nHint: a rate is"):
        model.fit(X, Y)
    assert all(vars(model)[key] is before[key] for key in before)
    if name != "gd":
        with pytest.raises(InputError, match=r"learning_rate\(\d+\) is"):
            clone(model).set_params(early_stopping=False, learning_rate=lambda t: "x").partial_fit(X, Y, [0, 1])


@pytest.mark.parametrize("name", ["fit_intercept", "others", "exact"])
def test_verdicts_check_their_flags(name):
    for wrong in ("False", 0, None, np.array([True, False])):
        with pytest.raises(InputError, match=f"{name} must be True or False"):
            sx.separability(X, Y, **{name: wrong})


@pytest.mark.parametrize("budget", ["1", True, -1, float("nan"), None, 10**400, [1.0]])
def test_budgets_are_seconds(budget):
    with pytest.raises(InputError, match="budget must be a number of seconds"):
        sx.separability(X, Y, budget=budget)


DESCENTS = {
    "gradient": {"gradient": "x"},
    "function": {"function": 3},
    "rate": {"rate": True},
    "line_search": {"line_search": "False"},
    "keep_path": {"keep_path": 1},
    "max_steps": {"max_steps": 10**400},
    "patience": {"patience": True},
    "gradient_tol": {"gradient_tol": 10**400},
    "change_tol": {"change_tol": "0"},
    "method": {"method": 10**5000},
}


@pytest.mark.parametrize("name", DESCENTS)
def test_descent_on_any_function_names_what_is_wrong(name):
    given = {"gradient": lambda x: 2 * x, "start": 1.0, "rate": 0.1} | DESCENTS[name]
    with pytest.raises(InputError, match=f"^{name} is .*\n\nHint: "):
        sx.optimize.gradient_descent(**given)
