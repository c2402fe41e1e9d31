"""A clock for budgets: it moves on by a microsecond whenever it is read, and never otherwise.

Verdicts have a budget in seconds, and what they find within it depends on how busy the machine is. In the tests they
read this clock, so that the same steps are taken on any machine. A budget of zero is still over at once. A test of
the budget itself that needs real seconds says ``@pytest.mark.real_time``.
"""

import importlib
import time
from pathlib import Path
from typing import Any

import pytest

import separatrix

TICK = 1e-6


class Clock:
    """The module ``time`` with another ``monotonic``.

    >>> clock = Clock()
    >>> 0 < clock.monotonic() < clock.monotonic()
    True
    """

    def __init__(self) -> None:
        self.reads = 0

    def monotonic(self) -> float:
        self.reads += 1
        return self.reads * TICK

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)


class Budgets:
    """A pytest plugin: every test and every example in a text has a clock of its own."""

    def __init__(self) -> None:
        root = Path(separatrix.__file__).parent
        asking = [path for path in sorted(root.rglob("*.py")) if "time.monotonic()" in path.read_text()]
        names = [".".join(["separatrix", *path.relative_to(root).with_suffix("").parts]) for path in asking]
        self.readers = [importlib.import_module(name) for name in names]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        clock = time if item.get_closest_marker("real_time") else Clock()
        for module in self.readers:
            module.time = clock
        return (yield)
