"""Random numbers by counter: row i is the same however many rows are drawn, and in whatever pieces.

Rows are cut into blocks whose length depends on the number of columns alone. Block b of
stream s has its own generator, Philox under a key made from the seed with the counter set
to (0, 0, s, b): it can be reached directly, and its numbers depend on nothing before it.
A block is always drawn, and computed with, as a whole, then cut; so not even rounding
depends on the rows asked for. Sums are NumPy's own, never a BLAS, whose rounding may
depend on its threads.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator, Philox, SeedSequence
from numpy.typing import NDArray

from separatrix.probability.sigmoid import Vector

PARAMETERS, COLUMNS, LABELS, FLIPS, RISK = range(5)
"""The streams of a model: what is drawn for one never moves another."""

ENTRIES = 2**18
"""Numbers in a block, about: two megabytes."""


@dataclass(frozen=True)
class Streams:
    """The random numbers of one seed.

    >>> streams = Streams.from_seed(7)
    >>> bool((streams.at(COLUMNS, 3).random(2) == streams.at(COLUMNS, 3).random(2)).all())
    True
    """

    key: tuple[int, int]

    @classmethod
    def from_seed(cls, seed: int) -> "Streams":
        """Streams under a key made from any whole number that is not negative."""
        words = SeedSequence(seed).generate_state(2, dtype=np.uint64)
        return cls((int(words[0]), int(words[1])))

    def at(self, stream: int, block: int) -> Generator:
        """The generator of one block of one stream."""
        counter = np.array([0, 0, stream, block], dtype=np.uint64)
        return Generator(Philox(key=np.array(self.key, dtype=np.uint64), counter=counter))


def block_rows(columns: int) -> int:
    """How many rows a block has: a power of two, 4096 at most."""
    return int(min(4096, 2 ** max(0, (ENTRIES // max(columns, 1)).bit_length() - 1)))


def products(rows: Vector, weights: Vector) -> Vector:
    """⟨x, w⟩ for each row, or for each row and each row of ``weights``, in an order of its own."""
    if weights.ndim == 1:
        one: Vector = np.einsum("ij,j->i", rows, weights, optimize=False)
        return one
    many: Vector = np.einsum("ij,kj->ik", rows, weights, optimize=False)
    return many


def cumulative_codes(shares: Vector, u: Vector) -> NDArray[np.intp]:
    """The class whose share of [0, 1) each u falls into; ``shares`` one row for all or one for each."""
    edges = np.cumsum(np.atleast_2d(shares), axis=1)
    codes: NDArray[np.intp] = (u[:, None] * edges[:, -1:] >= edges[:, :-1]).sum(axis=1)
    return codes
