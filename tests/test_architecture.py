"""What the import contract cannot see: the compiled module has one door, and the plan of the house is true."""

import ast
import re
from pathlib import Path

import pytest

import separatrix

ROOT = Path(separatrix.__file__).parent


def imported(tree: ast.AST) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def test_only_one_room_touches_the_compiled_kernels():
    found = {
        path.relative_to(ROOT).parts[0]
        for path in ROOT.rglob("*.py")
        if "separatrix.kernels._kernels" in imported(ast.parse(path.read_text()))
    }
    assert found == {"kernels"}


def test_every_file_says_what_it_is():
    for path in ROOT.rglob("*.py"):
        assert ast.get_docstring(ast.parse(path.read_text())), path


def test_every_path_of_the_plan_exists():
    house = Path(__file__).parents[1]
    plan = house / "ARCHITECTURE.md"
    if not plan.exists():
        pytest.skip("the tests stand without the plan")
    everything = [path for room in ("src", "cpp", "tests", "benchmarks") for path in (house / room).rglob("*")]
    known = {str(path.relative_to(house)) for path in everything}
    known |= {name.removeprefix("src/separatrix/") for name in known} | {path.name for path in everything}
    named = re.findall(r"`([\w/]+(?:\.py|\.hpp|\.cpp|/))`", plan.read_text(encoding="utf8"))
    assert len(named) > 50
    assert not [name for name in named if name.rstrip("/") not in known]


PASSES = {"score", "bracket", "brackets", "lengths", "spreads", "gather", "leeways", "sketch", "quick_start"}
"""Kernels that read the rows of a table."""


def test_only_engines_know_where_rows_lie():
    """Elsewhere an engine is a protocol: nobody names one, reaches into a block, or reads rows past the engine."""
    for path in ROOT.rglob("*.py"):
        room = path.relative_to(ROOT).parts[0]
        if room in ("engines", "kernels", "simulate", "probability"):
            continue
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                assert node.attr not in ("block", "source"), f"{path}:{node.lineno}"
                reads = isinstance(node.value, ast.Name) and node.value.id in ("kernels", "stretches", "maps")
                assert not (reads and node.attr in PASSES), f"{path}:{node.lineno}"
            elif isinstance(node, ast.Name):
                assert node.id not in ("MemoryEngine", "ChunkedEngine"), f"{path}:{node.lineno}"
            elif isinstance(node, ast.arg) and node.arg == "engine":
                assert node.annotation is not None, f"{path}:{node.lineno}"
                assert ast.unparse(node.annotation) != "Any", f"{path}:{node.lineno}"
