"""What a fit tells its user while it runs and when it ends early."""

import warnings
from collections.abc import Sequence
from typing import Any

from separatrix.certificates.optimum import OptimumCertificate
from separatrix.core.errors import ConvergenceWarning, SeparationWarning
from separatrix.core.stop import Stop
from separatrix.core.trace import Pass
from separatrix.solvers.perceptron import End


def print_pass(entry: Pass) -> bool:
    """A line per pass, for verbose=1."""
    print(  # noqa: T201  what verbose=1 asks for
        f"pass {entry.number:3d}  objective {entry.objective:.12g}  bound {entry.bound:.1e}  "
        f"|w| {entry.norm:.4g}  {entry.seconds:.3f} s"
    )
    return False


def warn_unless_good(stop: Stop, certificate: OptimumCertificate, verdict: str = "", scheduled: bool = False) -> None:
    """Say how far a fit that did not meet ``tol`` is known to be from the optimum, and the remedy.

    A fit that a callback stopped is silent: whoever asked for the stop knows of it. ``verdict`` is the kind of a
    verdict on separability, where one was asked for; ``scheduled`` says that the rates are a function of the user's.
    """
    if stop is Stop.ASKED or certificate.met:
        return
    if stop is Stop.SEPARATED:
        warnings.warn(
            "Every row is on its right side, so the likelihood has no maximum: the weights grow without end, "
            "and those given are where the fit stopped.\n\nHint: use a finite C.",
            SeparationWarning,
            stacklevel=4,
        )
        return
    if stop is Stop.DIVERGED:
        warnings.warn(
            f"The descent diverged: it ended at average objective {certificate.objective:.6g}, above its start or "
            "where floats end. The weights given are the last finite ones.\n\n"
            f"Hint: the rate is too large; {_SHORTER[scheduled]}.",
            ConvergenceWarning,
            stacklevel=4,
        )
        return
    how_far = (
        f"certified to be within {certificate.bound:.1e} of the optimum" if certificate.proved else "nothing is proved"
    )
    unsure = _EXISTENCE.get(verdict, "")
    reason = Stop.FLOOR if stop is Stop.CERTIFIED else stop  # the last look at the bound saw its rounding
    warnings.warn(
        f"The fit stopped early: {reason.fact}. At average objective {certificate.objective:.6g}, {how_far} "
        f"(tol asks for {certificate.tol * min(certificate.objective, 1.0):.1e}).{unsure}\n\n"
        f"Hint: {reason.remedy}.",
        ConvergenceWarning,
        stacklevel=4,
    )


_SHORTER = {
    False: "lower eta0, or leave it out to have it from the data",
    True: "let learning_rate(t) return less",
}

_EXISTENCE = {
    "overlap": " A maximum of the likelihood exists: the classes overlap.",
    "undecided": (
        " Whether the likelihood has a maximum is not decided: some weights may grow without end. "
        "separatrix.separability(X, y, budget=600) decides it, and any penalty makes one."
    ),
}


def print_epoch(entry: Pass) -> bool:
    """A line per epoch, for verbose=1."""
    print(  # noqa: T201  what verbose=1 asks for
        f"epoch {entry.number:3d}  error {entry.objective:.6g}  mistakes {entry.mistakes:.0f}  "
        f"|w| {entry.norm:.4g}  {entry.seconds:.3f} s"
    )
    return False


def warn_unless_ended(taught: Sequence[Any]) -> None:
    """Say when learning ended with neither a separator nor a proof that there is none, why, and the remedy."""
    for one in taught:
        if one.end is End.ASKED or one.certificate.met:
            continue
        fact, _, remedy = one.end.value.partition("; ")
        exists = " A separator does exist." if getattr(one.certificate, "separable", None) else ""
        warnings.warn(
            f"The perceptron ended after {one.epochs} epochs and {one.mistakes} mistakes with neither a separator nor "
            f"a proof that there is none: {fact}.{exists}\n\n"
            f"Hint: {remedy or 'separability(X, y) decides whether a separator exists'}.",
            ConvergenceWarning,
            stacklevel=4,
        )
        return
