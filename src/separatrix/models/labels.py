"""Labels, weights and tables as users give them, checked and encoded.

Every complaint is a fact, a rule and a way out, and names the column or row.
"""

import datetime
import decimal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Never

import numpy as np

from separatrix.core.arrays import AnyArray, Codes, Positions, Vector
from separatrix.core.errors import InputError, InputTypeError, refuse
from separatrix.core.numbers import is_number
from separatrix.core.parameters import Rule, check_value, shown
from separatrix.core.protocols import Engine, Readable
from separatrix.engines import Block, block_of, open_rows

CLASS_WEIGHT = Rule(
    lambda given: given is None or isinstance(given, Mapping) or (isinstance(given, str) and given == "balanced"),
    'None, "balanced" or a dict {class: weight}',
)

NARROW, LABELS_AT_ONCE = 1024, 1 << 16
"""Numbers that a table of labels may span, at least, and labels that are looked up at a time."""

HEAVIEST = 1e150
"""The largest sample weight; its inverse is the smallest. Beyond, products with values overflow or underflow."""


@dataclass(frozen=True, slots=True)
class Target:
    """Labels as codes 0 … K−1 into the sorted classes."""

    codes: Codes
    classes: AnyArray


def encode(y: Any, rows: int, classes: AnyArray | None = None) -> Target:
    """Labels of any kind as codes; ``classes`` fixes the encoding.

    >>> encode(["no", "yes", "no"], 3).codes
    array([0, 1, 0], dtype=int32)
    """
    if y is None:
        refuse(
            "This classifier requires y to be passed, but the target y is None.",
            "fit(X, y) needs one label per row.",
        )
    if hasattr(y, "toarray") or (isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] > 1):
        refuse(
            "y should be a 1d array, got a matrix instead: multilabel or multioutput.",
            "fit one classifier per column, or use sklearn.multioutput.",
        )
    labels = _label_array(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        import warnings

        from sklearn.exceptions import DataConversionWarning

        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Use y.ravel().",
            DataConversionWarning,
            stacklevel=_depth(),
        )
        labels = labels.ravel()
    if labels.ndim != 1:
        refuse(
            f"y should be a 1d array, got an array of shape {labels.shape} instead.",
            "give one label per row.",
        )
    if len(labels) != rows:
        refuse(
            f"X has {rows} rows, but y has {len(labels)} labels: inconsistent numbers of samples.",
            "align them.",
        )
    _refuse_missing(labels)
    fast = _two_numbers(labels) if classes is None else None
    if fast is not None:
        return fast
    found, codes = _few_numbers(labels) or np.unique(labels, return_inverse=True)
    if classes is not None:
        places = np.searchsorted(classes, found).astype(np.int32)
        strange = (places >= len(classes)) | (classes[np.minimum(places, len(classes) - 1)] != found)
        if strange.any():
            label = found[strange][:1].tolist()[0]
            refuse(f"y has the label {label!r}, which is not among {classes.tolist()}.", "check y; types count too.")
        same = np.array_equal(places, np.arange(len(places)))
        return Target((codes if same else places[codes]).astype(np.int32, copy=False), classes)
    return Target(codes.astype(np.int32, copy=False), found)


def _depth() -> int:
    """The ``stacklevel`` of the code that called this package, for a warning of the function that asks."""
    frame, depth = sys._getframe(1), 1
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "separatrix":
        frame, depth = frame.f_back, depth + 1
    return depth


def _label_array(y: Any) -> AnyArray:
    """Labels in an array, whatever holds them; a label that is masked or null is refused, not lost."""
    if isinstance(y, np.ma.MaskedArray) and np.ma.is_masked(y):
        first = int(np.ma.getmaskarray(y).ravel().argmax())
        refuse(f"y has masked labels (first at row {first}).", "drop the rows whose label is masked.")
    if type(y).__module__.split(".")[0] == "pyarrow" and hasattr(y, "type"):
        if y.null_count:
            refuse(f"Input y contains NaN: {y.null_count} labels are null.", "drop the rows whose label is missing.")
        if y.type.num_fields and not hasattr(y.type, "run_end_type"):
            refuse(f"y is of the Arrow type {y.type}, of several values each.", "give one label per row.")
        y = y.cast(y.type.value_type) if hasattr(y.type, "value_type") and hasattr(y.type, "index_type") else y
        return np.array(y.to_pylist()) if hasattr(y, "to_pylist") else np.asarray(y)
    try:
        return np.asarray(_numbers(y))
    except ValueError as error:
        refuse(f"y cannot be read as one label per row: {error}.", "give a flat list or array of labels.")


def _numbers(values: Any) -> Any:
    """The array of a library's own column; its complaint, of whatever kind, as a ValueError."""
    if not hasattr(values, "to_numpy"):
        return values
    try:
        return values.to_numpy()
    except Exception as error:
        raise ValueError(error) from error


LABEL_TYPES = (
    str,
    bytes,
    int,
    float,
    np.generic,
    datetime.date,
    datetime.timedelta,
    decimal.Decimal,
    Fraction,
)
"""What a label may be in an array of objects: values that can be sorted one after the other."""


def _is_missing(label: object) -> bool:
    """None, NaN, NaT, or the missing value of pandas, which is neither equal nor unequal to itself."""
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(label, LABEL_TYPES) and bool(label != label)


def _two_numbers(labels: AnyArray) -> Target | None:
    """The usual case without sorting: two different numbers."""
    if labels.dtype.kind not in "iub" or len(labels) == 0:
        return None
    low, high = labels.min(), labels.max()
    upper = labels == high
    if low == high or np.count_nonzero(upper) + np.count_nonzero(labels == low) != len(labels):
        return None
    return Target(upper.astype(np.int32), np.array([low, high], dtype=labels.dtype))


def _few_numbers(labels: AnyArray) -> tuple[AnyArray, Codes] | None:
    """Whole numbers within a narrow range, and the place of each label among those that occur.

    They are looked up in a table, part by part: sorting takes longer than a pass, and several times the memory of the
    labels.
    """
    if labels.dtype.kind not in "iuf" or labels.dtype.itemsize > 8 or len(labels) == 0:
        return None
    low, high = labels.min(), labels.max()
    if max(abs(int(low)), abs(int(high))) > 2**53 or not int(high) - int(low) < max(len(labels), NARROW):
        return None
    steps = range(0, len(labels), LABELS_AT_ONCE)

    def offsets(first: int) -> Positions:
        part = labels[first : first + LABELS_AT_ONCE]
        wide = part if part.dtype.itemsize == 8 else part.astype(np.float64 if part.dtype.kind == "f" else np.int64)
        return (wide - wide.dtype.type(low)).astype(np.int64)

    there = np.zeros(int(high) - int(low) + 1, dtype=bool)
    for first in steps:
        there[offsets(first)] = True
    place, codes = (np.cumsum(there) - 1).astype(np.int32), np.empty(len(labels), dtype=np.int32)
    for first in steps:
        np.take(place, offsets(first), out=codes[first : first + LABELS_AT_ONCE], mode="clip")
    return (np.flatnonzero(there) + int(low)).astype(labels.dtype), codes


def _refuse_missing(labels: AnyArray) -> None:
    if labels.dtype.kind == "c" or (
        labels.dtype.kind == "O" and any(isinstance(label, (complex, np.complexfloating)) for label in labels)
    ):
        refuse("Complex data not supported: y is complex.", "labels are integers, booleans or strings.")
    if labels.dtype.kind == "f":
        bad = ~np.isfinite(labels)
        if bad.any():
            refuse(
                f"Input y contains NaN or infinity (first at row {int(bad.argmax())}).",
                "drop the rows whose label is missing.",
            )
        parts = range(0, len(labels), LABELS_AT_ONCE)
        if any((part != np.floor(part)).any() for part in (labels[k : k + LABELS_AT_ONCE] for k in parts)):
            refuse(
                "Unknown label type: continuous. y holds numbers that are not whole.",
                "this is a classifier; turn y into classes first, for example y > threshold.",
            )
    if labels.dtype.kind in "mM" and np.isnat(labels).any():
        first = int(np.isnat(labels).argmax())
        refuse(f"Input y contains NaN: a date is missing at row {first}.", "drop the rows whose label is missing.")
    if labels.dtype.kind == "O":
        missing = [k for k, label in enumerate(labels) if _is_missing(label)]
        if missing:
            refuse(
                f"Input y contains NaN: {len(missing)} missing labels (first at row {missing[0]}).",
                "drop the rows whose label is missing.",
            )
        kinds = {type(label) for label in labels}
        strange = [kind.__name__ for kind in kinds if not issubclass(kind, LABEL_TYPES)]
        if strange:
            refuse(
                f"y holds labels of type {sorted(strange)[0]}, which cannot be sorted into classes.",
                "use strings, numbers, booleans or dates.",
                InputTypeError,
            )
        if len(kinds) > 1 and not all(issubclass(kind, (int, float, np.number, np.bool_)) for kind in kinds):
            refuse(
                f"y mixes labels of types {sorted(kind.__name__ for kind in kinds)}.",
                "use labels of one type.",
                InputTypeError,
            )


def sample_weights(sample_weight: Any, rows: int) -> Vector | None:
    """Weights as float64, or None when all are one.

    >>> sample_weights(2.0, 2)
    array([2., 2.])
    """
    if sample_weight is None:
        return None
    weights = _weight_array(sample_weight)
    if weights.ndim == 0:
        weights = np.full(rows, float(weights))
    if weights.ndim != 1:
        refuse(f"Sample weights must be 1D array or scalar, got {weights.ndim}D array.", "give one weight per row.")
    if len(weights) != rows:
        refuse(f"sample_weight.shape == {weights.shape}, expected {(rows,)}!", "give one weight per row.")
    if not np.isfinite(weights).all():
        first = int((~np.isfinite(weights)).argmax())
        refuse(f"Input sample_weight contains NaN or infinity (first at row {first}).", "give finite weights.")
    if (weights < 0).any():
        first = int((weights < 0).argmax())
        refuse(
            f"Negative values in data passed to `sample_weight` (first at row {first}: {weights[first]:g}).",
            "weights count how often a row occurs; 0 leaves it out.",
        )
    if not (weights > 0).any():
        refuse("Sample weights must contain at least one non-zero number.", "give some row a positive weight.")
    _refuse_extreme(weights, "sample weight")
    return weights


def _refuse_extreme(weights: Vector, what: str) -> None:
    strange = (weights > 0) & ((weights < 1.0 / HEAVIEST) | (weights > HEAVIEST))
    if strange.any():
        first = int(strange.argmax())
        refuse(
            f"The {what} of row {first} is {weights[first]:g}: products with it lose their digits.",
            f"positive weights lie between {1.0 / HEAVIEST:g} and {HEAVIEST:g}; multiply all of them by one number.",
        )


def _weight_array(sample_weight: Any) -> Vector:
    """Weights as float64; what would be lost on the way is refused."""
    if isinstance(sample_weight, np.ma.MaskedArray) and np.ma.is_masked(sample_weight):
        first = int(np.ma.getmaskarray(sample_weight).ravel().argmax())
        refuse(f"sample_weight has masked values (first at row {first}).", "fill them; 0 leaves a row out.")
    try:
        given = np.asarray(_numbers(sample_weight))
        if given.dtype.kind in "cmM":
            refuse(f"sample_weight has dtype {given.dtype}.", "give one real number per row.")
        return np.asarray(given, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        refuse(f"sample_weight holds values that are not numbers: {error}.", "give one number per row.")


def class_factors(class_weight: Any, target: Target, weights: Vector | None) -> dict[int, float] | None:
    """``class_weight`` as factors per code: a mapping, "balanced", or None.

    "balanced" is S / (K·S_k), with S_k the sample weight of class k.
    """
    if class_weight is None:
        return None
    count = len(target.classes)
    check_value("class_weight", class_weight, CLASS_WEIGHT)
    if isinstance(class_weight, str):
        sums = np.bincount(target.codes, weights, minlength=count)
        return {code: float(sums.sum() / (count * sums[code])) for code in range(count) if sums[code] > 0}
    factors = {}
    known = {label: code for code, label in enumerate(target.classes.tolist())}
    for label, factor in class_weight.items():
        label = label.item() if isinstance(label, np.generic) else label
        if not is_number(factor, 0.0, HEAVIEST) or 0.0 < factor < 1.0 / HEAVIEST:
            refuse(
                f"class_weight[{shown(label)}] is {shown(factor)}.",
                f"class weights are numbers and not negative: 0, or between {1.0 / HEAVIEST:g} and {HEAVIEST:g}.",
            )
        if label in known:
            factors[known[label]] = float(factor)
    unweighted = [label for label, code in known.items() if code not in factors]
    if unweighted and len(factors) < len(class_weight):
        strange = next(label for label in class_weight if label not in known)
        refuse(
            f"class_weight has the class {strange!r}, which is not in y, and none for {unweighted[0]!r}: "
            f"The classes, {unweighted}, are not in class_weight.",
            f"the classes of y are {list(known)}; their types count too.",
        )
    return factors


def weighted(target: Target, weights: Vector | None, factors: dict[int, float] | None) -> Vector | None:
    """Sample weights times class weights."""
    if factors is None:
        return weights
    per_class = np.ones(len(target.classes))
    for code, factor in factors.items():
        per_class[code] = factor
    product = per_class[target.codes]
    product = product if weights is None else product * weights
    _refuse_extreme(product, "sample weight times class weight")
    return product


def open_engine(block: Block, target: Target, weights: Vector | None) -> Engine:
    """The engine for a block of labelled rows."""
    return open_rows(block, target.codes, len(target.classes), weights)


def open_table(block: Block) -> Engine:
    """The engine for rows without labels: all of class 0 and of weight 1."""
    return open_rows(block, np.zeros(block.shape[0], dtype=np.int32), 1, None)


def refuse_not_finite(rows: Readable) -> Never:
    """Find the NaN or infinity that a pass stumbled over and name it; or name the overflow."""
    largest, where = largest_value(rows)
    refuse(
        f"The sums over the rows overflow: {rows.column_name(where)} reaches {largest:.3g}, and squares "
        "must stay below 1.8e308.",
        "divide that column by a power of ten.",
    )


def largest_value(rows: Readable) -> tuple[float, int]:
    """The size of the largest value and its column; a NaN or an infinity on the way is refused by its place."""
    largest, where = 0.0, 0
    for first, part in rows.read():
        values = part.data if hasattr(part, "indptr") else part.ravel()
        bad = ~np.isfinite(values)
        if bad.any():
            place = int(bad.argmax())
            row, column = _place(part, place)
            what = "NaN" if np.isnan(values[place]) else "infinity"
            refuse(
                f"Input X contains {what}: {rows.column_name(column)} has it at row {first + row} "
                f"(the first of {int(bad.sum())} found in rows {first} to {first + part.shape[0] - 1}).",
                "drop those rows, or impute with sklearn.impute.SimpleImputer in a Pipeline.",
            )
        if len(values) and np.abs(values).max() > largest:
            place = int(np.abs(values).argmax())
            largest, where = float(abs(values[place])), _place(part, place)[1]
    return largest, where


def _place(part: Any, place: int) -> tuple[int, int]:
    """Row and column of the value at a flat position."""
    if hasattr(part, "indptr"):
        return int(np.searchsorted(part.indptr, place, side="right")) - 1, int(part.indices[place])
    row, column = divmod(place, int(part.shape[1]))
    return row, column


__all__ = [
    "Target",
    "block_of",
    "class_factors",
    "encode",
    "largest_value",
    "open_engine",
    "open_table",
    "refuse_not_finite",
    "sample_weights",
    "weighted",
]
