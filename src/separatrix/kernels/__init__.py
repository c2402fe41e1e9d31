"""The one seam to the compiled module: nothing else imports it."""

from separatrix.kernels.exact import eliminate, exact_products
from separatrix.kernels.maps import ACTIVATIONS, activate, lengths, score, spreads
from separatrix.kernels.quadratic import descend_quadratic
from separatrix.kernels.quick_start import QuickWay, Started, quick_start
from separatrix.kernels.rows import (
    MOST_CHECK_LANES,
    Labels,
    Rows,
    column_rows,
    dense_rows,
    gather,
    sparse_fault,
    sparse_rows,
    threads_for,
)
from separatrix.kernels.sweeps import BY_ROWS, SWEEP_KERNELS, SweepKernel, leeways, shuffle, sketch, sweep_kernel
from separatrix.kernels.totals import EVERY_LAYOUT, TOTAL_KERNELS, TotalKernel, total_kernel

__all__ = [
    "ACTIVATIONS",
    "BY_ROWS",
    "EVERY_LAYOUT",
    "MOST_CHECK_LANES",
    "SWEEP_KERNELS",
    "TOTAL_KERNELS",
    "Labels",
    "QuickWay",
    "Rows",
    "Started",
    "SweepKernel",
    "TotalKernel",
    "activate",
    "column_rows",
    "dense_rows",
    "descend_quadratic",
    "eliminate",
    "exact_products",
    "gather",
    "leeways",
    "lengths",
    "quick_start",
    "score",
    "shuffle",
    "sketch",
    "sparse_fault",
    "sparse_rows",
    "spreads",
    "sweep_kernel",
    "threads_for",
    "total_kernel",
]
