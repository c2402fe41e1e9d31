r"""A step length from the data: one over the curvature that a step may meet.

**Full steps.** The logistic loss has a curvature of at most ¼ in its score, softmax of at most ½ in its scores
(Böhning 1992), so ∇²F ≼ L·I with L = c·λ_max((1/S) Σ aᵢx̃ᵢx̃ᵢᵀ) + κ(1−ρ), c = ¼ or ½, and a step of 1/L never
raises F. λ_max comes from the matrix itself up to ``MOST_COLUMNS`` coefficients, beyond from ``POWER_STEPS`` products;
a step of 1/L is stable down to half of λ_max, so a rough value does.

**Batches** of m of n rows meet, on average (Gower and others 2019),

    L(m) = n(m−1)/(m(n−1))·L + (n−m)/(m(n−1))·L₁,    L₁ = c·(mean of ‖x̃ᵢ‖²) + κ(1−ρ);

they state it with the largest ‖x̃ᵢ‖² in place of the mean. The mean serves rows of unequal lengths better, and a
long row does no harm: the slope of a logistic loss is at most 1. L is taken from some of the rows.
"""

from dataclasses import replace

import numpy as np

from separatrix.terms.penalised import PenalisedLoss

MOST_COLUMNS = 200
POWER_STEPS = 20
SAMPLE = 2000


def smoothness(objective: PenalisedLoss) -> float:
    """L of full steps; the objective's coordinates must be raw (shift zero)."""
    single = replace(objective, outputs=1, strength=0.0, ranges=None)
    zero = np.zeros(single.size)
    if single.size <= MOST_COLUMNS:
        hessian = single.evaluate(zero, curvature=True).hessian
        assert hessian is not None
        most = float(np.linalg.eigvalsh(hessian)[-1])
    else:
        single.prepare_products(zero)
        vector = np.random.default_rng(0).normal(size=single.size)
        most = 0.0
        for _ in range(POWER_STEPS):
            vector /= np.linalg.norm(vector)
            vector = single.product(vector)
            most = float(np.linalg.norm(vector))
            if not most > 0.0:
                break
    # at zero every row's curvature is ¼
    return most * (1.0 if objective.outputs == 1 else 2.0) + objective.strength


def batch_smoothness(objective: PenalisedLoss, batch: int, seed: int) -> float:
    """L(m) of batches of m rows; the objective's coordinates must be raw."""
    curvature = 0.25 if objective.outputs == 1 else 0.5
    lengths = float(np.square(objective.column_sizes()).sum()) + objective.constant
    one = curvature * lengths + objective.strength
    n = objective.engine.rows
    if batch == 1 or n == 1:
        return one
    engine = objective.engine
    some = objective if n <= SAMPLE else replace(objective, engine=engine.sample(SAMPLE, seed), ranges=None)
    return (n * (batch - 1) * smoothness(some) + (n - batch) * one) / (batch * (n - 1))
