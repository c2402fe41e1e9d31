"""``separability(X, y)``: can a hyperplane part the classes? The verdict with its proof."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.certificates.separability import Separability
from separatrix.core.arrays import AnyArray
from separatrix.core.errors import refuse
from separatrix.core.protocols import SignedRows
from separatrix.core.threads import one_blas_thread
from separatrix.estimators.inputs import block_of, encode, sample_weights
from separatrix.estimators.separating import Search
from separatrix.estimators.signed_rows import ManyClassRows, TwoClassRows


@dataclass(frozen=True)
class TwoClassProblem:
    """``positive`` labels against ``negative`` ones; rows of other labels or no weight are left out."""

    positive: AnyArray
    negative: AnyArray
    fit_intercept: bool
    names: tuple[str, ...]

    def signed_rows(self, X: Any, y: Any, sample_weight: Any = None) -> SignedRows:
        """The signed rows of the data given."""
        block = block_of(X)
        classes = np.sort(np.concatenate([self.negative, self.positive]))
        labels = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
        target = encode(labels, block.shape[0])
        wanted = np.isin(target.classes, classes)
        inside = wanted[target.codes]
        weights = sample_weights(sample_weight, block.shape[0])
        if weights is not None:
            inside &= weights > 0
        codes = np.isin(target.classes, self.positive)[target.codes].astype(np.int32)
        if inside.all():
            return TwoClassRows(block, codes, self.fit_intercept)
        members = np.flatnonzero(inside)
        return TwoClassRows(block, codes[members], self.fit_intercept, members)

    def column_names(self) -> list[str]:
        """A name for each column of the signed rows."""
        return [*self.names, "intercept"] if self.fit_intercept else list(self.names)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "positive": self.positive.tolist(),
            "negative": self.negative.tolist(),
            "fit_intercept": self.fit_intercept,
        }
