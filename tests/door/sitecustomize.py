"""The door for other kernels: Python runs this first where the folder is on PYTHONPATH.

``SEPARATRIX_KERNELS`` names a folder with another build of the compiled module, such as the one with sanitizers or
the one for plain x86-64; it takes the installed one's place, in the tests and in every process that they start.
"""

import importlib.util
import os
import sys
from pathlib import Path

NAME = "separatrix.kernels._kernels"

folder = os.environ.get("SEPARATRIX_KERNELS")
if folder and NAME not in sys.modules:
    spec = importlib.util.spec_from_file_location(NAME, next(Path(folder).glob("_kernels*.so")))
    assert spec is not None
    assert spec.loader is not None
    sys.modules[NAME] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[NAME])
