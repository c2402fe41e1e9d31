"""Decisions against exact fractions and the definition of risk."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression as PeerLogistic

from separatrix import (
    BayesDecisionClassifier,
    BernoulliNB,
    InputError,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    Perceptron,
)


class Oracle(ClassifierMixin, BaseEstimator):
    """Posteriors are the columns of X."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.asarray(X)


@settings(max_examples=100, deadline=None)
@given(st.data(), st.integers(2, 4), st.integers(1, 5))
def test_risk_and_decision_equal_exact_fractions(data, classes, actions):
    whole = st.integers(0, 20)
    losses = [[data.draw(st.integers(-5, 20)) for _ in range(classes)] for _ in range(actions)]
    counts = [data.draw(st.integers(1, 9)) for _ in range(classes)]
    shares = [Fraction(c, sum(counts)) for c in counts]
    data.draw(whole)
    names = [f"a{i}" for i in range(actions)]
    X = np.array([[float(p) for p in shares]] * classes)
    model = BayesDecisionClassifier(Oracle(), loss_matrix=losses, actions=names).fit(X, np.arange(classes))
    exact = [sum(loss * p for loss, p in zip(row, shares, strict=True)) for row in losses]
    np.testing.assert_allclose(model.risk(X)[0], [float(r) for r in exact], rtol=1e-12, atol=1e-12)
    chosen = int(model.decide(X)[0][1:])
    assert float(exact[chosen] - min(exact)) < 1e-12


def test_zero_one_loss_is_the_most_probable_class():
    X, y = load_iris(return_X_y=True)
    for inner in (
        LogisticRegression(),
        LinearDiscriminantAnalysis(),
        BernoulliNB(binarize=3.0),
        PeerLogistic(max_iter=2000),
    ):
        model = BayesDecisionClassifier(inner).fit(X, y)
        shares = model.predict_proba(X)
        best = shares.max(axis=1)
        assert (shares[np.arange(150), model.predict(X)] > best - 1e-12).all()
        np.testing.assert_allclose(model.risk(X), 1.0 - shares, atol=1e-12)


@settings(max_examples=100, deadline=None)
@given(*[st.integers(0, 12)] * 4)
def test_two_classes_reduce_to_the_threshold_reported(a, b, c, e):
    grid = np.linspace(0.0, 1.0, 97)
    X = np.column_stack([1 - grid, grid])
    model = BayesDecisionClassifier(Oracle(), loss_matrix=[[a, b], [c, e]], actions=["stay", "go"]).fit(
        X, np.arange(97) % 2
    )
    decisions = model.decide(X)
    if model.threshold_ is None:
        assert len(set(decisions.tolist())) == 1 or (b - e) * (c - a) <= 0
        return
    away = np.abs(grid - model.threshold_.value) > 1e-9
    expected = np.where(grid > model.threshold_.value, model.threshold_.above, model.threshold_.below)
    assert (decisions == expected)[away].all()


def test_a_refusal_is_an_action_and_no_prediction():
    X, y = load_breast_cancer(return_X_y=True)
    model = BayesDecisionClassifier(
        LinearDiscriminantAnalysis(), loss_matrix=[[0, 1], [1, 0], [0.1, 0.1]], actions=[0, 1, "ask"]
    ).fit(X, y)
    decisions, posterior = model.decide(X), model.predict_proba(X).max(axis=1)
    assert ((decisions == "ask") == (posterior <= 0.9)).mean() > 0.999
    assert model.threshold_ is None
    with pytest.raises(InputError, match="decide"):
        model.predict(X)
    assert model.overall_risk(X, y).value < 0.05


def test_overall_risk_is_the_mean_loss_with_its_standard_error():
    X, y = load_breast_cancer(return_X_y=True)
    losses = np.array([[0.0, 5.0], [1.0, 0.0]])
    model = BayesDecisionClassifier(LogisticRegression(), loss_matrix=losses).fit(X, y)
    risk = model.overall_risk(X, y)
    each = losses[model.predict(X), y]
    assert risk.value == pytest.approx(each.mean())
    assert risk.standard_error == pytest.approx(each.std(ddof=1) / np.sqrt(len(y)))
    counts = np.random.default_rng(0).integers(0, 4, len(y))
    weighted, repeated = (
        model.overall_risk(X, y, counts),
        model.overall_risk(np.repeat(X, counts, 0), np.repeat(y, counts)),
    )
    assert (weighted.value, weighted.standard_error) == pytest.approx((repeated.value, repeated.standard_error))
    # whoever knows the losses does at least as well on the training data's posteriors
    plain = BayesDecisionClassifier(LogisticRegression()).fit(X, y)
    chosen = model.risk(X)[np.arange(len(y)), model.predict(X)].mean()
    assert chosen <= model.risk(X)[np.arange(len(y)), plain.predict(X)].mean() + 1e-12


def test_deployment_priors_move_the_posterior_as_bayes_theorem_says():
    X, y = load_breast_cancer(return_X_y=True)
    moved = BayesDecisionClassifier(LinearDiscriminantAnalysis(), deployment_priors=[0.99, 0.01]).fit(X, y)
    direct = LinearDiscriminantAnalysis(priors=[0.99, 0.01]).fit(X, y)
    np.testing.assert_allclose(moved.predict_proba(X), direct.predict_proba(X), atol=1e-9)
    # priors the inner model was given count as those it was trained with
    other = BayesDecisionClassifier(LinearDiscriminantAnalysis(priors=[0.5, 0.5]), deployment_priors=[0.99, 0.01])
    np.testing.assert_allclose(other.fit(X, y).predict_proba(X), direct.predict_proba(X), atol=1e-9)
    risk = moved.overall_risk(X, y)
    wrong = moved.predict(X) != y
    assert risk.value == pytest.approx(0.99 * wrong[y == 0].mean() + 0.01 * wrong[y == 1].mean())


def test_a_fitted_estimator_is_kept_when_frozen_and_cloned_otherwise():
    X, y = load_breast_cancer(return_X_y=True)
    inner = LogisticRegression().fit(X, y)
    frozen = BayesDecisionClassifier(FrozenEstimator(inner)).fit(X[:50], y[:50])
    np.testing.assert_array_equal(frozen.predict_proba(X), inner.predict_proba(X))
    cloned = BayesDecisionClassifier(inner).fit(X[::2], y[::2])
    assert cloned.estimator_ is not inner
    np.testing.assert_allclose(cloned.log_odds(X), cloned.estimator_.decision_function(X), rtol=1e-6, atol=1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("model", "says"),
    [
        (BayesDecisionClassifier(None), "estimator is None"),
        (BayesDecisionClassifier(Perceptron(max_iter=1)), "needs posteriors"),
        (BayesDecisionClassifier(LogisticRegression(), loss_matrix=[[0, 1]]), "name the rows"),
        (BayesDecisionClassifier(LogisticRegression(), loss_matrix=[[0, 1, 2]]), "column per class"),
        (BayesDecisionClassifier(LogisticRegression(), loss_matrix=[[0, np.inf], [1, 0]]), "finite"),
        (BayesDecisionClassifier(LogisticRegression(), loss_matrix=[[0, 1], [1, 0]], actions=["a"]), "every row"),
        (BayesDecisionClassifier(LogisticRegression(), actions=["a", "a"]), "same name"),
        (BayesDecisionClassifier(LogisticRegression(), deployment_priors=[1.0]), "must match"),
    ],
)
def test_bad_parameters_are_refused(model, says):
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(InputError, match=says):
        model.fit(X, y)
