"""A network has the same bits for any number of threads."""

import os
import subprocess
import sys

PROGRAM = """
import hashlib, sys, warnings
import numpy as np, scipy.sparse as sp
warnings.simplefilter("ignore")
from separatrix import MLPClassifier
from separatrix.kernels import threads
threads._quota = lambda: 64  # more threads than processors, to see that it does not matter
draw = np.random.default_rng(0)
X = draw.normal(size=(1500, 300))
y = np.argmax(X[:, :4] + draw.gumbel(size=(1500, 4)), axis=1)
S = sp.csr_array(np.where(draw.random(X.shape) < 0.05, X, 0.0))
digest = hashlib.sha256()
for options, A in [({}, X), ({}, X.astype(np.float32)), ({"solver": "sgd", "activation": "tanh"}, X.astype(np.float32)),
                   ({"solver": "lbfgs", "activation": "logistic"}, X), ({"early_stopping": True}, S)]:
    model = MLPClassifier((200, 60), max_iter=3, batch_size=256, **options).fit(A, y)
    for part in [*model.coefs_, *model.intercepts_, model.predict_proba(A)]:
        digest.update(part.tobytes())
    digest.update(repr((model.loss_curve_, model.certificate_.bound)).encode())
print(digest.hexdigest())
"""


def test_networks_have_the_same_bits_for_any_number_of_threads():
    answers = set()
    for count in (1, 2, 3, 8):
        # BLAS threads vary too: a fit must not depend on them either
        environment = {**os.environ, "OMP_NUM_THREADS": str(count), "OPENBLAS_NUM_THREADS": str(1 + count % 2)}
        done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, check=True)
        answers.add(done.stdout)
    assert len(answers) == 1
