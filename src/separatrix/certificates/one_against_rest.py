"""One certificate for each class against all others."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from separatrix.core.errors import CertificateError


@dataclass(frozen=True)
class OneAgainstRest:
    """One certificate for each class against all others, in the order of the classes."""

    classes: tuple[Any, ...]
    parts: tuple[Any, ...]
    kind: str = "one against rest"

    @property
    def met(self) -> bool:
        """Whether every class has what it claims."""
        return all(part.met for part in self.parts)

    @property
    def mistakes(self) -> int:
        """Mistakes of all classifiers together."""
        return sum(int(getattr(part, "mistakes", 0)) for part in self.parts)

    def __getitem__(self, position: int) -> Any:
        return self.parts[position]

    def __len__(self) -> int:
        return len(self.parts)

    def __str__(self) -> str:
        return " ".join(f"{label!r}: {part}" for label, part in zip(self.classes, self.parts, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """The parts' claims as plain values."""
        return {"kind": self.kind, "classes": list(self.classes), "parts": [part.to_dict() for part in self.parts]}

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Verify every part; one that claims nothing raises."""
        labels = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
        if set(np.unique(labels).tolist()) != set(self.classes):
            raise CertificateError("The labels are not the classes the certificate is about.")
        if sample_weight is not None:
            keep = np.flatnonzero(np.broadcast_to(np.asarray(sample_weight, dtype=np.float64), labels.shape) > 0)
            X, labels = _rows_of(X, keep), labels[keep]
        for label, part in zip(self.classes, self.parts, strict=True):
            part.verify(X, labels == label)
        return self


def _rows_of(X: Any, keep: Any) -> Any:
    if hasattr(X, "iloc"):
        return X.iloc[keep]
    return X[keep] if hasattr(X, "shape") else [X[k] for k in keep]
