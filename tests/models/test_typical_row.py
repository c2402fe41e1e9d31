"""The row about which a fit takes its columns: near the mean, whatever the order and the layout of the rows."""

import numpy as np
import pandas as pd
import pytest

from separatrix import LogisticRegression

N, D = 256 * 33, 33


def rows(shifted):
    draw = np.random.default_rng(3)
    X = draw.normal(size=(N, D))
    y = (X @ draw.normal(size=D) / np.sqrt(D) + draw.logistic(size=N) > 0).astype(int)
    X[shifted] += 1e4
    return X, y


@pytest.mark.parametrize("shifted", [slice(0, None, 4), np.arange(N) % 4 != 0, slice(0, 0)])
@pytest.mark.parametrize("ratio", [0.0, 1.0])
def test_periodic_rows_are_fitted_like_any_others(shifted, ratio):
    X, y = rows(shifted)
    model = LogisticRegression(l1_ratio=ratio).fit(X, y)
    assert model.certificate_.met
    order = np.random.default_rng(0).permutation(N)
    assert LogisticRegression(l1_ratio=ratio).fit(X[order], y[order]).certificate_.met


def test_a_data_frame_and_its_array_have_the_same_bits():
    X, y = rows(slice(0, 0))
    plain = LogisticRegression().fit(X, y)
    framed = LogisticRegression().fit(pd.DataFrame({f"c{j}": X[:, j] for j in range(D)}), y)
    assert plain.coef_.tobytes() == framed.coef_.tobytes()
    assert plain.certificate_.bound == framed.certificate_.bound
