"""Softmax: L2 logistic regression of many classes, scikit-learn's digits and 200,000 × 50 of 10 classes, C = 1.

Digits are as they come, 0 to 16, nothing scaled.
"""

from benchmarks import contenders, simulate
from benchmarks.harness import Contender, Options, print_fits, race
from benchmarks.problem import SoftmaxProblem


def run(options: Options) -> None:
    from sklearn.datasets import load_digits

    digits = SoftmaxProblem(*load_digits(return_X_y=True))
    rows, columns = digits.X.shape
    print(f"\n### digits, {rows:,} × {columns}, 10 classes")
    entries = [
        *_entries(digits),
        *contenders.scikit_learn(digits, "newton-cholesky", solver="newton-cholesky"),
        *contenders.scikit_learn(digits, "newton-cholesky tol=1e-8", solver="newton-cholesky", tol=1e-8),
    ]
    print_fits(digits, race(entries, options.rounds(3), at_least=0.0 if options.quick else 10.0))

    drawn = SoftmaxProblem(*simulate.classes(options.size(200_000, quick=4_000), 50, 10))
    rows, columns = drawn.X.shape
    print(f"\n### simulated, {rows:,} × {columns}, 10 classes")
    print_fits(drawn, race(_entries(drawn), options.rounds(3)))


def _entries(problem: SoftmaxProblem) -> list[Contender]:
    return [
        *contenders.separatrix(problem),
        *contenders.scikit_learn(problem),
        *contenders.scikit_learn(problem, "lbfgs tol=1e-8 max_iter=1000", tol=1e-8, max_iter=1_000),
    ]
