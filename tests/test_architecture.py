"""What the import contract cannot see: the compiled module has one door."""

import ast
from pathlib import Path

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


def test_only_core_touches_the_compiled_kernels():
    found = {
        path.relative_to(ROOT).parts[0]
        for path in ROOT.rglob("*.py")
        if "separatrix.core._kernels" in imported(ast.parse(path.read_text()))
    }
    assert found == {"core"}


def test_every_file_says_what_it_is():
    for path in ROOT.rglob("*.py"):
        assert ast.get_docstring(ast.parse(path.read_text())), path
