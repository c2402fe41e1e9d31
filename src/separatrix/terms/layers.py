"""The layers of a network, forward, by NumPy and BLAS: what predictions are made with.

With h₀ = x, the layers are zₖ = hₖ₋₁Wₖ + bₖ and hₖ = φ(zₖ), the last without φ. One
output: p = σ(z), loss log(1 + exp(∓z)); K outputs: softmax. Then with a row's weight a

    δ_last = a(p − y),   δₖ = (δₖ₊₁Wₖ₊₁ᵀ) ∘ φ′(zₖ),   ∂/∂Wₖ = hₖ₋₁ᵀδₖ,   ∂/∂bₖ = Σ δₖ,

where φ′ is found from h = φ(z): 1 where h > 0 (ReLU; 0 at the kink), 1 − h² (tanh),
h(1 − h) (logistic). The gradient with respect to the inputs is never formed. The way
back is compiled, and so is the way forth of a fit (``cpp/kernels/backprop.cpp``).
"""

from typing import Any

import numpy as np

from separatrix import kernels
from separatrix.core.arrays import AnyArray
from separatrix.terms.architecture import Architecture

LANE_EDGES = (2**23 * 3 // 2, 2**26 * 3 // 2)
"""Multiply-adds from which on two, then four lanes pay: products of few rows are slower per row."""


def lanes_for(work: float, rows: int) -> int:
    """1, 2 or 4, by the work alone.

    >>> lanes_for(200 * 784 * 100, 200), lanes_for(1000, 200)
    (2, 1)
    """
    lanes = 1
    for edge in LANE_EDGES:
        if work >= edge and rows >= 2 * lanes:
            lanes *= 2
    return lanes


class Forward:
    """Buffers for at most ``rows`` rows, and the pass over them.

    ``weights`` is a vector laid out by the architecture, which may change between calls.
    """

    def __init__(self, architecture: Architecture, weights: AnyArray, rows: int) -> None:
        self.architecture = architecture
        self.matrices = architecture.matrices(weights)
        self.constants = architecture.constants(weights)
        self._values = [np.empty((rows, units), weights.dtype) for units in architecture.units[1:]]

    def scores(self, inputs: Any, rows: int) -> AnyArray:
        """Scores of the output, which the next call overwrites."""
        below = inputs
        for layer, (matrix, constants) in enumerate(zip(self.matrices, self.constants, strict=True)):
            here = self._values[layer][:rows]
            if isinstance(below, np.ndarray):
                np.matmul(below, matrix, out=here)
            else:
                here[...] = below @ matrix
            if layer == self.architecture.layers - 1:
                np.add(here, constants, out=here)
            else:
                kernels.activate(self.architecture.activation, here, constants)
            below = here
        return here
