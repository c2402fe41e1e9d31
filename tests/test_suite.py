"""What the suite promises of itself: the same cases in every run, new ones on request, a reason beside every gap."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import portability

TESTS = Path(__file__).parent
SOURCES = {path.relative_to(TESTS).as_posix(): ast.parse(path.read_text()) for path in sorted(TESTS.rglob("*.py"))}
IMPORTED_AS = {"sklearn": "scikit-learn"}

DRAWN = """
import sys
sys.path.insert(0, {folder!r})
import conftest
from hypothesis import given, strategies as st

@given(st.integers(0, 10**12), st.floats(-1, 1))
def test(seed, C):
    print(seed, C)

test()
"""


def drawn(cases):
    """What a property test draws in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", DRAWN.format(folder=str(TESTS))],
        env={**os.environ, "SEPARATRIX_CASES": cases},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_every_run_draws_the_same_cases_and_fuzzing_new_ones():
    first = drawn("fixed")
    assert len(first.splitlines()) >= 100
    assert drawn("fixed") == first
    assert drawn("fuzz") != first


def test_a_case_that_fuzzing_finds_is_printed_as_the_line_to_add(tmp_path):
    found = tmp_path / "test_found.py"
    found.write_text(
        "from hypothesis import given, strategies as st\n\n"
        "@given(seed=st.integers(0, 100))\n"
        "def test_of_a_false_promise(seed):\n"
        "    assert seed < 7\n\n"
        "def test_that_draws_nothing():\n"
        "    raise AssertionError('left out')\n"
    )
    done = subprocess.run(
        [sys.executable, str(TESTS / "fuzz.py"), "0.05", str(found)], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert re.search(r"above .*test_of_a_false_promise:\n@example\(seed=7\)", done.stdout)
    assert "left out" not in done.stdout


def calls(tree):
    """(dotted name, call) of every call."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def test_what_is_skipped_or_expected_to_fail_has_a_reason():
    for path, tree in SOURCES.items():
        for name, call in calls(tree):
            if name in ("pytest.skip", "pytest.xfail"):
                said = [*call.args, *(each.value for each in call.keywords)]
            elif name in ("pytest.mark.skip", "pytest.mark.skipif", "pytest.mark.xfail"):
                said = [each.value for each in call.keywords if each.arg == "reason"]
            else:
                continue
            texts = [each.value for each in said if isinstance(each, ast.Constant) and isinstance(each.value, str)]
            assert any(len(text) > 5 for text in texts), f"{path}:{call.lineno}"
        bare = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        marks = {ast.unparse(mark) for node in bare for mark in node.decorator_list}
        assert not marks & {"pytest.mark.skip", "pytest.mark.xfail"}, path


def test_what_tests_import_if_it_is_there_comes_with_the_tests():
    project = tomllib.loads((TESTS.parent / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    declared = [*project["dependencies"], *(each for name in ("test", "plot", "table") for each in extras[name])]
    names = {re.match(r"[\w.-]+", each)[0].lower() for each in declared}
    for path, tree in SOURCES.items():
        for name, call in calls(tree):
            if name == "pytest.importorskip":
                package = call.args[0].value.split(".")[0]
                assert IMPORTED_AS.get(package, package) in names, f"{path}:{call.lineno}"


def test_nothing_is_drawn_without_a_seed():
    for path, tree in SOURCES.items():
        for name, call in calls(tree):
            seeded = call.args or call.keywords
            assert seeded or not name.endswith(("default_rng", "RandomState", "random.Random")), f"{path}:{call.lineno}"
            legacy = re.fullmatch(r"(np|numpy)\.random\.(seed|rand\w*|normal|uniform|choice|permutation|shuffle)", name)
            assert legacy is None, f"{path}:{call.lineno}"


def test_processors_are_left_out_only_with_a_reason(monkeypatch, tmp_path, capsys):
    """OpenBLAS as wheels have it: no kernels for Zen, so what it would test is what Haswell tests."""
    kernels = {"Nehalem": "Nehalem", "Haswell": "Haswell", "Zen": "Haswell", "SkylakeX": "SkylakeX"}

    def ask(machine):
        blas = kernels[machine.settings.get("OPENBLAS_CORETYPE", "SkylakeX")]
        return {"blas": [blas], "features": ["AVX2", "AVX512F"], "multiversioned": "plain" not in machine.name}

    monkeypatch.setattr(portability.Machine, "ask", ask)
    monkeypatch.setattr(portability.platform, "machine", lambda: "x86_64")
    everything = set().union(*portability.NEEDS.values())
    monkeypatch.setattr(portability, "flags", lambda: everything)
    chosen = [(machine.name, machine.threads) for machine in portability.machines(tmp_path, [])]
    pairs = [(name, threads) for name in ("Nehalem", "Haswell", "SkylakeX") for threads in (1, 2)]
    assert chosen == [*pairs, ("plain kernels", 2)]
    assert "Zen            left out: this OpenBLAS runs the kernels of Haswell there" in capsys.readouterr().out

    kernels["Zen"] = "Zen"  # as builds for one machine have it
    chosen = [machine.name for machine in portability.machines(tmp_path, [])]
    assert chosen.count("Zen") == 2
    monkeypatch.setattr(portability, "flags", lambda: everything - portability.WIDE)
    chosen = [machine.name for machine in portability.machines(tmp_path, ["SkylakeX", "Haswell"])]
    assert chosen == ["Haswell", "Haswell"]
    assert "SkylakeX       left out: this processor has no avx512bw" in capsys.readouterr().out
