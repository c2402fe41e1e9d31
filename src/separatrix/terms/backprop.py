"""Cross-entropy of a network and its gradient, by back-propagation.

With h₀ = x, the layers are zₖ = hₖ₋₁Wₖ + bₖ and hₖ = φ(zₖ), the last without φ. One
output: p = σ(z), loss log(1 + exp(∓z)); K outputs: softmax. Then with a row's weight a

    δ_last = a(p − y),   δₖ = (δₖ₊₁Wₖ₊₁ᵀ) ∘ φ′(zₖ),   ∂/∂Wₖ = hₖ₋₁ᵀδₖ,   ∂/∂bₖ = Σ δₖ,

where φ′ is found from h = φ(z): 1 where h > 0 (ReLU; 0 at the kink), 1 − h² (tanh),
h(1 − h) (logistic). The gradient with respect to the inputs is never formed.

Everything works on buffers that are made once. Rows are independent until the
products hᵀδ, so lanes of rows may run beside each other, and so may parts of W.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import expit

from separatrix.core import kernels
from separatrix.core.arrays import AnyArray, Codes, Vector
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


def activate(kind: str, scores: AnyArray, constants: AnyArray) -> None:
    """H = φ(z + b), in place."""
    if kind == "relu":
        kernels.add_relu(scores, constants)
        return
    np.add(scores, constants, out=scores)
    if kind == "tanh":
        np.tanh(scores, out=scores)
    elif kind == "logistic":
        expit(scores, out=scores)


def times_derivative(kind: str, slopes: AnyArray, values: AnyArray) -> None:
    """δ ∘ φ′, with φ′ from the values h, in place."""
    if kind == "relu":
        kernels.relu_back(slopes, values)
    elif kind == "tanh":
        np.multiply(slopes, 1.0 - values * values, out=slopes)
    elif kind == "logistic":
        np.multiply(slopes, values * (1.0 - values), out=slopes)


@dataclass(frozen=True, slots=True)
class Part:
    """Rows first … last−1 of a layer's matrix, or its constants (first = −1)."""

    layer: int
    first: int
    last: int


class Backprop:
    """Buffers for at most ``rows`` rows, and the passes over them.

    ``weights`` and ``gradient`` are vectors laid out by the architecture; the former
    may change between calls. Without ``back`` there is room to go forward only.
    """

    def __init__(self, architecture: Architecture, weights: AnyArray, rows: int, back: bool = True) -> None:
        self.architecture = architecture
        self.weights = weights
        self.matrices = architecture.matrices(weights)
        self.constants = architecture.constants(weights)
        dtype = weights.dtype
        self.gradient = np.empty(architecture.parameters if back else 0, dtype)
        self._values = [np.empty((rows, units), dtype) for units in architecture.units[1:]]
        self.inputs: list[Any] = [None, *self._values[:-1]]
        if not back:
            return
        self._matrix_slopes = architecture.matrices(self.gradient)
        self._constant_slopes = architecture.constants(self.gradient)
        # the output's scores turn into its slopes in place
        self._slopes = [np.empty((rows, units), dtype) for units in architecture.units[1:-1]] + [self._values[-1]]

    def forward(self, inputs: Any, first: int, last: int) -> AnyArray:
        """Scores of the output for rows that stand at first … last−1 in the buffers."""
        below = inputs
        for layer, (matrix, constants) in enumerate(zip(self.matrices, self.constants, strict=True)):
            here = self._values[layer][first:last]
            if isinstance(below, np.ndarray):
                np.matmul(below, matrix, out=here)
            else:
                here[...] = below @ matrix
            if layer == self.architecture.layers - 1:
                np.add(here, constants, out=here)
            else:
                activate(self.architecture.activation, here, constants)
            below = here
        return here

    def rows_pass(
        self, inputs: Any, codes: Codes, weights: Vector | None, first: int, last: int
    ) -> tuple[float, float]:
        """Forward and back for some rows: their summed loss and mistakes."""
        scores = self.forward(inputs, first, last)
        loss, mistakes = kernels.output_slopes(scores, codes, weights)
        for layer in range(self.architecture.layers - 1, 0, -1):
            below = self._slopes[layer - 1][first:last]
            np.matmul(self._slopes[layer][first:last], self.matrices[layer].T, out=below)
            times_derivative(self.architecture.activation, below, self._values[layer - 1][first:last])
        return loss, mistakes

    def parts(self, rows: int, sparse: bool) -> list[Part]:
        """Parts of the gradient that may be computed beside each other, the largest first."""
        found = []
        for layer, (inputs, outputs) in enumerate(pairwise(self.architecture.units)):
            pieces = 1 if sparse and layer == 0 else lanes_for(float(rows) * inputs * outputs, inputs)
            found += [Part(layer, inputs * k // pieces, inputs * (k + 1) // pieces) for k in range(pieces)]
        found += [Part(layer, -1, -1) for layer in range(self.architecture.layers)]
        return found

    def span(self, part: Part) -> tuple[int, int]:
        """Where a part stands in the vector of all weights."""
        starts, layers = self.architecture.starts, self.architecture.layers
        if part.first < 0:
            return starts[layers + part.layer], starts[layers + part.layer + 1]
        width = self.architecture.units[part.layer + 1]
        return starts[part.layer] + part.first * width, starts[part.layer] + part.last * width

    def part_gradient(self, part: Part, rows: int) -> None:
        """Sum over the first ``rows`` rows in the buffers, written into ``gradient``."""
        slopes = self._slopes[part.layer][:rows]
        if part.first < 0:
            np.sum(slopes, axis=0, out=self._constant_slopes[part.layer])
            return
        out = self._matrix_slopes[part.layer][part.first : part.last]
        inputs = self.inputs[part.layer][:rows]
        if isinstance(inputs, np.ndarray):
            np.matmul(inputs[:, part.first : part.last].T, slopes, out=out)
        else:
            out[...] = inputs.T @ slopes
