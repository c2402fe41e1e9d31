"""What estimators that model the classes share: labels and priors checked, posteriors, discriminants."""

import warnings
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.utils.validation import _get_feature_names

from separatrix.certificates.closed_form import ClosedFormCertificate
from separatrix.core.arrays import AnyArray, Matrix, Vector
from separatrix.core.errors import ConvergenceWarning, refuse
from separatrix.core.parameters import array_of_numbers
from separatrix.core.scores import softmax
from separatrix.engines import Block, block_of
from separatrix.models.labels import Target


class PosteriorDecision:
    """Posteriors P(cₖ | x) from log-scores, and the two discriminants of the lectures."""

    classes_: AnyArray

    def decision_function(self, X: Any) -> AnyArray:
        """Log-odds of class 1 for two classes, (n × K) scores for more."""
        raise NotImplementedError

    def predict_proba(self, X: Any) -> Matrix:
        """Posteriors of the classes (n × K); each tail keeps its digits near zero."""
        score = self.decision_function(X)
        if score.ndim == 1:
            return np.column_stack([expit(-score), expit(score)])
        return softmax(score)

    def predict_log_proba(self, X: Any) -> Matrix:
        """Logarithms of the posteriors, exact where those underflow."""
        score = self.decision_function(X)
        if score.ndim == 1:
            return np.column_stack([-np.logaddexp(0.0, score), -np.logaddexp(0.0, -score)])
        below = score - score.max(axis=1, keepdims=True)
        return np.asarray(below - np.log(np.exp(below).sum(axis=1, keepdims=True)))

    def posterior_difference(self, X: Any) -> Vector:
        """The discriminant G(x) = P(c₁ | x) − P(c₀ | x) of two classes; class 1 where it is at least zero."""
        self._need_two("G(x) is a difference of two posteriors")
        return np.tanh(0.5 * self.decision_function(X))

    def log_odds(self, X: Any) -> Vector:
        """The discriminant g(x) = log P(c₁ | x) − log P(c₀ | x) of two classes; class 1 where it is at least zero."""
        self._need_two("g(x) is a log-ratio of two posteriors")
        return np.asarray(self.decision_function(X))

    def _need_two(self, why: str) -> None:
        if hasattr(self, "classes_") and len(self.classes_) != 2:
            refuse(f"{why}, but there are {len(self.classes_)} classes.", "use predict_log_proba and subtract.")


LARGEST_WRITTEN_OUT = 2**24
"""Entries of a sparse table that is written out to be checked."""


def written_out(block: Block) -> Block:
    """The rows to check a claim on: sparse ones that are not many as dense ones.

    Sums of sparse rows are less exact, and the fit may have had the same rows dense.
    """
    if not block.sparse or block.shape[0] * block.shape[1] > LARGEST_WRITTEN_OUT:
        return block
    return block_of(block.written_out())


def check_classes(target: Target, weights: Vector | None) -> None:
    """At least two classes, each with a row of positive weight."""
    count = len(target.classes)
    seen = np.bincount(target.codes, weights, minlength=max(count, 1)) > 0
    if count >= 2 and seen.all():
        return
    if seen.sum() == 1:
        what = "y has" if count < 2 else "the rows of positive weight have"
        refuse(
            "This classifier needs samples of at least 2 classes in the data, but "
            f"{what} only one class: {target.classes[int(seen.argmax())]!r}.",
            "check how the rows were selected; with one class there is no boundary.",
        )
    refuse(
        f"The class {target.classes[int((~seen).argmax())]!r} has no row of positive weight.",
        "leave its rows out, or give them weight.",
    )


def given_priors(priors: Any, classes: int, name: str = "priors") -> Vector:
    """Priors as given by the user, checked; a sum other than one is renormalised with a warning.

    >>> given_priors([0.25, 0.75], 2)
    array([0.25, 0.75])
    """
    given = array_of_numbers(priors, name)
    if given.shape != (classes,):
        refuse(f"Number of {name} must match number of classes: {given.size} for {classes}.", "give one per class.")
    if not (np.isfinite(given).all() and (given >= 0).all()):
        refuse(f"{name} must be non-negative: {given.tolist()}.", "give probabilities.")
    total = float(given.sum())
    if total <= 0:
        refuse(f"{name} are all zero.", "give probabilities that sum to one.")
    if abs(total - 1.0) > 1e-5:
        warnings.warn(f"The {name} do not sum to 1. Renormalizing", UserWarning, stacklevel=5)
    return given / total


def names_of(X: Any, which: Any) -> tuple[str, ...]:
    """What to call these columns: their names, or "column 3".

    >>> names_of(np.eye(3), [0, 2])
    ('column 0', 'column 2')
    """
    names = _get_feature_names(X)
    return tuple(str(names[j]) if names is not None else f"column {j}" for j in which)


def warn_unless_met(certificate: ClosedFormCertificate, hint: str) -> None:
    """Say when nothing, or too little, follows from the equations; called by what ``fit`` calls."""
    if not certificate.met:
        warnings.warn(
            f"The answer is not as exact as {certificate.tol:.0e}. {certificate}\n\nHint: {hint}",
            ConvergenceWarning,
            stacklevel=5,
        )
