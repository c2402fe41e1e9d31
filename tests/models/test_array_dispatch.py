"""scikit-learn's checks that array dispatch changes nothing for NumPy's arrays.

SciPy allows dispatch only where it was asked for before SciPy is imported, and then for the whole process.
"""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
CHECKED = ("test_scikit_learn_contract.py", "test_network_contract.py", "test_basis.py")


def test_array_dispatch_changes_nothing():
    files = [str(HERE / name) for name in CHECKED]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "check_array_api_input", *files]
    done = subprocess.run(command, env={**os.environ, "SCIPY_ARRAY_API": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "skipped" not in done.stdout
