"""The package as a whole: what importing it brings, and what it does not."""

import subprocess
import sys

import pytest

import separatrix

EXTRAS = [
    "matplotlib",
    "pandas",
    "polars",
    "pyarrow",
    "cyclopts",
    "rich",
    "jinja2",
    "bokeh",
    "dask",
    "onnx",
    "formulaic",
]


def test_importing_separatrix_imports_none_of_the_extras():
    code = f"import separatrix, sys; print([m for m in {EXTRAS} if m in sys.modules])"
    # scikit-learn itself may look at pandas; only what we add counts
    base = f"import sklearn.base, sys; print([m for m in {EXTRAS} if m in sys.modules])"
    ours, theirs = (
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
        for program in (code, base)
    )
    assert ours == theirs


def test_public_names_are_there():
    for name in separatrix.__all__:
        assert getattr(separatrix, name) is not None
    assert set(separatrix.__all__) == set(dir(separatrix))
    with pytest.raises(AttributeError, match="no attribute"):
        _ = separatrix.nothing
