# nodrop: everything that a person or a pipeline runs. `make help` lists the targets.
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.ready
PYTEST  = $(BIN)/python -m pytest -q -n auto --dist worksteal
PYTHON := $(firstword $(foreach name,python3.14 python3.13 python3.12 python3.11 python3,$(shell \
	$(name) -c 'import sys; print("$(name)" if sys.version_info >= (3, 11) else "")' 2>/dev/null)))
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYTHONDONTWRITEBYTECODE :=  # tests start nodrop a thousand times, which is not to be compiled each time

.PHONY: help setup demo docs test-unit test test-slow test-nightly fuzz batfish-live check style docs-tools hooks golden faults bench requirements wheelhouse pythons system clean
.DEFAULT_GOAL := help

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

setup: $(STAMP) ## make .venv with everything that is needed

$(STAMP): pyproject.toml constraints.txt scripts/venv.sh
	@[ -n "$(PYTHON)" ] || { echo "nodrop needs Python 3.11 or newer: apt install python3.11 python3-venv" >&2; exit 1; }
	@sh scripts/venv.sh "$(PYTHON)" "$(VENV)"
	@touch $@

demo: setup ## show, build and lint the reference fabric of two platforms, then break each and lint again
	@sh scripts/demo.sh "$(BIN)/nodrop"

test-unit: setup ## the unit tests, under a minute
	@$(PYTEST) -m unit

test: setup wheelhouse $(if $(ALSO),pythons) ## the tests, under 5 minutes; ALSO=slow with the longer ones, in one run
	@$(PYTEST) -m "not nightly and not batfish_live$(if $(filter slow,$(ALSO)),, and not slow)"

test-slow: setup wheelhouse pythons ## the longer tests, under 10 minutes
	@$(PYTEST) -m slow

test-nightly: setup wheelhouse pythons ## the longest tests; PART=0 to 19 or PART=COMMIT for a twentieth of them
	@$(PYTEST) --hypothesis-profile=nightly -m nightly $(addprefix --part=,$(PART))

fuzz: setup ## try mutated inputs for SECONDS=60, 0 until every goal is reached; TARGET=sonic for one format; STATE=DIR is resumed
	@PYTHONPATH=tests PYTHONHASHSEED=0 $(BIN)/python -m support.fuzzing --seconds $(or $(SECONDS),60) --state $(or $(STATE),.fuzz) $(addprefix --target ,$(TARGET))

batfish-live: setup ## ask the Batfish service at NODROP_BATFISH=HOST[:PORT] of all that is built today; RECORD=1 records anew what is stale, RECORD=all everything
	@NODROP_BATFISH_RECORD=$(RECORD) $(BIN)/python -m pytest -q -m batfish_live tests/validating

check: style ## ruff, mypy --strict, plain words in new text, the house rules
	@$(BIN)/python -m pytest -q tests/project/test_house.py tests/model/test_fields.py

style: setup ## what `make check` does without tests
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/python scripts/check_words.py

docs: setup docs-tools ## write the site, for reading without a network: site/index.html
	@NO_MKDOCS_2_WARNING=1 PYTHONPATH=tools $(BIN)/python -m mkdocs build --strict

docs-tools: $(VENV)/.docs

$(VENV)/.docs: $(STAMP) scripts/docs.txt
	@$(BIN)/pip install -q --require-hashes --only-binary :all: -r scripts/docs.txt
	@touch $@

hooks: setup ## let git check the subject of every commit that is made here
	@git config core.hooksPath scripts/hooks

golden: setup ## rewrite every snapshot and print what changed since the last commit, by cause; read that before you commit
	@PYTHONPATH=tests $(BIN)/python -m support.golden_changes

faults: setup ## put single faults into clean builds and print what is found of each, and whether its fix repairs it
	@PYTHONPATH=tests $(BIN)/python -m support.all_faults

bench: setup ## speed and memory per switch, as ratios in one run; AGAINST=COMMIT compares every stage with that commit
ifdef AGAINST
	@$(BIN)/python benchmarks/against.py $(AGAINST)
else
	@$(BIN)/python benchmarks/pod.py --platform sonic
	@$(BIN)/python benchmarks/pod.py --platform nvue
	@$(BIN)/python benchmarks/site.py
	@$(BIN)/python benchmarks/tiers.py --pods 8 32
	@$(BIN)/python benchmarks/lint.py
	@$(BIN)/python benchmarks/change.py
	@$(BIN)/python benchmarks/routing.py
	@$(BIN)/python benchmarks/prove.py
	@$(BIN)/python benchmarks/editor.py
endif

requirements: setup ## pin by hash what pipelines, image, site and release install: scripts/*.txt
	@sh scripts/requirements.sh "$(BIN)"

wheelhouse: $(VENV)/.wheelhouse

$(VENV)/.wheelhouse: $(STAMP) scripts/build.txt scripts/runtime.txt
	@$(BIN)/pip download -q --require-hashes --only-binary :all: -d $(VENV)/wheelhouse -r scripts/build.txt -r scripts/runtime.txt
	@touch $@

pythons: $(VENV)/.pythons ## give every other Python of this machine what nodrop needs, for the tests of equal output

$(VENV)/.pythons: $(STAMP) constraints.txt scripts/pythons.sh
	@sh scripts/pythons.sh "$(VENV)/pythons"
	@touch $@

system: ## Debian packages that some tests use (as root)
	@apt-get install -y -q frr iproute2 procps util-linux mount >/dev/null

clean: ## remove what make made
	@rm -rf $(VENV) build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis
