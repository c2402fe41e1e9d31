"""What passes for a part of a certificate, and where a user's own estimator may stand."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from sklearn.covariance import OAS
from sklearn.datasets import load_iris

from separatrix import LinearDiscriminantAnalysis, separability
from separatrix.core.errors import CertificateError
from separatrix.core.genuine import counterfeit


@dataclass
class Liar:
    """Equals anything, shows what it likes, and looks like an estimator."""

    shown: str = "FORGED"

    def fit(self, X):
        return self

    def get_params(self, deep=True):
        return {}

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


def test_an_estimator_stands_for_the_covariance_and_for_nothing_else():
    X, y = load_iris(return_X_y=True)
    fitted = LinearDiscriminantAnalysis(solver="lsqr", covariance_estimator=OAS()).fit(X, y).certificate_
    assert fitted.verify(X, y)
    for name in ("classes", "priors", "covariance", "tol"):
        with pytest.raises(CertificateError, match="Liar"):
            replace(fitted, problem=replace(fitted.problem, **{name: Liar()})).verify(X, y)


def test_what_looks_like_an_estimator_is_no_part_of_a_verdict():
    X, y = np.array([[0.0], [1.0], [0.5], [0.25]]), np.array([0, 0, 1, 1])
    verdict = separability(X, y)
    assert verdict.verify(X, y)
    assert counterfeit((1.0, Liar())) is Liar
    with pytest.raises(CertificateError, match="Liar"):
        replace(verdict, balance=Liar()).verify(X, y)
