"""Why a solver stopped, and what to do about it."""

from enum import StrEnum


class Stop(StrEnum):
    """The reason a solver stopped; its text is the fact and, after a semicolon, the remedy for it."""

    CERTIFIED = "the bound is below tol; nothing is left to do"
    FLOOR = "rounding leaves nothing to gain; loosen tol"
    MAX_ITER = "passes ran out; raise max_iter or loosen tol"
    EPOCHS = "all epochs that max_iter allows are done; raise max_iter or loosen tol"
    STALLED = "no step improves the objective at this precision; rescale extreme columns or loosen tol"
    DEPENDENT = "columns are nearly, but not quite, linearly dependent; drop one of them or use a finite C"
    SEPARATED = "no finite maximum exists; use a finite C"
    EVALUATIONS = "evaluations ran out; raise max_fun or loosen tol"
    PATIENCE = "the loss no longer improves by tol; raise n_iter_no_change or loosen tol"
    VALIDATION = "the validation score no longer improves by tol; set early_stopping=False or loosen tol"
    DIVERGED = "the steps are too long; lower eta0, or leave it out"
    ASKED = "a callback asked to stop; let it go on"

    @property
    def fact(self) -> str:
        """What happened."""
        return self.value.partition("; ")[0]

    @property
    def remedy(self) -> str:
        """What to do about it, as a hint."""
        return self.value.partition("; ")[2]

    @property
    def good(self) -> bool:
        """Whether the answer is as good as was asked for, or as floats allow."""
        return self in (Stop.CERTIFIED, Stop.FLOOR, Stop.PATIENCE, Stop.VALIDATION)
