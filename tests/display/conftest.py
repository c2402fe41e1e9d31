"""Pictures are drawn without a window, and closed after every test."""

import matplotlib as mpl
import pytest
from matplotlib import pyplot

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _closed_pictures():
    yield
    pyplot.close("all")
