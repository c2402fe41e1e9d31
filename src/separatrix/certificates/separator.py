r"""A separator, and the most mistakes a perceptron can make before it finds one.

**Claim.** Every row, with its constant 1 appended where there is an intercept, has s⟨w*, x⟩ ≥ γ > 0, and ‖x‖ ≤ R.

**Bound** (Novikoff 1962, for a start w₀, a rate η and a margin β ≥ 0). Let u = w*/‖w*‖ and γ′ = γ/‖w*‖. A mistake has
s⟨w, x⟩ ≤ β and adds ηsx, so after k of them

    ⟨w, u⟩ ≥ ⟨w₀, u⟩ + kηγ′,        ‖w‖² ≤ ‖w₀‖² + k(η²R² + 2ηβ),

and because ⟨w, u⟩ ≤ ‖w‖, k is at most the larger root of (ηγ′k + ⟨w₀, u⟩)² = ‖w₀‖² + k(η²R² + 2ηβ). For w₀ = 0 and
β = 0 that is R²‖w*‖²/γ², whatever η. Any separator gives a bound, the one of largest γ′ the best. It is a bound for
the sample rule with constant η, unit weights and no penalty; other variants have none here.

**Rounding.** A score of p terms is off by at most (p+8)u‖x‖‖w‖, u = 2⁻⁵³. Rows whose computed score does not clear
this are decided in exact rational arithmetic. The perceptron itself runs in floats: a computed mistake has
s⟨w, x⟩ ≤ β + (p+8)uR‖w‖, and an update is off by at most 2u‖w‖ + 2uηR. With W ≥ ‖w‖ throughout, each step's share of
⟨w, u⟩ falls by ε = 4u(W + ηR) and each step's share of ‖w‖² grows by 2η(p+8)uRW + 2Wε + ε². The bound is computed with
these terms and a W that it implies itself: if the bound k(W) allows no w longer than W, induction over the steps
closes.
"""

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from separatrix.core.arrays import UNIT_ROUNDOFF, Positions, Vector
from separatrix.core.certificate import Claim, stated_array, stated_number
from separatrix.core.errors import CertificateError

MOST_EXACT = 2000
"""Rows that are decided in rational arithmetic, at most."""


class SignedRows(Protocol):
    """Labelled rows stated again from data, a sign for each."""

    @property
    def width(self) -> int:
        """Columns, with the constant."""

    def stretches(self, direction: Vector) -> Iterator[tuple[int, Vector, Vector]]:
        """Some rows after others: the number of the first, s⟨direction, x⟩ in floats, and ‖x‖ rounded up."""

    def exact(self, row: int, direction: Vector) -> Fraction:
        """s⟨direction, x⟩ of one row, exactly."""

    def exact_square(self, row: int) -> Fraction:
        """‖x‖² of one row, exactly."""


class Separation(Protocol):
    """Which class is against which, without the data."""

    def restate(self, X: Any, y: Any, sample_weight: Any) -> SignedRows:
        """The rows of positive weight with their signs."""

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""


@dataclass(frozen=True, slots=True)
class Clearance:
    """γ, the least signed score, and R, the longest row, on the safe side; where γ is not positive R is left open.

    ``claim`` is what a fit states of γ, so far below it that scores added up in another order prove it too; such a
    claim is ``least`` or more. Where γ was found exactly all three are the same.
    """

    gamma: float
    R: float
    claim: float
    least: float

    @classmethod
    def exactly(cls, gamma: float, R: float) -> "Clearance":
        """Where no rounding is left in γ."""
        return cls(gamma, R, gamma, gamma)


@dataclass(slots=True)
class _Nearest:
    """The rows that may have the least of some numbers: those not above a ceiling that only falls, while few are."""

    ceiling: float = math.inf
    rows: list[Positions] = field(default_factory=list)
    lower: list[Vector] = field(default_factory=list)

    def see(self, first: int, lower: Vector, upper: float) -> None:
        """Numbers of rows from ``first`` on, none below ``lower``, the least of them not above ``upper``."""
        self.ceiling = min(self.ceiling, upper)
        near = np.flatnonzero(lower <= self.ceiling)
        self.rows.append(first + near)
        self.lower.append(lower[near])
        if sum(map(len, self.rows)) > 2 * MOST_EXACT:
            self.settle()

    def settle(self) -> Positions:
        """What is left of them now; of too many it keeps enough to tell that they are."""
        rows, lower = np.concatenate(self.rows), np.concatenate(self.lower)
        near = np.flatnonzero(lower <= self.ceiling)
        near = near[np.argsort(lower[near], kind="stable")[: MOST_EXACT + 1]]
        self.rows, self.lower = [rows[near]], [lower[near]]
        return self.rows[0]


def clearance(rows: SignedRows, direction: Vector) -> Clearance:
    """How far all rows are on their right side of a direction; the least score exactly, if few rows come near it."""
    size = _length_above(direction)
    least, shortest, longest = np.full(4, math.inf), _Nearest(), _Nearest()
    for first, scores, lengths in rows.stretches(direction):
        slack = (len(direction) + 16) * UNIT_ROUNDOFF * size * lengths + 1e-290
        # two scores of a row differ by twice its slack at most
        seen = (scores, scores - slack, scores - 3.0 * slack, scores - 5.0 * slack)
        least = np.minimum(least, [each.min() for each in seen])  # NaN prevails
        # where products overflow nothing is known of a score
        upper = float(np.nan_to_num(scores + slack, nan=math.inf, posinf=math.inf, neginf=-math.inf).min())
        if upper <= 0.0:  # a row that is on the wrong side for certain
            return Clearance.exactly(min(float(scores.min()), 0.0), math.inf)
        lower = np.nan_to_num(scores - slack, nan=-math.inf, posinf=math.inf, neginf=-math.inf)
        shortest.see(first, lower, upper)
        longest.see(first, -lengths, -float(lengths.max()) * (1.0 - 1e-9))
    near, long = shortest.settle(), longest.settle()
    most = -min(float(each.min()) for each in longest.lower)
    R = most
    if len(long) <= MOST_EXACT:
        R = _root_above(max(rows.exact_square(int(row)) for row in long))
    if len(near) <= MOST_EXACT:
        return Clearance.exactly(min(_below(rows.exact(int(row), direction)) for row in near), R)
    return Clearance(float(least[1]), R, float(least[2]), float(least[3]))


def _root_above(square: Fraction) -> float:
    """The least float whose square is not below a rational.

    >>> _root_above(Fraction(9)), _root_above(Fraction(2)) ** 2 >= 2
    (3.0, True)
    """
    # the integer root of square·4ᵏ has 60 bits or more
    bits = 64 - (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    whole = math.isqrt((square.numerator << max(0, 2 * bits)) // (square.denominator << max(0, -2 * bits)))
    root = float(Fraction(whole, 1) / Fraction(2) ** bits)
    while Fraction(root) ** 2 < square:
        root = math.nextafter(root, math.inf)
    while root > 0.0 and Fraction(math.nextafter(root, 0.0)) ** 2 >= square:
        root = math.nextafter(root, 0.0)
    return root


def _length_above(vector: Vector) -> float:
    """‖v‖, not smaller than the true one."""
    largest = float(np.abs(vector).max(initial=0.0))
    if largest == 0.0:
        return 0.0
    return largest * float(np.linalg.norm(vector / largest)) * (1.0 + (len(vector) + 8) * 2 * UNIT_ROUNDOFF)


def _below(exact: Fraction) -> float:
    """The largest float that is not above a rational.

    >>> _below(Fraction(1, 3)) < Fraction(1, 3), _below(Fraction(10) ** 400) == sys.float_info.max
    (True, True)
    """
    try:
        nearest = float(exact)
    except OverflowError:
        return sys.float_info.max if exact > 0 else -math.inf
    return nearest if Fraction(nearest) <= exact else math.nextafter(nearest, -math.inf)


def mistake_bound(start: Vector, direction: Vector, gamma: float, R: float, rate: float, margin: float) -> float:
    """The most mistakes from ``start``, by the separator ``direction``; infinite if rounding forbids a claim.

    >>> w = np.array([1.0, 0.0])
    >>> mistake_bound(np.zeros(2), w, 0.5, 1.0, 1.0, 0.0)
    4.0
    """
    if not gamma > 0.0:
        return math.inf
    unit = direction / np.abs(direction).max()
    size = _length_above(direction)
    unit = unit / np.linalg.norm(unit)
    ahead = float(start @ unit) - 4 * (len(start) + 4) * UNIT_ROUNDOFF * _length_above(start)
    first = _length_above(start)
    longest = first + rate * R
    for _ in range(60):
        stray = 4 * UNIT_ROUNDOFF * (longest + rate * R)
        gain = rate * (gamma / size) * (1 - 1e-13) - stray
        growth = rate * rate * R * R + 2 * rate * margin
        growth += 2 * rate * (len(start) + 8) * UNIT_ROUNDOFF * R * longest + 2 * longest * stray + stray * stray
        growth *= 1 + 1e-13
        if not gain > 0.0 or not math.isfinite(growth):
            return math.inf
        most = _larger_root(gain, ahead, first * first, growth)
        reached = math.sqrt(first * first + (most + 1.0) * growth)
        if reached <= longest:
            return float(math.floor(most))
        longest = reached * (1 + 1e-6)
    return math.inf


def _larger_root(gain: float, ahead: float, square: float, growth: float) -> float:
    """The largest k with gain·k + ahead ≤ √(square + k·growth), rounded up."""
    half = growth / 2 - gain * ahead
    inside = half * half + gain * gain * max(square - ahead * ahead, 0.0)
    root = (
        (half + math.sqrt(inside)) / (gain * gain) if half >= 0 else _other_root(half, inside, square - ahead * ahead)
    )
    return max(root, 0.0) * (1 + 1e-12)


def _other_root(half: float, inside: float, rest: float) -> float:
    """The same root without cancellation, for half < 0."""
    below = math.sqrt(inside) - half
    return max(rest, 0.0) / below if below > 0 else 0.0


@dataclass(frozen=True, eq=False)
class SeparatorCertificate(Claim):
    """s⟨w*, x⟩ ≥ ``gamma`` > 0 for every row, ‖x‖ ≤ ``R``; where the theorem applies, at most ``bound`` mistakes.

    ``direction`` is w*, the constant's weight last. Of the run it only tells, and data cannot prove: ``mistakes``, how
    many were made, from the weights ``start``, at the ``rate`` η and the ``margin`` β. The bound follows from these.
    It is infinite for variants without a theorem (``rate`` None): they claim the separator alone.
    """

    KINDS: ClassVar[tuple[str, ...]] = ("separator",)
    QUESTION: ClassVar[str] = "separation"
    TOLD: ClassVar[tuple[str, ...]] = ("mistakes", "start", "rate", "margin")

    mistakes: int
    R: float
    gamma: float
    bound: float
    direction: Vector = field(repr=False)
    start: Vector = field(repr=False)
    separation: Separation = field(repr=False)
    rate: float | None = None
    margin: float = 0.0
    kind: str = "separator"

    @classmethod
    def of(
        cls,
        rows: SignedRows,
        separation: Separation,
        direction: Vector,
        mistakes: int,
        start: Vector,
        rate: float | None,
        margin: float,
    ) -> Self | None:
        """The certificate, or None if some row is not on its right side."""
        clear = clearance(rows, direction)
        if not clear.claim > 0.0:
            return None
        bound = math.inf if rate is None else mistake_bound(start, direction, clear.claim, clear.R, rate, margin)
        return cls(mistakes, clear.R, clear.claim, bound, direction, start, separation, rate, margin)

    @property
    def met(self) -> bool:
        """Whether the data are separated, by no more mistakes than the bound allows."""
        return bool(self.gamma > 0.0 and self.mistakes <= self.bound)

    @property
    def geometric_margin(self) -> float:
        """γ/‖w*‖ with the constant's weight counted in ‖w*‖: the angle's share of the margin in the bound."""
        return self.gamma / _length_above(self.direction)

    def __str__(self) -> str:
        text = (
            f"Every row is on its right side, by at least {self.gamma:.6g}; {self.mistakes} mistakes led there, as told"
        )
        if math.isfinite(self.bound):
            return f"{text}, and there can be at most {self.bound:.0f}."
        if self.rate is None:
            return f"{text}, and no theorem bounds them for this variant."
        return f"{text}, and rounding leaves no bound on them: the margin is too small beside the longest row."

    def by(self, direction: Any, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """The same mistakes bounded by another separator, for example the one of largest margin."""
        other = np.asarray(direction, dtype=np.float64).ravel()
        if other.shape != self.direction.shape or not np.isfinite(other).all():
            raise CertificateError(
                f"The direction must hold {len(self.direction)} finite numbers, the constant's last."
            )
        rows = self.separation.restate(X, y, sample_weight)
        made = type(self).of(rows, self.separation, other, self.mistakes, self.start, self.rate, self.margin)
        if made is None:
            raise CertificateError("The direction does not separate this data.")
        return made

    def _rederive(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Compute γ, R and the bound from the data again."""
        rows = self.separation.restate(X, y, sample_weight)
        direction = stated_array(self.direction, "weights", (rows.width,))
        start = stated_array(self.start, "weights at the start", (rows.width,))
        clear = clearance(rows, direction)
        if not clear.gamma > 0.0:
            raise CertificateError("The direction does not separate this data.\n\nHint: was it fitted to other rows?")
        gamma, longest = stated_number(self.gamma, "gamma", 0.0), stated_number(self.R, "R", 0.0)
        if not (clear.least <= gamma * (1 + 1e-12) and gamma <= clear.gamma * (1 + 1e-12)) or not gamma > 0.0:
            raise CertificateError(f"The least signed score is {clear.gamma:.9g}, not {gamma:.9g} as claimed.")
        if not abs(clear.R - longest) <= 1e-12 * longest:
            raise CertificateError(f"The longest row is {clear.R:.9g}, not {longest:.9g} as claimed.")
        stated, margin = (
            stated_number(self.bound, "bound", 0.0, infinite=True),
            stated_number(self.margin, "margin", 0.0),
        )
        bound = least = math.inf
        if self.rate is not None:
            rate = stated_number(self.rate, "rate", math.ulp(0.0))
            # a whole number, on either side of which rounding may fall
            least, bound = (mistake_bound(start, direction, g, clear.R, rate, margin)
                            for g in (gamma * (1 + 1e-12), gamma * (1 - 1e-12)))  # fmt: skip
        if not least <= stated <= bound:
            raise CertificateError(f"From this data a bound of {bound:.9g} follows, not {stated:.9g} as claimed.")
        mistakes = stated_number(self.mistakes, "mistakes", 0.0)
        if not (mistakes <= bound and mistakes == int(mistakes)):
            raise CertificateError(f"{self.mistakes} mistakes were claimed; there can be at most {bound:.9g}.")


@dataclass(frozen=True, eq=False)
class UnprovedCertificate(Claim):
    """Nothing is claimed: neither a separator nor that there is none. ``reason`` says how learning ended."""

    KINDS: ClassVar[tuple[str, ...]] = ("unproved",)
    TOLD: ClassVar[tuple[str, ...]] = ("reason", "mistakes", "separable")

    reason: str
    mistakes: int
    separable: bool | None = None
    bound: float = math.inf
    kind: str = "unproved"

    @property
    def met(self) -> bool:
        """False: there is no claim."""
        return False

    def __str__(self) -> str:
        text = f"Nothing is proved about these weights ({self.reason}); {self.mistakes} mistakes were made, as told."
        return text + (" A separator does exist." if self.separable else "")

    def _rederive(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Always raises: there is nothing to verify."""
        raise CertificateError(f"The certificate claims nothing: {self.reason}.")
