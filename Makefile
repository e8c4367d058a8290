# `make up` brings up the platform in the sandbox, `make test` proves it. Both need Python 3.11-3.13 only, and Go where a
# binary is not on PATH and its project's own installer is out of reach.

.DEFAULT_GOAL := help
.PHONY: help setup tools scanners site browser report up preview destroy test test-fast test-all dates check format generate schema lock bench mutants pipeline checksums drills binaries promtool equipment weigh sbom

STACK ?= dev
# Of `make mutants`: the sample, the beginning of the paths that it is drawn from, and whether all tests are run on what
# survives those near it (ALL=1).
SEED ?= 1
COUNT ?= 60
DRILLS ?= 48
WITHIN ?=
ALL ?=
# Of `make test`: which of the tests in tests/slow.yaml it adds: none, all, or a quarter (1 to 4).
REST ?= none
BIN := .venv/bin
# What the sandbox of a stack needs; the tests also render charts.
TOOLS := pulumi kube-apiserver kube-controller-manager kube-scheduler kwok etcd terraform-provider-aws
CONTROLLERS := kueue jobset trainer karpenter kuberay kserve training-operator mpi-operator replay
# Those that no shipped stack of `make up` starts have tests in the rest alone.
TEST_TOOLS := $(TOOLS) helm $(CONTROLLERS) $(if $(filter-out none,$(REST)),lws yunikorn argo katib keda endpoint-picker)
# In the order of tests/conftest.py, which knows what takes long; by itself pytest-xdist begins with the groups of most
# tests.
PYTEST := -n auto --dist loadgroup --no-loadscope-reorder
# Runs every command of a list, and fails at the end if one of them did.
EVERY = failed=0; for one in $(1); do echo "$(BIN)/$$one"; $(BIN)/$$one || failed=1; done; exit $$failed

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## the Python environment from requirements.lock; does nothing when it is current
	@tools/setup.sh

tools: setup ## the binaries the sandbox runs: found, installed or built
	@$(BIN)/python -m sandbox.toolchain ensure $(TOOLS) $(PATHS)

# Where each binary is, `make tools` lists; progress of a build goes to stderr.
up preview destroy: PATHS := >/dev/null

pipeline: setup ## what a deployment runs, by committed checksums: pulumi and its plugins
	@$(BIN)/python -m sandbox.toolchain pipeline

checksums: setup ## write sandbox/toolchain/checksums.txt for the versions in use (downloads each file once)
	@$(BIN)/python -m sandbox.toolchain checksums

up: tools ## the platform in the sandbox: `pulumi up` of STACK (default: dev)
	@$(BIN)/slipway up $(STACK) --sandbox

preview: tools ## what `make up` would change
	@$(BIN)/slipway preview $(STACK) --sandbox

destroy: tools ## remove it from the sandbox
	@$(BIN)/slipway destroy $(STACK) --sandbox --yes

CHECKS := "ruff check" "ruff format --check" mypy "lint-imports --no-logo" codespell "python tools/lock.py --check"
check: setup ## style, types, layers, words, and whether the lock file is current; all of them, whichever fails
	@$(call EVERY,$(CHECKS))

SCANNERS := "python -m tools.scanners" "python -m tools.site --install" "python -m sandbox.toolchain ensure actionlint"
scanners: setup ## Checkov, zizmor, ShellCheck, actionlint and MkDocs, for the tests of stacks, workflows and the website
	@PATH="$(CURDIR)/$(BIN):$$PATH"; $(call EVERY,$(SCANNERS))

site: setup ## the documentation as a website in build/site/html, with search; needs a network the first time
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m tools.site

weigh: setup ## lines and files by package, and what one add-on, rule or type costs
	@$(BIN)/python -m tools.weigh

sbom: setup ## what a release consists of and installs, as CycloneDX in build/release/sbom.cdx.json
	@$(BIN)/python -m tools.sbom build/release/sbom.cdx.json

report: setup ## a page on STACK in out/report/, and what it says for a pull request (AGAINST=REF compares)
	@$(BIN)/slipway report $(STACK) --out out/report $(if $(AGAINST),--against $(AGAINST))

browser: ## Chromium, in which tests look at that page (Debian and Ubuntu; elsewhere install it yourself)
	@command -v chromium >/dev/null || $(if $(filter 0,$(shell id -u)),,sudo )apt-get install -y --no-install-recommends chromium

# Where it is set, each of the tests' processes compiles anew what set-up has not compiled, the tests among it.
test: export PYTHONDONTWRITEBYTECODE =
# What failed, if it is a few tests (tests/again.py).
AGAIN := .pytest_cache/d/slipway/again
# What fails before the tests doesn't keep them from running: a fault of style is reported beside what they find, and
# without a tool those that need it are skipped. With SLIPWAY_REQUIRE_ALL=1, as in CI, a skip or a missing tool is a failure.
test: setup ## everything `make check` does, then the tests of all that a change can break: 10 minutes on two cores
	@$(MAKE) --no-print-directory check; checked=$$?; \
	$(MAKE) --no-print-directory --keep-going equipment || [ "$$SLIPWAY_REQUIRE_ALL" != 1 ] || checked=1; \
	echo "$(BIN)/pytest $(PYTEST) --rest $(REST)"; $(BIN)/pytest $(PYTEST) --rest $(REST); failed=$$?; \
	if [ $$failed = 1 ] && [ -s $(AGAIN) ]; then \
		echo "Once more, alone: what passes now lost a race above, which is a fault of its own."; \
		cat $(AGAIN); $(BIN)/pytest @$(AGAIN); failed=$$?; \
	fi; \
	[ $$failed = 0 ] && exit $$checked

test-all: REST = all
test-all: test ## the same, and whole stacks, whole charts, scanners, browsers: tests/slow.yaml

binaries: setup
	@$(BIN)/python -m sandbox.toolchain ensure --keep-going $(TEST_TOOLS) actionlint

promtool:
	@tools/promtool.sh

# What only tests need, each independent of the others.
equipment: binaries scanners promtool

test-fast: setup ## tests that start no process, for work between two edits: 90 s
	$(BIN)/pytest $(PYTEST) -m fast $(shell $(BIN)/python -m tests.tiers)

# Without tests of the sandbox, whose API server has the machine's own clock and refuses certificates of a later year, and
# of locks and signals: the kernel dates processes by its own clock, and timers of threads hang (faketime 0.9.10). Files
# keep their times, since Python would compile all modules anew for each date.
DATED := -m "not sandbox" tests/spec tests/policies tests/components tests/docs tests/support \
	$(addprefix tests/slipway/,cli cost report render fit charts engine) \
	$(addprefix --ignore=tests/slipway/,cli/test_display.py engine/test_locks.py engine/test_process.py)
dates: export NO_FAKE_STAT = 1
dates: export PYTHONDONTWRITEBYTECODE =
dates: setup ## tests of dated facts with the clock at 2027-04-01 and 2029-01-01 (needs faketime)
	@command -v faketime >/dev/null || { echo "faketime is not on PATH: apt-get install faketime, or brew install libfaketime" >&2; exit 1; }
	faketime '2027-04-01 12:00:00' $(BIN)/pytest $(PYTEST) $(DATED)
	faketime '2029-01-01 12:00:00' $(BIN)/pytest $(PYTEST) $(DATED)

bench: tools ## the measured numbers, each beside its bound
	$(BIN)/python -m tests.bench

# In copies of the tree; SLIPWAY_SHARED counts as it does for `make test`.
mutants: setup ## change the source in COUNT small ways, drawn by SEED, and fail where the tests notice too few of them
	@$(BIN)/python -m sandbox.toolchain ensure $(TEST_TOOLS)
	$(BIN)/python -m tools.mutants --seed $(SEED) --count $(COUNT) --within '$(WITHIN)' $(if $(ALL),--all)

drills: tools ## disturb an `up` in DRILLS ways by faults: the same command again must end where an undisturbed one ends
	SLIPWAY_DRILLS=$(DRILLS) $(BIN)/pytest -n 0 tests/e2e/test_drills.py

format: setup ## rewrite the source as `make check` wants it
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

generate: setup ## write every generated file anew: catalog, schema, pages, policies
	$(BIN)/python tools/refresh_catalog.py
	@$(MAKE) --no-print-directory schema
	$(BIN)/python -m policies.generate
	$(BIN)/python -m tests.components.admission
	$(BIN)/python -m tests.slipway.fit
	$(BIN)/python -m tests.slipway.quickstarts
	$(BIN)/python -m tools.site.pictures
	$(BIN)/python -m tools.figures
	$(BIN)/python -m tests.docs

schema: setup ## write stacks/schema.json, docs/settings.md and the schemas of replays and scenarios anew from their models
	$(BIN)/python -m spec.settings.schema
	$(BIN)/python -m spec.settings.reference
	$(BIN)/python -m slipway.replay.result
	$(BIN)/python -m slipway.advise.document
	$(BIN)/python -m slipway.trial.scenario
	$(BIN)/python -m slipway.rehearsal.document

lock: setup ## write requirements.lock anew from pyproject.toml
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tools/lock.py
