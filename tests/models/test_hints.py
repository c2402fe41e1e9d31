"""The hint of a warning is a remedy for the reason of the stop: more passes help only where passes ran out."""

import warnings

import numpy as np
import pytest

from separatrix import ConvergenceWarning, LogisticRegression, MLPClassifier, Perceptron, SGDClassifier, optimize
from separatrix.core.stop import Stop
from separatrix.models.messages import warn_unless_good
from separatrix.solvers.perceptron import End
from separatrix.solvers.walk import DescentStop

REMEDIES = {
    Stop.FLOOR: "loosen tol",
    Stop.MAX_ITER: "raise max_iter",
    Stop.EPOCHS: "raise max_iter",
    Stop.EVALUATIONS: "raise max_fun",
    Stop.STALLED: "rescale extreme columns",
    Stop.DEPENDENT: "drop one of them",
    Stop.SEPARATED: "use a finite C",
    Stop.PATIENCE: "raise n_iter_no_change",
    Stop.VALIDATION: "set early_stopping=False",
    Stop.DIVERGED: "lower eta0",
}
SILENT = {Stop.CERTIFIED, Stop.ASKED}


def test_every_reason_has_a_fact_and_its_own_remedy():
    assert set(REMEDIES) | SILENT == set(Stop)
    for stop, remedy in REMEDIES.items():
        assert stop.fact, stop
        assert remedy in stop.remedy, stop
        assert "; " not in stop.fact + stop.remedy, stop
        assert ("max_iter" in stop.remedy) == (stop in (Stop.MAX_ITER, Stop.EPOCHS)), stop


class NotMet:
    """A certificate that does not meet its tolerance."""

    met, proved, objective, bound, tol = False, True, 0.5, 1e-3, 1e-8


@pytest.mark.parametrize("stop", list(Stop), ids=lambda stop: stop.name)
def test_the_warning_gives_the_fact_once_and_the_remedy_of_its_reason(stop):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_unless_good(stop, NotMet())
    if stop is Stop.ASKED:
        assert caught == []
        return
    fact, hint = str(caught[0].message).split("\n\nHint: ")
    reason = Stop.FLOOR if stop is Stop.CERTIFIED else stop
    assert REMEDIES[reason] in hint
    assert REMEDIES[reason] not in fact
    assert ("max_iter" in hint) == (reason in (Stop.MAX_ITER, Stop.EPOCHS))


DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(60, 3))
Y = (X[:, 0] + DRAW.normal(size=60) > 0).astype(int)

FITS = {
    "passes": (LogisticRegression(max_iter=2, tol=1e-12), "raise max_iter", ()),
    "rounding": (LogisticRegression(tol=1e-30), "loosen tol", ("max_iter",)),
    "rounding, l1": (LogisticRegression(l1_ratio=1.0, tol=1e-30), "loosen tol", ("max_iter",)),
    "scoring steps": (LogisticRegression(C=np.inf, firth=True, max_iter=1), "raise max_iter", ()),
    "rounding, firth": (LogisticRegression(C=np.inf, firth=True, tol=1e-60), "loosen tol", ("max_iter",)),
    "epochs": (SGDClassifier(max_iter=3), "raise max_iter", ()),
    "patience": (
        SGDClassifier(batch_size="all", alpha=1 / 60, tol=1e-3, n_iter_no_change=1),
        "n_iter_no_change",
        ("max_iter",),
    ),
    "validation": (SGDClassifier(early_stopping=True), "early_stopping=False", ("max_iter",)),
    "too long": (SGDClassifier(batch_size="all", alpha=0.01, eta0=1e6), "lower eta0", ("max_iter",)),
    "too long, own rates": (
        SGDClassifier(batch_size="all", alpha=0.01, learning_rate=lambda t: 1e6),
        r"let learning_rate\(t\) return less",
        ("max_iter", "eta0"),
    ),
    "epochs of a network": (MLPClassifier((3,), max_iter=3), "raise max_iter", ("max_fun",)),
    "iterations": (MLPClassifier((3,), solver="lbfgs", max_iter=3), "raise max_iter", ("max_fun",)),
    "evaluations": (MLPClassifier((3,), solver="lbfgs", max_fun=3), "raise max_fun", ("max_iter",)),
    "rounding, network": (MLPClassifier((), solver="lbfgs", tol=0.0), "loosen tol", ("max_iter", "max_fun")),
    "network's patience": (MLPClassifier((3,), n_iter_no_change=1, tol=0.01), "n_iter_no_change", ("max_iter",)),
    "network's validation": (
        MLPClassifier((3,), early_stopping=True, tol=0.01, n_iter_no_change=2),
        "early_stopping=False",
        ("max_iter",),
    ),
    "perceptron's epochs": (Perceptron(max_iter=3, verdict_after=None), "raise max_iter", ()),
    "perceptron's tol": (Perceptron(tol=0.1, verdict_after=None), "lower tol", ("max_iter",)),
    "patience with the perceptron's loss": (SGDClassifier("perceptron", tol=0.1), "lower tol", ("max_iter",)),
    "perceptron's validation": (Perceptron(early_stopping=True), "early_stopping=False", ("max_iter",)),
    "perceptron's threshold": (Perceptron(error_threshold=1e3, verdict_after=None), "lower it", ("max_iter",)),
}


@pytest.mark.parametrize("name", FITS)
def test_fits_hint_at_what_helps(name):
    model, helps, does_not = FITS[name]
    with pytest.warns(ConvergenceWarning, match=f"\n\nHint: (.|\n)*{helps}") as caught:
        model.fit(X, Y)
    fact, hint = str(caught[0].message).split("\n\nHint: ")
    assert not any(word in hint for word in does_not)
    assert hint.rstrip(".") not in fact


def test_a_separator_of_the_rows_learned_from_alone_says_which_rows_it_fails():
    """One row lies among the other class: where it is held out, learning ends without a mistake."""
    X = np.r_[np.linspace(-2.0, -1.0, 20), np.linspace(1.0, 2.0, 20)][:, None]
    y = (X[:, 0] > 0).astype(int)
    y[3] = 1
    texts = []
    for seed in range(10):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = Perceptron(early_stopping=True, validation_fraction=0.4, max_iter=50, random_state=seed).fit(X, y)
        if "without a mistake" in getattr(model.certificate_, "reason", ""):
            texts += [str(each.message) for each in caught]
    assert texts
    for text in texts:
        fact, hint = text.split("\n\nHint: ")
        assert "not every row that was held out is on its side" in fact
        assert hint == "set early_stopping=False to learn from all rows."


def test_every_end_of_a_perceptron_without_a_proof_has_a_remedy():
    for end in set(End) - {End.SEPARATOR, End.NO_SEPARATOR, End.ASKED, End.PIECE}:
        fact, _, remedy = end.value.partition("; ")
        assert fact, end
        assert remedy, end
        assert ("max_iter" in remedy) == (end is End.MAX_ITER), end


def test_descents_that_nobody_asked_to_end_hint_at_the_rate_or_the_gradient():
    with pytest.warns(ConvergenceWarning, match="run away\\.\n\nHint: lower the rate"):
        optimize.gradient_descent(lambda x: 2 * x, 1.0, 5.0)
    with pytest.warns(ConvergenceWarning, match="lowers the function\\.\n\nHint: check the gradient"):
        optimize.gradient_descent(lambda x: -2 * x, 1.0, 0.1, function=lambda x: float(x) ** 2, line_search=True)
    for stop in DescentStop:
        assert ("; " in stop.value) != (stop in (DescentStop.GRADIENT, DescentStop.CHANGE))


@pytest.mark.parametrize("size", [1e160, 1e200, 1e300])
def test_a_perfect_column_too_large_for_scores_is_named(size):
    perfect = np.column_stack([X[:, 0], np.where(Y == 1, size, -size)])
    for model in (Perceptron(), Perceptron(rule="batch"), Perceptron(fit_intercept=False), Perceptron(average=True)):
        with pytest.raises(ValueError, match=r"Column 1 reaches 1e\+\d+\.\n\nHint: divide that column"):
            model.fit(perfect, Y)
        assert not hasattr(model, "coef_")


def test_a_rate_too_large_for_ordinary_columns_is_named():
    with pytest.raises(ValueError, match=r"overflow(.|\n)*Hint: lower eta0"):
        Perceptron(eta0=1e308, max_iter=5).fit(100.0 * X, Y)


@pytest.mark.parametrize("kind", [LogisticRegression, Perceptron, SGDClassifier])
@pytest.mark.parametrize("factor", [1e308, 1e200, 1e-200, np.inf, np.nan, -1.0, "2", True, 10**400, None])
def test_class_weights_beyond_floats_are_named_themselves(kind, factor):
    with pytest.raises(ValueError, match=r"^class_weight\[0\] is .*\n\nHint: class weights are numbers"):
        kind(class_weight={0: factor, 1: 1.0}).fit(X, Y)
