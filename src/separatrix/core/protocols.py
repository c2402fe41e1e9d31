"""What the rooms expect of each other, so that none has to import another."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Never, Protocol, runtime_checkable

from separatrix.core.arrays import AnyArray, Codes, Matrix, Positions, Vector, Visits
from separatrix.core.sweeping import Sketch, SweepState
from separatrix.core.total import Total


class Term(Protocol):
    """What is added up over the rows: names its kernel and reads the total it gets back."""

    @property
    def kernel(self) -> str:
        """The kernel's name in the table of ``kernels``."""

    def options(self) -> Mapping[str, Any]:
        """Arguments of the kernel beyond rows, labels and points."""

    def width(self, columns: int) -> int:
        """Numbers in one total of data with so many columns."""

    def work(self, entries_per_row: float, columns: int) -> float:
        """Multiply-adds per row, to cut the rows by."""

    def read(self, total: Total) -> Any:
        """Give the numbers of a total their names."""


class Rule(Protocol):
    """An ordered pass: names the kernel that lets one row after the other change the state."""

    @property
    def kernel(self) -> str:
        """The kernel's name in the table of ``kernels``."""

    @property
    def batch(self) -> int:
        """Rows that must not be parted: the pass is cut at multiples of this."""

    def options(self) -> Mapping[str, Any]:
        """Arguments of the kernel beyond rows, labels, state and order."""

    def rates(self, first: int, count: int) -> Vector | None:
        """Step sizes of the visits (or batches) first, first + 1, …, counted from 1; None if they never change."""


class Rowwise(Protocol):
    """One output per row: the name of its kernel and how many numbers a row gives."""

    @property
    def kernel(self) -> str:
        """The kernel's name in the table of ``kernels``."""

    def options(self) -> Mapping[str, Any]:
        """Arguments of the kernel beyond rows and points."""

    def outputs(self, points: int) -> int:
        """Numbers per row."""


@runtime_checkable
class Engine(Protocol):
    """Rows, labels and weights, wherever they live: totals, ordered passes, numbers per row, parts."""

    @property
    def rows(self) -> int:
        """Number of rows."""

    @property
    def columns_count(self) -> int:
        """Number of columns."""

    @property
    def entries_per_row(self) -> float:
        """Stored numbers per row, on average."""

    @property
    def sparse(self) -> bool:
        """Whether zeros are left out."""

    @property
    def codes(self) -> Codes:
        """Class of each row, 0 … K−1."""

    @property
    def weights(self) -> Vector | None:
        """Weight of each row; None when all are one."""

    @property
    def weight(self) -> float:
        """Sum of the weights."""

    @property
    def smallest_weight(self) -> float:
        """The smallest weight that is not zero."""

    @property
    def copies(self) -> list[str]:
        """What had to be copied."""

    def total(self, term: Term, at: Matrix, folds: Codes | None = None) -> Any:
        """Add ``term`` over all rows at one point or several."""

    def sweep(
        self, rule: Rule, state: SweepState, order: Visits | None = None, first: int = 0, last: int | None = None
    ) -> SweepState:
        """Visit rows in order, changing the state in place."""

    def refer(self, rule: Rule, state: SweepState) -> None:
        """Take the state's point as its reference, from which rows are known to have some leeway."""

    def quick_start(self, begin: Vector, shift: Vector | None, strength: float, work: float, way: Any) -> Any:
        """The first passes of a penalised logistic fit of two classes, all in one call."""

    def on_columns(self, constant: bool, weight: float, ridge: float) -> Any:
        """The logistic loss of two classes on columns that are packed as they are chosen."""

    def sketch(self) -> Sketch | None:
        """The rows in a byte per number, for quick looks; None unless they are few and dense."""

    def map(self, rowwise: Rowwise, at: Matrix) -> Matrix:
        """One output per row."""

    def parts(self) -> Iterator[tuple[slice, "Engine"]]:
        """Stretches of rows, each an engine: what is made for every row need not be held for all of them."""

    def stretches(self, rowwise: Rowwise, at: Matrix) -> Iterator[tuple[slice, Matrix]]:
        """The same for some rows after others, with the rows that they are."""

    def sample(self, count: int, seed: int) -> "Engine":
        """Some rows in memory, the classes in proportion."""

    def thinned(self, step: int) -> "Engine":
        """Every so many rows."""

    def columns(self, which: Positions) -> Any:
        """A few columns, packed or as a view."""

    def stretch(self, first: int, last: int) -> Any:
        """Columns first … last−1, packed or as a view."""

    def narrow(self, which: Positions) -> "Engine":
        """An engine over a few columns, same rows and labels."""

    def reweighted(self, weights: Vector) -> "Engine":
        """An engine over the same rows and labels with other weights."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """An objective at a point: value, gradient, and the Hessian or its diagonal where asked for."""

    point: Vector
    value: float
    gradient: Vector
    hessian: Matrix | None
    diagonal: Vector | None
    mistakes: float
    slope_size: float
    scores_curvature: Matrix
    loss_sum: float


class Objective(Protocol):
    """A smooth convex function that solvers minimise, with what its value rests on."""

    size: int

    def evaluate(self, point: Vector, curvature: bool = False) -> Evaluation:
        """Value and gradient at a point, one pass over the data."""

    def prepare_products(self, point: Vector, diagonal: bool = True) -> Evaluation:
        """Evaluate and keep each row's curvature, for ``product``; with the Hessian's diagonal if asked for."""

    def product(self, direction: Vector) -> Vector:
        """The Hessian at the prepared point times a direction, one pass."""

    def raw_point(self, point: Vector) -> Vector:
        """(w, b) in the user's coordinates."""

    def weights_of(self, point: Vector) -> Vector:
        """The coefficients, without the intercept, in the user's coordinates."""

    def centred(self, raw: Vector) -> Vector:
        """The same without what is alike in all classes, which changes no prediction: of a point or a step."""


class SignedRows(Protocol):
    """Rows yᵢ (label times row) of which one asks: is there a v with ⟨yᵢ, v⟩ > 0 for all?"""

    @property
    def count(self) -> int:
        """How many."""

    @property
    def width(self) -> int:
        """Columns, with the constant as the last where there is one."""

    @property
    def order(self) -> Positions:
        """The columns in the order in which they enter a basis: the constant first."""

    @property
    def members(self) -> Positions | None:
        """The rows of the table they come from; None for all."""

    @property
    def per_row(self) -> int:
        """Signed rows for each row of the table."""

    @property
    def is_weight(self) -> AnyArray:
        """Which columns are not the constant."""

    def take(self, which: Positions) -> Matrix:
        """Some of them, exact."""

    def bracket(self, direction: Vector) -> tuple[Vector, Vector]:
        """All ⟨yᵢ, v⟩ in floating point, and Σ|yᵢⱼvⱼ|."""

    def brackets(self, direction: Vector) -> Iterator[tuple[slice, Vector, Vector]]:
        """The same for some rows after others, with the rows that they are."""

    def exact(self, which: Positions, parts: Matrix) -> Vector:
        """⟨yᵢ, v⟩ of some of them for v = the sum of parts, rounded once."""

    def sample(self, count: int) -> Positions:
        """Some of them, spread over the data, the classes in proportion."""

    def refuse_not_finite(self) -> Never:
        """Name the NaN or infinity that a pass met."""

    def suggested(self) -> Iterator[Vector]:
        """Directions that may separate all of them, found without looking at signed rows."""

    def widest(self, rows: Matrix) -> tuple[Vector, Vector]:
        """Direction and multipliers of the widest corridor through some of them."""
