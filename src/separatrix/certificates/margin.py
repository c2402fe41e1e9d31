"""The largest margin, bracketed from both sides.

A hyperplane (w, b) with all rows on their side has the margin γ = min sᵢ(⟨w, xᵢ⟩ + b)/‖w‖, and no
hyperplane has a larger one than half the distance of any two points of the classes'
convex hulls, ½‖Σ αᵢxᵢ − Σ αⱼxⱼ‖ with α ≥ 0 adding up to one in each class. Without a constant, the length
of any point Σ αᵢsᵢxᵢ of the hull of the signed rows bounds it. The two meet at the largest margin.
"""

import math
import time
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from separatrix.core.arrays import UNIT_ROUNDOFF, Matrix, Positions, Vector
from separatrix.core.certificate import Claim, stated_array, stated_number
from separatrix.core.errors import CertificateError, refuse
from separatrix.core.protocols import SignedRows
from separatrix.exact.arithmetic import powers_of_two

STEPS = tuple(10.0**k for k in range(-12, 13))
"""The width of the bracket, as a share of the margin, is rounded up to one of these: sums in another order must not
change what is stated."""


def stated_share(low: float, high: float) -> float:
    """The first step that is some way above (high − low)/low."""
    share = max(high - low, 0.0) / low if low > 0.0 else math.inf
    return next((step for step in STEPS if 2.0 * (share + 1e-13) <= step), math.inf)


@dataclass(frozen=True, eq=False)
class MarginCertificate(Claim):
    """No hyperplane has a margin above ``margin + bound``; ``direction`` reaches ``margin``.

    ``support`` are the rows that lie on the edge of the corridor and carry it, with the
    ``multipliers`` α of the two hull points, which add up to one in each class (without a constant: in all). The
    largest weight of ``direction`` is between ½ and 1.
    """

    KINDS: ClassVar[tuple[str, ...]] = ("margin",)

    margin: float
    bound: float
    direction: Vector = field(repr=False)
    support: Positions = field(repr=False)
    multipliers: Vector = field(repr=False)
    problem: Any = field(repr=False)
    kind: str = "margin"

    @property
    def met(self) -> bool:
        """Whether the bracket is narrower than 1e-8 of the margin."""
        return bool(self.bound <= 1e-8 * self.margin)

    def __str__(self) -> str:
        return (
            f"The largest margin is {self.margin:.6g}, to within {self.bound:.1e}; "
            f"{len(self.support)} rows lie on its edge."
        )

    def _rederive(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Recompute both sides of the bracket from the data."""
        rows = self.problem.signed_rows(X, y, sample_weight)
        direction = stated_array(self.direction, "weights", (rows.width,))
        support = stated_array(self.support, "rows in support", (len(self.support),), "i")
        if not len(support) or support[0] < 0 or support[-1] >= rows.count or (np.diff(support) <= 0).any():
            raise CertificateError("The rows in support do not ascend, or are not in the data.")
        multipliers = stated_array(self.multipliers, "multipliers", (len(support),))
        if rows.per_row > 1 or not 0.5 <= np.abs(direction[rows.is_weight]).max() < 1.0:
            raise CertificateError("There is no corridor, or its direction is not in its form.")
        taken = rows.take(support)
        low, high = reached(rows, direction), hull_bound(taken, multipliers, rows.is_weight)
        margin, bound = stated_number(self.margin, "margin", 0.0), stated_number(self.bound, "bound", 0.0)
        if not abs(low - margin) <= 1e-12 * low:
            raise CertificateError(f"The direction reaches a margin of {low:.17g}, not {margin:.17g} as claimed.")
        if not np.allclose(multipliers, shares(taken, multipliers, rows.is_weight), rtol=1e-12, atol=0.0):
            raise CertificateError(
                "The multipliers do not add up to one in each class.\n\nHint: were rows, labels or weights changed?"
            )
        for nearby in (high, low + 0.5 * (high - low), low + 2.0 * (high - low)):
            if math.isclose(bound, stated_share(low, nearby) * margin, rel_tol=1e-9) and high <= margin + bound:
                return
        raise CertificateError(f"From the rows in support {high:.17g} follows, not a bound of {bound:.3g} above.")


MOST_ROUNDS = 60


def largest_margin(rows: SignedRows, start: Vector, problem: Any, deadline: float = math.inf) -> MarginCertificate:
    """Widen the corridor of a separating direction until both sides of the bracket meet, or time is over."""
    if not start[rows.is_weight].any():
        refuse("Only one class is there.", "a margin lies between two classes.")
    if rows.per_row > 1:
        refuse("A largest margin is between two classes.", "ask verdict.pairs or verdict.against_rest.")
    margins = rows.bracket(start)[0]
    # the closest rows may all be of one class; the sample has both
    known = np.union1d(np.argsort(margins, kind="stable")[: 3 * rows.width + 20], rows.sample(10))
    best: MarginCertificate | None = None
    least = math.inf
    for _ in range(MOST_ROUNDS):
        if best is not None and time.monotonic() > deadline:
            break
        taken = rows.take(known)
        direction, multipliers = rows.widest(taken)
        carrying = np.flatnonzero(multipliers > 0.0)
        if not len(carrying) or not (np.isfinite(direction).all() and direction[rows.is_weight].any()):
            break
        direction = direction * powers_of_two(np.abs(direction[rows.is_weight]).max(keepdims=True))
        alpha = shares(taken[carrying], multipliers[carrying], rows.is_weight)
        high = hull_bound(taken[carrying], alpha, rows.is_weight)
        low = reached(rows, direction)
        if best is None or low > best.margin:
            best, least = MarginCertificate(low, 0.0, direction, known[carrying], alpha, problem), high
        elif high < least:
            best, least = replace(best, support=known[carrying], multipliers=alpha), high
        if least - best.margin <= 1e-12 * best.margin:
            break
        margins = rows.bracket(direction)[0] / float(np.linalg.norm(direction[rows.is_weight]))
        close = np.flatnonzero(margins < high * (1.0 - 1e-12))
        new = np.setdiff1d(close[np.argsort(margins[close], kind="stable")[: rows.width + 20]], known)
        if not len(new):
            break
        # rows that carry nothing and are far away may go
        stay = (multipliers > 0.0) | (taken @ direction < 3.0 * (taken @ direction).min())
        known = np.union1d(known[stay], new)
    if best is None or not best.margin > 0.0:
        raise CertificateError("No corridor wider than rounding was found.")
    return replace(best, bound=stated_share(best.margin, least) * best.margin)


def reached(rows: SignedRows, direction: Vector) -> float:
    """The smallest margin over all rows, rounding taken off."""
    # The largest weight about one, so that no square that matters underflows; the constant must not overflow.
    direction = direction * powers_of_two(np.abs(direction[rows.is_weight]).max(keepdims=True))
    margins, sizes = rows.bracket(direction)
    if not np.isfinite(sizes).all():
        return -math.inf
    error = (rows.width + 3) * UNIT_ROUNDOFF * sizes + rows.width * math.ulp(0.0)
    length = float(np.linalg.norm(direction[rows.is_weight]))
    return float((margins - error).min()) / (length * (1.0 + 1e-14))


def shares(support: Matrix, multipliers: Vector, is_weight: Any) -> Vector:
    """The multipliers divided by their sum, in each class where there is a constant."""
    if len(multipliers) != len(support) or not (np.isfinite(multipliers).all() and (multipliers >= 0.0).all()):
        raise CertificateError("The multipliers are negative, or not one per row in support.")
    # powers of two: no sum overflows
    multipliers = multipliers * powers_of_two(multipliers.max(initial=0.0, keepdims=True))
    if is_weight.all():
        return np.asarray(multipliers / multipliers.sum())
    signs = support[:, ~is_weight][:, 0]
    if not ((signs > 0) @ multipliers > 0 and (signs < 0) @ multipliers > 0):
        raise CertificateError("The rows in support belong to one class.")
    above, below = multipliers[signs > 0].sum(), multipliers[signs < 0].sum()
    return np.asarray(np.where(signs > 0, multipliers / above, multipliers / below), dtype=np.float64)


def hull_bound(support: Matrix, multipliers: Vector, is_weight: Any) -> float:
    """Half the distance of the two hull points, or the length of the one; rounding added."""
    alpha = shares(support, multipliers, is_weight)
    values = support[:, is_weight]
    # powers of two: no square that matters underflows
    scale = powers_of_two(np.abs(values).max(initial=0.0, keepdims=True).ravel())[0]
    values = values * scale
    point = alpha @ values
    # as many roundings again in the sum that the shares were divided by
    slack = (2 * len(values) + 6) * UNIT_ROUNDOFF * float(np.linalg.norm(alpha @ np.abs(values)))
    length = float(np.linalg.norm(point)) * (1.0 + 1e-14) + slack + values.size * math.ulp(0.0)
    return float((1.0 if is_weight.all() else 0.5) * length / float(scale)) + math.ulp(0.0)
