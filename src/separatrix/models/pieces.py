"""What every ``partial_fit`` asks first: which classes will ever come, and whether the columns are those it knows."""

from typing import Any

import numpy as np

from separatrix.core.arrays import AnyArray
from separatrix.core.errors import refuse


def classes_to_come(known: AnyArray | None, classes: Any, least: int = 2) -> AnyArray:
    """The classes of the first call, where they must be named; those given later must be the same.

    >>> classes_to_come(None, ["b", "a", "b"])
    array(['a', 'b'], dtype='<U1')
    """
    if known is None and classes is None:
        refuse("classes must be passed on the first call to partial_fit.", "pass classes=np.unique(all_labels).")
    given = None
    if classes is not None:
        try:
            given = np.unique(np.asarray(classes))
        except TypeError as error:
            refuse(f"classes holds labels that have no order: {error}.", "give labels of one type.")
    if known is not None:
        if given is not None and not np.array_equal(given, known):
            refuse(
                f"`classes={classes!r}` is not the same as on last call to partial_fit.", f"it was {known.tolist()}."
            )
        return known
    assert given is not None
    if len(given) < least:
        refuse(f"classes has only one class: {given.tolist()}.", "name all classes that will come, at least 2.")
    return given


def check_width(model: Any, columns: int) -> None:
    """Refuse rows of another width than those learned from before."""
    known = int(model.n_features_in_)
    if columns != known:
        refuse(
            f"X has {columns} features, but {type(model).__name__} is expecting {known} features as input.",
            "pass the columns of the first call, in the same order.",
        )
