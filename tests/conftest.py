"""Settings of the property tests, and the door through which ``make sanitize`` brings its own kernels."""

import importlib.util
import os
import sys
from pathlib import Path

from hypothesis import settings

# no test depends on elapsed time: a busy machine is no failure
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

folder = os.environ.get("SEPARATRIX_KERNELS")
if folder:
    path = next(Path(folder).glob("_kernels*.so"))
    spec = importlib.util.spec_from_file_location("separatrix.core._kernels", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["separatrix.core._kernels"] = module
    spec.loader.exec_module(module)
