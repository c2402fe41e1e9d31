"""Exact linear algebra on stored floats: every float64 is the fraction mantissa·2^exponent.

A vector of integers of any length is kept as a sum of float64 *parts* (parts × p), so that
compiled code can multiply it with rows without rounding. A null space is found modulo
primes and put together by the Chinese remainder theorem: what is independent modulo a
prime is independent, and what looks dependent is multiplied out and must be exactly zero.
"""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from separatrix import kernels
from separatrix.core.arrays import AnyArray, Matrix, Positions, Vector
from separatrix.core.errors import OutOfTime

Integers = list[int]

WIDEST = 1000
"""Bits an integer may have to be held as parts with exponents to spare on both sides."""


@dataclass(frozen=True, slots=True)
class NullSpace:
    """The columns of a matrix: ``basis`` are independent, each of ``vectors`` is a dependence.

    vectors[k] belongs to the k-th column outside the basis and has its only other
    entries in basis columns before it. ``rows`` are as many rows as the rank, independent.
    """

    basis: Positions
    rows: Positions
    vectors: list[Integers]

    @property
    def rank(self) -> int:
        """Number of independent columns."""
        return len(self.basis)


def primes() -> Iterator[int]:
    """Primes below 2³¹, the largest first.

    >>> next(primes())
    2147483647
    """
    candidate = 2**31 - 1
    while candidate > 2**30:
        if _is_prime(candidate):
            yield candidate
        candidate -= 2


def _is_prime(odd: int) -> bool:
    """Miller and Rabin's test; these three witnesses decide below 4.7e9 (Jaeschke 1993)."""
    twos = ((odd - 1) & (1 - odd)).bit_length() - 1
    for witness in (2, 7, 61):
        power = pow(witness, (odd - 1) >> twos, odd)
        if power in (1, odd - 1):
            continue
        if not any((power := power * power % odd) == odd - 1 for _ in range(twos - 1)):
            return False
    return True


ELIMINATION = 2e-9
"""Seconds per multiplication modulo a prime, about."""


def independent_part(matrix: Matrix, deadline: float = math.inf) -> tuple[Positions, Positions]:
    """Columns and rows, as many of each, that are independent: they are so modulo a prime. The rank may be higher.

    >>> independent_part(np.array([[1.0, 2.0, 0.5], [1.0, 3.0, 0.5]]))
    (array([0, 1]), array([0, 1]))
    """
    rows, basis, _ = _eliminated(np.ascontiguousarray(matrix, dtype=np.float64), next(primes()), deadline)
    return np.array(basis, dtype=np.int64), np.array(rows, dtype=np.int64)


def _eliminated(matrix: Matrix, prime: int, deadline: float) -> tuple[tuple[int, ...], tuple[int, ...], Positions]:
    """Elimination modulo a prime, begun only if there is time for it: it does not stop half-way."""
    m, p = matrix.shape
    if time.monotonic() + ELIMINATION * m * p * min(m, p) > deadline:
        raise OutOfTime
    return kernels.eliminate(matrix, prime)


def null_space(matrix: Matrix, deadline: float = math.inf) -> NullSpace:
    """Basis columns, tried from left to right, and the integer dependences of all others; OutOfTime past the deadline.

    >>> found = null_space(np.array([[1.0, 2.0, 0.5], [1.0, 3.0, 0.5]]))
    >>> found.basis, found.vectors
    (array([0, 1]), [[-1, 0, 2]])
    """
    matrix = np.ascontiguousarray(matrix, dtype=np.float64)
    best: tuple[tuple[int, ...], list[int]] | None = None
    modulus, used, wanted = 1, 0, 1
    residues: list[int] = []
    columns = matrix.shape[1]
    for prime in primes():
        rows, basis, reduced = _eliminated(matrix, prime, deadline)
        if best is None or (-len(basis), basis) < (-len(best[0]), best[0]):
            # an unlucky prime has fewer or later pivots: begin again
            best, modulus, residues, used, wanted = (basis, list(rows)), 1, [], 0, 1
        elif basis != best[0]:
            continue
        others = np.setdiff1d(np.arange(columns), basis)
        entries = [int(value) for value in reduced[:, others].T.ravel()]
        residues = entries if modulus == 1 else _combine(residues, modulus, entries, prime)
        modulus, used = modulus * prime, used + 1
        if used < wanted:
            continue
        wanted = 2 * used
        vectors = _reconstruct(residues, modulus, np.array(basis, dtype=np.int64), others, columns, deadline)
        if vectors is not None and _all_orthogonal(matrix, vectors, deadline):
            return NullSpace(np.array(basis, dtype=np.int64), np.array(best[1], dtype=np.int64), vectors)
    raise ArithmeticError("the primes below 2**31 ran out")  # 5e7 of them: never met


def _combine(known: list[int], modulus: int, entries: list[int], prime: int) -> list[int]:
    inverse = pow(modulus, -1, prime)
    return [a + modulus * ((b - a) * inverse % prime) for a, b in zip(known, entries, strict=True)]


def _reconstruct(
    residues: list[int], modulus: int, basis: Positions, others: Positions, columns: int, deadline: float
) -> list[Integers] | None:
    """Integer vectors whose fractions have the given residues, or None if the modulus is too small."""
    vectors = []
    limit = math.isqrt(modulus // 2)
    rank = len(basis)
    for k, other in enumerate(others):
        if time.monotonic() > deadline:
            raise OutOfTime
        denominator = 1
        entries: list[int] = []
        for residue in residues[k * rank : (k + 1) * rank]:
            # most entries share the denominator met so far
            numerator = residue * denominator % modulus
            if min(numerator, modulus - numerator) > limit:
                fraction = _fraction(numerator, modulus, limit)
                if fraction is None:
                    return None
                numerator, factor = fraction
                entries = [entry * factor for entry in entries]
                denominator *= factor
            elif numerator > limit:
                numerator -= modulus
            entries.append(numerator)
        vector = [0] * columns
        vector[int(other)] = denominator
        for place, entry in zip(basis, entries, strict=True):
            vector[int(place)] = -entry
        divisor = math.gcd(*vector)
        vectors.append([entry // divisor for entry in vector])
    return vectors


def _fraction(residue: int, modulus: int, limit: int) -> tuple[int, int] | None:
    """The fraction a/b ≡ residue with |a|, b ≤ limit, by Euclid's algorithm (Wang 1981)."""
    before, now, factor_before, factor = modulus, residue, 0, 1
    while now > limit:
        quotient = before // now
        before, now = now, before - quotient * now
        factor_before, factor = factor, factor_before - quotient * factor
    if factor == 0 or abs(factor) > limit:
        return None
    return (now, factor) if factor > 0 else (-now, -factor)


def _all_orthogonal(matrix: Matrix, vectors: list[Integers], deadline: float) -> bool:
    small = [vector for vector in vectors if max(abs(entry) for entry in vector) < 2**53]
    if small:
        parts = np.array(small, dtype=np.float64)[:, None]
        if kernels.exact_products(kernels.dense_rows(matrix), np.arange(len(matrix)), parts, False).any():
            return False
    for vector in vectors:
        if time.monotonic() > deadline:
            raise OutOfTime
        if max(abs(entry) for entry in vector) >= 2**53 and any(integer_products(matrix, vector)):
            return False
    return True


def many_products(matrix: Matrix, vectors: Sequence[Integers]) -> Matrix:
    """Every row of a matrix times integer vectors (rows × vectors), each rounded once and never to zero.

    >>> many_products(np.array([[0.5, 1.0]]), [[2, 1], [2**80, -(2**79)]])
    array([[2., 0.]])
    """
    parts = [parts_of(vector) for vector in vectors]
    out = np.empty((len(matrix), len(vectors)))
    rows, every = kernels.dense_rows(np.ascontiguousarray(matrix)), np.arange(len(matrix))
    for length in {0 if part is None else len(part) for part in parts}:
        mine = [k for k, part in enumerate(parts) if (0 if part is None else len(part)) == length]
        if length:
            held = np.stack([part for part in (parts[k] for k in mine) if part is not None])
            out[:, mine] = kernels.exact_products(rows, every, held, False)
        else:
            for k in mine:
                out[:, k] = [nearest_float(value) for value in integer_products(matrix, vectors[k])]
    return out


def integer_products(matrix: Matrix, vector: Integers) -> list[Fraction] | list[float]:
    """Every row of a matrix times an integer vector: exact zeros are zero, signs are exact."""
    parts = parts_of(vector)
    if parts is not None:
        every = np.arange(len(matrix))
        return list(kernels.exact_products(kernels.dense_rows(matrix), every, parts[None], False)[:, 0])
    used = [j for j, entry in enumerate(vector) if entry]
    return [sum((Fraction(float(row[j])) * vector[j] for j in used), Fraction(0)) for row in matrix]


def nearest_float(value: Fraction | float) -> float:
    """The nearest float64, but never zero for what is not: its sign is exact; ±inf where it overflows.

    >>> nearest_float(Fraction(-1, 10**400)), nearest_float(Fraction(10**400))
    (-5e-324, inf)
    """
    try:
        near = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    return math.copysign(math.ulp(0.0), value) if near == 0.0 and value else near


def parts_of(vector: Sequence[int]) -> Matrix | None:
    """An integer vector as a sum of float64 vectors (parts × p); None when entries are too long.

    >>> parts_of([1, 2**60 + 1]).tolist()
    [[1.0, 1.152921504606847e+18], [0.0, 1.0]]
    """
    if max((abs(entry).bit_length() for entry in vector), default=0) > WIDEST:
        return None
    parts: list[list[float]] = []
    rest = list(vector)
    while not parts or any(rest):
        part = [float(entry) for entry in rest]
        parts.append(part)
        rest = [entry - int(value) for entry, value in zip(rest, part, strict=True)]
    return np.array(parts)


def scaled_integers(vector: Vector, bits: int) -> Integers:
    """A float vector times a power of two, rounded to integers of at most ``bits`` bits.

    >>> scaled_integers(np.array([0.5, -0.24]), 3)
    [4, -2]
    """
    largest = float(np.abs(vector).max(initial=0.0))
    exponent = 0 if largest == 0.0 else bits - 1 - math.floor(math.log2(largest))
    return [round(math.ldexp(float(value), exponent)) for value in vector]


def powers_of_two(sizes: AnyArray) -> Vector:
    """For each size the power of two that brings it into [1/2, 1); 1 where the size is zero.

    >>> powers_of_two(np.array([3.0, 0.0, 0.3]))
    array([0.25, 1.  , 2.  ])
    """
    exponents = np.frexp(np.where(sizes > 0, sizes, 0.5))[1]
    return np.asarray(np.ldexp(1.0, -np.clip(exponents, -1000, 1000)))


def rounded(vector: Sequence[int]) -> Vector:
    """An integer vector as floats, divided by the power of two that brings its largest entry below 1.

    >>> rounded([3, -8])
    array([ 0.1875, -0.5   ])
    """
    length = max((abs(entry).bit_length() for entry in vector), default=0)
    if length <= WIDEST:
        return np.ldexp(np.array(vector, dtype=np.float64), -length)
    return np.array([float(Fraction(entry, 2**length)) for entry in vector])


def combination(vectors: Sequence[Sequence[int]], factors: Sequence[int]) -> Integers:
    """Σ factorₖ·vectorₖ, divided by the greatest common divisor of its entries.

    >>> combination([[1, 0], [1, 2]], [3, 1])
    [2, 1]
    """
    total = [0] * len(vectors[0])
    for factor, vector in zip(factors, vectors, strict=True):
        if factor:
            for k, entry in enumerate(vector):
                if entry:
                    total[k] += factor * entry
    divisor = math.gcd(*total) or 1
    return [entry // divisor for entry in total]
