"""Answers of others: objectives by SciPy and scikit-learn, separability by a linear program."""

import numpy as np
from scipy.optimize import linprog, minimize
from scipy.special import expit
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression


def objective(X: np.ndarray, y: np.ndarray, coef: np.ndarray, intercept: float, C: float, l1_ratio: float) -> float:
    """scikit-learn's objective divided by C·n: Σ losses / n and the penalty, or the losses alone for C = ∞."""
    z = X @ coef + intercept
    loss = float(np.mean(np.logaddexp(0.0, np.where(y == 1, -z, z))))
    penalty = l1_ratio * np.abs(coef).sum() + 0.5 * (1.0 - l1_ratio) * float(coef @ coef)
    return loss + (float(penalty) / (C * len(y)) if np.isfinite(C) else 0.0)


def peer_objective(X: np.ndarray, y: np.ndarray, C: float) -> float:
    """Where scikit-learn's newton-cholesky ends with an L2 penalty."""
    peer = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-12, max_iter=1000).fit(X, y)
    return objective(X, y, peer.coef_.ravel(), float(peer.intercept_[0]), C, 0.0)


def lower_objective(
    X: np.ndarray, y: np.ndarray, coef: np.ndarray, intercept: float, C: float, l1_ratio: float
) -> float:
    """What SciPy's L-BFGS-B finds from a point, the weights split into positive and negative parts."""
    scale = np.maximum(np.abs(X).max(axis=0), 1e-300)
    Z, signs, n, d = X / scale, np.where(y == 1, 1.0, -1.0), len(y), X.shape[1]
    kappa = 1.0 / (C * n)

    def value(parts: np.ndarray) -> tuple[float, np.ndarray]:
        scaled, b = parts[:d] - parts[d : 2 * d], parts[-1]
        w = scaled / scale
        margins = signs * (Z @ scaled + b)
        slopes = -signs * expit(-margins) / n
        gradient = Z.T @ slopes + kappa * (1.0 - l1_ratio) * w / scale
        size = (parts[:d] + parts[d : 2 * d]) / scale
        total = float(np.mean(np.logaddexp(0.0, -margins))) + 0.5 * kappa * (1.0 - l1_ratio) * float(w @ w)
        slope = kappa * l1_ratio / scale
        return total + kappa * l1_ratio * float(size.sum()), np.concatenate(
            [gradient + slope, slope - gradient, [slopes.sum()]]
        )

    start = np.concatenate([np.maximum(coef * scale, 0.0), np.maximum(-coef * scale, 0.0), [intercept]])
    bounds = [(0.0, None)] * (2 * d) + [(None, None)]
    found = minimize(value, start, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": 300, "ftol": 1e-15})
    return float(found.fun)


def separability(X: np.ndarray, y: np.ndarray) -> str | None:
    """complete, quasi or overlap by a linear program; None where rounding could tip it."""
    spread = np.abs(X).max(axis=0)
    spread[spread == 0] = 1.0
    Z = np.column_stack([X / spread, np.ones(len(X))]) * (2 * y - 1)[:, None]
    lean = linprog(-Z.sum(axis=0), A_ub=-Z, b_ub=np.zeros(len(Z)), bounds=(-1, 1), method="highs")
    if lean.status != 0:
        return None
    most = float((Z @ lean.x).max())
    if most < 1e-5:
        return "overlap" if most < 1e-9 else None
    p = Z.shape[1]
    rows = np.column_stack([-Z, np.ones(len(Z))])
    wide = linprog(
        np.append(np.zeros(p), -1.0), A_ub=rows, b_ub=np.zeros(len(Z)), bounds=[(-1, 1)] * p + [(0, 1)], method="highs"
    )
    if wide.status != 0:
        return None
    return "complete" if wide.x[-1] > 1e-7 else ("quasi" if wide.x[-1] < 1e-12 else None)


def discriminant(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Labels by scikit-learn's LDA and where they are no ties, if the columns are well conditioned."""
    if not np.linalg.cond(np.atleast_2d(np.cov(X.T))) < 1e10:
        return None
    peer = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    return np.asarray(peer.predict(X)), np.abs(peer.decision_function(X)) > 1e-9
