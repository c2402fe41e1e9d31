"""W14: stochastic gradient descent for the logistic loss, 200,000 × 100, per epoch.

Both sides minimise the same F, with alpha = 1/n, for the same number of epochs, one row a step and
without a stopping rule. Seconds per epoch are the whole fit's divided by the epochs, ours with its certificate; a
line of its own has the epochs alone. The excess is F − F*, with F* from Newton's method. scikit-learn's default
rates, "optimal", are far too long for dense rows and a penalty this weak, so ours run with them too, and
scikit-learn with a first rate that ours takes from the data.
"""

from typing import Any

import numpy as np
from sklearn import linear_model

from benchmarks import simulate
from benchmarks.harness import Contender, Options, Result, Role, print_runs, print_table, race
from separatrix import LogisticRegression, SGDClassifier

EPOCHS = 10


def run(options: Options) -> None:
    rows = options.size(200_000, quick=4_000)
    X, y = simulate.dense(rows, 100)
    S, z = simulate.words(rows, options.size(20_000, quick=500), 60)
    for title, table, labels in (
        ("float64", X, y),
        ("float32", X.astype(np.float32), y),
        ("CSR, texts of 60 words", S, z),
    ):
        print(f"\n### {title}, {table.shape[0]:,} × {table.shape[1]:,}")
        _race(table, labels, options)


def _race(X: Any, y: Any, options: Options) -> None:
    fitted: dict[str, Any] = {}
    alone: dict[str, float] = {}
    eta0 = _rate(X, y)
    entries = [
        ("**separatrix**", _ours(X)),
        ("**separatrix**, average", _ours(X, average=True)),
        ("**separatrix**, optimal", _ours(X, learning_rate="optimal")),
        ("scikit-learn", _peer(X)),
        ("scikit-learn, average", _peer(X, average=True)),
        ("scikit-learn, our eta0, invscaling", _peer(X, learning_rate="invscaling", eta0=eta0)),
        ("scikit-learn, the same, average", _peer(X, learning_rate="invscaling", eta0=eta0, average=True)),
    ]

    def contender(name: str, model: Any) -> Contender:
        def fit() -> None:
            fitted[name] = model.fit(X, y)
            if "separatrix" in name:
                alone[name] = min(alone.get(name, np.inf), float(model.trace_.seconds[-1]))

        return Contender(name, fit, Role.OURS if "separatrix" in name else Role.PEER)

    results = race([contender(name, model) for name, model in entries], options.rounds(5))
    _print(results, fitted, alone, LogisticRegression().fit(X, y).certificate_.objective, X, y)


def _ours(X: Any, **settings: Any) -> SGDClassifier:
    return SGDClassifier(alpha=1.0 / X.shape[0], max_iter=EPOCHS, n_iter_no_change=None, **settings)


def _peer(X: Any, **settings: Any) -> linear_model.SGDClassifier:
    options = {"alpha": 1.0 / X.shape[0], "max_iter": EPOCHS, "tol": None, "random_state": 0} | settings
    return linear_model.SGDClassifier("log_loss", **options)


def _rate(X: Any, y: Any) -> float:
    """The first step length that ours takes."""
    rows = min(10_000, X.shape[0])
    model = SGDClassifier(alpha=1.0 / rows, max_iter=1, n_iter_no_change=None).fit(X[:rows], y[:rows])
    return float(model._progress_.rates.eta0)


def _print(results: list[Result], fitted: dict[str, Any], alone: dict[str, float], best: float, X: Any, y: Any) -> None:
    peer = next(result.seconds for result in results if result.contender.name == "scikit-learn")
    rows = []
    for result in results:
        name, model = result.contender.name, fitted[result.contender.name]
        times = {name: result.seconds}
        if "separatrix" in name:
            times[f"{name}, epochs alone"] = alone[name]
        for label, seconds in times.items():
            bound = f"{model.certificate_.bound:.0e}" if label == name and "separatrix" in name else "–"
            excess = f"{_objective(model, X, y) - best:.1e}"
            rows.append((label, f"{seconds / EPOCHS:.4f}", f"{peer / seconds:.2f}", excess, bound))
    print_table(("contender", "seconds per epoch", "speed ÷ scikit-learn", "excess", "certified"), rows)
    print_runs(results, "fits")


def _objective(model: Any, X: Any, y: Any) -> float:
    """F with alpha = 1/n, in float64."""
    w = model.coef_[0].astype(np.float64)
    scores = X.astype(np.float64) @ w + float(model.intercept_[0])
    return float(np.mean(np.logaddexp(0.0, -(2 * y - 1) * scores)) + w @ w / (2 * len(y)))
