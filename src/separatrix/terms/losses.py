"""What a loss over linear scores adds up to, for one score per row or one per class."""

from dataclasses import dataclass

from separatrix.core.arrays import Matrix, Vector


@dataclass(frozen=True, slots=True)
class Ranges:
    """The least and the greatest value of each column, and the largest squared row length."""

    low: Vector
    high: Vector
    longest: float

    @classmethod
    def of(cls, maxima: Vector) -> "Ranges":
        """From the maxima of x, of −x, and of the squared lengths."""
        columns = (len(maxima) - 1) // 2
        return cls(-maxima[columns:-1], maxima[:columns], float(maxima[-1]))


@dataclass(frozen=True, slots=True)
class LossTotal:
    """Sums at one point; q = outputs × p coefficients, the last three where asked for.

    ``scores_curvature`` (outputs × outputs) is the loss's second derivative in the
    scores, added up; ``slope_size`` the sizes of its first. ``blocks`` are the Hessian's of one class each (outputs × p
    × p), or their sum (1 × p × p), ``weighted_rows`` (outputs × p) the rows added up with their curvatures.
    """

    loss: float
    weight: float
    mistakes: float
    slope_size: float
    scores_curvature: Matrix
    gradient: Vector
    diagonal: Vector | None
    hessian: Matrix | None
    ranges: Ranges | None
    blocks: Matrix | None = None
    weighted_rows: Matrix | None = None
