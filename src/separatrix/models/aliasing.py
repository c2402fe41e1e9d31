r"""Which columns are combinations of others for every user: to the rounding of the numbers stored.

A column xⱼ is **aliased** when there are coefficients c on the columns kept before it, and on the constant where there
is one, with

    |xᵢⱼ − Σₖ cₖxᵢₖ − c₀| ≤ τⱼ   in every row i of positive weight,

    τⱼ = min(10⁻⁹ Σₖ|cₖ|Sₖ + 4 Σₖ|cₖ|uₖAₖ, Sⱼ/100),

where the sums run over the kept columns and j itself, cⱼ = 1. Sₖ is the spread of column k, max|xₖ − its middle|, and
Aₖ = max|xₖ|; without a constant nothing is centred and Sₖ = Aₖ. uₖ is the rounding of its numbers: 2⁻⁵³, or 2⁻²⁴
where they were float32 once (Stata's files keep such): all are float32 numbers, or these written down to
15 digits, and some needs 20 bits or more and is not a whole number below 2²⁴, which would be exact.

So a price difference written down to the cent is aliased, and so is a mean computed in float32. A column that differs
from another by 10⁻⁷ of its spread is a column of its own, and so is a clock that counts 10⁹ + {0, 1, 2} seconds.

Columns enter from left to right, the constant first: of dependent columns the first are kept, the later ones set aside.

**How they are found.** The Gram matrix about a typical row is a screen: where all pivots of its Cholesky factor, in
columns of one size, are above 10⁻⁴, every column keeps a hundredth of its size to itself and none is aliased. This
costs one pass, which a fit makes anyway. Otherwise a triangle R with the geometry of the columns is formed:

* up to about 2·10⁹ multiply-adds by orthogonal transformations, block of rows by block of rows. Its errors are
  rounding errors of the columns, so it sees through any condition of theirs;
* beyond, by Cholesky from the Gram matrix, whose condition is the square. Coefficients are then corrected twice by
  their residual over all rows; where columns turn out to be nearly dependent and not quite, dense rows go the first
  way after all. Memory grows with d², not with n·d.

On R the columns are made orthogonal one after the other, those that look dependent are left out, and what they look
like is tried on all rows. A column that fails there is kept, and the search is repeated with it.

**Failure cases**, all on the side of keeping a column:

* kept columns that are nearly dependent make coefficients large, and τ with them: Sⱼ/100 is the end of that;
* in many sparse rows a dependence among columns of condition beyond about 10⁷ may be missed;
* decimals rounded to fewer digits (percentages to a tenth that add up to 100.1) do not depend on each other;
* a float32 column whose rounding is above a hundredth of its spread is a column of its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack, solve_triangular

from separatrix.core.arrays import UNIT_ROUNDOFF, AnyArray, Matrix, Positions, Vector
from separatrix.core.protocols import Engine
from separatrix.terms.logistic import LogisticLoss

DECIMALS = 1e-9
"""The share of the spreads of its terms to which a combination must hold in every row."""

ROUNDINGS = 4.0
"""Times the rounding of the stored numbers."""

SHORT_ROUNDOFF = 2.0**-24
WRITTEN = 1e-14
"""The rounding of numbers that were float32 once, and what writing them down to 15 digits adds."""

OWN = 1e-2
"""What a column must keep of its spread to itself, at least, to be no candidate."""

SMALL_WORK = 2e9
"""Multiply-adds up to which columns are made orthogonal at once, instead of multiplied with each other first."""

NUMBERS_AT_ONCE = 2**20
"""Numbers of the table that are looked at together."""

GRAM_NOISE = 1e-5
"""What the Gram matrix of dependent columns may leave of one of them by rounding, as a share of its spread."""


@dataclass(frozen=True, slots=True)
class Aliasing:
    """``keep`` and ``dropped`` are columns of the table, ascending; the constant is not listed.

    ``directions`` (columns + constant × dropped) are dropped columns minus what the kept ones make of them, in raw
    coordinates: along them no score changes. ``involved`` are all columns that take part in a dependence.
    ``share`` is the largest residual of any row, as a share of the spreads of the terms.
    """

    keep: Positions
    dropped: Positions
    directions: Matrix
    involved: Positions
    share: float = 0.0


def aliasing(engine: Engine, constant: bool, gram: Matrix | None = None) -> Aliasing:
    """The columns of an engine's rows that are combinations of others, to rounding.

    ``gram`` is the matrix of the screen where it is known already: Σ aᵢx̃ᵢx̃ᵢᵀ about any row, up to a factor.

    >>> from separatrix.models.labels import Target, block_of, open_engine
    >>> prices = np.array([[1.99, 1.75], [1.86, 1.69], [2.09, 1.99], [1.79, 1.86]])
    >>> table = np.column_stack([prices, prices[:, 0] - prices[:, 1]])
    >>> target = Target(np.array([0, 1, 0, 1], dtype=np.int32), np.array([0, 1]))
    >>> found = aliasing(open_engine(block_of(table), target, None), True)
    >>> found.keep, found.dropped, found.directions.round(6).T + 0.0
    (array([0, 1]), array([2]), array([[-1.,  1.,  1.,  0.]]))
    """
    columns = engine.columns_count
    if clearly_independent(gram_of(engine, constant) if gram is None else gram):
        none = np.empty(0, dtype=np.int64)
        return Aliasing(np.arange(columns), none, np.zeros((columns + constant, 0)), none)
    rows = _surveyed(engine, constant)
    triangle, noise = rows.triangle(rows.work > SMALL_WORK)
    own: set[int] = set()
    while True:
        keep, dropped, shares = _eliminated(triangle, noise, rows, own)
        found, holds = rows.tried(triangle, noise, keep, dropped, shares, 1.0)
        if holds.all():
            return found
        if noise and not engine.sparse:
            triangle, noise = rows.triangle(False)
        else:
            own.add(int(dropped[holds.argmin()]))  # the first that fails: later ones may have missed it


def check(engine: Engine, constant: bool, keep: Positions) -> Aliasing | None:
    """The dependences of all columns outside ``keep`` on those within; None where one of them is not true.

    For whoever holds a list of kept columns and wants it proved from the data. The tolerance is twice that of
    ``aliasing``, for rows in another order or layout.
    """
    keep = np.asarray(keep, dtype=np.int64)
    rows = _surveyed(engine, constant)
    triangle, noise = rows.triangle(rows.work > SMALL_WORK and engine.sparse)
    dropped = np.setdiff1d(np.arange(engine.columns_count), keep)
    first = int(constant)
    every = [*range(first), *(keep + first).tolist()]
    shares = np.zeros((triangle.shape[1], len(dropped)))
    for place, column in enumerate(dropped):
        # of the columns before it, as they were found; of all, where those do not do
        for taken in ([k for k in every if k < column + first], every):
            share = _combination(triangle, taken, int(column) + first, noise, rows)
            rest = float(np.linalg.norm(triangle[:, column + first] - triangle @ share)) / np.sqrt(rows.count)
            if rest <= 2.0 * float(rows.tolerance(share[:, None], np.array([column]))[0]) + noise:
                break
        shares[:, place] = share
    found, holds = rows.tried(triangle, noise, keep, dropped, shares, 2.0)
    return found if holds.all() else None


def gram_of(engine: Engine, constant: bool) -> Matrix:
    """Σ aᵢx̃ᵢx̃ᵢᵀ, up to a factor; about the first row where there is a constant, about zero where rows are sparse."""
    shift = None
    if constant and not engine.sparse:
        shift = np.asarray(engine.take(np.zeros(1, dtype=np.int64)), dtype=np.float64)[0]
    at = np.zeros((1, engine.columns_count + constant))
    gram: Matrix = engine.total(LogisticLoss(constant, shift, True, False, False), at)[0][0].hessian
    return gram


def clearly_independent(gram: Matrix) -> bool:
    """Whether every pivot, in columns of one size, is so large that no column can be aliased."""
    size = np.sqrt(gram.diagonal())
    if not (size > 0.0).all() or not np.isfinite(size).all():
        return False
    factor, info = lapack.dpotrf(gram / np.outer(size, size), lower=1, clean=0)
    return bool(info == 0 and (factor.diagonal() > OWN).all())


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of positive weight as z = (x − middle)/spread, the constant as their first column where there is one.

    ``blur`` is the rounding of the stored numbers in units of the spread.
    """

    engine: Engine
    constant: bool
    count: int
    middle: Vector
    spread: Vector
    blur: Vector

    @property
    def work(self) -> float:
        return float(self.count) * (len(self.middle) + self.constant) ** 2

    def chunks(self) -> Iterator[Matrix]:
        """The rows, some at a time."""
        for part in _chunks(self.engine):
            z = np.asfortranarray((part - self.middle) / self.spread)
            yield np.column_stack([np.ones(len(z)), z]) if self.constant else z

    def triangle(self, by_gram: bool) -> tuple[Matrix, float]:
        """R with RᵀR = ZᵀZ, and what rounding may leave of a dependent column."""
        width = len(self.middle) + self.constant
        if not by_gram:
            r = np.zeros((0, width))
            for z in self.chunks():
                r = np.asarray(np.linalg.qr(np.vstack([r, z]), mode="r"))
            return r, 0.0
        gram = np.zeros((width, width))
        for z in self.chunks():
            gram += z.T @ z
        upper, pivots, rank, _ = lapack.dpstrf(gram, lower=0)
        r = np.zeros((rank, width))
        r[:, pivots - 1] = np.triu(upper)[:rank]
        return r, GRAM_NOISE

    def tolerance(self, shares: Matrix, dropped: Positions) -> Vector:
        """τ in units of the dropped column's spread, for combinations in the coordinates z."""
        first = int(self.constant)
        sizes = np.abs(shares[first:])
        decimals = DECIMALS * (1.0 + sizes.sum(axis=0))
        rounding = ROUNDINGS * (self.blur[dropped] + self.blur @ sizes)
        return np.asarray(np.minimum(decimals + rounding, OWN))

    def tried(
        self, triangle: Matrix, noise: float, keep: Positions, dropped: Positions, shares: Matrix, factor: float
    ) -> tuple[Aliasing, AnyArray]:
        """The dependences tried on all rows, and which of them hold."""
        first = int(self.constant)
        shares = shares.copy()
        basis = np.concatenate([np.zeros(first, dtype=np.int64), keep + first])
        if noise and len(basis):
            for _ in range(2):  # the Gram matrix squares the condition: correct by the residual
                shares[basis] += self._correction(triangle[:, basis], basis, dropped, shares)
        vectors = -shares
        vectors[dropped + first, np.arange(len(dropped))] = 1.0
        worst = np.zeros(len(dropped))
        for z in self.chunks():
            worst = np.maximum(worst, np.abs(z @ vectors).max(axis=0, initial=0.0))
        holds = worst <= factor * self.tolerance(shares, dropped)
        directions = vectors[first:] / self.spread[:, None] * self.spread[dropped]
        if first:
            directions = np.vstack([directions, self.spread[dropped] * vectors[0] - self.middle @ directions])
        involved = np.flatnonzero(directions[: len(self.middle)].any(axis=1))
        share = float((worst / (1.0 + np.abs(shares[first:]).sum(axis=0))).max(initial=0.0))
        return Aliasing(keep, dropped, directions, involved, share), holds

    def _correction(self, part: Matrix, basis: Positions, dropped: Positions, shares: Matrix) -> Matrix:
        residual = np.zeros((len(basis), len(dropped)))
        for z in self.chunks():
            residual += z[:, basis].T @ (z[:, dropped + self.constant] - z @ shares)
        upper = np.asarray(np.linalg.qr(part, mode="r"))
        correction = np.zeros_like(residual)
        for column, used in enumerate((shares[basis] != 0.0).T):
            last = int(np.flatnonzero(used).max(initial=-1)) + 1  # no column that enters later
            triangle = upper[:last, :last]
            if len(triangle) == last and (np.abs(triangle.diagonal()) > GRAM_NOISE * np.abs(part).max()).all():
                inner = solve_triangular(triangle, residual[:last, column], trans="T")
                correction[:last, column] = solve_triangular(triangle, inner)
        return correction


def _eliminated(triangle: Matrix, noise: float, rows: _Rows, own: set[int]) -> tuple[Positions, Positions, Matrix]:
    """Columns kept, columns that look dependent, and how, in the coordinates z; ``own`` are kept in any case."""
    first, width = int(rows.constant), triangle.shape[1]
    basis = np.zeros((triangle.shape[0], width))
    taken: list[int] = []
    dropped: list[int] = []
    shares: list[Vector] = []
    root = np.sqrt(rows.count)
    for j in range(width):
        vector = triangle[:, j]
        known = basis[:, : len(taken)]
        rest = vector - known @ (known.T @ vector)
        rest = rest - known @ (known.T @ rest)
        length = float(np.linalg.norm(rest))
        if j >= first and j - first not in own and length <= (OWN + noise) * root:
            share = _combination(triangle, taken, j, noise, rows)
            at = np.array([j - first])
            if length <= (float(rows.tolerance(share[:, None], at)[0]) + noise) * root:
                dropped.append(j - first)
                shares.append(share)
                continue
        basis[:, len(taken)] = rest / length if length > 0.0 else 0.0
        taken.append(j)
    keep = np.array([j - first for j in taken if j >= first], dtype=np.int64)
    table = np.column_stack(shares) if shares else np.zeros((width, 0))
    return keep, np.array(dropped, dtype=np.int64), table


def _combination(triangle: Matrix, taken: list[int], j: int, noise: float, rows: _Rows) -> Vector:
    """What the columns taken make of column j; of few of them, where these do as well as all."""
    share = np.zeros(triangle.shape[1])
    if not taken:
        return share
    at = np.array(taken)
    column = triangle[:, j]
    whole = np.linalg.lstsq(triangle[:, at], column, rcond=None)[0]
    share[at] = whole
    error = float(np.linalg.norm(column - triangle[:, at] @ whole))
    root = np.sqrt(rows.count)
    for least in (1e-2, 1e-4, 1e-6):
        few = at[np.abs(whole) > least * np.abs(whole).max()]
        some = np.linalg.lstsq(triangle[:, few], column, rcond=None)[0]
        sparse = np.zeros_like(share)
        sparse[few] = some
        rest = float(np.linalg.norm(column - triangle[:, few] @ some)) - noise * root
        within = 0.1 * float(rows.tolerance(sparse[:, None], np.array([j - rows.constant]))[0]) * root
        if rest <= max(2.0 * error, within):
            return sparse
    return share


def _surveyed(engine: Engine, constant: bool) -> _Rows:
    columns, count = engine.columns_count, 0
    low, high = np.full(columns, np.inf), np.full(columns, -np.inf)
    short, fine = np.ones(columns, dtype=bool), np.zeros(columns, dtype=bool)
    for part in _chunks(engine):
        count += len(part)
        low, high = np.minimum(low, part.min(axis=0)), np.maximum(high, part.max(axis=0))
        with np.errstate(over="ignore"):
            single = part.astype(np.float32)
        short &= (np.abs(part - single) <= WRITTEN * np.abs(part)).all(axis=0)
        # 20 bits or more: one of the last five of a float32's 24 bits is set
        long = (np.ascontiguousarray(single).view(np.uint32) & np.uint32(0x1F)) != 0
        fine |= (long & ((part != np.floor(part)) | (np.abs(part) > 2.0**24))).any(axis=0)
    middle = 0.5 * low + 0.5 * high if constant else np.zeros(columns)
    middle = np.where(low == high, low, middle) if constant else middle
    spread = np.maximum(high - middle, middle - low)
    spread = np.where(spread > 0.0, spread, 1.0)
    roundoff = np.where(short & fine, SHORT_ROUNDOFF, UNIT_ROUNDOFF)
    size = np.maximum(np.abs(low), np.abs(high))
    return _Rows(engine, constant, count, middle, spread, roundoff * size / spread)


def _chunks(engine: Engine) -> Iterator[Matrix]:
    """Rows of positive weight, dense, some at a time."""
    step = max(1, NUMBERS_AT_ONCE // engine.columns_count)
    for block in engine.blocks():
        members = None if block.weights is None else np.flatnonzero(block.weights > 0)
        count = block.rows if members is None else len(members)
        for start in range(0, count, step):
            which = np.arange(start, min(start + step, count))
            part = block.take(which if members is None else members[which])
            yield np.asarray(part.toarray() if engine.sparse else part, dtype=np.float64)
