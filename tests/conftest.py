"""Settings of the property tests, the clock of budgets, and the door through which other builds of the kernels come."""

import os
import runpy
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Neither time nor chance decides whether a test passes: no deadline, and no complaint that drawing was slow on a
# busy machine; the same cases in every run. `make fuzz` looks for new ones, which are then added by @example.
UNTIMED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "database": None, "print_blob": True}
settings.register_profile("fixed", derandomize=True, **UNTIMED)
settings.register_profile("fuzz", max_examples=300, **UNTIMED)
settings.load_profile(os.environ.get("SEPARATRIX_CASES", "fixed"))

DOOR = Path(__file__).parent / "door"
if "SEPARATRIX_KERNELS" in os.environ:
    runpy.run_path(str(DOOR / "sitecustomize.py"))
    os.environ["PYTHONPATH"] = os.pathsep.join([str(DOOR), *filter(None, [os.environ.get("PYTHONPATH")])])


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt, also in a process that was started in the background and ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def pytest_configure(config: pytest.Config) -> None:
    from clock import Budgets  # after the door: it imports the kernels

    config.pluginmanager.register(Budgets())
    if os.environ.get("SEPARATRIX_ENGINE") == "chunked":
        from cut import Cutting

        config.pluginmanager.register(Cutting())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Checks of array dispatch run in a process of their own, in ``models/test_array_dispatch.py``."""
    if "SCIPY_ARRAY_API" not in os.environ:
        apart = [item for item in items if "check_array_api_input" in item.name]
        config.hook.pytest_deselected(items=apart)
        items[:] = [item for item in items if "check_array_api_input" not in item.name]
