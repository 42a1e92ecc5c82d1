# Everything is done in $(VENV), which is made from the hashed pins in requirements/.
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
HOST   ?= 127.0.0.1
PORT   ?= 8000

.PHONY: help run test test-all check bench lock messages screenshots pictures clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/.base: requirements/base.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "dshweb needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1). Try: make PYTHON=python3.11 ..."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/base.txt
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.base
	@echo "installing the development tools into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

run: $(VENV)/.base ## start web and worker with the demo logs, print the address and a one-time login
	@$(BIN)/python manage.py serve --demo --host $(HOST) --port $(PORT)

test: $(VENV)/.dev ## the default test suite
	@$(BIN)/python -m pytest $(ARGS)

test-all: $(VENV)/.dev ## also the slow tests and those that drive the real harness
	@$(BIN)/python -m pytest -m "" $(ARGS)

check: $(VENV)/.dev ## formatting, lint, types, import rules, migrations, templates, catalogues
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy dshweb audit compaction
	@$(BIN)/lint-imports
	@git ls-files -z 'templates/*.html' 'templates/**/*.html' | xargs -0 -r $(BIN)/djade --target-version 5.2 --check
	@DSHWEB_DATA_DIR=$$(mktemp -d) $(BIN)/python manage.py makemigrations --check --dry-run
	@DSHWEB_DATA_DIR=$$(mktemp -d) $(BIN)/python manage.py check

bench: $(VENV)/.dev ## speed and size as ratios to named peers, in one table
	@$(BIN)/python -m bench $(ARGS)

lock: $(VENV)/.base ## resolve the pins anew (no index addresses in them)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@$(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-header -q -o requirements/base.txt
	@$(BIN)/uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes --no-header -q \
	  -c requirements/base.txt -o requirements/dev.txt

messages: $(VENV)/.dev ## take new strings into the Chinese catalogue (needs gettext), then translate them
	@DSHWEB_DATA_DIR=$$(mktemp -d) $(BIN)/python manage.py makemessages -l zh_Hans --ignore .venv --ignore '.venv*' --ignore tests --ignore var \
	  --ignore static --no-location --no-wrap

screenshots: $(VENV)/.dev ## pictures of every page, for looking at
	@$(BIN)/python tests/browser/shots.py $(ARGS)

pictures: $(VENV)/.dev ## those of the READMEs and docs/screenshots anew
	@$(BIN)/python tests/browser/shots_docs.py $(ARGS)

clean: ## remove the environment and all local state
	rm -rf $(VENV) var
