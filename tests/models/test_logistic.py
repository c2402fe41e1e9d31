"""Logistic regression for two classes against independent answers."""

import inspect
import pickle
from dataclasses import replace
from itertools import pairwise

import mpmath
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import sklearn.linear_model
import statsmodels.api as sm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer

import twins
from separatrix import CertificateError, LogisticRegression
from separatrix.core.errors import ConvergenceWarning, SeparationWarning

X, Y = load_breast_cancer(return_X_y=True)
SIGN = np.where(Y == 1, 1, -1)
SOLVERS = ["newton-cholesky", "newton-subsample", "newton-cg"]


def value(model, C=1.0, weights=None):
    return float(twins.objective(X, SIGN, model.coef_[0], model.intercept_[0], C, weights))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e3])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_objective_is_scikit_learns_at_tight_tolerance(solver, C, fit_intercept):
    ours = LogisticRegression(C=C, solver=solver, fit_intercept=fit_intercept).fit(X, Y)
    theirs = sklearn.linear_model.LogisticRegression(
        C=C, solver="newton-cholesky", tol=1e-12, max_iter=1000, fit_intercept=fit_intercept
    ).fit(X, Y)
    assert value(ours, C) <= value(theirs, C) * (1 + 1e-12)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-5, atol=1e-6 * np.abs(theirs.coef_).max())
    assert ours.certificate_.objective == pytest.approx(value(ours, C), rel=1e-12)


def test_weights_published_by_statsmodels_for_maximum_likelihood():
    # statsmodels' Logit on Spector and Mazzeo's data (Greene): GRADE on GPA, TUCE, PSI
    data = sm.datasets.spector.load_pandas()
    model = LogisticRegression(C=np.inf).fit(data.exog, data.endog.astype(int))
    np.testing.assert_allclose(model.coef_[0], [2.82611, 0.09516, 2.37869], atol=1e-5)
    assert model.intercept_[0] == pytest.approx(-13.0213, abs=1e-4)
    model.certificate_.verify(data.exog, data.endog.astype(int))


def test_greenes_grades_without_statsmodels():
    gpa = [2.66, 2.89, 3.28, 2.92, 4.0, 2.86, 2.76, 2.87, 3.03, 3.92, 2.63, 3.32, 3.57, 3.26, 3.53, 2.74,
           2.75, 2.83, 3.12, 3.16, 2.06, 3.62, 2.89, 3.51, 3.54, 2.83, 3.39, 2.67, 3.65, 4.0, 3.1, 2.39]  # fmt: skip
    tuce = [20, 22, 24, 12, 21, 17, 17, 21, 25, 29, 20, 23, 23, 25, 26, 19,
            25, 19, 23, 25, 22, 28, 14, 26, 24, 27, 17, 24, 21, 23, 21, 19]  # fmt: skip
    psi = [0] * 18 + [1] * 14
    grade = [0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1, 1, 0, 1]
    model = LogisticRegression(C=np.inf).fit(np.column_stack([gpa, tuce, psi]), grade)
    np.testing.assert_allclose(model.coef_[0], [2.82611, 0.09516, 2.37869], atol=2e-5)
    assert -model.certificate_.objective * 32 == pytest.approx(-12.8896, abs=1e-4)


@pytest.mark.parametrize("solver", SOLVERS)
def test_columns_from_1e_minus_8_to_1e8_need_no_scaling(solver):
    draw = np.random.default_rng(5)
    scales = 10.0 ** np.linspace(-8, 8, 7)
    A = draw.normal(size=(400, 7))
    b = (A @ draw.normal(size=7) + draw.logistic(size=400) > 0).astype(int)
    scaled = LogisticRegression(C=1e30, solver=solver, max_iter=300).fit(A * scales, b)
    plain = LogisticRegression(C=np.inf).fit(A, b)
    assert scaled.certificate_.met
    np.testing.assert_allclose(scaled.coef_ * scales, plain.coef_, rtol=1e-7)


def test_a_column_far_from_zero_is_fitted_as_well_as_one_at_zero():
    draw = np.random.default_rng(6)
    A = draw.normal(size=(1000, 2))
    b = (A @ [1.0, -1.0] + draw.logistic(size=1000) > 0).astype(int)
    near = LogisticRegression(C=np.inf).fit(A, b)
    far = LogisticRegression(C=np.inf).fit(A + np.array([1e7, 0]), b)
    assert far.certificate_.met
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-6)


def test_labels_may_be_of_any_kind():
    plain = LogisticRegression().fit(X, Y)
    for labels in (
        Y.astype(bool),
        np.where(Y == 1, 1, -1),
        np.where(Y == 1, "malignant", "benign")[:, None].ravel(),
        np.where(Y == 1, 2.0, 1.0),
        pd.Series(Y),
        pl.Series("y", Y),
        pa.array(Y),
        list(Y),
        np.where(Y == 1, "b", "a").astype(object),
    ):
        model = LogisticRegression().fit(X, labels)
        np.testing.assert_array_equal(model.coef_, plain.coef_)
        assert set(model.predict(X)) == set(model.classes_.tolist())


def test_the_positive_class_takes_ties():
    model = LogisticRegression().fit([[-1.0], [1.0]], ["no", "yes"])
    model.coef_, model.intercept_ = np.array([[1.0]]), np.zeros(1)
    assert model.predict([[0.0]]) == ["yes"]
    assert model.predict_proba([[0.0]]).tolist() == [[0.5, 0.5]]


def test_geometry_of_the_boundary():
    model = LogisticRegression().fit(X[:, :3], Y)
    w, b = model.coef_[0], model.intercept_[0]
    distance = model.signed_distance(X[:, :3])
    np.testing.assert_allclose(distance, (X[:, :3] @ w + b) / np.linalg.norm(w), rtol=1e-10)
    feet = model.project(X[:, :3])
    np.testing.assert_allclose(feet @ w + b, 0, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(X[:, :3] - feet, axis=1), np.abs(distance), rtol=1e-9)
    assert model.origin_distance_ == pytest.approx(abs(b) / np.linalg.norm(w))
    np.testing.assert_allclose(model.project(sp.csr_array(X[:, :3])), feet)


def test_probabilities_equal_the_sigmoid_of_the_scores_and_logs_do_not_underflow():
    model = LogisticRegression().fit(X, Y)
    score = model.decision_function(X)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-score)), rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0, rtol=1e-15)
    far = model.predict_log_proba(X * 1e6)
    assert np.isfinite(far).all()
    assert model.score(X, Y) > 0.95


def test_every_parameter_of_scikit_learn_is_accepted():
    ours = inspect.signature(LogisticRegression).parameters
    theirs = inspect.signature(sklearn.linear_model.LogisticRegression).parameters
    wanted = {name for name, parameter in theirs.items() if parameter.default != "deprecated"}
    assert wanted <= set(ours)
    differs = {name for name in wanted if ours[name].default != theirs[name].default}
    assert differs == {"tol", "solver"}  # listed in docs/from-scikit-learn.md
    for method in ("fit", "predict", "predict_proba", "predict_log_proba", "decision_function", "score"):
        here = inspect.signature(getattr(LogisticRegression, method))
        there = inspect.signature(getattr(sklearn.linear_model.LogisticRegression, method))
        assert here.parameters.keys() == there.parameters.keys()


@pytest.mark.parametrize("solver", ["lbfgs", "liblinear", "sag", "saga", "newton-cg", "newton-cholesky", "auto"])
def test_scikit_learns_solver_names_reach_the_same_minimum(solver):
    best = LogisticRegression().fit(X, Y).certificate_.objective
    assert LogisticRegression(solver=solver).fit(X, Y).certificate_.objective == pytest.approx(best, rel=1e-10)


def test_collinear_and_constant_columns_without_penalty_are_named_and_the_least_norm_is_given():
    draw = np.random.default_rng(7)
    a, b = draw.normal(size=(2, 300))
    y = (a + draw.logistic(size=300) > 0).astype(int)
    frame = pd.DataFrame({"a": a, "b": b, "a_again": a, "sum": a + b, "five": 5.0})
    model = LogisticRegression(C=np.inf).fit(frame, y)
    assert model.certificate_.met
    assert model.certificate_.aliased == ("a", "b", "a_again", "sum", "five")
    assert "least norm" in str(model.certificate_)
    model.certificate_.verify(frame, y)
    plain = LogisticRegression(C=np.inf).fit(frame[["a", "b"]], y)
    np.testing.assert_allclose(model.decision_function(frame), plain.decision_function(frame[["a", "b"]]), rtol=1e-6)
    # least norm: the weights lie in the span of the rows, so moving along the null space only lengthens them
    np.testing.assert_allclose(model.coef_[0, 0], model.coef_[0, 2], rtol=1e-6)
    centred = (frame - frame.mean()).to_numpy()
    inside = np.linalg.pinv(centred) @ centred @ model.coef_[0]
    np.testing.assert_allclose(inside, model.coef_[0], atol=1e-8)


def test_an_unaliased_fit_names_nothing():
    draw = np.random.default_rng(7)
    A = draw.normal(size=(100, 2))
    assert LogisticRegression(C=np.inf).fit(A, draw.integers(0, 2, 100)).certificate_.aliased == ()


def test_more_columns_than_rows():
    draw = np.random.default_rng(8)
    A, b = draw.normal(size=(30, 100)), draw.integers(0, 2, 30)
    model = LogisticRegression().fit(A, b)
    assert model.certificate_.met
    with pytest.warns(SeparationWarning, match="no maximum"):
        LogisticRegression(C=np.inf).fit(A, b)


def test_the_lectures_four_points_have_no_maximum():
    x, y = np.array([[-1.0], [-2.0], [1.0], [2.0]]), [0, 0, 1, 1]
    with pytest.warns(SeparationWarning, match="no maximum"):
        model = LogisticRegression(C=np.inf).fit(x, y)
    assert model.certificate_.verify(x, y).kind == "complete"
    assert model.score(x, y) == 1.0


def test_quasi_separation_is_not_called_an_optimum():
    draw = np.random.default_rng(9)
    rare = np.zeros(200)
    rare[:3] = 1
    A = np.column_stack([draw.normal(size=200), rare])
    y = draw.integers(0, 2, 200)
    y[:3] = 1
    with pytest.warns(SeparationWarning, match="not finite: column 1"):
        model = LogisticRegression(C=np.inf).fit(A, y)
    assert model.certificate_.verify(A, y).kind == "quasi"


def test_early_stop_warns_with_the_certified_distance_and_the_remedy():
    with pytest.warns(ConvergenceWarning, match="raise max_iter") as caught:
        LogisticRegression(max_iter=9, tol=1e-15).fit(X, Y)
    assert "certified to be within" in str(caught[0].message)


def exactly(point):
    """F at C = 1 to forty digits."""
    with mpmath.workdps(40):
        point = [mpmath.mpf(value) for value in point.tolist()]
        scores = (mpmath.fdot([*row, 1.0], point) for row in X.tolist())
        losses = (mpmath.log1p(mpmath.exp(-int(s) * z)) for s, z in zip(SIGN, scores, strict=True))
        return (mpmath.fsum(losses) + mpmath.fdot(point[:-1], point[:-1]) / 2) / len(Y)


def test_trace_has_one_entry_per_pass_and_decreases():
    points = []
    model = LogisticRegression(on_pass=lambda entry: points.append(entry.point)).fit(X, Y)
    trace = model.trace_
    assert len(trace) == model.n_iter_[0] == len(points)
    exact = [exactly(point) for point in points]
    np.testing.assert_allclose(trace.objective, np.array(exact, dtype=float), rtol=1e-13)
    # no pass can raise F by more than the last is from the minimum: what lies between is no rounding of F
    assert all(later - earlier <= model.certificate_.bound for earlier, later in pairwise(exact))
    assert model.certificate_.bound < 1e-16
    assert trace.objective[0] == pytest.approx(np.log(2))
    assert np.isfinite(trace.bound[-1])
    assert trace.norm[0] == 0
    assert trace.norm[-1] == pytest.approx(np.linalg.norm(model.coef_))
    assert (np.diff(trace.seconds) >= 0).all()
    assert trace.mistakes[-1] == (model.predict(X) != Y).sum()
    assert model.n_parameters_ == 31


def test_on_pass_sees_every_pass_and_may_stop():
    seen = []
    model = LogisticRegression(on_pass=lambda entry: seen.append(entry) or len(seen) == 3).fit(X, Y)
    assert [entry.number for entry in seen] == [1, 2, 3]
    assert model.n_iter_[0] == 3
    np.testing.assert_array_equal(seen[-1].point[:-1], model.coef_[0])


def test_verbose_prints_a_line_per_pass(capsys):
    model = LogisticRegression(verbose=1).fit(X, Y)
    assert capsys.readouterr().out.count("objective") == model.n_iter_[0]


def test_warm_start_continues_where_the_last_fit_ended():
    model = LogisticRegression(warm_start=True, tol=1e-8).fit(X, Y)
    cold = model.n_iter_[0]
    assert model.fit(X, Y).n_iter_[0] <= 3 < cold
    model.set_params(C=1.2).fit(X, Y)
    assert model.n_iter_[0] < cold
    assert value(model, 1.2) == pytest.approx(value(LogisticRegression(C=1.2).fit(X, Y), 1.2), rel=1e-12)


def test_class_weight_equals_sample_weight():
    weights = np.where(Y == 1, 3.0, 0.5)
    by_class = LogisticRegression(class_weight={0: 0.5, 1: 3.0}).fit(X, Y)
    by_row = LogisticRegression().fit(X, Y, sample_weight=weights)
    np.testing.assert_allclose(by_class.coef_, by_row.coef_, rtol=1e-9)
    balanced = LogisticRegression(class_weight="balanced").fit(X, Y)
    theirs = sklearn.linear_model.LogisticRegression(
        class_weight="balanced", solver="newton-cholesky", tol=1e-12, max_iter=1000
    ).fit(X, Y)
    np.testing.assert_allclose(balanced.coef_, theirs.coef_, rtol=1e-6)


def test_feature_names_clone_and_pickle():
    frame = load_breast_cancer(as_frame=True).data
    model = LogisticRegression(C=0.5).fit(frame, Y)
    assert list(model.feature_names_in_) == list(frame.columns)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename(columns={"mean radius": "radius"}))
    with pytest.warns(UserWarning, match="valid feature names"):
        model.predict(X)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    again.certificate_.verify(frame, Y)
    assert not hasattr(clone(model), "coef_")


def test_sub_sampled_newton_reaches_the_optimum_in_a_few_passes():
    draw = np.random.default_rng(10)
    A = draw.normal(size=(150_000, 10)).astype(np.float32)
    b = (A @ draw.normal(size=10) + draw.logistic(size=150_000) > 0.3).astype(int)
    model = LogisticRegression().fit(A, b)  # "auto" picks it for this shape
    assert model.n_iter_[0] <= 8
    full = LogisticRegression(solver="newton-cholesky").fit(A, b)
    assert model.certificate_.objective == pytest.approx(full.certificate_.objective, rel=1e-10)
    assert model.certificate_.relative < 1e-8
    model.certificate_.verify(A, b)


def test_a_sub_sample_that_misleads_is_replaced_by_the_full_hessian():
    draw = np.random.default_rng(11)
    A = np.zeros((130_000, 2))
    A[:, 0] = draw.normal(size=130_000)
    A[draw.integers(0, 130_000, 6), 1] = 1e4  # seen by few rows, hardly ever by the sub-sample
    b = (A[:, 0] + draw.logistic(size=130_000) > 0).astype(int)
    model = LogisticRegression(solver="newton-subsample").fit(A, b)
    assert model.certificate_.met
    model.certificate_.verify(A, b)


def test_newton_cg_serves_many_columns():
    draw = np.random.default_rng(12)
    S = sp.random_array((500, 3000), density=0.02, rng=draw, format="csr")
    y = (S @ draw.normal(size=3000) > 0).astype(int)
    model = LogisticRegression(C=10.0).fit(S, y)  # "auto"
    assert model.certificate_.met
    assert model.certificate_._direction is not None
    theirs = sklearn.linear_model.LogisticRegression(C=10.0, solver="newton-cg", tol=1e-10).fit(S, y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-4)
    # the penalty is strongly convex: a bound on F is one on the weights
    most = np.sqrt(2.0 * model.certificate_.bound * 10.0 * 500)
    assert np.linalg.norm(model.coef_ - theirs.coef_) <= most + 1e-6
    model.certificate_.verify(S, y)


@pytest.mark.parametrize("size", [1e-3, 1e-6, 1e-7, 1e-8])
def test_nearly_collinear_columns_are_columns_of_their_own(size):
    """A column that differs from another by 1e-8 is another column, and the fit is certified."""
    draw = np.random.default_rng(13)
    a, noise = draw.normal(size=(2, 300))
    y = (a + draw.logistic(size=300) > 0).astype(int)
    A = np.column_stack([a, a + size * noise])
    model = LogisticRegression(C=np.inf).fit(A, y)
    assert model.certificate_.aliased == ()
    assert model.certificate_.met
    model.certificate_.verify(A, y)
    # the same minimum in columns that are not nearly dependent
    plain = LogisticRegression(C=np.inf).fit(np.column_stack([a, (A[:, 1] - a) / size]), y)
    assert model.certificate_.objective == pytest.approx(plain.certificate_.objective, rel=1e-12)


def test_a_certificate_that_sets_independent_columns_aside_is_refused():
    draw = np.random.default_rng(14)
    A = draw.normal(size=(200, 2))
    y = (A @ [1.0, 1.0] + draw.logistic(size=200) > 0).astype(int)
    doubled = np.column_stack([A, A[:, 1]])
    certificate = LogisticRegression(C=np.inf).fit(doubled, y).certificate_
    certificate.verify(doubled, y)
    with pytest.raises(CertificateError):
        replace(certificate, keep=np.array([0, 3])).verify(doubled, y)
    with pytest.raises(CertificateError):
        certificate.verify(np.column_stack([A, A[:, 1] + 1e-5 * A[:, 0]]), y)


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_a_row_of_no_weight_may_be_anywhere(C):
    draw = np.random.default_rng(15)
    A = draw.normal(size=(60, 2))
    y = (A[:, 0] + draw.logistic(size=60) > 0).astype(int)
    weights = np.ones(60)
    weights[0] = 0
    plain = LogisticRegression(C=C).fit(A[1:], y[1:])
    A[0] = 1e12
    model = LogisticRegression(C=C).fit(A, y, sample_weight=weights)
    assert model.certificate_.met
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-8)
