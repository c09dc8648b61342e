# Needs Python 3.11, 3.12 or 3.13 with venv and pip, and make. Everything else is
# installed into $(VENV). Another Python: make PYTHON=python3.12 ...

PYTHON ?= python3
VENV ?= .venv

BIN := $(VENV)/bin
BASE := $(VENV)/.installed
DEV := $(VENV)/.installed-dev
BENCH := $(VENV)/.installed-bench
DOCS := $(VENV)/.installed-docs
PIP_INSTALL := $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check
SAY := @printf '== %s\n'

# Numba's disk cache is named after the sources: see tools/source_hash.py.
WITH_CACHE = cache=$$($(BIN)/python tools/source_hash.py) && NUMBA_CACHE_DIR="$$cache"

# A file of tests stays with one worker: what it compiles and prepares is made once.
WORKERS ?= 2
IN_PARALLEL = -n $(WORKERS) --dist loadfile

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help install demo test test-slow nojit lint types format reproduce clean
.PHONY: bench bench-quick docs

help: ## List what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

install: $(DEV) ## Install halk and its development tools into .venv

demo: $(BASE) ## Watch sensors of the Gulf of Mexico fill in what they did not measure
	$(SAY) "demo (the first run compiles, once)"
	@$(WITH_CACHE) $(BIN)/halk demo

test: lint types ## Run every check: lint, types, and all tests that are not slow
	$(SAY) "tests"
	@$(WITH_CACHE) $(BIN)/python -m pytest -m "not slow" $(IN_PARALLEL)

test-slow: $(DEV) ## Run the slow tests
	$(SAY) "slow tests"
	@$(WITH_CACHE) $(BIN)/python -m pytest -m slow

nojit: $(DEV) ## Run the tests interpreted, without Numba's compiler
	$(SAY) "tests, interpreted"
	@NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -m "not slow and not compiled"

lint: $(DEV) ## Check style, formatting, layers, spelling and packaging settings
	$(SAY) "ruff check"
	@$(BIN)/ruff check --quiet
	$(SAY) "ruff format --check"
	@$(BIN)/ruff format --check --quiet
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
	$(SAY) "ruff"
	@$(BIN)/ruff check --fix --quiet
	@$(BIN)/ruff format

reproduce: $(DEV) ## Run all experiments at full scale (hours), report in halk-results
	$(SAY) "experiments"
	@$(WITH_CACHE) $(BIN)/halk reproduce all --jobs 2

bench: $(BENCH) ## Measure speed against the floor of this machine, and peers (minutes)
	$(SAY) "benchmark, into halk-bench (leave the machine alone meanwhile)"
	@$(WITH_CACHE) $(BIN)/python -m benchmarks --out halk-bench

bench-quick: $(BENCH) ## The same at smaller sizes, in under two minutes
	$(SAY) "quick benchmark, into halk-bench"
	@$(WITH_CACHE) $(BIN)/python -m benchmarks --quick --out halk-bench

docs: $(DOCS) ## Build the documentation into docs/_build/html, with all figures
	$(SAY) "documentation"
	@$(WITH_CACHE) $(BIN)/python -m sphinx -W --keep-going -E -q -b html docs docs/_build/html
	$(SAY) "open docs/_build/html/index.html"

clean: ## Delete caches and builds; the environment stays
	$(SAY) "clean"
	@rm -rf .numba_cache .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	@rm -rf .hypothesis build dist docs/_build
	@find benchmarks src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

# ------------------------------------------------------------- the environment

define CHECK_PYTHON
import sys
if not (3, 11) <= sys.version_info[:2] <= (3, 13):
    sys.exit("halk needs Python 3.11, 3.12 or 3.13, but $(PYTHON) is %d.%d. Name another one: make PYTHON=python3.12" % sys.version_info[:2])
try:
    import ensurepip, venv
except ImportError:
    sys.exit("$(PYTHON) has no venv module. Install it (on Debian and Ubuntu: the package python3-venv), or name another Python: make PYTHON=python3.12")
endef
export CHECK_PYTHON

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) was not found: halk needs Python 3.11, 3.12 or 3.13." >&2; exit 1; }
	@$(PYTHON) -c "$$CHECK_PYTHON"
	$(SAY) "environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)

$(BASE): pyproject.toml | $(BIN)/python
	$(SAY) "installing halk"
	@$(PIP_INSTALL) --editable '.[demo]'
	@touch $@

$(DEV): pyproject.toml | $(BIN)/python
	$(SAY) "installing halk and its development tools (minutes, the first time)"
	@$(PIP_INSTALL) --editable '.[dev]'
	@touch $(BASE) $@

$(BENCH): pyproject.toml | $(BIN)/python
	$(SAY) "installing halk and the peers it is measured against"
	@$(PIP_INSTALL) --editable '.[bench]'
	@touch $(BASE) $@

$(DOCS): pyproject.toml | $(BIN)/python
	$(SAY) "installing halk and what its documentation is built with"
	@$(PIP_INSTALL) --editable '.[docs]'
	@touch $(BASE) $@
