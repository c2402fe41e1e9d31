"""False claims made by changing several fields at once, the question among them; none may verify."""

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

import separatrix as sx
from separatrix.certificates.closed_form import ClosedFormCertificate
from separatrix.certificates.separator import SeparatorCertificate
from separatrix.core.errors import CertificateError
from separatrix.models.perceptron.separator_rows import OneSide
from separatrix.models.ridge.problem import RidgeProblem


def overlapping(n=60, d=3):
    draw = np.random.default_rng(0)
    X = draw.normal(size=(n, d))
    return X, (X[:, 0] + draw.normal(size=n) > 0).astype(int)


def test_the_optimum_of_the_smooth_part_is_not_that_of_a_problem_with_an_l1_part():
    X, y = overlapping()
    ridge = sx.LogisticRegression(C=2.0).fit(X, y).certificate_
    net = sx.LogisticRegression(C=1.0, l1_ratio=0.5).fit(X, y)
    forged = replace(ridge, problem=replace(ridge.problem, C=1.0, l1_ratio=0.5))
    # the same smooth part; with the L1 part the weights are worse than the net's by far more than the bound
    point = forged.point[:-1]
    alpha = 0.5 / len(y)
    truth = forged.objective + alpha * np.abs(point).sum()
    assert truth - net.certificate_.objective > 1e-5 > 1e6 * forged.bound
    with pytest.raises(CertificateError, match="L1 part"):
        forged.verify(X, y)


@pytest.mark.parametrize("changes", [{"C": -1e14}, {"C": -1e14, "l1_ratio": 1.0}, {"C": 1e14, "l1_ratio": 2.0}])
def test_a_penalty_that_pulls_away_has_no_minimum(changes):
    X, y = overlapping()
    for certificate in (
        sx.LogisticRegression(C=np.inf).fit(X, y).certificate_,
        sx.LogisticRegression(C=1e14, l1_ratio=1.0).fit(X, y).certificate_,
    ):
        with pytest.raises(CertificateError):
            replace(certificate, problem=replace(certificate.problem, **changes)).verify(X, y)


def test_firths_score_is_no_claim_about_another_penalty():
    X, y = overlapping()
    certificate = sx.LogisticRegression(C=np.inf, firth=True).fit(X, y).certificate_
    for changes in ({"l1_ratio": 0.7}, {"C": 1e300}, {"C": -math.inf}):
        plain = replace(certificate.problem.plain, **changes)
        with pytest.raises(CertificateError, match="stands alone"):
            replace(certificate, problem=replace(certificate.problem, plain=plain)).verify(X, y)


def test_verdicts_on_two_classes_are_about_the_constant_of_the_whole():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(90, 2)) + np.repeat([[5.0, 5.0], [9.0, 9.0], [13.0, 13.0]], 30, axis=0)
    y = np.repeat([0, 1, 2], 30)
    whole, through_zero = sx.separability(X, y), sx.separability(X, y, fit_intercept=False)
    assert whole.pairs[0, 2].kind == "complete"
    assert through_zero.pairs[0, 2].kind == "overlap"
    for parts in (["pairs"], ["against_rest"], ["pairs", "against_rest"]):
        forged = replace(whole, **{part: getattr(through_zero, part) for part in parts})
        with pytest.raises(CertificateError, match="another constant"):
            forged.verify(X, y)


@pytest.mark.parametrize("apart", [1e-5, 1e-4, 2e-4])
def test_least_squares_leaves_out_no_column_that_matters(apart, monkeypatch):
    draw = np.random.default_rng(0)
    x, noise = draw.normal(size=60), draw.normal(size=60)
    X, y = np.column_stack([x, x + apart * noise]), (noise > 0).astype(int)
    honest = sx.RidgeClassifier(alpha=0.0).fit(X, y)
    assert honest.certificate_.aliased == ()
    assert np.abs(honest.coef_).min() > 100.0
    alone = sx.RidgeClassifier(alpha=0.0).fit(X[:, :1], y).certificate_
    parameters = {
        "coef": np.column_stack([alone.parameters["coef"], [[0.0]]]),
        "intercept": alone.parameters["intercept"],
        "keep": np.array([0]),
    }
    problem = honest.certificate_.problem
    with monkeypatch.context() as forger:
        forger.setattr(RidgeProblem, "_check_keep", lambda *_: None)
        found, claim = problem.measure(X, y, None, parameters, alone.rounding)
    forged = ClosedFormCertificate.of(replace(claim, aliased=found.aliased), parameters, problem, alone.rounding)
    assert forged.met
    assert forged.aliased == ("column 1",)
    with pytest.raises(CertificateError, match="left out as linearly dependent are not so"):
        forged.verify(X, y)
    honest.certificate_.verify(X, y)


def test_of_thousands_of_rows_next_to_the_boundary_no_larger_distance_is_accepted():
    count, step = 2100, 2.0**-20
    y, side = np.repeat([1, 0], count), OneSide(False, np.array([0, 1]))
    for size in (2.0**25, 2.0**26):
        rows = np.column_stack([np.full(count, size + step), np.full(count, size)])
        X = np.vstack([rows, rows[:, ::-1]])
        made = SeparatorCertificate.of(side.restate(X, y, None), side, np.array([1.0, -1.0]), 1, np.zeros(2), 1.0, 0.0)
        assert 0.0 < made.gamma <= step
        made.verify(X, y)
        made.verify(np.asfortranarray(X), y)
        for factor in (1.0 + 1e-6, 1.5, 2.0):
            with pytest.raises(CertificateError, match="least signed score"):
                replace(made, gamma=factor * step).verify(X, y)


def test_a_number_that_shows_one_value_and_computes_with_another_is_none():
    class Two(float):
        def __float__(self):
            return self.other

    class Any(int):
        def __eq__(self, other):
            return True

        __hash__ = int.__hash__

    X, y = overlapping()
    certificate = sx.RidgeClassifier().fit(X, y).certificate_
    bound = Two(1e-300)
    bound.other = certificate.bound
    with pytest.raises(CertificateError, match="bound"):
        replace(certificate, bound=bound).verify(X, y)
    verdict = sx.separability(X, y)
    for name in ("rank", "count", "per_row"):
        with pytest.raises(CertificateError):
            replace(verdict, **{name: Any(7)}).verify(X, y)


def test_arrays_that_hide_a_part_are_none():
    X, y = overlapping()
    certificate = sx.LogisticRegression().fit(X, y).certificate_
    hidden = np.ma.MaskedArray(certificate.point, mask=[True, False, False, False])
    with pytest.raises(CertificateError, match="point holds a MaskedArray"):
        replace(certificate, point=hidden).verify(X, y)


def test_what_a_closed_form_is_about_cannot_be_written_over():
    X, y = overlapping()
    for model in (sx.RidgeClassifier(), sx.BernoulliNB(), sx.LinearDiscriminantAnalysis()):
        problem = model.fit(X, y).certificate_.problem
        with pytest.raises(AttributeError):
            object.__setattr__(problem, "tolerance", 1e300)
        with pytest.raises(AttributeError):
            object.__setattr__(problem, "subject", "all weights")


@pytest.mark.parametrize("parameters", [{"C": np.inf}, {}, {"solver": "newton-cg"}, {"l1_ratio": 1.0, "C": 10.0}])
def test_the_objective_is_stated_as_exactly_as_its_bound_says(parameters):
    # scores of a column near 1e8 have eight digits in plain sums
    mpmath = pytest.importorskip("mpmath")
    draw = np.random.default_rng(3)
    x = 1e8 + np.round(draw.normal(size=12), 3)
    y = (x + draw.normal(size=12) > 1e8).astype(int)
    X = x[:, None]
    certificate = sx.LogisticRegression(**parameters).fit(X, y).certificate_
    certificate.verify(X, y)
    with mpmath.workdps(40):
        w, b = map(mpmath.mpf, certificate.point.tolist())
        signs = 2 * y - 1
        losses = [mpmath.log1p(mpmath.exp(-int(s) * (w * mpmath.mpf(v) + b))) for s, v in zip(signs, x, strict=True)]
        problem = certificate.problem
        penalty = 0 if np.isinf(problem.C) else (abs(w) if problem.l1_ratio else w * w / 2) / problem.C
        truth = (mpmath.fsum(losses) + penalty) / len(y)
        assert abs(truth - certificate.objective) < 4e-12
    for off in (1e-9, -1e-9):
        with pytest.raises(CertificateError, match="objective"):
            replace(certificate, objective=certificate.objective + off).verify(X, y)


def test_each_part_of_one_against_rest_is_about_its_own_class():
    draw = np.random.default_rng(0)
    X = np.vstack([0.1 * draw.normal(size=(20, 2)) + centre for centre in ([0, 0], [5, 0], [0, 5])])
    y = np.repeat([0, 1, 2], 20)
    certificate = sx.Perceptron(max_iter=500).fit(X, y).certificate_
    certificate.verify(X, y)
    turned = tuple(
        replace(part, direction=-part.direction, separation=replace(part.separation, positive=0))
        for part in certificate.parts
    )
    others = tuple(sx.LogisticRegression().fit(X, y == k).certificate_ for k in range(3))
    for parts in (turned, others):
        with pytest.raises(CertificateError, match="its own class"):
            replace(certificate, parts=parts).verify(X, y)


@pytest.mark.filterwarnings("ignore::separatrix.core.errors.ConvergenceWarning")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_precision_that_is_told_loosens_nothing_that_is_proved(dtype):
    X, y = overlapping()
    X = X.astype(dtype)
    certificate = sx.MLPClassifier(hidden_layer_sizes=(3,), max_iter=5, random_state=0).fit(X, y).certificate_
    certificate.verify(X, y)
    certificate.verify(X.astype(np.float64), y)
    for told in ("float64", "float32"):
        with pytest.raises(CertificateError, match="objective"):
            replace(certificate, precision=told, objective=certificate.objective + 5e-6).verify(X, y)


@pytest.mark.parametrize("name", ["_rederive", "KINDS", "TOLD", "LABELS", "_check_width", "note"])
def test_a_stored_certificate_brings_no_methods_of_its_own(name):
    """What is found on the certificate itself comes before what its class says: a pickle may hold either."""
    X, y = overlapping()
    certificate = sx.LogisticRegression().fit(X, y).certificate_
    state = {**vars(certificate), "objective": certificate.objective / 2, name: print}
    forged = object.__new__(type(certificate))
    forged.__dict__.update(pickle.loads(pickle.dumps(state)))
    with pytest.raises(CertificateError, match=f"no field of it: {name}"):
        forged.verify(X, y)


def test_a_name_that_equals_another_and_prints_something_else_is_none():
    class Name(str):
        def __eq__(self, other):
            return True

        __hash__ = str.__hash__

    X, y = overlapping()
    X = np.column_stack([X, X[:, 0] - X[:, 1]])
    certificate = sx.LogisticRegression(C=np.inf).fit(X, y).certificate_.verify(X, y)
    names = tuple(Name("age") for _ in certificate.aliased)
    verdict = sx.separability(X, y).verify(X, y)
    limits = dict(zip(map(Name, verdict.limits), verdict.limits.values(), strict=True))
    for forged in (replace(certificate, aliased=names), replace(verdict, limits=limits)):
        with pytest.raises(CertificateError, match="holds a Name"):
            forged.verify(X, y)


@pytest.mark.parametrize("as_whole", [float, np.int64, np.float64])
def test_counts_are_whole_numbers_of_one_type(as_whole):
    X, y = overlapping()
    verdict = sx.separability(X, y).verify(X, y)
    for name in ("rank", "count", "per_row"):
        with pytest.raises(CertificateError):
            replace(verdict, **{name: as_whole(getattr(verdict, name))}).verify(X, y)
