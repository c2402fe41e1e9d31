"""One certificate for each class against all others."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from separatrix.certificates.separability import Separability
from separatrix.certificates.separator import SeparatorCertificate, UnprovedCertificate
from separatrix.core.certificate import Claim
from separatrix.core.errors import CertificateError, UncheckableError
from separatrix.core.plain_values import same


@dataclass(frozen=True, eq=False)
class OneAgainstRest(Claim):
    """One certificate for each class against all others, in the order of the classes."""

    KINDS: ClassVar[tuple[str, ...]] = ("one against rest",)
    LABELS: ClassVar[tuple[str, ...]] = ("classes",)

    classes: tuple[Any, ...]
    parts: tuple[Any, ...]
    kind: str = "one against rest"

    @property
    def met(self) -> bool:
        """Whether every class has what it claims."""
        return all(part.met for part in self.parts)

    @property
    def bound(self) -> float:
        """The largest bound of any class."""
        return max(float(part.bound) for part in self.parts)

    @property
    def mistakes(self) -> int:
        """Mistakes of all classifiers together, as their parts tell."""
        return sum(int(getattr(part, "mistakes", 0)) for part in self.parts)

    def __getitem__(self, position: int) -> Any:
        return self.parts[position]

    def __len__(self) -> int:
        return len(self.parts)

    def __str__(self) -> str:
        return " ".join(f"{label!r}: {part}" for label, part in zip(self.classes, self.parts, strict=True))

    def _rederive(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Verify every part; one that claims nothing raises.

        Rows of no weight are left to the parts, which count rows of the whole table.
        """
        try:
            labels = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
            seen = labels
            if sample_weight is not None:
                weights = np.broadcast_to(np.asarray(sample_weight, dtype=np.float64), labels.shape)
                seen = labels[weights > 0] if (weights >= 0).all() else labels  # the parts say what is wrong with them
        except (TypeError, ValueError) as error:
            raise UncheckableError(
                f"The labels or weights cannot be read: {error}.\n\nHint: give one label and one weight for each row."
            ) from error
        if type(self.classes) is not tuple or type(self.parts) is not tuple or len(self.parts) != len(self.classes):
            raise CertificateError("There is not one certificate for each class.")
        found = np.unique(seen)
        classes = found.tolist() if found.dtype.kind in "biufUSO" else list(found)
        if not (same(list(self.classes), classes) and all(map(_written_alike, self.classes, classes))):
            raise CertificateError(
                f"The certificate is about the classes {list(self.classes)}; the labels are {classes}.\n\n"
                "Hint: pass the labels it was made from; their types count too."
            )
        for label, part in zip(self.classes, self.parts, strict=True):
            if _side(part) is not True:
                raise CertificateError("A part is not about its own class against all others.")
            part.verify(X, labels == label, sample_weight)


def _written_alike(stated: Any, found: Any) -> bool:
    """Whether a label is of the type of the data's; data read as floats may stand for whole numbers."""
    return type(stated) is type(found) or (type(stated) is int and isinstance(found, float))


def _side(part: Any) -> bool:
    """Whether a part claims something of the rows labelled True against those labelled False."""
    if type(part) is Separability:
        sides: Any = part.problem  # two classes have a positive and a negative side
        return np.array_equal(sides.positive, [True]) and np.array_equal(sides.negative, [False])
    if type(part) is SeparatorCertificate:
        return bool(part.separation.positive == 1)  # type: ignore[attr-defined]  # the separator's question has it
    return type(part) is UnprovedCertificate
