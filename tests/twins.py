"""NumPy twins of the compiled kernels: slow, plain, and written from the formulas alone."""

from itertools import pairwise
from typing import Any

import numpy as np


def dense(X: Any) -> np.ndarray:
    """Any table as a float64 array."""
    if hasattr(X, "toarray"):
        X = X.toarray()
    return np.asarray(X, dtype=np.float64)


def with_constant(X: np.ndarray, constant: bool) -> np.ndarray:
    return np.column_stack([X, np.ones(len(X))]) if constant else X


def logistic(X, codes, point, weights=None, constant=True, shift=None):
    """Loss, weight, curvature, mistakes, slope size; gradient; Hessian about the shift."""
    X = dense(X)
    weights = np.ones(len(X)) if weights is None else weights
    Z = with_constant(X, constant)
    score = Z @ point
    sign = np.where(codes == 1, 1.0, -1.0)
    loss = weights @ np.logaddexp(0, -sign * score)
    small = np.exp(-np.abs(score))
    wrong_side = np.where(sign * score < 0, 1 / (1 + small), small / (1 + small))
    slope = -weights * sign * wrong_side
    curvature = weights * small / (1 + small) ** 2
    wrong = (score >= 0) != (sign > 0)
    header = np.array([loss, weights.sum(), curvature.sum(), weights[wrong].sum(), np.abs(slope).sum()])
    centred = with_constant(X - (0 if shift is None else shift), constant)
    return header, Z.T @ slope, centred.T @ (curvature[:, None] * centred)


def product(X, row_weights, direction, constant=True):
    """Weighted Gram matrix times a direction."""
    Z = with_constant(dense(X), constant)
    return Z.T @ (row_weights * (Z @ direction))


def objective(X, y_sign, w, b, C, weights=None) -> float:
    """The average objective in extended precision."""
    X = dense(X).astype(np.longdouble)
    weights = np.ones(len(X), np.longdouble) if weights is None else np.asarray(weights, np.longdouble)
    z = X @ np.asarray(w, np.longdouble) + np.longdouble(b)
    m = np.asarray(y_sign) * z
    loss = np.where(m > 0, np.log1p(np.exp(-np.abs(m))), np.log1p(np.exp(-np.abs(m))) - m)
    total = weights.sum()
    return (weights @ loss) / total + (np.asarray(w, np.longdouble) ** 2).sum() / (2 * np.longdouble(C) * total)


def softmax(X, codes, point, weights=None, constant=True, shift=None):
    """Loss, probabilities, gradient (K × p) and Hessian (Kp × Kp) about the shift; point is (K × p)."""
    X = dense(X)
    weights = np.ones(len(X)) if weights is None else weights
    scores = with_constant(X, constant) @ point.T
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    pi = shares / shares.sum(axis=1, keepdims=True)
    top = scores.max(axis=1)
    loss = weights @ (top + np.log(shares.sum(axis=1)) - scores[np.arange(len(X)), codes])
    slopes = weights[:, None] * (pi - np.eye(len(point))[codes])
    centred = with_constant(X - (0 if shift is None else shift), constant)
    k, p = point.shape
    hessian = np.zeros((k, p, k, p))
    for row, share, weight in zip(centred, pi, weights, strict=True):
        curvature = weight * (np.diag(share) - np.outer(share, share))
        hessian += np.einsum("kl,i,j->kilj", curvature, row, row)
    return loss, pi, slopes.T @ with_constant(X, constant), hessian.reshape(k * p, k * p)


def quadratic(hessian, gradient, point, penalty, step):
    """The model that coordinate descent lowers."""
    return gradient @ step + step @ hessian @ step / 2 + penalty @ np.abs(point + step)


def dot_in_eight(x, w):
    """⟨x, w⟩ in eight partial sums, added up as the kernels do."""
    part = np.zeros(8)
    whole = len(x) // 8 * 8
    for j in range(0, whole, 8):
        part += x[j : j + 8] * w[j : j + 8]
    for k, j in enumerate(range(whole, len(x))):
        part[k] += x[j] * w[j]
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]))


def perceptron(X, signs, point, order, rates, margin=0.0, weights=None, constant=True):
    """Visits in order: the weights after each, and whether it was a mistake."""
    X, point, d = dense(X), point.copy(), dense(X).shape[1]
    path, mistakes = [], []
    for i, rate in zip(order, rates, strict=True):
        z = dot_in_eight(X[i], point[:d]) + (point[d] if constant else 0.0)
        mistakes.append(not signs[i] * z > margin)
        if mistakes[-1]:
            step = rate * signs[i] * (1.0 if weights is None else weights[i])
            point[:d] += step * X[i]
            if constant:
                point[d] += step
        path.append(point.copy())
    return np.array(path), np.array(mistakes)


def descent(X, codes, point, order, rates, batch=1, shrink=0.0, truncate=0.0, weights=None, constant=True, hard=False):
    """Steps on batches: the weights (outputs × p) after each step, and the loss as it was met."""
    X, point, d = dense(X), point.copy(), dense(X).shape[1]
    weights = np.ones(len(X)) if weights is None else weights
    mean, path, met = weights[np.unique(order)].mean(), [], 0.0
    for step, first in enumerate(range(0, len(order), batch)):
        rows = order[first : first + batch]
        Z = with_constant(X[rows], constant)
        scores = Z @ point.T
        if len(point) == 1:
            scores = np.column_stack([np.zeros(len(rows)), scores])
        met += weights[rows] @ (np.logaddexp.reduce(scores, axis=1) - scores[np.arange(len(rows)), codes[rows]])
        shares = np.exp(scores - np.logaddexp.reduce(scores, axis=1)[:, None])
        own = np.eye(scores.shape[1])[codes[rows]]
        if hard:  # the most probable label; a tie counts against the row
            rival = np.where(own == 1, -np.inf, scores)
            lost = rival.max(axis=1) >= (scores * own).sum(axis=1)
            shares = np.where(lost[:, None], np.eye(scores.shape[1])[rival.argmax(axis=1)], own)
        slopes = (weights[rows, None] / mean * (shares - own))[:, -len(point) :]
        point[:, :d] *= max(0.0, 1.0 - rates[step] * shrink)
        point -= rates[step] / len(rows) * (slopes.T @ Z)
        w = point[:, :d]
        point[:, :d] = np.sign(w) * np.maximum(np.abs(w) - rates[step] * truncate, 0.0)
        path.append(point.copy())
    return np.array(path), met


def moments(X, codes, classes, weights=None):
    """Weight, mean and scatter of each class, in extended precision."""
    X = dense(X).astype(np.longdouble)
    weights = np.ones(len(X)) if weights is None else weights
    sums, means, scatters = [], [], []
    for k in range(classes):
        rows, a = X[codes == k], weights[codes == k].astype(np.longdouble)
        total = a.sum()
        mean = (a @ rows) / total if total > 0 else np.zeros(X.shape[1])
        sums.append(total)
        means.append(mean)
        scatters.append((a[:, None] * (rows - mean)).T @ (rows - mean))
    return tuple(np.array(part, dtype=np.float64) for part in (sums, means, scatters))


def counts(X, codes, classes, threshold, weights=None):
    """Weight of each class, and of its rows above the threshold."""
    above = dense(X) > threshold
    weights = np.ones(len(above)) if weights is None else weights
    members = np.array([np.where(codes == k, weights, 0.0) for k in range(classes)])
    return members.sum(axis=1), members @ above


def spreads(X, codes, centre, scale):
    """Squared scaled length of every row about its class's centre."""
    return np.square((dense(X) - centre[codes]) * scale[codes]).sum(axis=1)


def solve_exactly(matrix, side):
    """Gaussian elimination in fractions."""
    rows = [[*row, value] for row, value in zip(matrix, side, strict=True)]
    for k in range(len(rows)):
        pivot = next(i for i in range(k, len(rows)) if rows[i][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for i in range(len(rows)):
            if i != k:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


ACTIVATIONS = {
    "identity": (lambda z: z, np.ones_like),
    "relu": (lambda z: np.maximum(z, 0.0), lambda h: (h > 0) * 1.0),
    "tanh": (np.tanh, lambda h: 1.0 - h * h),
    "logistic": (lambda z: 1.0 / (1.0 + np.exp(-z)), lambda h: h * (1.0 - h)),
}


def network_losses(units, activation, flat, X, codes, weights):
    """Σ a·loss of a network, its gradient as one vector, and the weight of the mistakes."""
    forth, back = ACTIVATIONS[activation]
    sizes = [a * b for a, b in pairwise(units)]
    edges = np.cumsum([0, *sizes, *units[1:]])
    parts = [flat[first:last] for first, last in pairwise(edges)]
    layers = len(units) - 1
    matrices = [parts[k].reshape(units[k], units[k + 1]) for k in range(layers)]
    values = [X]
    for k, (W, b) in enumerate(zip(matrices, parts[layers:], strict=True)):
        z = values[-1] @ W + b
        values.append(z if k == layers - 1 else forth(z))
    z = values[-1] if units[-1] > 1 else np.hstack([np.zeros((len(X), 1)), values[-1]])
    below = z - z.max(axis=1, keepdims=True)
    shares = np.exp(below) / np.exp(below).sum(axis=1, keepdims=True)
    own = np.arange(len(X)), codes
    loss = np.sum(weights * (np.log(np.exp(below).sum(axis=1)) - below[own]))
    best = z.shape[1] - 1 - np.argmax(z[:, ::-1], axis=1)
    delta = shares.copy()
    delta[own] -= 1.0
    delta = (delta * weights[:, None])[:, -units[-1] :]
    slopes, constants = [], []
    for k in range(layers - 1, -1, -1):
        slopes.insert(0, (values[k].T @ delta).ravel())
        constants.insert(0, delta.sum(axis=0))
        if k:
            delta = (delta @ matrices[k].T) * back(values[k])
    return loss, np.concatenate([*slopes, *constants]), np.sum(weights * (best != codes))


def network_epoch(units, activation, flat, X, codes, weights, alpha, batch, step):
    """An epoch of ``step(flat, gradient)`` over batches as they lie: Σ rows·F as met, and the mistakes."""
    end = sum(a * b for a, b in pairwise(units))
    total = wrong = 0.0
    for first in range(0, len(X), batch):
        rows = slice(first, min(first + batch, len(X)))
        loss, gradient, mistakes = network_losses(units, activation, flat, X[rows], codes[rows], weights[rows])
        scale = 1.0 / weights[rows].sum()
        total += scale * (loss + 0.5 * alpha * np.sum(flat[:end] ** 2)) * (rows.stop - first)
        wrong += mistakes
        gradient[:end] += alpha * flat[:end]
        step(flat, scale * gradient)
    return total, wrong
