"""W2: dense L2 logistic regression, 1,000,000 × 50 float32, C = 1.

The rows of W1 rounded to float32; the objective is judged in float64 at the weights
each contender returns.
"""

from benchmarks import w01_dense
from benchmarks.harness import Options


def run(options: Options) -> None:
    w01_dense.compare("float32", options)
