"""What the rooms expect of each other, so that none has to import another."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Never, Protocol, runtime_checkable

from separatrix.core.arrays import AnyArray, Codes, Matrix, Positions, Vector, Visits
from separatrix.core.row_vector import RowVector
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


class Readable(Protocol):
    """Rows that can be looked through, to name what is wrong with them."""

    def read(self) -> Iterator[tuple[int, Any]]:
        """All rows, some at a time, each time with the number of the first."""

    def column_name(self, column: int) -> str:
        """How errors call a column."""


@runtime_checkable
class Engine(Protocol):
    """Rows, labels and weights, wherever they live: in labelled blocks, one or many.

    What is small is known at once. What is as long as the table is a row vector, and stays where its rows are.
    """

    @property
    def rows(self) -> int:
        """Number of rows."""

    @property
    def columns_count(self) -> int:
        """Number of columns."""

    @property
    def classes(self) -> int:
        """Number of classes."""

    @property
    def entries_per_row(self) -> float:
        """Stored numbers per row, on average."""

    @property
    def sparse(self) -> bool:
        """Whether zeros are left out."""

    @property
    def natural_type(self) -> Any:
        """float32 for an array of float32, else float64."""

    @property
    def typical_sizes(self) -> Vector:
        """The mean |xⱼ| over some rows, spread over the data."""

    @property
    def one_block(self) -> bool:
        """Whether all rows lie in one block, so that passes need not leave compiled code and rows may be skipped."""

    @property
    def labels(self) -> RowVector:
        """The class of each row, 0 … K−1."""

    @property
    def row_weights(self) -> RowVector | None:
        """The weight of each row; None when all are one."""

    @property
    def class_weights(self) -> Vector:
        """The weight of each class."""

    @property
    def weight(self) -> float:
        """Sum of the weights."""

    @property
    def smallest_weight(self) -> float:
        """The smallest weight that is not zero."""

    @property
    def copies(self) -> list[str]:
        """What had to be copied."""

    def total(self, term: Term, at: Matrix, groups: RowVector | None = None) -> Any:
        """Add ``term`` over all rows at one point or several; for each of several groups of rows, if given."""

    def map(self, rowwise: Rowwise, at: Matrix) -> RowVector:
        """One output per row."""

    def collect(self, function: "Callable[[LabelledBlock], AnyArray]") -> RowVector:
        """The same by a plain function of labelled rows."""

    def laid(self, numbers: AnyArray) -> RowVector:
        """An array of a number (or several) for each row as a row vector: for what comes from a user, or is small."""

    def room(self, shape: tuple[int, ...] = ()) -> RowVector:
        """A row vector for a term to fill: numbers per row, each number's rows beside each other."""

    def blocks(self) -> "Iterator[LabelledBlock]":
        """The blocks that the rows lie in."""

    def parts(self) -> "Iterator[tuple[slice, LabelledBlock]]":
        """Stretches of rows: what is made for every row need not be held for all of them."""

    def stretches(self, rowwise: Rowwise, at: Matrix) -> Iterator[tuple[slice, Matrix]]:
        """One output per row for some rows after others, with the rows that they are."""

    def take(self, which: Positions) -> Any:
        """Some rows by number: a float64 array, or a sparse matrix."""

    def values(self) -> Iterator[AnyArray]:
        """All stored floats as they lie, some at a time: to look for what is not finite."""

    def written_out(self) -> Matrix:
        """All rows as a float64 array."""

    def labels_of(self, which: Positions) -> Codes:
        """Their classes."""

    @property
    def titles(self) -> tuple[str, ...]:
        """Names of the columns, or their numbers."""

    def read(self) -> Iterator[tuple[int, Any]]:
        """All rows, some at a time, each time with the number of the first."""

    def column_name(self, column: int) -> str:
        """How errors call a column."""

    def visited(self, order: Visits | None, batch: int) -> "Iterator[tuple[LabelledBlock, Visits | None]]":
        """The rows of an ordered pass: blocks, and in each the order that its rows are visited in, None as they lie.

        Batches of so many visits are not parted.
        """

    def sweep(
        self, rule: Rule, state: SweepState, order: Visits | None = None, first: int = 0, last: int | None = None
    ) -> SweepState:
        """Visit rows in order, changing the state in place."""

    def refer(self, rule: Rule, state: SweepState) -> None:
        """Take the state's point as its reference, from which rows are known to have some leeway; of one block."""

    def sketch(self) -> Sketch | None:
        """The rows in a byte per number, for quick looks; None unless they are few and dense."""

    def quick_start(self, begin: Vector, shift: Vector | None, strength: float, work: float, way: Any) -> Any:
        """The first passes of a penalised logistic fit of two classes to few rows, all in one call."""

    def on_columns(self, constant: bool, weight: float, ridge: float) -> Any:
        """The logistic loss of two classes on columns that are packed as they are chosen; of one block."""

    def brackets(self, point: Vector, constant: bool) -> Iterator[tuple[slice, Vector, Vector]]:
        """⟨v, x⟩ and Σ|vⱼxⱼ| of some rows after others, with the rows that they are."""

    def exact_products(self, which: Positions, parts: AnyArray, constant: bool) -> Matrix:
        """⟨v, x⟩ of some rows for each v, a sum of parts (vectors × parts × p), rounded once."""

    def spread(self, count: int) -> Positions:
        """The numbers of so many rows of positive weight, evenly spread over them; of all, if they are fewer."""

    def sample(self, count: int, seed: int) -> "LabelledBlock":
        """Some rows in memory, the classes in proportion."""

    def picked(self, which: Positions) -> "LabelledBlock":
        """Some rows by number, in memory, with their labels and weights."""

    def thinned(self, step: int) -> "LabelledBlock":
        """Every so many rows."""

    def columns(self, which: Positions) -> Any:
        """A few columns, packed or as a view."""

    def stretch(self, first: int, last: int) -> Any:
        """Columns first … last−1, packed or as a view."""

    def narrow(self, which: Positions) -> "Engine":
        """An engine over a few columns, same rows and labels."""

    def reweighted(self, weights: RowVector) -> "Engine":
        """An engine over the same rows and labels with other weights."""

    def rewritten(self, rows: Any) -> "Engine":
        """An engine over the same labels and weights, for the same rows written in another way."""


class Source(Protocol):
    """Rows of a block by number or in a row, in one type."""

    @property
    def rows(self) -> int:
        """Number of rows."""

    @property
    def sparse(self) -> bool:
        """Whether zeros are left out."""

    def buffer(self, rows: int) -> AnyArray | None:
        """Room for so many rows; None where they stay sparse."""

    def slice(self, first: int, last: int, out: AnyArray | None) -> Any:
        """Rows first … last−1."""


class LabelledBlock(Engine, Protocol):
    """Rows where they lie, with their classes and weights as arrays: what an engine holds one or many of.

    All that a plain function of rows sees.
    """

    @property
    def codes(self) -> Codes:
        """The class of each row."""

    @property
    def weights(self) -> Vector | None:
        """The weight of each row; None when all are one."""

    def numbers(self, rowwise: Rowwise, at: Matrix) -> Matrix:
        """One output per row, as an array."""

    def typed(self, dtype: Any) -> Source:
        """The rows in one type."""

    def visits(self, dtype: Any, order: Visits | None) -> Any:
        """The rows with their labels, in an order, as the compiled passes of a network read them."""

    def stored_in(self, classes: int) -> AnyArray:
        """How many rows of each class store a value of each column (K × d); of sparse rows."""


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
