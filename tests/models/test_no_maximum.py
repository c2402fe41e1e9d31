"""Maximum likelihood where no maximum exists: the limit, against fits with ever weaker penalties."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris

from separatrix import InputError, LogisticRegression, SeparationWarning, separability
from separatrix.certificates.optimum import OptimumCertificate
from separatrix.certificates.separability import Separability

QUASI = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [1.0, 1.0], [2.0, 1.0]])
LABELS = np.array([0, 1, 0, 1, 1, 1])


def fit(X, y, **parameters):
    with pytest.warns(SeparationWarning):
        return LogisticRegression(C=np.inf, **parameters).fit(X, y)


def test_the_finite_part_is_the_fit_to_the_rows_that_overlap():
    model = fit(QUASI, LABELS)
    part = LogisticRegression(C=np.inf).fit(QUASI[:4, :1], LABELS[:4])
    np.testing.assert_allclose(model.coef_, [[part.coef_[0, 0], 0.0]], rtol=1e-9)
    np.testing.assert_allclose(model.intercept_, part.intercept_, rtol=1e-9)
    assert isinstance(model.certificate_, Separability)
    model.certificate_.verify(QUASI, LABELS)
    assert np.sign(model.direction_).tolist() == [[0.0, 1.0, 0.0]]


def test_new_rows_are_decided_by_the_direction_and_then_by_the_finite_part():
    model = fit(QUASI, LABELS)
    new = np.array([[-50.0, 1.0], [50.0, -1.0], [0.0, 0.0], [3.0, 0.0]])
    assert model.decision_function(new)[:2].tolist() == [np.inf, -np.inf]
    assert model.predict(new).tolist() == [1, 0, 0, 1]
    probabilities = model.predict_proba(new)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert probabilities[:2].tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert 0 < probabilities[2, 1] < 0.5 < probabilities[3, 1] < 1


def test_complete_separation_leaves_no_finite_part():
    x, y = np.array([[-1.0], [-2.0], [1.0], [2.0]]), [0, 0, 1, 1]
    model = fit(x, y)
    assert model.coef_.tolist() == [[0.0]]
    assert model.predict_proba([[0.0], [0.1]])[:, 1].tolist() == [0.5, 1.0]
    assert model.predict([[0.0]]).tolist() == [1]  # the positive class takes ties
    assert model.certificate_.kind == "complete"


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**9), classes=st.integers(2, 3))
def test_it_is_where_ever_weaker_penalties_lead(seed, classes):
    draw = np.random.default_rng(seed)
    X = draw.integers(-2, 3, (25, 2)).astype(float)
    X = np.hstack([X, (draw.random((25, 1)) < 0.2).astype(float)])
    y = np.append(np.arange(classes), draw.integers(0, classes, 25 - classes))
    y[X[:, 2] == 1] = classes - 1
    if len(np.unique(y)) < classes or separability(X, y, others=False).kind != "quasi":
        return
    model = fit(X, y)
    weak = LogisticRegression(C=1e9, max_iter=500).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), weak.predict_proba(X), atol=3e-5)


def test_iris_has_no_maximum_for_softmax_and_the_limit_knows_setosa_for_sure():
    X, y = load_iris(return_X_y=True)
    model = fit(X, y)
    assert model.certificate_.kind == "quasi"
    probabilities = model.predict_proba(X)
    assert (probabilities[:50] == [1.0, 0.0, 0.0]).all()
    assert (probabilities[50:, 0] == 0.0).all()
    two = LogisticRegression(C=np.inf).fit(X[50:], y[50:])
    np.testing.assert_allclose(probabilities[50:, 2], two.predict_proba(X[50:])[:, 1], rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), probabilities, atol=1e-12)


def test_where_a_maximum_exists_the_fit_proves_it():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(C=np.inf).fit(X[50:], y[50:])
    assert isinstance(model.certificate_, OptimumCertificate)
    assert model.certificate_.met
    assert model.direction_ is None


def test_it_can_be_an_error():
    model = LogisticRegression(C=np.inf, on_separation="raise")
    with pytest.raises(InputError, match="no maximum"):
        model.fit(QUASI, LABELS)
    assert not hasattr(model, "coef_")
    with pytest.raises(InputError, match="on_separation"):
        LogisticRegression(on_separation="ignore").fit(QUASI, LABELS)


def test_the_warning_names_kind_columns_and_rows():
    with pytest.warns(SeparationWarning, match=r"(?s)quasi-completely.*2 rows \(4, 5\).*column 1.*firth=True"):
        LogisticRegression(C=np.inf).fit(QUASI, LABELS)


def test_weights_sparse_rows_and_a_second_fit():
    weights = [1, 1, 1, 1, 0, 0]
    alone = LogisticRegression(C=np.inf).fit(QUASI[:, :1], LABELS, weights)
    assert isinstance(alone.certificate_, OptimumCertificate)
    dense, sparse = fit(QUASI, LABELS), fit(sp.csr_array(QUASI), LABELS)
    np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=1e-12)
    again = clone(dense).set_params(C=1.0).fit(QUASI, LABELS)
    assert again.direction_ is None
    assert np.isfinite(again.decision_function(QUASI)).all()


def test_the_verdict_of_a_separated_fit_verifies_with_the_direction_of_largest_margin():
    draw = np.random.default_rng(5)
    for _ in range(8):
        X = np.column_stack([draw.integers(0, 2, (60, 5)), draw.normal(size=(60, 2)).round(1)]).astype(float)
        y = (X @ draw.normal(size=7) > 0.3).astype(int)
        if len(set(y.tolist())) < 2:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            certificate = LogisticRegression(C=np.inf).fit(X, y).certificate_
        assert certificate.verify(X, y) is certificate


@pytest.mark.parametrize("middle", [0.0, 3.0])
def test_the_geometry_is_that_of_the_direction(middle):
    """The four points of the lectures: the limit's boundary is halfway, and its normal has length 1 along the axis."""
    x, y = np.array([[-1.0], [-2.0], [1.0], [2.0]]) + middle, [0, 0, 1, 1]
    for constant in (True,) if middle else (True, False):
        model = fit(x, y, fit_intercept=constant)
        np.testing.assert_allclose(model.signed_distance(x), x[:, 0] - middle, rtol=1e-12)
        np.testing.assert_allclose(model.project(x), np.full((4, 1), middle), atol=1e-12)
        assert model.origin_distance_ == pytest.approx(middle, abs=1e-12)
        assert (model.signed_distance([[middle]]) == 0.0).all()


def test_the_largest_margin_is_the_least_distance():
    draw = np.random.default_rng(4)
    X = draw.normal(size=(40, 3))
    y = X @ [1.0, -2.0, 0.5] > 0.3
    X += np.where(y, 1, -1)[:, None] * 0.1 * np.array([1.0, -2.0, 0.5])
    model = fit(X, y)
    distance = model.signed_distance(X)
    assert ((distance > 0) == y).all()
    feet = model.project(X)
    np.testing.assert_allclose(np.linalg.norm(X - feet, axis=1), np.abs(distance), rtol=1e-9)
    np.testing.assert_allclose(model.signed_distance(feet), 0.0, atol=1e-12)
    assert np.abs(distance).min() == pytest.approx(separability(X, y).max_margin().margin, rel=1e-6)
    w, b = model.direction_[0, :3], model.direction_[0, 3]
    assert model.origin_distance_ == pytest.approx(abs(b) / np.linalg.norm(w))


def test_of_a_quasi_complete_separation_too():
    model = fit(QUASI, LABELS)
    np.testing.assert_allclose(model.signed_distance(QUASI), [0, 0, 0, 0, 1, 1], atol=1e-12)
    assert model.project([[5.0, 2.0]]).tolist() == [[5.0, 0.0]]
    assert model.origin_distance_ == 0.0


def test_a_model_of_no_weights_still_has_no_boundary():
    model = LogisticRegression(l1_ratio=1.0, C=1e-6).fit(QUASI, LABELS)
    with pytest.raises(InputError, match="raise C"):
        model.signed_distance(QUASI)
