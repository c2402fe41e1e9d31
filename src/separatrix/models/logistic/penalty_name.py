"""``penalty`` by name, as scikit-learn took it before version 1.8: what it means in terms of C and l1_ratio."""

import math
import warnings
from typing import Any

from separatrix.core.errors import refuse
from separatrix.core.parameters import shown

UNSET = "deprecated"
"""The default, as in scikit-learn: C and l1_ratio say it all."""

NAMES = ("l1", "l2", "elasticnet", None)


def strength_and_ratio(model: Any) -> tuple[float, float]:
    """(C, l1_ratio) that the fit uses: "l1" is ratio 1, "l2" ratio 0, "elasticnet" ``l1_ratio``, None infinite C."""
    ratio = float(model.l1_ratio or 0.0)
    if isinstance(model.penalty, str) and model.penalty == UNSET:
        return float(model.C), ratio
    if model.penalty is None:
        return math.inf, 0.0
    return float(model.C), {"l1": 1.0, "l2": 0.0}.get(model.penalty, ratio)


def check_penalty_name(model: Any) -> None:
    """Refuse names that mean nothing; say once per fit how a name is written today, and what it overrides."""
    name = model.penalty
    if isinstance(name, str) and name == UNSET:
        return
    if name is not None and not (isinstance(name, str) and name in NAMES):
        refuse(
            f"penalty is {shown(name)}.",
            'leave it out, and set C and l1_ratio; or one of "l1", "l2", "elasticnet", None.',
        )
    today = {
        "l1": "l1_ratio=1",
        "l2": "l1_ratio=0, the default",
        "elasticnet": "l1_ratio between 0 and 1",
        None: "C=np.inf",
    }[name]
    warnings.warn(
        f"penalty={name!r} is deprecated, as in scikit-learn since version 1.8.\n\nHint: leave it out and set {today}.",
        FutureWarning,
        stacklevel=5,
    )
    if name == "elasticnet" and model.l1_ratio is None:
        refuse('l1_ratio must be specified when penalty is "elasticnet".', "set l1_ratio between 0 and 1.")
    _, ratio = strength_and_ratio(model)
    if (name is None and model.C != 1.0) or (model.l1_ratio and float(model.l1_ratio) != ratio):
        ignored = "C and l1_ratio are" if name is None else f"l1_ratio={model.l1_ratio!r} is"
        warnings.warn(f"penalty={name!r} is given, so {ignored} ignored.", UserWarning, stacklevel=5)
