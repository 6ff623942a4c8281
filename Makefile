# Two commands are all a newcomer needs: `make run` and `make test`. Both build what they need in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= auto
# The rooms, as pyproject.toml lists them.
ROOMS := $(shell sed -n 's/^"downfield[.][a-z]*" = "\([a-z]*\)"$$/\1/p' pyproject.toml)

.PHONY: run test tests fuzz collect test-training lint types js check format docs docs-site lock audit release clean

run: $(VENV)/.run
	$(BIN)/downfield run

# Two at a time, as none uses all cores throughout.
test: $(VENV)/.dev
	$(MAKE) -j 2 lint types js collect
	$(MAKE) tests

# A test runs on every core, so one thread of linear algebra each: two made calibrations take half as long again.
# Hundreds of processes are started, which would each compile all modules again where Python keeps no bytecode; of what is
# installed only a part is ever imported, and compiled then.
# Nothing is drawn at random: neither examples of property tests nor the order of sets.
tests: $(VENV)/.dev build/openapi-client/.done
	export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= PYTHONHASHSEED=0; \
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

# Makes the client that a test calls the service with. Beside the environment: it wants an older typer than users get.
GENERATOR := build/openapi-client
$(GENERATOR)/.done: | $(VENV)/.dev
	$(BIN)/pip install --quiet --no-deps --target $(GENERATOR) openapi-python-client==0.29.1 ruamel.yaml==0.19.1 typer==0.27.3
	touch $@

# Property tests with examples drawn at random, again and again; no round begins after FUZZ_MINUTES, or after a failure.
FUZZ_MINUTES ?= 120
fuzz: $(VENV)/.dev
	export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 HYPOTHESIS_PROFILE=fuzz; \
	end=$$(( $$(date +%s) + 60 * $(FUZZ_MINUTES) )); \
	while [ $$(date +%s) -lt $$end ]; do \
		$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m hypothesis \
			$$(grep -lr '^from hypothesis' tests --include='test_*.py') || exit 1; \
	done

# One process collects the tests and so keeps the bytecode of all modules, a third of the work to load them: those that run
# the tests, all at once, would each compile them.
collect: $(VENV)/.dev
	@mkdir -p build
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --collect-only --quiet >build/collected.txt || { cat build/collected.txt; false; }

# Training needs torch, which nothing else does: it is tested in an environment of its own. Beside the other tests, as in
# .ci/run, with fewer WORKERS.
test-training: $(VENV)-train/.done
	export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=; \
	$(VENV)-train/bin/python -m pytest -n $(WORKERS) --dist loadfile -p no:cacheprovider \
		$$(grep -l 'importorskip("torch")' tests/training/*.py)

check: test

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# One process each: mypy's own workers give up when one doesn't start within three seconds, as on a busy computer.
types: $(VENV)/.dev build/typing/downfield
	$(BIN)/mypy -p downfield
	$(BIN)/mypy tests benchmarks docs

# The pages' scripts against the services' models, so that neither says what the other doesn't know.
TYPESCRIPT := build/typescript
js: $(VENV)/.dev $(TYPESCRIPT)/.done
	$(BIN)/python docs/service_types.py $(TYPESCRIPT)/service.d.ts
	PATH="$$PATH:$(BIN)" $(TYPESCRIPT)/node_modules/.bin/tsc
	PATH="$$PATH:$(BIN)" $(TYPESCRIPT)/node_modules/.bin/tsc --project tsconfig.worker.json

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.dev
	$(BIN)/python docs/formats_page.py docs/formats.md
	$(BIN)/python docs/library_page.py docs/library.md
	$(BIN)/python docs/rulebooks_page.py docs/rulebooks.md
	$(BIN)/python docs/service_page.py docs/service.md
	$(BIN)/python docs/overlays_page.py docs/overlays.md
	$(BIN)/python docs/configuration_page.py docs/configuration.md
	$(BIN)/python docs/refusals_page.py docs/refusals.md docs/pictures
	$(BIN)/python docs/poor_pictures_page.py docs/poor-pictures.md docs/pictures

# The documents as a site with search, in build/site; every link in it is checked.
docs-site: $(VENV)-site/.done
	$(VENV)-site/bin/python docs/site_sources.py build/site-sources
	$(VENV)-site/bin/zensical build --clean
	$(VENV)-site/bin/python docs/site_links.py build/site

# What a rig installs, with every extra it may use, to the byte: versions and hashes for every system and Python.
lock: $(VENV)-lock/.done
	$(VENV)-lock/bin/uv pip compile pyproject.toml --extra tournament --extra scripts --extra mqtt --extra phone --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-emit-find-links --upgrade --quiet \
		--custom-compile-command 'make lock' -o requirements.lock

audit: $(VENV)-lock/.done
	.ci/audit $(VENV)-lock/bin/python

# Wheel, sdist, container recipe, documents, contents and checksums of the version in pyproject.toml, and its tag.
release:
	.ci/release

clean:
	rm -rf build *.egg-info $(VENV) $(VENV)-train $(VENV)-site $(VENV)-lock .mypy_cache .ruff_cache .pytest_cache

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15) and "Downfield needs Python 3.11 to 3.14; set PYTHON=")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet --editable .
	.ci/system-libraries $(BIN)/python run
	touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/python .ci/install.py --editable '.[dev]'
	.ci/system-libraries $(BIN)/python run
	.ci/system-libraries $(BIN)/python browser
	.ci/system-libraries $(BIN)/python database
	.ci/system-libraries $(BIN)/python broker
	touch $@ $(VENV)/.run

$(VENV)-train/.packages: pyproject.toml .ci/torchvision/pyproject.toml
	$(PYTHON) -m venv $(VENV)-train
	$(VENV)-train/bin/python .ci/install.py torch==2.13.0 ./.ci/torchvision
	$(VENV)-train/bin/python .ci/install.py --editable '.[train,traced]' hypothesis pytest pytest-xdist
	touch $@

$(VENV)-train/.done: $(VENV)-train/.packages
	.ci/system-libraries $(VENV)-train/bin/python run
	touch $@

$(VENV)-site/.done:
	$(PYTHON) -m venv $(VENV)-site
	$(VENV)-site/bin/pip install --quiet 'zensical>=0.0.73,<0.1'
	touch $@

$(VENV)-lock/.done:
	$(PYTHON) -m venv $(VENV)-lock
	$(VENV)-lock/bin/python .ci/install.py 'uv>=0.9' 'pip-audit>=2.9'
	touch $@

$(TYPESCRIPT)/.done: .ci/typescript/package-lock.json | $(VENV)/.dev
	.ci/typescript/install $(BIN)/python $(TYPESCRIPT)
	touch $@

build/typing/downfield: pyproject.toml
	rm -rf $@
	mkdir -p $@
	for room in $(ROOMS); do ln -s ../../../$$room $@/$$room; done
	ln -s ../../../cli/as_module/__init__.py ../../../cli/as_module/py.typed $@
