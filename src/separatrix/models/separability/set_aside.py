"""Columns that a verdict leaves out: combinations of others to the rounding of their decimals, and not exactly.

A column opendec = open/100 differs from a hundredth of the other in its last digits only, and a direction that lives
on that difference may separate the stored floats, which is of no use to anyone. ``aliasing`` names such columns.
Those among them that depend on the kept ones *exactly* (dummies that add up to one) do no harm: exact arithmetic
sees through them, and which of them runs away is worth knowing. They stay. The others are set aside: the verdict is
reached for the rest, says so, and ``verify`` checks that they are combinations to that rounding.

Nothing is set aside where

- the columns of a sample of rows are clearly independent: then they are so over all rows;
- the kept columns have the rank of all rows: every question is settled by them already;
- there are more than ``MOST_COLUMNS``: then the verdict is about the stored floats, as with ``exact=True``.
"""

import time

import numpy as np

from separatrix.core.apart import apart
from separatrix.core.arrays import Codes, Matrix, Positions
from separatrix.core.errors import CertificateError, OutOfTime
from separatrix.core.protocols import Engine, SignedRows
from separatrix.kernels.threads import one_blas_thread
from separatrix.models.aliasing import Aliasing, aliasing, check, clearly_independent
from separatrix.models.separability.column_basis import column_basis
from separatrix.models.separability.signed_rows import TwoClassRows

MOST_COLUMNS, FEW_COLUMNS = 2000, 100
SAMPLE_PER_COLUMN, SAMPLE = 20, 200
SECONDS = 2e-9
"""Per row and pair of columns, for a triangle of all columns."""


def columns_aside(table: Engine, members: Positions | None, constant: bool, deadline: float) -> tuple[int, ...]:
    """Columns of the table to leave out, ascending; OutOfTime if the deadline leaves no time to look."""
    columns = table.columns_count
    rows = _unsigned(table, members, constant)
    if columns > MOST_COLUMNS or not rows.count:
        return ()

    def look() -> tuple[int, ...]:
        with one_blas_thread():
            return () if _look_independent(rows) else _aside(table, members, constant, deadline, rows)

    return apart(look, deadline) if columns > FEW_COLUMNS else look()


def _aside(
    table: Engine, members: Positions | None, constant: bool, deadline: float, rows: TwoClassRows
) -> tuple[int, ...]:
    if time.monotonic() + SECONDS * rows.count * table.columns_count**2 > deadline:
        raise OutOfTime
    found = aliasing(_living(table, members), constant)
    if not len(found.dropped) or len(found.keep) + constant >= rows.count:
        return ()
    return _inexact(rows, found, constant, deadline)


def check_aside(table: Engine, members: Positions | None, constant: bool, aside: tuple[int, ...]) -> None:
    """CertificateError unless the columns are combinations of the others to the rounding of their decimals."""
    columns = table.columns_count
    if type(aside) is not tuple or any(type(j) is not int or not 0 <= j < columns for j in aside):
        raise CertificateError("The columns set aside are not columns of the table.")
    if aside != tuple(sorted(set(aside))):
        raise CertificateError("The columns set aside do not ascend.")
    if not aside:
        return
    keep = np.setdiff1d(np.arange(columns), aside)
    if check(_living(table, members), constant, keep) is None:
        raise CertificateError("A column was set aside that is no combination of the others in this data.")


def _living(table: Engine, members: Positions | None) -> Engine:
    """The table, with weight on these rows alone."""
    if members is None:
        return table
    weights = np.zeros(table.rows)
    weights[members] = 1.0
    return table.reweighted(table.laid(weights))


def _unsigned(table: Engine, members: Positions | None, constant: bool) -> TwoClassRows:
    codes: Codes = np.broadcast_to(np.ones(1, dtype=np.int32), (table.rows if members is None else len(members),))
    return TwoClassRows(table, codes, constant, members)


def _look_independent(rows: TwoClassRows) -> bool:
    """Whether a sample shows that no column depends on others; with fewer rows than columns, that no row does."""
    columns = rows.table.columns_count
    wanted = SAMPLE_PER_COLUMN * columns + SAMPLE
    which = rows.sample(wanted) if rows.count > wanted else np.arange(rows.count)
    table: Matrix = rows.take(which)
    if not np.isfinite(table).all():
        rows.refuse_not_finite()
    values = table[:, :columns]
    if rows.constant:
        values = values - values[0]
    size = np.abs(values).max(axis=0)
    values = values / np.where(size > 0.0, size, 1.0)
    if rows.constant:
        values = np.column_stack([values, np.ones(len(values))])
    if len(values) <= columns:
        values = np.unique(values, axis=0).T
    return clearly_independent(values.T @ values)


def _inexact(rows: SignedRows, found: Aliasing, constant: bool, deadline: float) -> tuple[int, ...]:
    """Of the columns dropped, those that do not depend on the kept ones exactly."""
    columns = len(found.keep) + len(found.dropped)
    order = np.concatenate([np.arange(columns, columns + constant), found.keep, found.dropped]).astype(np.int64)
    exact = column_basis(rows, order, deadline)
    outside = np.setdiff1d(np.arange(rows.width), exact.basis).tolist()
    if len(exact.dependences) != len(outside):  # as many columns as different rows: far more than are kept
        return tuple(found.dropped.tolist())
    loose = {int(j) for j in found.dropped} - set(outside)
    for column, vector in zip(outside, exact.dependences, strict=True):
        if any(vector[j] for j in loose):
            loose.add(column)
    return tuple(sorted(loose - {columns}))
