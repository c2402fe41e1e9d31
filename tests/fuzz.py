"""``make fuzz MINUTES=10``: new cases for every property test, drawn until the time is over.

``make test`` tries the same cases in every run. Here the cases are new in every run: the property tests are gone
through in random order, again and again. A case that fails is made as small as Hypothesis can make it and printed as
the line to put above its test; a test that failed is left out of later rounds. Exit status 1 if any failed.
"""

import os
import random
import re
import sys
import time

import pytest

FOUND = re.compile(r"(?:Falsifying example|Failing test case): \w+\((.*?)^E?\s*\)", re.DOTALL | re.MULTILINE)
BLOB = re.compile(r"@reproduce_failure\([^\n]*\)")


def as_example(text: str) -> str:
    """The decorator that repeats the case of a failure's report; its last lines where there is none.

    >>> report = "E   Falsifying example: test_it(\\nE       seed=3,\\nE       C=inf,  # or any other value\\nE   )"
    >>> as_example(report)
    '@example(seed=3, C=np.inf)'
    """
    found, blob = FOUND.search(text), BLOB.search(text)
    if found is None or "data(...)" in found[1]:  # drawn within the test: no list of arguments repeats it
        return blob[0] if blob else "\n".join(text.splitlines()[-15:])
    lines = (re.sub(r"^E?\s*", "", line).split("  # ")[0].rstrip() for line in found[1].splitlines())
    arguments = re.sub(r"(?<![.\w])(inf|nan)\b", r"np.\1", " ".join(line for line in lines if line[:1] != "#").strip())
    return f"@example({arguments.rstrip(',').replace('numpy.', 'np.')})"


class Fuzzing:
    """A pytest plugin that runs the property tests until the deadline."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.failed: dict[str, str] = {}
        self.runs = 0

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.get_closest_marker("hypothesis")]

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        deadline = time.monotonic() + self.seconds
        while session.items:
            order = [item for item in session.items if item.nodeid not in self.failed]
            random.shuffle(order)
            for item in order:
                if time.monotonic() > deadline:
                    return True
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
                self.runs += 1
            if not order:
                break
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed[report.nodeid] = as_example(report.longreprtext)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("cases to add")
        terminalreporter.write_line(f"{self.runs} runs of property tests, {len(self.failed)} failed")
        for name, case in self.failed.items():
            terminalreporter.write_line(f"\nabove {name}:\n{case}")


if __name__ == "__main__":
    minutes, *more = sys.argv[1:]
    os.environ["SEPARATRIX_CASES"] = "fuzz"
    sys.exit(
        pytest.main(
            ["-q", "--no-header", "-p", "no:cacheprovider", *(more or ["tests"])], [Fuzzing(60 * float(minutes))]
        )
    )
