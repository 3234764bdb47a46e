# make demo and make test set up everything they need: Python 3.11+ and make are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: setup demo test promises cluster browser deployment lint docs bench lock device-wheel release-check clean
SLOW_SUITES := tests/promises tests/cluster tests/browser tests/deployment
.DEFAULT_GOAL := help

help:
	@echo "make demo    a private round on a synthetic network, and communities without labels, with pictures (in demo/)"
	@echo "make test    all fast tests"
	@echo "make promises, make cluster, make browser, make deployment    the slower suites: what is promised, real workers, a real browser, real proxies"
	@echo "make lint    ruff and mypy --strict"
	@echo "make docs    the documentation, in site/"
	@echo "make bench   the published numbers; needs the datasets: make bench DATA=DIR"
	@echo "make device-wheel     the device alone, as a wheel in dist/"
	@echo "make release-check    sdist, wheels, a bill of materials, and the demo from the wheel in an empty environment"
	@echo "make setup   the environment in .venv;  make clean removes it"

setup: $(READY)

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=python3.12 setup")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV) (a few minutes the first time) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[all]'
	@touch $(READY)

demo: $(READY)
	@$(BIN)/privact demo -o demo

test: $(READY)
	$(BIN)/python -m pytest -n 2 $(SLOW_SUITES:%=--ignore=%)

promises cluster browser deployment: $(READY)
	$(BIN)/python -m pytest tests/$@

lint: $(READY)
	$(BIN)/ruff check src tests tools
	$(BIN)/ruff format --check src tests tools
	$(BIN)/mypy --strict src
	$(BIN)/mypy --strict tools

# The theme greets every build with a note about its successor; it is not about this site.
docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "site/index.html"

bench: $(READY)
	@mkdir -p results
	$(BIN)/privact bench tree $(if $(DATA),--data $(DATA)) --json results/bench-tree.json

# Needs uv: pip install uv.
lock:
	uv pip compile pyproject.toml --extra server --universal --python-version 3.11 --generate-hashes --no-header --no-annotate -q -o deploy/requirements-server.lock
	uv pip compile pyproject.toml --extra all --universal --python-version 3.11 --generate-hashes --no-header --no-annotate -q -o deploy/requirements-dev.lock

device-wheel: $(READY)
	$(BIN)/python -m build --wheel --outdir dist packaging/device

release-check: $(READY)
	$(BIN)/python tools/release_check.py

clean:
	rm -rf $(VENV) demo results site build dist .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
