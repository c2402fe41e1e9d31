"""Settings of the property tests, and the door through which ``make sanitize`` brings its own kernels."""

import importlib.util
import os
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

# Neither time nor chance decides whether a test passes: no deadline, and no complaint that drawing was slow on a
# busy machine; the same cases in every run. `make fuzz` looks for new ones, which are then added by @example.
UNTIMED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "database": None, "print_blob": True}
settings.register_profile("fixed", derandomize=True, **UNTIMED)
settings.register_profile("fuzz", max_examples=300, **UNTIMED)
settings.load_profile(os.environ.get("SEPARATRIX_CASES", "fixed"))

folder = os.environ.get("SEPARATRIX_KERNELS")
if folder:
    path = next(Path(folder).glob("_kernels*.so"))
    spec = importlib.util.spec_from_file_location("separatrix.core._kernels", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["separatrix.core._kernels"] = module
    spec.loader.exec_module(module)
