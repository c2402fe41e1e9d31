"""Prices of work in multiply-adds of a product of matrices, measured here, beside those by which "auto" chooses."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

from benchmarks.harness import Options, load, print_table
from separatrix.core.factor import factorise
from separatrix.engines import MemoryEngine
from separatrix.engines.memory.blocks import block_of
from separatrix.kernels.threads import one_blas_thread
from separatrix.models.logistic import prices
from separatrix.terms.penalised import PenalisedLoss


def run(options: Options) -> None:
    random = np.random.default_rng(0)
    rounds = options.rounds(7)
    scale = 1 if options.quick else 4
    wide, tall = (2000 * scale, 300), (20_000 * scale, 100)
    with one_blas_thread():
        dense = _objective(random.normal(size=wide))
        product = _seconds(lambda: dense.evaluate(np.zeros(dense.size), True), rounds) / (wide[0] * wide[1] ** 2 / 2)
        long = _objective(random.normal(size=tall))
        sparse = _objective(scipy.sparse.random_array(tall, density=0.05, format="csr", rng=random))
        tiny = _objective(random.normal(size=(8, 2)))
        pairs = 0.5 * sparse.engine.entries_per_row**2 * tall[0]
        short = _objective(random.normal(size=(tall[0], 1)))
        reading = _pass(sparse, rounds)
        row = _pass(short, rounds) / tall[0]
        entry = _pass(long, rounds) / (tall[0] * tall[1]) - row / tall[1]
        hessian = _seconds(lambda: sparse.evaluate(np.zeros(sparse.size), True), rounds)
        matrix = np.eye(800) + 1e-3
        some = random.permutation(tall[0])[: tall[0] // 4]
        found = {
            "PASS": _pass(tiny, rounds),
            "ROW": row - entry,
            "ENTRY": entry,
            "SPARSE_ENTRY": (reading / tall[0] - row) / sparse.engine.entries_per_row,
            "SPARSE_PAIR": max(hessian - reading, 0.0) / pairs,
            "FACTOR": _seconds(lambda: factorise(matrix, np.zeros(800)), rounds) / (800**3 / 6),
            "COPY": _seconds(lambda: long.engine.block.take(some), rounds) / (len(some) * tall[1]),
        }
    rows = [(name, f"{seconds / product:.3g}", f"{getattr(prices, name):.3g}") for name, seconds in found.items()]
    print_table(("price", "measured", "used"), rows)
    print(f"\nA multiply-add took {product * 1e12:.3g} ps; {load()}.")
    print("PASS is that of a step of a solver, its Python included; here it is the call alone.")


def _objective(X: Any) -> PenalisedLoss:
    codes = (np.arange(X.shape[0]) % 2).astype(np.int32)
    return PenalisedLoss(MemoryEngine(block_of(X), codes), True, 1e-3, np.zeros(X.shape[1]))


def _pass(objective: PenalisedLoss, rounds: int) -> float:
    point = np.zeros(objective.size)
    objective.evaluate(point)  # the first one also collects the columns' ranges
    return _seconds(lambda: objective.evaluate(point), rounds)


def _seconds(work: Callable[[], Any], rounds: int) -> float:
    taken = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)
