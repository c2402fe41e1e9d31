"""The shape of a network: its layers, and all its weights in one vector."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from separatrix.core.arrays import AnyArray
from separatrix.core.kept import kept


@dataclass(frozen=True)
class Architecture:
    """Units per layer, inputs first; every layer is fully connected to the next.

    All weights live in one vector: the matrices W₁, W₂, … (inputs × outputs, row by
    row), then the constants b₁, b₂, …, so that a step is one pass over one vector.

    >>> Architecture((784, 100, 10), "relu").parameters
    79510
    """

    units: tuple[int, ...]
    activation: str

    @property
    def layers(self) -> int:
        """Layers with weights: the hidden ones and the output."""
        return len(self.units) - 1

    @property
    def outputs(self) -> int:
        """Units of the last layer: 1 is a sigmoid, more are a softmax."""
        return self.units[-1]

    @kept
    def starts(self) -> tuple[int, ...]:
        """Where each matrix, then each vector of constants begins, and the end."""
        sizes = [a * b for a, b in pairwise(self.units)] + list(self.units[1:])
        return tuple(accumulate(sizes, initial=0))

    @property
    def parameters(self) -> int:
        """Numbers to be fitted."""
        return self.starts[-1]

    @property
    def weights_end(self) -> int:
        """Where the matrices end and the constants begin: only the former are penalised."""
        return self.starts[self.layers]

    @property
    def work(self) -> int:
        """Multiply-adds per row of a pass forward."""
        return self.weights_end

    def matrices(self, flat: AnyArray) -> list[AnyArray]:
        """Views of the matrices in a vector."""
        return [
            flat[self.starts[k] : self.starts[k + 1]].reshape(self.units[k], self.units[k + 1])
            for k in range(self.layers)
        ]

    def constants(self, flat: AnyArray) -> list[AnyArray]:
        """Views of the constants in a vector."""
        edges = self.starts[self.layers :]
        return [flat[first:last] for first, last in pairwise(edges)]

    def packed(self, matrices: Sequence[AnyArray], constants: Sequence[AnyArray]) -> AnyArray:
        """One vector out of matrices and constants."""
        return np.concatenate([part.ravel() for part in (*matrices, *constants)])

    def draw(self, seed: int, dtype: Any) -> AnyArray:
        """Small random weights, uniform within ±√(6/(inputs + outputs)) of each layer, 2 for a logistic one.

        Glorot and Bengio's rule, drawn as scikit-learn draws it: the same seed is the same start.
        """
        draw = np.random.RandomState(seed)
        matrices, constants = [], []
        for inputs, outputs in pairwise(self.units):
            bound = np.sqrt((2.0 if self.activation == "logistic" else 6.0) / (inputs + outputs))
            matrices.append(draw.uniform(-bound, bound, (inputs, outputs)))
            constants.append(draw.uniform(-bound, bound, outputs))
        return self.packed(matrices, constants).astype(dtype)

    def table(self) -> str:
        """The layers as text: units, shapes, numbers of parameters."""
        output = "logistic" if self.outputs == 1 else "softmax"
        lines = ["layer       units  weights    parameters  activation", f"input    {self.units[0]:8d}"]
        for k in range(1, self.layers + 1):
            last = k == self.layers
            name = "output" if last else f"hidden {k}"
            shape = f"{self.units[k - 1]} × {self.units[k]}"
            count = (self.units[k - 1] + 1) * self.units[k]
            lines.append(f"{name:9s}{self.units[k]:8d}  {shape:11s}{count:10,d}  {output if last else self.activation}")
        return "\n".join([*lines, f"total{self.parameters:35,d}"])
