"""Shared fixtures, and the door through which ``make sanitize`` brings its own kernels."""

import importlib.util
import os
import sys
from pathlib import Path

from hypothesis import settings

# no test depends on elapsed time
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

folder = os.environ.get("SEPARATRIX_KERNELS")
if folder:
    path = next(Path(folder).glob("_kernels*.so"))
    spec = importlib.util.spec_from_file_location("separatrix.core._kernels", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["separatrix.core._kernels"] = module
    spec.loader.exec_module(module)
