"""What every certificate is: a claim about a fit that anyone can check again from the data alone.

A certificate is a frozen dataclass that follows ``Certificate``. Its fields are of four sorts:

- **proved**: what ``str`` and the public attributes state (a bound, an objective, names of columns). ``verify`` derives
  each of them again and compares. A number that rounding may move is compared from both sides: a bound below what
  the data gives is false, one far above it is not what this fit proved (``restated``).
- **witness**: what the proof needs (weights, directions, multipliers, positions). Any value that proves the claim is
  a witness; it must be finite and of the right shape.
- **problem**: the question, without the data (classes, penalty). Another question with the same answer is proved too.
- **told**: what only tells of the run and does not follow from the data (mistakes made, the rate, the tolerance that
  was asked for). ``TOLD`` names these fields, ``told`` collects them, ``to_dict`` keeps them in a section of their own,
  and ``str`` gives them only with the words "as told". ``met`` compares what is proved with what was asked for.

**The forger's law.** Whatever value takes the place of a field: ``verify`` raises CertificateError, or ``str`` and
every public attribute are what they were; of a field that is only told, what is not told is what it was.

``Claim`` holds what the classes share, so that they need not know each other. A class derives from it, is declared with
``@dataclass(frozen=True, eq=False)``, names its ``KINDS`` and writes ``_rederive``; no two classes share a kind.
"""

import base64
import math
import pickle
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from separatrix.core.arrays import AnyArray
from separatrix.core.errors import CertificateError, InputError, UncheckableError
from separatrix.core.genuine import counterfeit
from separatrix.core.plain_values import is_number, plain, same

CLOSE = 1e-3
"""A number that is stated differs from the same one derived again by no more than this share."""

LOOSEST = 1.4
"""A number that consists of rounding errors, of which another order of summation makes others, by no more than this."""

ALLOWANCE = 3.0
"""How many times rounding is part of a claim, so that a recomputation in any order stays below it."""

MARGIN = 1.0 + 1e-6
"""A claim is this much looser than what was computed, so that the last digits do not decide."""

UNREADABLE = (ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What a field of the wrong type or shape may raise on the way."""


@runtime_checkable
class Certificate(Protocol):
    """The face of every certificate; ``str`` says in a sentence what is claimed."""

    @property
    def kind(self) -> str:
        """What sort of claim it is; no two classes share one."""

    @property
    def bound(self) -> float:
        """How far from the truth the answer can be, in the claim's own unit; infinite where nothing is proved."""

    @property
    def met(self) -> bool:
        """Whether the claim is as good as was asked for."""

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """The certificate itself if everything it states follows from the data; else CertificateError."""

    def to_dict(self) -> dict[str, Any]:
        """Claim, witness and problem as plain values; ``json.dumps(…, allow_nan=False)`` takes them."""


class Claim:
    """What certificates share: checking, plain values, equality by value, pickles of every protocol."""

    KINDS: ClassVar[tuple[str, ...]] = ()
    QUESTION: ClassVar[str] = "problem"
    """The field that holds the question; what it says of the claim's ``columns`` must be the table's."""
    LABELS: ClassVar[tuple[str, ...]] = ()
    """Fields with labels as entries or keys, which may be anything and are compared with the data's."""
    TOLD: ClassVar[tuple[str, ...]] = ()
    kind: str

    @property
    def told(self) -> dict[str, Any]:
        """What only tells of the run, by name: not proved, and not checked beyond its type."""
        return {name: getattr(self, name) for name in self.TOLD}

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Derive everything that is stated from the data again; CertificateError where it does not follow."""
        if type(self.kind) is not str or self.kind not in type(self).KINDS:
            raise CertificateError(f"A {type(self).__name__} is of kind {' or '.join(self.KINDS)}, not {self.kind!r}.")
        try:
            self._check_parts_are_genuine()
            self._check_width(X)
            with np.errstate(all="ignore"):
                self._rederive(X, y, sample_weight)
        except InputError as error:
            if isinstance(error, CertificateError):
                raise
            raise UncheckableError(f"The claim cannot be checked on this data. {error}") from error
        except CertificateError:
            raise
        except UNREADABLE as e:
            raise CertificateError(
                f"The certificate holds something that cannot be checked ({type(e).__name__}: {e}).\n\n"
                "Hint: it was changed after the fit, or belongs to other data."
            ) from e
        return self

    def _check_parts_are_genuine(self) -> None:
        """What compares as one value and shows another would get past any comparison (see ``genuine``)."""
        every = fields(self)  # type: ignore[arg-type]  # a dataclass, by its subclasses
        if more := vars(self).keys() - {each.name for each in every}:
            raise CertificateError(
                f"The certificate holds what is no field of it: {', '.join(sorted(map(str, more)))}.\n\n"
                "Hint: it was changed after the fit."
            )
        for name in (each.name for each in every if each.compare):
            found = counterfeit(getattr(self, name), name == self.QUESTION, name in self.LABELS)
            if found is not None:
                raise CertificateError(
                    f"The certificate's {name.strip('_')} holds a {found.__name__}.\n\n"
                    "Hint: the parts of a certificate are plain values; it was changed after the fit."
                )

    def _check_width(self, X: Any) -> None:
        """A table of another width is said to be one; what cannot be read is left to those who read it."""
        try:
            stated, found = int(getattr(self, self.QUESTION).columns(self)), _width(X)
        except UNREADABLE:
            return
        if found is not None and found != stated:
            raise UncheckableError(
                f"The claim cannot be checked on this data. X has {found} columns, and the claim is about {stated}.\n\n"
                "Hint: verify with the columns of the fit, in the same order."
            )

    def _rederive(self, X: Any, y: Any, sample_weight: Any) -> None:
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Claim, witness and problem as plain values (see ``plain_values``); what is only told stands apart."""
        names = ["kind", "bound", "met", *(each.name for each in fields(self) if each.compare)]  # type: ignore[arg-type]  # a dataclass, by its subclasses
        proved = {name: plain(getattr(self, name)) for name in dict.fromkeys(names) if name not in self.TOLD}
        return proved | ({"told": plain(self.told)} if self.TOLD else {})

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        each = (field.name for field in fields(self) if field.compare)  # type: ignore[arg-type]  # as above
        return all(same(getattr(self, name), getattr(other, name)) for name in each)

    def __hash__(self) -> int:
        return hash((type(self), str(self.kind)))

    def __reduce_ex__(self, protocol: Any) -> Any:
        # protocols 0 and 1 write whole numbers in decimal, and Python refuses to print very long ones
        if protocol < 2:
            return _restored, (base64.b85encode(pickle.dumps(self, protocol=2)).decode("ascii"),)
        return super().__reduce_ex__(protocol)


def _width(X: Any) -> int | None:
    """How many columns a table has, as far as it says so itself."""
    shape = getattr(X, "shape", None)
    if shape is None and isinstance(X, (list, tuple)) and X and isinstance(X[0], (list, tuple)):
        shape = (len(X), len(X[0]))
    return int(shape[1]) if isinstance(shape, tuple) and len(shape) == 2 else None


def _restored(text: str) -> Any:
    return pickle.loads(base64.b85decode(text))


def stated_number(value: Any, name: str, least: float = -math.inf, infinite: bool = False) -> float:
    """A number that a certificate states, or CertificateError.

    >>> stated_number(0.5, "bound", least=0.0)
    0.5
    >>> stated_number(float("nan"), "bound")
    Traceback (most recent call last):
        ...
    separatrix.core.errors.CertificateError: The certificate's bound is nan.
    """
    good = is_number(value) and not isinstance(value, (bool, np.bool_))
    if not good or math.isnan(value) or not value >= least or (math.isinf(value) and not infinite):
        raise CertificateError(f"The certificate's {name} is {value!r}.")
    return float(value)


def stated_array(value: Any, name: str, shape: tuple[int, ...], kind: str = "f", infinite: bool = False) -> AnyArray:
    """An array that a certificate holds: of this shape and kind of number, and finite; or CertificateError."""
    # a subclass may show one thing and compute with another; a model loaded from a mapped file has mapped arrays
    good = type(value) in (np.ndarray, np.memmap) and value.dtype.kind == kind and value.shape == shape
    if not good:
        raise CertificateError(f"The certificate's {name} are not {' × '.join(map(str, shape))} numbers.")
    if kind == "f" and (np.isnan(value).any() or not (infinite or np.isfinite(value).all())):
        raise CertificateError(f"The certificate's {name} are not finite.")
    return np.asarray(value)


def stated_entries(value: Any, name: str, entries: tuple[str, ...]) -> Mapping[str, Any]:
    """A mapping with just these entries, or CertificateError."""
    if not isinstance(value, Mapping) or set(value) != set(entries):
        raise CertificateError(f"The certificate's {name} are not {', '.join(entries)}.")
    return value


def restated(stated: float, found: float, claim: float, what: str, factor: float = LOOSEST) -> None:
    """CertificateError unless found ≤ stated, and stated is ``claim`` up to ``factor`` either way.

    ``found`` is what the data gives, ``claim`` what a fit to it would state, its allowance for rounding included. Below
    the first a claim is false; far from the second it is true perhaps, but not this fit's.

    >>> restated(2e-9, 1e-9, 2.001e-9, "bound")
    >>> restated(4e-9, 1e-9, 2e-9, "bound")
    Traceback (most recent call last):
        ...
    separatrix.core.errors.CertificateError: The certificate states a bound of 4.000e-09; this data gives 2.000e-09.
    <BLANKLINE>
    Hint: was it fitted to other rows, labels or weights?
    """
    both = math.isinf(stated) and math.isinf(claim)
    if not (found <= stated and (both or claim <= factor * stated <= factor * factor * claim)):
        raise CertificateError(
            f"The certificate states a {what} of {stated:.3e}; this data gives {max(found, claim):.3e}.\n\n"
            "Hint: was it fitted to other rows, labels or weights?"
        )
