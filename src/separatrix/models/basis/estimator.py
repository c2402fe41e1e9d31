"""Basis functions: a boundary linear in φ(x) that need not be straight in x.

Gaussian hills answer to the distance from a centre, sigmoid steps to one column passing
a threshold. Polynomials and splines are scikit-learn's (``PolynomialFeatures``,
``SplineTransformer``) and stand in a ``Pipeline`` in the same place.
"""

from typing import Any, Self

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from separatrix.core.arrays import AnyArray, Matrix
from separatrix.core.errors import refuse
from separatrix.core.parameters import ANYTHING, COUNT, FLAG, POSITIVE, SEED, Rule, check
from separatrix.models.basis.centres import gaussian_centres, given_width, median_distance, sigmoid_centres, spacing
from separatrix.models.draft import whole
from separatrix.probability.sigmoid import sigmoid

LARGEST = 1e150
"""Values whose squares can be added up."""

RULES = {
    "centres": ANYTHING,  # see centres
    "count": COUNT,
    "width": POSITIVE | Rule(lambda width: isinstance(width, str) and width == "median", '"median"'),
    "constant": FLAG,
}


class Basis(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """What both bases share: checks, the constant, names."""

    constant: bool
    n_features_in_: int

    def _functions(self, X: Matrix) -> Matrix:
        raise NotImplementedError

    def _names(self, columns: list[str]) -> list[str]:
        raise NotImplementedError

    def transform(self, X: Any) -> Matrix:
        """φ(x) of each row: (n × functions), the constant first if there is one."""
        check_is_fitted(self)
        table = validate_data(self, X, dtype=np.float64, reset=False)
        functions = self._functions(table)
        return np.column_stack([np.ones(len(table)), functions]) if self.constant else functions

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Names of the functions, such as ``gaussian(x0, x1)_3`` or ``sigmoid(age)_0``."""
        from sklearn.utils.validation import _check_feature_names_in

        check_is_fitted(self)
        columns = [str(name) for name in _check_feature_names_in(self, input_features)]
        return np.array([*(["1"] if self.constant else []), *self._names(columns)], dtype=object)


class GaussianBasis(Basis):
    """φⱼ(x) = exp(−‖x − cⱼ‖²/(2s²)), one function for each centre cⱼ, all of width s.

    Parameters
    ----------
    centres : "kmeans", "data", "grid" or array of shape (m, d)
        Where the hills stand: at the means of scikit-learn's k-means, at rows drawn from the
        data without replacement (no two alike), on a grid over the data's range, or as given.
    count : int
        How many; for a grid, how many along each column. Not more than there are different rows.
    width : "median" or positive float
        s, the median distance between two centres (between two rows if there is only one centre).
    constant : bool
        Whether φ₀(x) = 1 comes first. Models with an intercept do not need it.
    random_state : int, RandomState, Generator or None
        For "kmeans" and "data".

    Distances mix the columns, so scale them first (``StandardScaler``).
    Fitted: ``centres_`` (m × d), ``width_``.

    >>> GaussianBasis(centres=[[0.0], [1.0]], width=1.0).fit_transform([[0.0], [0.5], [1.0]]).round(4)
    array([[1.    , 0.6065],
           [0.8825, 0.8825],
           [0.6065, 1.    ]])
    """

    def __init__(
        self, centres: Any = "kmeans", *, count: int = 10, width: Any = "median", constant: bool = False,
        random_state: Any = None,
    ) -> None:  # fmt: skip
        self.centres = centres
        self.count = count
        self.width = width
        self.constant = constant
        self.random_state = random_state

    @whole
    def fit(self, X: Any, y: Any = None) -> Self:
        """Place the centres and find the width."""
        check(self, RULES | {"random_state": SEED})
        table = validate_data(self, X, dtype=np.float64)
        largest = np.abs(table).max(axis=0)
        if largest.max() > LARGEST:
            refuse(
                f"Column {int(largest.argmax())} of X reaches {largest.max():.3g}, and squared distances overflow.",
                "divide that column by a power of ten.",
            )
        centres = gaussian_centres(self.centres, table, int(self.count), self.random_state)
        self.width_ = given_width(self.width) or median_distance(centres, table)
        self.centres_ = centres
        return self

    def _functions(self, X: Matrix) -> Matrix:
        # differences first, not squares: rows at 1e8 ± 1 keep their distances
        with np.errstate(under="ignore", over="ignore"):
            hills: Matrix = np.exp(-0.5 * (cdist(X, self.centres_) / self.width_) ** 2)
        return hills

    def _names(self, columns: list[str]) -> list[str]:
        return [f"gaussian({', '.join(columns)})_{k}" for k in range(len(self.centres_))]


class SigmoidBasis(Basis):
    """φ(x) = σ((xⱼ − c)/s): a soft step in column j at each of its centres c, of width sⱼ.

    Parameters
    ----------
    centres : "quantiles", "grid" or array of shape (m,) or (d, m)
        Where the steps are: at quantiles of each column (k/(m + 1), k = 1 … m), at even distances
        inside its range, or as given, the same for all columns or a row for each.
    count : int
        How many in each column.
    width : "median" or positive float
        s, the median distance between neighbouring centres of the column (its standard deviation
        if there are no two different ones).
    constant : bool
        Whether φ₀(x) = 1 comes first. Models with an intercept do not need it.

    Fitted: ``centres_`` (d × m), ``widths_`` (d).

    >>> SigmoidBasis(centres=[0.0], width=1.0, constant=True).fit_transform([[0.0], [np.log(3.0)]])
    array([[1.  , 0.5 ],
           [1.  , 0.75]])
    """

    def __init__(
        self, centres: Any = "quantiles", *, count: int = 5, width: Any = "median", constant: bool = False
    ) -> None:
        self.centres = centres
        self.count = count
        self.width = width
        self.constant = constant

    @whole
    def fit(self, X: Any, y: Any = None) -> Self:
        """Place the steps and find the widths."""
        check(self, RULES)
        table = validate_data(self, X, dtype=np.float64)
        centres = sigmoid_centres(self.centres, table, int(self.count))
        given = given_width(self.width)
        self.widths_ = np.full(len(centres), given) if given else spacing(centres, table)
        self.centres_ = centres
        return self

    def _functions(self, X: Matrix) -> Matrix:
        with np.errstate(over="ignore"):
            steps = sigmoid((X[:, :, None] - self.centres_) / self.widths_[:, None])
        return steps.reshape(len(X), -1)

    def _names(self, columns: list[str]) -> list[str]:
        return [f"sigmoid({name})_{k}" for name in columns for k in range(self.centres_.shape[1])]
