"""Which rows belong to which classes, with as little memory beside the codes as the question needs."""

from collections.abc import Callable

import numpy as np

from separatrix.core.arrays import AnyArray, Codes, Positions, Vector
from separatrix.core.errors import refuse
from separatrix.kernels import stretches


def class_counts(codes: Codes, classes: int, live: AnyArray | None) -> Positions:
    """How many live rows each class has.

    >>> class_counts(np.array([0, 2, 2], dtype=np.int32), 3, None)
    array([1, 0, 2])
    """
    counts = np.zeros(classes, dtype=np.int64)
    for first in range(0, len(codes), stretches.STRETCH):  # bincount works on a copy of twice the size
        part = codes[first : first + stretches.STRETCH]
        if live is not None:
            part = part[live[first : first + stretches.STRETCH]]
        counts += np.bincount(part, minlength=classes)
    return counts


def members_of(
    codes: Codes, classes: int, live: AnyArray | None, sorted_once: bool
) -> Callable[[list[int]], Positions | None]:
    """A function that lists the live rows of some classes, ascending; None for all rows there are.

    ``sorted_once`` where it will be asked often: then every answer takes as long as it is, for eight bytes a row.
    """
    if sorted_once:
        order = np.argsort(codes, kind="stable")
        by_class = np.split(order, np.searchsorted(codes[order], np.arange(1, classes)))
        if live is not None:
            by_class = [rows[live[rows]] for rows in by_class]

        def rows_of(wanted: list[int]) -> Positions | None:
            inside = np.sort(np.concatenate([by_class[k] for k in wanted]))
            return None if len(inside) == len(codes) else inside

        return rows_of

    def search(wanted: list[int]) -> Positions | None:
        chosen = np.zeros(classes, dtype=bool)
        chosen[wanted] = True
        inside = chosen[codes]
        if live is not None:
            inside &= live
        return None if inside.all() else np.flatnonzero(inside)

    return search


def check_classes(codes: Codes, classes: AnyArray, weights: Vector | None) -> None:
    """Refuse fewer than two classes, and a class without weight."""
    count = len(classes)
    seen = np.bincount(codes, weights, minlength=max(count, 1)) > 0
    if count >= 2 and seen.all():
        return
    what = "y has" if count < 2 else "the rows of positive weight have"
    if seen.sum() == 1:
        refuse(
            "This solver needs samples of at least 2 classes in the data, but "
            f"{what} only one class: {classes[int(seen.argmax())]!r}.",
            "check how the rows were selected; with one class there is no boundary.",
        )
    refuse(
        f"The class {classes[int((~seen).argmax())]!r} has no row of positive weight.",
        "leave its rows out, or give them weight.",
    )
