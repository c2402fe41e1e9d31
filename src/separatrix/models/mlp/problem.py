"""What a network's fit minimises, stated from data: for fitting and for verifying alike."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.core.arrays import AnyArray, Vector
from separatrix.core.errors import refuse
from separatrix.core.protocols import Engine
from separatrix.kernels.threads import one_blas_thread
from separatrix.models.labels import Target, block_of, encode, open_engine, refuse_not_finite, sample_weights
from separatrix.terms.architecture import Architecture
from separatrix.terms.mlp import NetworkLoss


@dataclass(frozen=True, slots=True)
class Labelled:
    """Rows, codes and weights, checked; rows of positive weight count."""

    engine: Engine
    target: Target
    weights: Vector | None

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any, classes: AnyArray | None = None) -> "Labelled":
        """Read what a user gave; refuses what is not finite."""
        block = block_of(X)
        target = encode(y, block.shape[0], classes)
        weights = sample_weights(sample_weight, block.shape[0])
        engine = open_engine(block, target, weights)
        check_finite(engine)
        return cls(engine, target, weights)

    @property
    def kept(self) -> AnyArray | None:
        """Numbers of the rows that count; None for all."""
        if self.weights is None or (self.weights > 0).all():
            return None
        return np.flatnonzero(self.weights > 0).astype(number_type(self.engine.rows))

    @property
    def count(self) -> int:
        """How many rows count."""
        return self.engine.rows if self.weights is None else int(np.count_nonzero(self.weights > 0))

    def check_classes(self) -> None:
        """Refuse rows that are all of one class."""
        codes = self.target.codes if self.weights is None else self.target.codes[self.weights > 0]
        if codes.min() == codes.max():
            refuse(
                "This solver needs samples of at least 2 classes in the data, but "
                f"the rows of positive weight have only one class: {self.target.classes[codes[0]]!r}.",
                "check how the rows were selected; with one class there is no boundary.",
            )


def number_type(rows: int) -> Any:
    """The integers that number so many rows: half the memory where they do."""
    return np.int32 if rows <= np.iinfo(np.int32).max else np.int64


def check_finite(engine: Engine) -> None:
    """Refuse NaN and infinity by name; one read of the data."""
    with np.errstate(all="ignore"):
        for values in engine.values():
            # a sum is finite only if all are; where it overflows, look again
            if not np.isfinite(values.sum()) and not np.isfinite(values).all():
                refuse_not_finite(engine)


@dataclass(frozen=True, slots=True)
class NetworkProblem:
    """Everything but the data: layers, penalty, classes."""

    architecture: Architecture
    alpha: float
    classes: AnyArray

    def columns(self, claim: Any) -> int:
        """How many columns a claim about this problem is about."""
        return self.architecture.units[0]

    def objective(self, data: Labelled, dtype: Any = np.float64) -> NetworkLoss:
        """The objective over all rows; products in ``dtype``, sums over blocks of rows in float64."""
        return NetworkLoss(self.architecture, data.engine, self.alpha, dtype)

    def evaluate(self, X: Any, y: Any, sample_weight: Any, point: Vector) -> tuple[float, Vector]:
        """The objective and its gradient on the data given."""
        data = Labelled.of(X, y, sample_weight, self.classes)
        inputs = self.architecture.units[0]
        if data.engine.columns_count != inputs or len(point) != self.architecture.parameters:
            refuse(
                f"X has {data.engine.columns_count} columns and the witness {len(point)} weights, but the network "
                f"takes {inputs} and {self.architecture.parameters}.",
                "verify with the data of the fit.",
            )
        with one_blas_thread():
            return self.objective(data).evaluate(np.asarray(point, dtype=np.float64))

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "units": list(self.architecture.units),
            "activation": self.architecture.activation,
            "alpha": self.alpha,
            "classes": self.classes.tolist(),
        }
