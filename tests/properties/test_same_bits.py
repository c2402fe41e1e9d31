"""The same bits for any number of threads."""

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix.engines import block_of
from separatrix.kernels import _kernels

PROGRAM = """
import sys
import numpy as np, scipy.sparse as sp, threadpoolctl
from separatrix import LogisticRegression, SGDClassifier
from separatrix.kernels import threads
threads._quota = lambda: 64  # more threads than processors, to see that it does not matter
draw = np.random.default_rng(0)
X = draw.normal(size=(150_000, 12))
y = (X @ draw.normal(size=12) + draw.logistic(size=150_000) > 0).astype(int)
S = sp.random_array((20_000, 2_000), density=0.01, rng=draw, format="csr")
z = (S @ draw.normal(size=2_000) > 0).astype(int)
out = []
for model, A, b in [("auto", X, y), ("newton-cholesky", X.astype(np.float32), y), ("newton-cg", S, z),
                    ("newton-cg", S.tocsc(), z), ("newton-cholesky", np.asfortranarray(X[:30_000]), y[:30_000])]:
    fit = LogisticRegression(solver=model).fit(A, b)
    out += [fit.coef_.tobytes().hex(), fit.intercept_.tobytes().hex(), fit.certificate_.bound.hex(),
            fit.predict_proba(A).tobytes().hex()[:4000]]
fit = LogisticRegression(C=np.inf, firth=True, flic=True).fit(X[:50_000], y[:50_000])
out += [fit.coef_.tobytes().hex(), fit.intercept_.tobytes().hex(), fit.certificate_.decrement.hex()]
for batch_size in ("all", 3):
    fit = SGDClassifier(max_iter=2, batch_size=batch_size).fit(X, y)
    out += [fit.coef_.tobytes().hex(), fit.intercept_.tobytes().hex(), fit.certificate_.bound.hex()]
import hashlib
print(hashlib.sha256("".join(out).encode()).hexdigest())
"""


def test_fits_have_the_same_bits_for_any_number_of_threads():
    answers = set()
    for count in (1, 2, 3, 7, 16):
        # BLAS threads vary too: a fit must not depend on them either
        environment = {**os.environ, "OMP_NUM_THREADS": str(count), "OPENBLAS_NUM_THREADS": str(1 + count % 2)}
        done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, check=True)
        answers.add(done.stdout)
    assert len(answers) == 1


@pytest.mark.parametrize("sparse", [False, True])
def test_kernels_have_the_same_bits_for_any_number_of_threads(sparse):
    draw = np.random.default_rng(3)
    X = draw.normal(size=(5000, 6)) * (draw.random((5000, 6)) < 0.5)
    rows = block_of(sp.csr_array(X) if sparse else X).rows
    codes = draw.integers(0, 2, 5000).astype(np.int32)
    point = draw.normal(size=(1, 7))
    results = [
        _kernels.logistic(rows, codes, 1, None, None, 1, point, None, True, True, False, True, None, 0, 5000, 37, t)
        for t in (1, 2, 3, 7, 16)
    ]
    for sums, maxima in results[1:]:
        np.testing.assert_array_equal(sums, results[0][0])
        np.testing.assert_array_equal(maxima, results[0][1])
