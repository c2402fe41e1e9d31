"""The question that a verdict on separability answers, without the data: which classes, which columns."""

from dataclasses import dataclass, fields
from typing import Any, Never

import numpy as np

from separatrix.core.arrays import AnyArray, Codes, Positions
from separatrix.core.errors import CertificateError
from separatrix.core.plain_values import plain
from separatrix.core.protocols import Engine, SignedRows
from separatrix.models.labels import block_of, encode, open_table, refuse_not_finite, sample_weights
from separatrix.models.separability.set_aside import check_aside
from separatrix.models.separability.signed_rows import ManyClassRows, TwoClassRows, narrowed


def plain_labels(labels: AnyArray) -> list[Any]:
    """Labels as Python's own values where there are such; dates stay what they are."""
    return labels.tolist() if labels.dtype.kind in "biufUSO" else list(labels)


def check_finite(table: Engine, members: Positions | None) -> None:
    """Refuse NaN and infinities in the rows the question is about; a proof rests on few, and would not meet them."""
    point = np.full(table.columns_count + 1, 2.0**-40)
    strange = [
        which.start + np.flatnonzero(~np.isfinite(sizes)) for which, _, sizes in table.brackets(point, constant=True)
    ]
    found = np.concatenate(strange)
    if len(found) and (members is None or np.isin(found, members, assume_unique=True).any()):
        refuse_not_finite(table)


def _refuse_labels(asked: AnyArray, found: AnyArray) -> Never:
    raise CertificateError(
        f"The verdict is about the classes {plain_labels(np.unique(asked))}; the labels are {plain_labels(found)}.\n\n"
        "Hint: pass the labels it was made from; their types count too."
    )


@dataclass(frozen=True, slots=True)
class _Problem:
    """What both questions share."""

    fit_intercept: bool
    names: tuple[str, ...]
    set_aside: tuple[int, ...] = ()

    def _check(self, table: Engine, labels: AnyArray) -> None:
        """The question fits the table, and is asked in its one form."""
        if type(self.fit_intercept) is not bool:
            raise CertificateError("The verdict does not say whether there is a constant.")
        if type(self.names) is not tuple or self.names != table.titles:
            raise CertificateError(
                "The columns have other names.\n\nHint: pass the table that the verdict is about, with its names."
            )
        if not isinstance(labels, np.ndarray) or labels.ndim != 1 or len(np.unique(labels)) != len(labels):
            raise CertificateError("The classes of the verdict are not different labels.")

    def columns(self, claim: Any) -> int:
        """How many columns a claim about this question is about."""
        return len(self.names)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {each.name: plain(getattr(self, each.name)) for each in fields(self)}


@dataclass(frozen=True, slots=True)
class TwoClassProblem(_Problem):
    """``positive`` labels against ``negative`` ones; rows of other labels or no weight are left out."""

    positive: AnyArray = None  # type: ignore[assignment]
    negative: AnyArray = None  # type: ignore[assignment]

    def over(self, n: int, y: Any, sample_weight: Any) -> tuple[Codes, Positions | None, AnyArray]:
        """Codes and places of the rows that the question is about, and the labels among them."""
        target = encode(y, n)
        inside = np.isin(target.classes, np.concatenate([self.negative, self.positive]))[target.codes]
        weights = sample_weights(sample_weight, n)
        if weights is not None:
            inside &= weights > 0
        codes = np.isin(target.classes, self.positive)[target.codes].astype(np.int32)
        members = None if inside.all() else np.flatnonzero(inside)
        found = target.classes[np.unique(target.codes[inside])]
        return codes if members is None else codes[members], members, found

    def rows(self, table: Engine, codes: Codes, members: Positions | None) -> SignedRows:
        """Their signed rows, the columns set aside left out."""
        return narrowed(TwoClassRows(table, codes, self.fit_intercept, members), self.set_aside)

    def signed_rows(self, X: Any, y: Any, sample_weight: Any = None) -> SignedRows:
        """The signed rows of the data given; CertificateError where the question does not fit them."""
        for side in (self.positive, self.negative):
            if not isinstance(side, np.ndarray) or side.ndim != 1:
                raise CertificateError("The classes of the verdict are not lists of labels.")
        table = open_table(block_of(X))
        self._check(table, np.concatenate([self.negative, self.positive]))
        codes, members, found = self.over(table.rows, y, sample_weight)
        for side in (self.positive, self.negative):
            if not np.array_equal(side, found[np.isin(found, side)]):
                _refuse_labels(np.concatenate([self.negative, self.positive]), encode(y, table.rows).classes)
        check_finite(table, members)
        check_aside(table, members, self.fit_intercept, self.set_aside)
        return self.rows(table, codes, members)

    def column_names(self) -> list[str]:
        """A name for each column of the signed rows."""
        return [*self.names, "intercept"] if self.fit_intercept else list(self.names)

    def sides(self) -> tuple[set[Any], set[Any]]:
        """The labels on either side."""
        return set(plain_labels(self.positive)), set(plain_labels(self.negative))

    def pairs(self) -> dict[Any, tuple[set[Any], set[Any]]]:
        """No further questions."""
        return {}

    def against_rest(self) -> dict[Any, tuple[set[Any], set[Any]]]:
        """No further questions."""
        return {}


@dataclass(frozen=True, slots=True)
class SoftmaxProblem(_Problem):
    """All classes at once: directions that never lower the score of a row's own class against another."""

    classes: AnyArray = None  # type: ignore[assignment]

    def over(self, n: int, y: Any, sample_weight: Any) -> tuple[Codes, Positions | None, AnyArray]:
        """Codes and places of the rows that have weight, and the labels among them."""
        weights = sample_weights(sample_weight, n)
        # a class may occur in rows without weight only: those are left out before labels are looked up
        every = encode(y, n)
        members = None if weights is None or (weights > 0).all() else np.flatnonzero(weights > 0)
        labels = every.classes[every.codes if members is None else every.codes[members]]
        target = encode(labels, len(labels), self.classes)
        return target.codes, members, self.classes[np.unique(target.codes)]

    def rows(self, table: Engine, codes: Codes, members: Positions | None) -> SignedRows:
        """Their signed rows, the columns set aside left out."""
        rows = ManyClassRows(table, codes, len(self.classes), self.fit_intercept, members)
        return narrowed(rows, self.set_aside)

    def signed_rows(self, X: Any, y: Any, sample_weight: Any = None) -> SignedRows:
        """The signed rows of the data given; CertificateError where the question does not fit them."""
        table = open_table(block_of(X))
        self._check(table, self.classes)
        codes, members, found = self.over(table.rows, y, sample_weight)
        if not np.array_equal(found, self.classes):
            _refuse_labels(self.classes, found)
        check_finite(table, members)
        check_aside(table, members, self.fit_intercept, self.set_aside)
        return self.rows(table, codes, members)

    def column_names(self) -> list[str]:
        """A name for each column of the signed rows: class and column, against the first class."""
        own = [*self.names, "intercept"] if self.fit_intercept else list(self.names)
        return [f"{label}: {name}" for label in plain_labels(self.classes)[1:] for name in own]

    def pairs(self) -> dict[Any, tuple[set[Any], set[Any]]]:
        """The questions of two classes, the second against the first."""
        labels = plain_labels(self.classes)
        return {(a, b): ({b}, {a}) for k, a in enumerate(labels) for b in labels[k + 1 :]}

    def against_rest(self) -> dict[Any, tuple[set[Any], set[Any]]]:
        """The questions of each class against all others."""
        labels = plain_labels(self.classes)
        return {label: ({label}, set(labels) - {label}) for label in labels}
