"""A known model: rows and labels drawn from it, its true posterior, and the risk nobody can beat."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from separatrix.probability.sigmoid import Vector
from separatrix.probability.simplex import finite, number, refuse, whole
from separatrix.simulate.streams import FLIPS, RISK, Streams, block_rows

MONTE_CARLO = 2**20
"""Rows drawn where no better way to the Bayes risk is known."""


@dataclass(frozen=True)
class Risk:
    """The Bayes risk, how it was found, and its standard error: 0 unless it was drawn."""

    value: float
    how: str
    standard_error: float = 0.0

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        drawn = f" ± {self.standard_error:.2g}" if self.standard_error else ""
        return f"{self.value:.6g}{drawn} ({self.how})"


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows, labels, and the model they were drawn from; unpacks as ``X, y, truth``."""

    X: Vector
    y: NDArray[Any]
    truth: "Model"

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.y, self.truth))


class Model(ABC):
    """p(x) and p(y | x), known.

    A label is drawn from the model's clean posterior, then with probability ``noise``
    replaced by one of the other K − 1 labels, all alike. So with the clean posterior p,

        posterior = (1 − noise)·p + noise·(1 − p)/(K − 1),

    an increasing function of p: noise moves the risk, not the boundary, as long as
    noise < 1 − 1/K.
    """

    labels: NDArray[Any]
    noise: float
    seed: int

    def __init__(self, columns: int, classes: int, labels: Sequence[Any] | None, noise: float, seed: int) -> None:
        self.columns = whole(columns, "columns", 1)
        self.labels = np.arange(classes) if labels is None else np.asarray(labels)
        if self.labels.shape != (classes,) or len(np.unique(self.labels)) < classes:
            refuse(f"labels are {self.labels.tolist()}.", f"give {classes} different ones.")
        self.noise = number(noise, "noise")
        if not 0.0 <= self.noise < 1.0 - 1.0 / classes:
            refuse(
                f"noise is {self.noise:g}.",
                f"it is the share of flipped labels, from 0 to below {1 - 1 / classes:.3g}, where nothing is left.",
            )
        self.seed = whole(seed, "seed", 0, np.inf)
        self.streams = Streams.from_seed(self.seed)

    @property
    @abstractmethod
    def parameters(self) -> Mapping[str, Any]:
        """The numbers that define the model."""

    @abstractmethod
    def _block(self, streams: Streams, block: int, rows: int) -> tuple[Vector, NDArray[np.intp]]:
        """Columns and clean classes of one whole block."""

    @abstractmethod
    def _clean(self, X: Vector) -> Vector:
        """The clean posterior, (n × K)."""

    def _clean_risk(self) -> Risk | None:
        """1 − E[max clean posterior], if there is a better way than drawing."""
        return None

    def posterior(self, X: ArrayLike) -> Vector:
        """P(y = label | x), (n × K) in the order of ``labels``, noise included."""
        rows = finite(X, "X")
        if rows.ndim != 2 or rows.shape[1] != self.columns:
            refuse(f"X has the shape {rows.shape}.", f"it needs {self.columns} columns.")
        clean = self._clean(rows)
        rest = self.noise / (len(self.labels) - 1)
        return clean * (1.0 - self.noise - rest) + rest

    @cached_property
    def bayes_risk(self) -> Risk:
        """E[1 − max posterior]: the share of mistakes of the best possible classifier."""
        clean = self._clean_risk() or self._drawn_risk()
        rest = self.noise / (len(self.labels) - 1)
        kept = 1.0 - self.noise - rest
        # 1 − (kept·max p + rest), with 1 − max p the clean risk
        return Risk(self.noise + kept * clean.value, clean.how, kept * clean.standard_error)

    def draw(self, rows: int) -> Sample:
        """The first ``rows`` rows."""
        return self.rows(0, whole(rows, "rows"))

    def rows(self, start: int, stop: int) -> Sample:
        """Rows start to stop − 1, without drawing those before."""
        start, stop = whole(start, "start", 0), whole(stop, "stop", 0)
        size = block_rows(self.columns)
        X = np.empty((max(stop - start, 0), self.columns))
        y = np.empty(len(X), dtype=np.intp)
        for block in range(start // size, -(-stop // size) if len(X) else 0):
            first = block * size
            part = slice(max(start, first) - first, min(stop, first + size) - first)
            into = slice(first + part.start - start, first + part.stop - start)
            columns, codes = self._noisy_block(block, size)
            X[into], y[into] = columns[part], codes[part]
        return Sample(X, self.labels[y], self)

    def blocks(self, rows: int, size: int) -> Iterator[Sample]:
        """The first ``rows`` rows, ``size`` at a time: together the same bits as ``draw(rows)``."""
        rows, size = whole(rows, "rows", 0), whole(size, "size", 1)
        return (self.rows(start, min(start + size, rows)) for start in range(0, rows, size))

    def _noisy_block(self, block: int, size: int) -> tuple[Vector, NDArray[np.intp]]:
        columns, codes = self._block(self.streams, block, size)
        if self.noise > 0.0:
            rng = self.streams.at(FLIPS, block)
            flipped = rng.random(size) < self.noise
            away = rng.integers(1, len(self.labels), size)
            codes = np.where(flipped, (codes + away) % len(self.labels), codes)
        return columns, codes

    def _drawn_risk(self) -> Risk:
        """The mean of 1 − max posterior over rows of a stream of their own."""
        apart = Streams.from_seed(int(self.streams.at(RISK, 0).integers(2**62)))
        size = block_rows(self.columns)
        count, total, squares = 0, 0.0, 0.0
        limit = min(MONTE_CARLO, max(2**14, 2**26 // self.columns))
        while count < limit:
            columns, _ = self._block(apart, count // size, size)
            lost = 1.0 - self._clean(columns).max(axis=1)
            count, total, squares = count + size, total + float(lost.sum()), squares + float((lost**2).sum())
        mean = total / count
        spread = max(0.0, squares / count - mean**2)
        return Risk(mean, f"Monte Carlo, {count} draws", float(np.sqrt(spread / count)))

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name}(columns={self.columns}, classes={len(self.labels)}, noise={self.noise:g}, seed={self.seed})"


def share(value: Any, name: str) -> float:
    """A probability strictly between 0 and 1."""
    p = number(value, name)
    if not 0.0 < p < 1.0:
        refuse(f"{name} is {p:g}.", "it is a share strictly between 0 and 1.")
    return p
