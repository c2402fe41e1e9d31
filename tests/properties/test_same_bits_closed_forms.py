"""Closed forms have the same bits for any number of threads, of ours and of BLAS."""

import os
import subprocess
import sys

PROGRAM = """
import hashlib
import numpy as np, scipy.sparse as sp
from separatrix import BernoulliNB, LinearDiscriminantAnalysis, RidgeClassifier, RidgeClassifierCV
from separatrix.kernels import threads
threads._quota = lambda: 64
draw = np.random.default_rng(0)
X = draw.normal(size=(60_000, 24))
y = draw.integers(0, 3, 60_000)
S = sp.random_array((20_000, 200), density=0.05, rng=draw, format="csr")
out = []
for A, b in ((X, y), (X.astype(np.float32), y), (S, y[:20_000]), (S.tocsc(), y[:20_000])):
    for model in (LinearDiscriminantAnalysis(), LinearDiscriminantAnalysis(covariance="average", shrinkage="auto"),
                  BernoulliNB(), RidgeClassifier(0.5), RidgeClassifierCV()):
        fit = model.fit(A, b, sample_weight=np.arange(len(b)) % 5 + 0.5)
        out += [fit.coef_.tobytes().hex(), fit.intercept_.tobytes().hex(), fit.certificate_.bound.hex(),
                fit.decision_function(A).tobytes().hex()[:4000]]
print(hashlib.sha256("".join(out).encode()).hexdigest())
"""


def test_closed_forms_have_the_same_bits_for_any_number_of_threads():
    answers = set()
    for count in (1, 2, 7):
        environment = {**os.environ, "OMP_NUM_THREADS": str(count), "OPENBLAS_NUM_THREADS": str(1 + count % 2)}
        done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, check=True)
        answers.add(done.stdout)
    assert len(answers) == 1
