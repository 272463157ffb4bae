# Two commands do everything: `make demo` and `make test`. Each sets itself up in an empty clone.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# Some machines forbid Python to keep what it compiled: every process of a test would compile the house anew.
unexport PYTHONDONTWRITEBYTECODE

PYTHON  ?= $(shell command -v python3.11 || command -v python3)
VENV    := .venv
BIN     := $(VENV)/bin
PIP     := $(BIN)/python -m pip install --quiet --disable-pip-version-check
LIGHT   := $(VENV)/.light
READY   := $(VENV)/.ready
BRIDGES := $(VENV)/.bridges
BENCH   := .venv-bench
SITE    := .venv-docs
FIRST   := .venv-light
# What quick does not even load: a browser, and the doctests.
QUICK   := -m "not slow and not spark" --ignore=tests/browser
# One test process a core, at least two (each that meets them starts a Spark and a browser of its own); eight fill memory.
WORKERS := $(shell n=$$(nproc 2>/dev/null || echo 2); echo $$(( n < 2 ? 2 : n > 8 ? 8 : n )))
SIDE    := -n $(WORKERS) --dist loadfile --no-loadscope-reorder
comma   := ,
EXTRAS  := data,spark,postgres,charts,pdf,web,accounting,opendp,release,fast

.PHONY: help demo light quick test full slow check format fuzz load bench docs clean bridges judge mutants lock

help: ## show what there is
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

# Set-up runs once, and again only when the project's requirements change; both kinds share one environment.
# The light one holds what the demo and the page run, no more, and compiles only what is imported.
$(LIGHT): pyproject.toml requirements/demo.txt
	@echo "setting up $(VENV) (once)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) --no-compile --require-hashes -r requirements/demo.txt
	@$(PIP) --no-compile --no-deps --no-build-isolation -e .
	@touch $@

$(READY): pyproject.toml requirements/tests.txt
	@echo "setting up $(VENV) for the tests (once)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) --require-hashes -r requirements/tests.txt
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $(LIGHT) $@

LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
	--no-emit-package epsilens -c constraints.txt pyproject.toml --group build
lock: ## write down anew what is installed, with hashes, in the versions of constraints.txt
	@test -x $(BIN)/uv || $(PIP) uv
	@$(LOCK) $(foreach e,web release,--extra $(e)) -o requirements/demo.txt
	@$(LOCK) $(foreach e,$(subst $(comma), ,$(EXTRAS)),--extra $(e)) --group dev -o requirements/tests.txt

# Opacus and pgmpy bring torch and scikit-learn, so they are asked for by name; without them their tests are skipped.
# torch comes first and alone: asked for by name and version, pip takes a build for the processor where it is offered one.
$(BRIDGES): $(READY)
	@$(PIP) "$$(grep '^torch==' constraints.txt)"
	@$(PIP) -e ".[all]" -c constraints.txt
	@touch $@

bridges: $(BRIDGES) ## add Opacus and pgmpy, to test against them too

demo: $(LIGHT) ## assess a planned release of a bundled real table, write a report, and release it into a ledger
	@$(BIN)/python -m scripts.demo demo

light: $(READY) ## make the demo in an environment of its own, and open every page and file there
	@$(MAKE) --no-print-directory demo VENV=$(FIRST)
	@EPSILENS_LIGHT=$(FIRST)/bin/python $(BIN)/python -m pytest -q tests/extras

quick: $(READY) ## run the fast tests, for a change in hand
	@$(BIN)/python -m pytest -q $(SIDE) $(QUICK) tests

test: $(READY) ## run the tests
	@$(BIN)/python -m pytest -q $(SIDE) -m "not long"

full: $(READY) ## run every test with all examples; of the longest make test runs a part, and a third of the random ones
	@EPSILENS_FULL=1 $(BIN)/python -m pytest -q $(SIDE)

slow: $(BRIDGES) ## measure every test anew and write down which ones quick leaves out
	@$(BIN)/python -m scripts.slow

check: $(READY) ## lint, types, docstrings and the direction of imports
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/python -m pytest -q -p no:cacheprovider tests/test_docstrings.py

format: $(READY) ## apply the house style
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

# The peers pin versions that conflict with ours, so they live in an environment of their own.
$(BENCH)/.ready: pyproject.toml benchmarks/requirements.txt
	@echo "setting up $(BENCH) (once)"
	@test -x $(BENCH)/bin/python || $(PYTHON) -m venv $(BENCH)
	@$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check -r benchmarks/requirements.txt
	@$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check -e ".[web]"
	@touch $@

MINUTES ?= 5
SEED    ?= 0
fuzz: $(READY) ## try inputs of every kind for MINUTES: functions, commands, endpoints, tables, plans
	@$(BIN)/python -m scripts.fuzz --minutes $(MINUTES) --seed $(SEED)

judge: $(READY) ## laws, plans, releases and certificates (JUDGE: one of them) for MINUTES, against enumerations; SEED=0 draws one
	@PYTHONPATH=checker $(BIN)/python -m scripts.judge $(JUDGE) --minutes $(MINUTES) $(if $(filter-out 0,$(SEED)),--seed $(SEED))

SAMPLE ?= 60
mutants: $(READY) ## put every known fault back, and SAMPLE small changes by SEED: which of them does a test or a judge find?
	@$(BIN)/python -m scripts.mutants all --sample $(SAMPLE) --seed $(SEED)

load: $(READY) ## put the page under load: many at once, many in a row, slow clients, bombs, processes that end
	@$(BIN)/python -m scripts.load

bench: $(BENCH)/.ready ## measure against the peers, in one run
	@$(BENCH)/bin/python benchmarks/single.py
	@$(BENCH)/bin/python benchmarks/differencing.py
	@$(BENCH)/bin/python benchmarks/scan.py
	@$(BENCH)/bin/python benchmarks/assess.py --plan rows people --repeats 1
	@$(BENCH)/bin/python benchmarks/assess.py --whole
	@$(BENCH)/bin/python benchmarks/page.py
	@$(BENCH)/bin/python benchmarks/correlated.py
	@$(BENCH)/bin/python benchmarks/composition.py
	@$(BENCH)/bin/python benchmarks/certificates.py

# The site's tools pull in what the library never needs, so they live in an environment of their own.
$(SITE)/.ready: pyproject.toml constraints.txt
	@echo "setting up $(SITE) (once)"
	@test -x $(SITE)/bin/python || $(PYTHON) -m venv $(SITE)
	@$(SITE)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip -c constraints.txt
	@$(SITE)/bin/python -m pip install --quiet --disable-pip-version-check -e ".[data,web,charts,notebook,release,accounting]" --group docs -c constraints.txt
	@touch $@

docs: $(SITE)/.ready ## build the site into build/site: pages, papers, API, notebooks executed, warnings as errors
	@$(SITE)/bin/python -m scripts.site
	@echo "open build/site/index.html"

clean: ## remove what set-up and tests made
	@rm -rf $(VENV) $(FIRST) $(BENCH) $(SITE) demo build .mypy_cache .ruff_cache .pytest_cache .hypothesis
