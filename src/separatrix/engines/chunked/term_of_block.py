"""A term as one of several blocks sees it."""

from dataclasses import dataclass
from typing import Any

from separatrix.core.protocols import Term
from separatrix.core.row_vector import RowVector
from separatrix.core.total import Total


@dataclass(frozen=True, slots=True)
class TermOfBlock:
    """A term as one block sees it: with the block's own part of every row vector among its options."""

    whole: Term
    block: int

    @property
    def kernel(self) -> str:
        """The kernel's name."""
        return self.whole.kernel

    def options(self) -> dict[str, Any]:
        """The options, row vectors cut."""
        given = self.whole.options()
        return {name: value.of(self.block) if isinstance(value, RowVector) else value for name, value in given.items()}

    def width(self, columns: int) -> int:
        """Numbers in one total."""
        return self.whole.width(columns)

    def work(self, entries_per_row: float, columns: int) -> float:
        """Multiply-adds per row."""
        return self.whole.work(entries_per_row, columns)

    def read(self, total: Total) -> Any:
        """Give the numbers of a total their names."""
        return self.whole.read(total)
