# Needs Python 3.11 or later; makes its own virtual environment, once, and again only when pyproject.toml changes.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: demo test lint docs bench bench-quick package clean

demo: $(VENV)/.runs
	$(BIN)/bellcrank run models/double_pendulum.toml

test: lint
	$(BIN)/python -m pytest -q -n 2 --dist worksteal

lint: $(VENV)/.tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.tests
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --site-dir site

bench: $(VENV)/.bench
	$(BIN)/python bench/everything.py
	$(BIN)/python bench/page.py

bench-quick: $(VENV)/.bench
	$(BIN)/python bench/everything.py --quick

package: | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build
	$(BIN)/python -m build

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Bellcrank needs Python 3.11 or later. Try: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.tests: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --editable ".[test,docs,peers,robots,view,video,cluster]"
	@touch $@ $(VENV)/.runs

$(VENV)/.bench: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --editable ".[bench]"
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check exudyn drake  # not for every platform: named if they are missing
	@touch $@ $(VENV)/.runs

clean:
	rm -rf $(VENV) build dist site .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis run.nc run.png
