# Two commands are all a newcomer needs: `make run` and `make test`. Both build what they need in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
FOLDERS := calibration models vision officiating api rig twin

.PHONY: run test lint types check format docs clean

run: $(VENV)/.run
	$(BIN)/downfield run

test: $(VENV)/.dev lint types
	$(BIN)/python -m pytest -n auto --dist loadfile

check: test

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev build/typing/downfield
	$(BIN)/mypy -p downfield
	$(BIN)/mypy tests benchmarks docs

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.dev
	$(BIN)/python docs/formats_page.py docs/formats.md
	$(BIN)/python docs/rulebooks_page.py docs/rulebooks.md
	$(BIN)/python docs/service_page.py docs/service.md
	$(BIN)/python docs/configuration_page.py docs/configuration.md

clean:
	rm -rf build *.egg-info $(VENV) .mypy_cache .ruff_cache .pytest_cache

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Downfield needs Python 3.11 or newer; set PYTHON=")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet --editable .
	.ci/system-libraries $(BIN)/python run
	touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet --editable '.[dev]'
	.ci/system-libraries $(BIN)/python twin
	touch $@ $(VENV)/.run

build/typing/downfield: Makefile
	rm -rf $@
	mkdir -p $@
	for folder in $(FOLDERS); do ln -s ../../../$$folder $@/$$folder; done
