"""Softmax: L2 logistic regression of many classes, scikit-learn's digits and 200,000 × 50 of 10 classes, C = 1.

Digits are as they come, 0 to 16, nothing scaled. scikit-learn runs twice, with as many
BLAS threads as it likes and with one: more threads can make small products much slower.
"""

from sklearn.datasets import load_digits

from benchmarks import contenders, simulate
from benchmarks.harness import Contender, Options, print_fits, race
from benchmarks.problem import SoftmaxProblem


def run(options: Options) -> None:
    digits = SoftmaxProblem(*load_digits(return_X_y=True))
    newton = [
        *contenders.scikit_learn(digits, "newton-cholesky", solver="newton-cholesky"),
        *contenders.scikit_learn(digits, "newton-cholesky tol=1e-8", solver="newton-cholesky", tol=1e-8),
    ]
    _compare("digits", digits, [*_lbfgs(digits, options), *newton], options)
    drawn = SoftmaxProblem(*simulate.classes(options.size(200_000, quick=4_000), 50, 10))
    _compare("simulated", drawn, _lbfgs(drawn, options), options)


def _compare(name: str, problem: SoftmaxProblem, peers: list[Contender], options: Options) -> None:
    rows, columns = problem.X.shape
    print(f"\n### {name}, {rows:,} × {columns}, 10 classes", flush=True)
    entries = [*contenders.separatrix(problem), *peers, *contenders.on_one_blas_thread(peers)]
    print_fits(problem, race(entries, options.rounds(3)))


def _lbfgs(problem: SoftmaxProblem, options: Options) -> list[Contender]:
    most = options.size(1_000, quick=100)
    return [
        *contenders.scikit_learn(problem),
        *contenders.scikit_learn(problem, f"lbfgs tol=1e-8 max_iter={most}", tol=1e-8, max_iter=most),
    ]
