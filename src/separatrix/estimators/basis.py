"""Basis functions: a boundary linear in φ(x) that need not be straight in x.

Gaussian hills answer to the distance from a centre, sigmoid steps to one column passing
a threshold. Polynomials and splines are scikit-learn's (``PolynomialFeatures``,
``SplineTransformer``) and stand in a ``Pipeline`` in the same place.
"""

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy.spatial.distance import cdist, pdist
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from separatrix.core.arrays import AnyArray, Matrix, Vector
from separatrix.core.errors import refuse
from separatrix.probability.sigmoid import sigmoid

PAIRED = 1000
"""Rows or centres among which distances are taken for the median: half a million pairs."""


LARGEST = 1e150
"""Values whose squares can be added up."""


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

    def _check_constant(self) -> None:
        if not isinstance(self.constant, (bool, np.bool_)):
            refuse(f"constant is {self.constant!r}.", "True adds a column of ones; False leaves that to the intercept.")


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
    random_state : int, RandomState or None
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

    def fit(self, X: Any, y: Any = None) -> Self:
        """Place the centres and find the width."""
        self._check_constant()
        table = validate_data(self, X, dtype=np.float64)
        largest = np.abs(table).max(axis=0)
        if largest.max() > LARGEST:
            refuse(
                f"Column {int(largest.argmax())} of X reaches {largest.max():.3g}, and squared distances overflow.",
                "divide that column by a power of ten.",
            )
        centres = _gaussian_centres(self.centres, table, self.count, self.random_state)
        self.width_ = _given_width(self.width) or _median_distance(centres, table)
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

    def fit(self, X: Any, y: Any = None) -> Self:
        """Place the steps and find the widths."""
        self._check_constant()
        table = validate_data(self, X, dtype=np.float64)
        centres = _sigmoid_centres(self.centres, table, self.count)
        given = _given_width(self.width)
        self.widths_ = np.full(len(centres), given) if given else _spacing(centres, table)
        self.centres_ = centres
        return self

    def _functions(self, X: Matrix) -> Matrix:
        with np.errstate(over="ignore"):
            steps = sigmoid((X[:, :, None] - self.centres_) / self.widths_[:, None])
        return steps.reshape(len(X), -1)

    def _names(self, columns: list[str]) -> list[str]:
        return [f"sigmoid({name})_{k}" for name in columns for k in range(self.centres_.shape[1])]


def _gaussian_centres(given: Any, table: Matrix, count: Any, random_state: Any) -> Matrix:
    columns = table.shape[1]
    if not isinstance(given, str):
        return _given_centres(given, (None, columns), f"an array with {columns} columns, a row for each centre")
    if given == "grid":
        along = _positive_count(count)
        if along**columns > 10**6:
            refuse(
                f"A grid of {along} along each of {columns} columns has {along**columns:.3g} centres.",
                'take centres="kmeans", whose number does not grow with the columns.',
            )
        ends = [_ends(column, along) for column in table.T]
        return np.stack([part.ravel() for part in np.meshgrid(*ends, indexing="ij")], axis=1)
    if given not in ("kmeans", "data"):
        refuse(f"centres is {given!r}.", 'use "kmeans", "data", "grid", or the centres themselves.')
    distinct = np.unique(table, axis=0)
    wanted = min(_positive_count(count), len(distinct))
    if given == "data" or wanted == len(distinct):
        chosen = check_random_state(random_state).permutation(len(distinct))[:wanted]
        return np.asarray(distinct[np.sort(chosen)])
    from sklearn.cluster import KMeans

    return np.asarray(KMeans(wanted, n_init=4, random_state=random_state).fit(table).cluster_centers_)


def _sigmoid_centres(given: Any, table: Matrix, count: Any) -> Matrix:
    columns = table.shape[1]
    if isinstance(given, str):
        number = _positive_count(count)
        inner = np.arange(1, number + 1) / (number + 1)
        if given == "quantiles":
            return np.quantile(table, inner, axis=0).T
        if given == "grid":
            low, high = table.min(axis=0), table.max(axis=0)
            return np.asarray(low[:, None] + (high - low)[:, None] * inner)
        refuse(f"centres is {given!r}.", 'use "quantiles", "grid", or the centres themselves.')
    array = np.asarray(given)
    if array.ndim == 1:
        given = np.tile(array, (columns, 1))
    return _given_centres(given, (columns, None), f"a row of centres, or {columns} rows, one for each column")


def _given_centres(given: Any, shape: tuple[int | None, int | None], wanted: str) -> Matrix:
    try:
        centres = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        refuse("centres cannot be read as numbers.", f"give {wanted}.")
    fits = centres.ndim == 2 and all(size in (None, n) for size, n in zip(shape, centres.shape, strict=True))
    if not fits or centres.size == 0:
        refuse(f"centres have the shape {centres.shape}.", f"give {wanted}.")
    if not np.isfinite(centres).all():
        row, column = np.argwhere(~np.isfinite(centres))[0]
        refuse(f"centres have {centres[row, column]} in row {row}, column {column}.", "give finite numbers.")
    return centres


def _given_width(width: Any) -> float | None:
    """A width that was given; None if it is to be found."""
    if isinstance(width, str) and width == "median":
        return None
    if isinstance(width, bool) or not isinstance(width, Real) or not 0.0 < float(width) < np.inf:
        refuse(f"width is {width!r}.", 'give a positive number, or "median".')
    return float(width)


def _positive_count(count: Any) -> int:
    if isinstance(count, bool) or not isinstance(count, Integral) or count < 1:
        refuse(f"count is {count!r}.", "give a whole number, 1 or more.")
    return int(count)


def _ends(column: Vector, along: int) -> Vector:
    """Evenly from end to end; the middle if there is only one place, one place if the column is constant."""
    low, high = float(column.min()), float(column.max())
    if along == 1 or low == high:
        return np.array([0.5 * (low + high)])
    return np.linspace(low, high, along)


def _median_distance(centres: Matrix, table: Matrix) -> float:
    """Between two centres; between two rows if there are no two different centres; 1 if all rows are one."""
    for points in (centres, table):
        # every k-th, so that the same data gives the same width
        distances = pdist(points[:: -(-len(points) // PAIRED)])
        positive = distances[distances > 0.0]
        if len(positive):
            return float(np.median(positive))
    return 1.0


def _spacing(centres: Matrix, table: Matrix) -> Vector:
    """For each column the median gap between neighbouring centres, or its spread, or 1."""
    widths = []
    for row, column in zip(centres, table.T, strict=True):
        gaps = np.diff(np.unique(row))
        widths.append(float(np.median(gaps)) if len(gaps) else float(column.std()) or 1.0)
    return np.array(widths)
