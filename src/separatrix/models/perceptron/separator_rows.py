"""Rows and signs for a certificate about a separator: stated again from data alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from separatrix.core.arrays import AnyArray, Vector
from separatrix.core.errors import CertificateError
from separatrix.core.plain_values import plain
from separatrix.core.protocols import Engine
from separatrix.models.labels import block_of, encode, open_engine, refuse_not_finite, sample_weights
from separatrix.terms.perceptron import Lengths, PerceptronRule


@dataclass(frozen=True, slots=True)
class BlockRows:
    """The rows of a block that have weight, with the sign of their class."""

    engine: Engine
    rule: PerceptronRule

    @property
    def width(self) -> int:
        """Columns, with the constant."""
        return self.engine.columns_count + int(self.rule.constant)

    def _values(self, row: int) -> Vector:
        values = self.engine.take(np.array([row], dtype=np.int64))
        return np.asarray(values.toarray() if self.engine.sparse else values, dtype=np.float64).ravel()

    def exact_square(self, row: int) -> Fraction:
        """‖x‖² of one row in rational arithmetic, the constant's 1 included."""
        return sum((Fraction(float(a)) ** 2 for a in self._values(row)), Fraction(int(self.rule.constant)))

    def stretches(self, direction: Vector) -> Iterator[tuple[int, Vector, Vector]]:
        """s⟨direction, x⟩ and ‖x‖, rounded up, of some rows after others; what is not finite is named and refused."""
        scores = self.rule.stretches(self.engine, np.ascontiguousarray(direction)[None])
        lengths = self.engine.stretches(Lengths(self.rule.constant), np.empty((1, 0)))
        for (rows, signed), (_, long) in zip(scores, lengths, strict=True):
            if not np.isfinite(long).all():
                refuse_not_finite(self.engine)
            yield rows.start, signed[:, 0], long[:, 0]

    def exact(self, row: int, direction: Vector) -> Fraction:
        """s⟨direction, x⟩ of one row in rational arithmetic."""
        x = self._values(row)
        total = sum((Fraction(float(a)) * Fraction(float(b)) for a, b in zip(x, direction, strict=False)), Fraction(0))
        if self.rule.constant:
            total += Fraction(float(direction[-1]))
        return total if self.engine.labels_of(np.array([row]))[0] == self.rule.positive else -total


@dataclass(frozen=True, slots=True)
class OneSide:
    """The class with code ``positive`` against all others."""

    fit_intercept: bool
    classes: AnyArray
    positive: int = 1

    def over(self, engine: Engine, positive: int | None = None) -> BlockRows:
        """The rows of positive weight; ``positive`` where the engine's classes are others."""
        if engine.row_weights is not None:
            live = engine.row_weights.array() > 0
            engine = engine if live.all() else engine.picked(np.flatnonzero(live))
        return BlockRows(engine, PerceptronRule(self.positive if positive is None else positive, self.fit_intercept))

    def columns(self, claim: Any) -> int:
        """How many columns a claim about this question is about."""
        return len(claim.direction) - self.fit_intercept

    def restate(self, X: Any, y: Any, sample_weight: Any) -> BlockRows:
        """The same question about the data given."""
        block = block_of(X)
        if type(self.fit_intercept) is not bool or type(self.positive) is not int:
            raise CertificateError(
                "The certificate does not say which class is positive, or whether there is a constant."
            )
        if not isinstance(self.classes, np.ndarray) or self.classes.ndim != 1:
            raise CertificateError("The classes of the certificate are not labels.")
        target = encode(y, block.shape[0], self.classes)
        weights = sample_weights(sample_weight, block.shape[0])
        seen = np.unique(target.codes if weights is None else target.codes[weights > 0])
        if len(seen) < 2:
            raise CertificateError("The data given hold one class only: nothing to separate.")
        if len(seen) != len(self.classes) or self.positive not in seen:
            raise CertificateError("The classes of the certificate are not those of the labels.")
        return self.over(open_engine(block, target, weights))

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {"fit_intercept": self.fit_intercept, "classes": plain(self.classes), "positive": self.positive}
