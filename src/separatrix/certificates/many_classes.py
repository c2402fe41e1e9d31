"""Verdicts for more than two classes: softmax, pairs, each class against the rest."""

from dataclasses import dataclass, field
from typing import Any

from separatrix.certificates.separability import Separability
from separatrix.core.errors import CertificateError


@dataclass(frozen=True)
class ManyClassSeparability(Separability):
    """The verdict on softmax, and those on two classes at a time and on each class against the rest."""

    pairs: dict[tuple[Any, Any], Separability] = field(default_factory=dict, repr=False)
    against_rest: dict[Any, Separability] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        if self.kind == "overlap":
            text = "The softmax likelihood has a maximum: all classes overlap."
        elif self.kind == "undecided":
            text = super().__str__()
        else:
            how = "completely" if self.kind == "complete" else "quasi-completely"
            text = f"The softmax likelihood has no maximum: the classes are {how} separable."
        for label, verdict in self.against_rest.items():
            text += f"\n  {label!r} against the rest: {verdict.kind}"
        for (a, b), verdict in self.pairs.items():
            text += f"\n  {a!r} against {b!r}: {verdict.kind}"
        return text

    def to_dict(self) -> dict[str, Any]:
        """The claims and their witnesses as plain values."""
        return {
            **super().to_dict(),
            "pairs": [{"classes": list(pair), **verdict.to_dict()} for pair, verdict in self.pairs.items()],
            "against_rest": [{"class": label, **v.to_dict()} for label, v in self.against_rest.items()],
        }

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> "ManyClassSeparability":
        """Prove all verdicts again."""
        super().verify(X, y, sample_weight)
        classes = self.problem.to_dict()["classes"]
        asked = [({b}, {a}, verdict) for (a, b), verdict in self.pairs.items()]
        asked += [({k}, set(classes) - {k}, verdict) for k, verdict in self.against_rest.items()]
        for positive, negative, verdict in asked:
            about = verdict.problem.to_dict()
            if (set(about["positive"]), set(about["negative"])) != (positive, negative):
                raise CertificateError("A verdict on two classes is filed under others.")
            verdict.verify(X, y, sample_weight)
        return self
