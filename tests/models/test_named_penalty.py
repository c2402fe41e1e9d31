"""``penalty`` by name, as scikit-learn still takes it: the fit of C and l1_ratio, and the same kind of warning."""

import warnings

import numpy as np
import pytest
import sklearn.linear_model
from sklearn.base import clone

from separatrix import InputError, LogisticRegression

DRAW = np.random.default_rng(1)
X = DRAW.normal(size=(80, 4))
Y = DRAW.random(80) < 1.0 / (1.0 + np.exp(-X[:, 0]))

MEANINGS = [
    ({"penalty": "l2", "C": 0.5}, {"l1_ratio": 0.0, "C": 0.5}),
    ({"penalty": "l1", "C": 0.5}, {"l1_ratio": 1.0, "C": 0.5}),
    ({"penalty": "elasticnet", "l1_ratio": 0.3}, {"l1_ratio": 0.3}),
    ({"penalty": None}, {"C": np.inf}),
]


@pytest.mark.parametrize(("given", "means"), MEANINGS)
def test_a_name_is_the_fit_it_stands_for(given, means):
    with pytest.warns(FutureWarning, match="deprecated"):
        named = LogisticRegression(**given).fit(X, Y)
    plain = LogisticRegression(**means).fit(X, Y)
    assert np.array_equal(named.coef_, plain.coef_)
    assert str(named.certificate_) == str(plain.certificate_)
    named.certificate_.verify(X, Y)


@pytest.mark.parametrize(("given", "means"), MEANINGS)
def test_it_is_scikit_learns_meaning(given, means):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = sklearn.linear_model.LogisticRegression(**given, solver="saga", tol=1e-10, max_iter=100_000).fit(X, Y)
        ours = LogisticRegression(**given).fit(X, Y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-6)


def test_it_may_be_given_first_and_is_kept():
    model = LogisticRegression("l1")
    assert model.get_params()["penalty"] == "l1"
    assert clone(model).penalty == "l1"
    with pytest.warns(FutureWarning, match="l1_ratio=1"):
        assert (
            type(model.fit(X, Y).certificate_).__name__
            == type(LogisticRegression(l1_ratio=1.0).fit(X, Y).certificate_).__name__
        )


def test_without_it_nothing_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert LogisticRegression().fit(X, Y).certificate_.met


def test_what_it_overrides_is_said():
    for parameters, match in (
        ({"penalty": None, "C": 0.5}, "C and l1_ratio are ignored"),
        ({"penalty": "l2", "l1_ratio": 0.5}, "l1_ratio=0.5 is ignored"),
    ):
        with pytest.warns(FutureWarning), pytest.warns(UserWarning, match=match):
            LogisticRegression(**parameters).fit(X, Y)


def test_the_theory_of_no_penalty_goes_with_it():
    """penalty=None is maximum likelihood: Firth's correction and the verdict on separable data follow."""
    with pytest.warns(FutureWarning):
        assert LogisticRegression(penalty=None, firth=True).fit(X, Y).certificate_.met
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = LogisticRegression(penalty=None).fit([[-1.0], [1.0]], [0, 1])
    assert {type(w.message).__name__ for w in caught} == {"FutureWarning", "SeparationWarning"}
    assert model.certificate_.kind == "complete"


@pytest.mark.parametrize("name", ["l3", 1, ["l1"], "L1"])
def test_other_names_are_refused(name):
    with pytest.raises(InputError, match="penalty is"):
        LogisticRegression(penalty=name).fit(X, Y)


def test_elastic_net_needs_its_ratio():
    with pytest.warns(FutureWarning), pytest.raises(InputError, match="l1_ratio must be specified"):
        LogisticRegression(penalty="elasticnet", l1_ratio=None).fit(X, Y)
