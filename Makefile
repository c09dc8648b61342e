# Needs Python 3.11 to 3.14 with venv and pip, and make. Everything else is installed
# into $(VENV). Another Python: make PYTHON=python3.12 ...

PYTHON ?= python3
VENV ?= .venv

BIN := $(VENV)/bin
TOOLS := $(VENV)/.installed-build
BASE := $(VENV)/.installed
DEV := $(VENV)/.installed-dev
BENCH := $(VENV)/.installed-bench
DOCS := $(VENV)/.installed-docs
PIP_INSTALL := $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check
# Without isolation, and in a folder that stays, only what has changed is compiled again.
INSTALL = $(PIP_INSTALL) --no-build-isolation --config-settings=build-dir=$(VENV)/build
SAY := @printf '== %s\n'

# The native core is built again when its sources change, or the list of modules does.
MODULES := $(firstword $(shell find src -name '*.py' | LC_ALL=C sort | cksum))
CORE := $(VENV)/.built-$(MODULES)
SOURCES := CMakeLists.txt $(wildcard core/*)

# The system's compiler where there is one, else zig from PyPI.
SYSTEM_CXX := $(shell for c in $$CXX c++ g++ clang++; do command -v $$c && break; done)
ifeq ($(SYSTEM_CXX),)
ZIG := $(abspath $(VENV))/zig
export CXX := $(ZIG)/c++
export CMAKE_ARGS := -DCMAKE_AR=$(ZIG)/ar -DCMAKE_RANLIB=$(ZIG)/ranlib
endif

# A file of tests stays with one worker: what it prepares is made once.
WORKERS ?= 2
IN_PARALLEL = -n $(WORKERS) --dist loadfile

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help install demo test test-slow sanitize lint types format reproduce clean
.PHONY: bench bench-quick docs

help: ## List what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

install: $(DEV) ## Install halk and its development tools into .venv

demo: $(BASE) ## Watch sensors of the Gulf of Mexico fill in what they did not measure
	$(SAY) "demo"
	@$(BIN)/halk demo

test: lint types ## Run every check: lint, types, and all tests that are not slow
	$(SAY) "tests"
	@$(BIN)/python -m pytest -m "not slow" $(IN_PARALLEL)
	@$(BIN)/python tools/sanitize.py --quick

test-slow: $(DEV) ## Run the slow tests
	$(SAY) "slow tests"
	@$(BIN)/python -m pytest -m slow

sanitize: $(DEV) ## Test a core instrumented to find errors of memory and arithmetic
	@$(BIN)/python tools/sanitize.py

lint: $(DEV) ## Check style, formatting, layers, spelling and packaging settings
	$(SAY) "ruff check"
	@$(BIN)/ruff check --quiet
	$(SAY) "ruff format --check"
	@$(BIN)/ruff format --check --quiet
	$(SAY) "clang-format"
	@$(BIN)/clang-format --dry-run --Werror core/* benchmarks/*.cpp
	$(SAY) "import-linter"
	@$(BIN)/lint-imports --no-logo
	$(SAY) "codespell"
	@$(BIN)/codespell
	$(SAY) "validate-pyproject"
	@$(BIN)/validate-pyproject pyproject.toml

types: $(DEV) ## Check types
	$(SAY) "mypy"
	@$(BIN)/mypy

format: $(DEV) ## Format the sources and fix what can be fixed by itself
	$(SAY) "ruff and clang-format"
	@$(BIN)/ruff check --fix --quiet
	@$(BIN)/ruff format
	@$(BIN)/clang-format -i core/* benchmarks/*.cpp

reproduce: $(DEV) ## Run all experiments at full scale (hours), report in halk-results
	$(SAY) "experiments"
	@$(BIN)/halk reproduce all --jobs 2

bench: $(BENCH) ## Measure speed against the floor of this machine, and peers (minutes)
	$(SAY) "benchmark, into halk-bench (leave the machine alone meanwhile)"
	@$(BIN)/python -m benchmarks --out halk-bench

bench-quick: $(BENCH) ## The same at smaller sizes, in under two minutes
	$(SAY) "quick benchmark, into halk-bench"
	@$(BIN)/python -m benchmarks --quick --out halk-bench

docs: $(DOCS) ## Build the documentation into docs/_build/html, with all figures
	$(SAY) "documentation"
	@$(BIN)/python -m sphinx -W --keep-going -E -q -b html docs docs/_build/html
	$(SAY) "open docs/_build/html/index.html"

clean: ## Delete caches and builds; the environment stays
	$(SAY) "clean"
	@rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	@rm -rf .hypothesis build dist docs/_build
	@find benchmarks src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

# ------------------------------------------------------------- the environment

define CHECK_PYTHON
import os, sys, sysconfig
if not (3, 11) <= sys.version_info[:2] <= (3, 14):
    sys.exit("halk needs Python 3.11 to 3.14, but $(PYTHON) is %d.%d. Name another one: make PYTHON=python3.12" % sys.version_info[:2])
try:
    import ensurepip, venv
except ImportError:
    sys.exit("$(PYTHON) has no venv module. Install it (on Debian and Ubuntu: the package python3-venv), or name another Python: make PYTHON=python3.12")
if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
    sys.exit("$(PYTHON) has no C headers. Install them (on Debian and Ubuntu: the package python3-dev), or name another Python: make PYTHON=python3.12")
endef
export CHECK_PYTHON

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) was not found: halk needs Python 3.11 to 3.14." >&2; exit 1; }
	@$(PYTHON) -c "$$CHECK_PYTHON"
	$(SAY) "environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)

# What pyproject.toml says a build needs, then cmake and ninja if the machine has none.
define BUILD_REQUIRES
import tomllib
with open("pyproject.toml", "rb") as file:
    print(*tomllib.load(file)["build-system"]["requires"], sep="\n")
endef
export BUILD_REQUIRES
MORE_REQUIRES := from scikit_build_core.build import get_requires_for_build_editable as f; print(*f({}), sep="\n")

$(TOOLS): pyproject.toml | $(BIN)/python
	$(SAY) "installing what halk is built with"
	@$(BIN)/python -c "$$BUILD_REQUIRES" > $@.txt && $(PIP_INSTALL) -r $@.txt
	@$(BIN)/python -c '$(MORE_REQUIRES)' > $@.txt && $(PIP_INSTALL) -r $@.txt
ifdef ZIG
	@$(PIP_INSTALL) ziglang
	@mkdir -p $(ZIG)
	@for tool in c++ ar ranlib; do \
	    printf '#!/bin/sh\nexec %s %s "$$@"\n' $(abspath $(BIN))/../lib/python3*/site-packages/ziglang/zig $$tool > $(ZIG)/$$tool; \
	    chmod +x $(ZIG)/$$tool; \
	done
endif
	@touch $@

$(CORE): $(SOURCES) $(TOOLS)
	$(SAY) "compiling the core with $(or $(SYSTEM_CXX),zig from PyPI: there is no other compiler)"
	@$(INSTALL) --no-deps --editable .
	@rm -f $(VENV)/.built-*
	@touch $@

# halk itself is there by now: these add what its extras name.
$(BASE): pyproject.toml | $(CORE)
	$(SAY) "installing what the demo needs"
	@$(PIP_INSTALL) 'halk[demo]'
	@touch $@

$(DEV): pyproject.toml | $(CORE)
	$(SAY) "installing the development tools (minutes, the first time)"
	@$(PIP_INSTALL) 'halk[dev]'
	@touch $(BASE) $@

$(BENCH): pyproject.toml | $(CORE)
	$(SAY) "installing the peers that halk is measured against"
	@$(PIP_INSTALL) 'halk[bench]'
	@touch $(BASE) $@

$(DOCS): pyproject.toml | $(CORE)
	$(SAY) "installing what the documentation is built with"
	@$(PIP_INSTALL) 'halk[docs]'
	@touch $(BASE) $@
