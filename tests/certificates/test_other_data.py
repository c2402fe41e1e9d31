"""A claim checked on other data than it was made for: the error says what is other, for every class of certificate."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import separatrix as sx
from separatrix.core.certificate import Claim
from separatrix.core.errors import CertificateError, UncheckableError

DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(30, 3))
OVERLAP = (X[:, 0] + DRAW.normal(size=30) > 0).astype(int)
APART = (X[:, 0] > 0).astype(int)
THREE = np.arange(30) % 3


def made(model, y):
    return lambda: (model.fit(X, y).certificate_, y)


CLAIMS = {
    "optimum": made(sx.LogisticRegression(), OVERLAP),
    "softmax": made(sx.LogisticRegression(), THREE),
    "no intercept": made(sx.LogisticRegression(fit_intercept=False), OVERLAP),
    "subgradient": made(sx.LogisticRegression(l1_ratio=1.0), OVERLAP),
    "gap": made(sx.SGDClassifier(penalty="l1", alpha=1 / 30, max_iter=3), OVERLAP),
    "anchored": made(sx.SGDClassifier(alpha=1 / 3000, max_iter=1), OVERLAP),
    "firth": made(sx.LogisticRegression(C=np.inf, firth=True), OVERLAP),
    "flic": made(sx.LogisticRegression(C=np.inf, firth=True, flic=True), OVERLAP),
    "no maximum": made(sx.LogisticRegression(C=np.inf), APART),
    "verdict": lambda: (sx.separability(X, OVERLAP), OVERLAP),
    "verdict on three": lambda: (sx.separability(X, THREE), THREE),
    "margin": lambda: (sx.separability(X, APART).max_margin(), APART),
    "separator": made(sx.Perceptron(), APART),
    "one against rest": made(sx.Perceptron(max_iter=20), THREE),
    "discriminant": made(sx.LinearDiscriminantAnalysis(), OVERLAP),
    "bernoulli": made(sx.BernoulliNB(), OVERLAP),
    "ridge": made(sx.RidgeClassifier(), OVERLAP),
    "network": made(sx.MLPClassifier((3,), max_iter=5), OVERLAP),
}


@pytest.fixture(params=CLAIMS)
def claim(request):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CLAIMS[request.param]()


def every_class(kind=Claim):
    return {kind}.union(*(every_class(each) for each in kind.__subclasses__()))


@pytest.mark.filterwarnings("ignore")
def test_every_class_that_claims_something_is_here():
    here = {type(make()[0]).__name__ for make in CLAIMS.values()}
    public = {kind.__name__ for kind in every_class() if kind.__module__.startswith("separatrix.certificates")}
    assert public - here == {"UnprovedCertificate"}  # it claims nothing, of no data


WIDTHS = {
    "wider": lambda X: np.c_[X, X[:, 0]],
    "narrower": lambda X: X[:, :2],
    "one column": lambda X: X[:, :1],
    "sparse": lambda X: sp.csr_array(np.c_[X, X]),
    "a frame": lambda X: pd.DataFrame(X[:, :2], columns=["a", "b"]),
    "lists": lambda X: X[:, :2].tolist(),
}


@pytest.mark.parametrize("other", WIDTHS)
def test_another_width_is_said_to_be_one(claim, other):
    certificate, y = claim
    table = WIDTHS[other](X)
    width = len(table[0]) if isinstance(table, list) else table.shape[1]
    with pytest.raises(UncheckableError, match=f"X has {width} columns, and the claim is about 3.*\n\nHint: "):
        certificate.verify(table, y)


def test_numbers_of_rows_and_labels_that_differ_are_counted(claim):
    certificate, y = claim
    with pytest.raises(UncheckableError, match=r"X has 30 rows, but y has 29 labels.*\n\nHint: "):
        certificate.verify(X, y[:-1])
    with pytest.raises(UncheckableError, match=r"X has 29 rows, but y has 30 labels.*\n\nHint: "):
        certificate.verify(X[:-1], y)


def test_other_rows_prove_something_else(claim):
    certificate, y = claim
    with pytest.raises(CertificateError) as caught:
        certificate.verify(-3.0 * X[::-1], y)
    assert "cannot be checked (" not in str(caught.value)  # no library's words


@pytest.mark.parametrize("labels", [lambda y: y.astype(str), lambda y: y + 5, lambda y: np.r_[7, y[1:]]])
def test_other_labels_are_named(claim, labels):
    certificate, y = claim
    with pytest.raises(CertificateError) as caught:
        certificate.verify(X, labels(y))
    says = str(caught.value)
    assert "\n\nHint: " in says
    assert any(word in says for word in ("label", "classes", "signed rows"))
    assert "cannot be checked (" not in says


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("layout", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
def test_a_nan_or_an_infinity_is_named_by_its_place(claim, layout, value):
    certificate, y = claim
    for row in (4, 17, 29):
        table = X.copy()
        table[row, 1] = value
        with pytest.raises(
            UncheckableError, match=f"contains (NaN|infinity): Column 1 has it at row {row}.*\n\nHint: "
        ):
            certificate.verify(layout(table), y)


@pytest.mark.parametrize(
    ("y", "weights"),
    [
        ([[1], [2, 3]] * 15, None),
        (None, np.ones(3)),
        (None, "heavy"),
        (None, -np.ones(30)),
        (None, np.full(30, np.nan)),
    ],
)
def test_labels_and_weights_that_cannot_be_read(claim, y, weights):
    certificate, right = claim
    with pytest.raises(UncheckableError, match="\n\nHint: ") as caught:
        certificate.verify(X, right if y is None else y, weights)
    assert "cannot be checked (" not in str(caught.value)
