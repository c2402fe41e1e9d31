"""Where basis functions stand and how wide they are."""

from typing import Any

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.utils import check_random_state

from separatrix.core.arrays import Matrix, Vector
from separatrix.core.errors import refuse
from separatrix.core.parameters import array_of_numbers, seed_of

MOST_CENTRES = 10**6
"""Functions of a grid, or steps in a column."""

PAIRED = 1000
"""Rows or centres among which distances are taken for the median: half a million pairs."""


def gaussian_centres(given: Any, table: Matrix, count: int, random_state: Any) -> Matrix:
    """Where hills stand: by name over the data, or as given; (m × d)."""
    columns = table.shape[1]
    if not isinstance(given, str):
        return _given_centres(given, (None, columns), f"an array with {columns} columns, a row for each centre")
    if given == "grid":
        along = count
        if along > MOST_CENTRES or along**columns > MOST_CENTRES:
            refuse(
                f"count is {count}: a grid of so many along each of {columns} columns has more than 10⁶ centres.",
                'take centres="kmeans", whose number does not grow with the columns.',
            )
        ends = [_ends(column, along) for column in table.T]
        return np.stack([part.ravel() for part in np.meshgrid(*ends, indexing="ij")], axis=1)
    if given not in ("kmeans", "data"):
        refuse(f"centres is {given!r}.", 'use "kmeans", "data", "grid", or the centres themselves.')
    distinct = np.unique(table, axis=0)
    wanted = min(count, len(distinct))
    if isinstance(random_state, np.random.Generator):  # which scikit-learn does not take
        random_state = seed_of(random_state)
    if given == "data" or wanted == len(distinct):
        chosen = check_random_state(random_state).permutation(len(distinct))[:wanted]
        return np.asarray(distinct[np.sort(chosen)])
    from sklearn.cluster import KMeans

    return np.asarray(KMeans(wanted, n_init=4, random_state=random_state).fit(table).cluster_centers_)


def sigmoid_centres(given: Any, table: Matrix, count: int) -> Matrix:
    """Where steps are: by name over the data, or as given; (d × m)."""
    columns = table.shape[1]
    if isinstance(given, str):
        if count > MOST_CENTRES:
            refuse(f"count is {count}: more steps than the floats of a column can tell apart.", "take fewer.")
        inner = np.arange(1, count + 1) / (count + 1)
        if given == "quantiles":
            return np.quantile(table, inner, axis=0).T
        if given == "grid":
            low, high = table.min(axis=0), table.max(axis=0)
            return np.asarray(low[:, None] + (high - low)[:, None] * inner)
        refuse(f"centres is {given!r}.", 'use "quantiles", "grid", or the centres themselves.')
    array = array_of_numbers(given, "centres")
    if array.ndim == 1:
        given = np.tile(array, (columns, 1))
    return _given_centres(given, (columns, None), f"a row of centres, or {columns} rows, one for each column")


def _given_centres(given: Any, shape: tuple[int | None, int | None], wanted: str) -> Matrix:
    centres = array_of_numbers(given, "centres").copy()
    fits = centres.ndim == 2 and all(size in (None, n) for size, n in zip(shape, centres.shape, strict=True))
    if not fits or centres.size == 0:
        refuse(f"centres have the shape {centres.shape}.", f"give {wanted}.")
    if not np.isfinite(centres).all():
        row, column = np.argwhere(~np.isfinite(centres))[0]
        refuse(f"centres have {centres[row, column]} in row {row}, column {column}.", "give finite numbers.")
    return centres


def given_width(width: Any) -> float | None:
    """A width that was given; None if it is to be found."""
    if isinstance(width, str) and width == "median":
        return None
    return float(width)


def _ends(column: Vector, along: int) -> Vector:
    """Evenly from end to end; the middle if there is only one place, one place if the column is constant."""
    low, high = float(column.min()), float(column.max())
    if along == 1 or low == high:
        return np.array([0.5 * (low + high)])
    return np.linspace(low, high, along)


def median_distance(centres: Matrix, table: Matrix) -> float:
    """Between two centres; between two rows if there are no two different centres; 1 if all rows are one."""
    for points in (centres, table):
        # every k-th, so that the same data gives the same width
        distances = pdist(points[:: -(-len(points) // PAIRED)])
        positive = distances[distances > 0.0]
        if len(positive):
            return float(np.median(positive))
    return 1.0


def spacing(centres: Matrix, table: Matrix) -> Vector:
    """For each column the median gap between neighbouring centres, or its spread, or 1."""
    widths = []
    for row, column in zip(centres, table.T, strict=True):
        gaps = np.diff(np.unique(row))
        widths.append(float(np.median(gaps)) if len(gaps) else float(column.std()) or 1.0)
    return np.array(widths)
