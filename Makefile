# Every target sets up what it needs; a fresh machine with Python 3.11+ and Node 20 needs nothing else. With Go, zot is tested too.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# The tests start the program by the hundred: without compiled files each start would compile all of it anew.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
BIN := $(VENV)/bin
PYTHON := $(BIN)/python
SETUP := $(VENV)/.ready

.PHONY: help
help: ## Say what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: $(SETUP) ## Make the virtual environment with the pinned packages

$(SETUP): pyproject.toml requirements.lock requirements-dev.lock scripts/venv scripts/bubblewrap scripts/debian
	@scripts/venv $(VENV)
	@scripts/bubblewrap
	@touch $@

.PHONY: console
console: ## Build the web console, if its sources have changed
	@scripts/console

.PHONY: run
run: $(SETUP) console ## Start the gateway, its console and a demonstration
	@$(BIN)/runwire up --demo

.PHONY: test
test: $(SETUP) console ## Run the tests
	@scripts/chromium
	@scripts/bubblewrap
	@scripts/shells
	@scripts/agents
	@npm test --prefix web --silent
	@# In the order of the rooms: short files fill up the end, which the few and long tests would draw out.
	@$(PYTHON) -m pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder

.PHONY: agents
agents: ## Install the real agents that the tests talk to
	@scripts/agents

.PHONY: endurance
endurance: $(SETUP) ## Run the long tests: kill -9 under load, soak
	@$(PYTHON) -m pytest tests/endurance -m endurance -o faulthandler_timeout=0

.PHONY: check
check: $(SETUP) console ## Check format, lint, types, import contracts and generated files
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(PYTHON) scripts/generate.py --check
	@$(PYTHON) scripts/reference.py --check
	@$(PYTHON) scripts/coverage.py --check
	@npm run check --prefix web --silent

.PHONY: format
format: $(SETUP) console ## Put the code in shape
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .
	@npm run format --prefix web --silent

.PHONY: generate
generate: $(SETUP) ## Write the schema, the TypeScript types and the reference anew
	@$(PYTHON) scripts/generate.py
	@$(PYTHON) scripts/reference.py
	@$(PYTHON) scripts/coverage.py

.PHONY: bench
bench: $(SETUP) ## Measure, with rival and limit in the same run
	@$(PYTHON) -m bench

.PHONY: lock
lock: ## Resolve the dependencies anew and pin them
	@scripts/lock

.PHONY: clean
clean: ## Remove everything that the other targets made
	@rm -rf $(VENV) .agents web/node_modules src/runwire/console bench/.cache dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
