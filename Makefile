# Two commands do everything: `make demo` and `make test`. Each sets itself up in an empty clone.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.ready
BENCH  := .venv-bench
EXTRAS := data,spark,charts,web,accounting,opendp,fast

.PHONY: help demo test check format bench clean bridges

help: ## show what there is
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

# Set-up runs once, and again only when the project's requirements change.
$(STAMP): pyproject.toml constraints.txt
	@echo "setting up $(VENV) (once)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip -c constraints.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[$(EXTRAS)]" --group dev -c constraints.txt
	@touch $@

# Opacus and pgmpy bring torch and scikit-learn, so they are asked for by name; without them their tests are skipped.
bridges: $(STAMP) ## add Opacus and pgmpy, to test against them too
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[all]" --group dev -c constraints.txt

demo: $(STAMP) ## assess a planned release of a bundled real table and write a report
	@$(BIN)/python -m epsilens.cli.demo demo

test: $(STAMP) ## run the tests
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile

check: $(STAMP) ## lint and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: $(STAMP) ## apply the house style
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

# The peers pin versions that conflict with ours, so they live in an environment of their own.
$(BENCH)/.ready: pyproject.toml benchmarks/requirements.txt
	@echo "setting up $(BENCH) (once)"
	@test -x $(BENCH)/bin/python || $(PYTHON) -m venv $(BENCH)
	@$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check -r benchmarks/requirements.txt
	@$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check -e ".[web]"
	@touch $@

bench: $(BENCH)/.ready ## measure against the peers, in one run
	@$(BENCH)/bin/python benchmarks/single.py
	@$(BENCH)/bin/python benchmarks/differencing.py
	@$(BENCH)/bin/python benchmarks/scan.py
	@$(BENCH)/bin/python benchmarks/page.py
	@$(BENCH)/bin/python benchmarks/correlated.py
	@$(BENCH)/bin/python benchmarks/composition.py

clean: ## remove what set-up and tests made
	@rm -rf $(VENV) $(BENCH) demo .mypy_cache .ruff_cache .pytest_cache .hypothesis
