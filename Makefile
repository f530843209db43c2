# Every target does its own set-up: python3 (3.11 or later) and git are enough; the oracle needs go.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := /bin/bash -o pipefail

VENV := .venv
BIN := $(VENV)/bin
PYTHON := $(BIN)/python
INSTALLED := $(VENV)/.installed
PRODUCT := .venv-product

# Images of containers set it. Without bytecode each program that a test starts compiles this package
# for two seconds, and each worker all tests.
unexport PYTHONDONTWRITEBYTECODE

# A `python3.13` on PATH may be a version manager's shim that cannot run: each is tried.
FIND_PYTHON = for name in python3 python3.14 python3.13 python3.12 python3.11; do \
	if $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
	then echo $$name; exit; fi; done

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16

.PHONY: dev
dev: $(INSTALLED) ## .venv with the tools and this package, editable

# An environment of its own from a lock, with this package, editable: $(call install,VENV,LOCK).
define install
	@python=$$($(FIND_PYTHON)); \
	if [ -z "$$python" ]; then echo "Python 3.11 or later is needed, and none is on PATH" >&2; exit 1; fi; \
	$$python -m venv --clear $(1)
	@total=$$(grep -c '^[A-Za-z0-9_.-]*==' $(2)); \
	echo "installing $$total packages into $(1), once: about a minute"; \
	$(1)/bin/python -u -m pip install --progress-bar off --no-compile --disable-pip-version-check --require-hashes -r $(2) | \
		$(1)/bin/python -c "$$PROGRESS" $$total
	@$(1)/bin/python -m pip install --quiet --disable-pip-version-check --no-index --no-deps --no-build-isolation --editable .
	@touch $@
endef

# The progress of pip, on one line of a terminal.
define PROGRESS
import sys
fetched = 0
for line in sys.stdin:
    word, _, rest = line.partition(" ")
    text = "installing" if word == "Installing" else ""
    if word == "Collecting":
        fetched += 1
        text = f"fetching {fetched} of {sys.argv[1]}: {rest.split()[0]}"
    if text and sys.stdout.isatty():
        print(f"\r  {text:60.60}", end="", flush=True)
if sys.stdout.isatty():
    print("\r" + " " * 62, end="\r")
endef
export PROGRESS

$(INSTALLED): requirements-dev.lock pyproject.toml
	$(call install,$(VENV),requirements-dev.lock)

# What users install, with the sandbox: less than half of what development needs.
$(PRODUCT)/.installed: requirements-product.lock pyproject.toml
	$(call install,$(PRODUCT),requirements-product.lock)
	@$(PRODUCT)/bin/python -m compileall -q kalypso_actions kalypso_go kalypso_placement kalypso_sandbox

.PHONY: demo
demo: $(PRODUCT)/.installed ## play the promotion chain with a sample organisation, on this machine alone
	@$(PRODUCT)/bin/kalypso demo

.PHONY: lint
lint: $(INSTALLED) ## style, types, floors
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

ACTIONLINT := .build/bin/actionlint
ACTIONLINT_VERSION := v1.7.12

$(ACTIONLINT):
	GOBIN="$(CURDIR)/$(@D)" go install github.com/rhysd/actionlint/cmd/actionlint@$(ACTIONLINT_VERSION)

.PHONY: lint-workflows
lint-workflows: $(INSTALLED) $(ACTIONLINT) ## templates, our own workflows, actions, scripts (needs go)
	$(PYTHON) -m tools.lint_workflows

# Two more than processors: tests wait for the programs that they start.
WORKERS := $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 2)))

# Tests write many small files: in memory, if there is room and programs may run from there.
MEMORY := /dev/shm
SCRATCH := $(shell test -w $(MEMORY) && ! grep -q ' $(MEMORY) .*noexec' /proc/mounts && \
	df -Pk $(MEMORY) | awk 'NR == 2 && $$4 > 4000000 {print "$(MEMORY)"}')
test test-slow hostile breaks: export TMPDIR := $(or $(SCRATCH),$(TMPDIR),/tmp)

.PHONY: test
test: $(INSTALLED) ## every rule, in four minutes
	$(PYTHON) -m pytest -n $(WORKERS) --dist worksteal

.PHONY: breaks
breaks: $(INSTALLED) ## break each declared rule on purpose: a test must notice
	$(PYTHON) -m tests.breaks

.PHONY: test-slow
test-slow: $(INSTALLED) ## random stories, installations, every fault; more examples of each property
	$(PYTHON) -m pytest -n $(WORKERS) --dist worksteal --hypothesis-profile thorough -m "slow or hypothesis" --ignore tests/hostile

.PHONY: hostile
hostile: $(INSTALLED) ## the attacks whose costs are measured, as a table
	KALYPSO_HOSTILE_TABLE=1 $(PYTHON) -m pytest -q -n $(WORKERS) --dist worksteal -m slow tests/hostile

# act runs workflow files without GitHub; here, without containers as well.
ACT := .build/bin/act
ACT_VERSION := v0.2.89

$(ACT):
	GOBIN="$(CURDIR)/$(@D)" go install github.com/nektos/act@$(ACT_VERSION)

# An OCI registry, for charts of services.
REGISTRY := .build/bin/registry
REGISTRY_VERSION := v3.0.0

$(REGISTRY):
	GOBIN="$(CURDIR)/$(@D)" go install github.com/distribution/distribution/v3/cmd/registry@$(REGISTRY_VERSION)

# Two stories that share nothing.
.PHONY: e2e e2e-platform e2e-application
e2e: $(INSTALLED) $(ACT) ## the whole chains by the workflow templates and actions, run by act (needs go)
	@$(MAKE) --no-print-directory -j 2 --output-sync=target e2e-platform e2e-application

e2e-platform: $(INSTALLED) $(ACT)
	$(PYTHON) -m pytest -m e2e tests/e2e --ignore tests/e2e/test_application.py

e2e-application: $(INSTALLED) $(ACT)
	$(PYTHON) -m pytest -m e2e tests/e2e/test_application.py

BROWSER := $(VENV)/.browser-installed

# The machine's Chromium, else the one that playwright downloads, else Debian's.
HAS_CHROMIUM = test -n "$$KALYPSO_CHROMIUM" || \
	command -v chromium chromium-browser google-chrome google-chrome-stable >/dev/null
AS_ROOT = test "$$(id -u)" = 0

$(BROWSER): $(INSTALLED) requirements-browser.lock
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-browser.lock
	@$(HAS_CHROMIUM) || \
		$(PYTHON) -m playwright install $$($(AS_ROOT) && echo --with-deps) --only-shell chromium || \
		($(AS_ROOT) && apt-get update -qq && apt-get install -y -qq chromium) || \
		(echo "Chromium cannot be installed: put chromium on PATH, or its path into KALYPSO_CHROMIUM" >&2; exit 1)
	@touch $@

.PHONY: browser
browser: $(BROWSER) ## the pages of report and sandbox in headless Chromium (installs it where it is missing)
	$(PYTHON) -m pytest -m browser -n 2 --dist loadfile tests/browser

# Workers must agree on the seeds. A story that fails says how to tell it again.
.PHONY: stories
stories: $(INSTALLED) ## many random stories of the promotion chain, new ones each time
	KALYPSO_STORIES=$${KALYPSO_STORIES:-2000} KALYPSO_FIRST_SEED=$${KALYPSO_FIRST_SEED:-$$RANDOM} \
		$(PYTHON) -m pytest -rfEP -n $(WORKERS) --dist worksteal tests/chain/machine/test_machine.py

MUTATION := $(VENV)/.mutation
$(MUTATION): $(INSTALLED) requirements-mutation.lock
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-mutation.lock
	@touch $@

.PHONY: mutate
mutate: $(MUTATION) ## change each operator and value of the rooms of promotion: what no test notices (ROOM=promotion: one)
	$(BIN)/mutmut run $(if $(ROOM),"kalypso_actions.$(ROOM).*")
	@for mutant in $$($(BIN)/mutmut results | sed -n 's/^ *\(.*\): survived$$/\1/p'); do $(BIN)/mutmut show $$mutant; done \
		> mutants/survivors.diff
	@echo "$$(grep -c '^--- ' mutants/survivors.diff) changes that no test notices: mutants/survivors.diff"

.PHONY: test-all
test-all: test test-slow hostile e2e browser ## all that tests the package

.PHONY: golden
golden: $(INSTALLED) ## rewrite the whole-folder goldens (not in CI)
	$(PYTHON) -m tests.golden.record

.PHONY: github-api
github-api: $(INSTALLED) ## hold the sandbox against GitHub's own description and traffic (needs npm)
	$(PYTHON) -m tools.github_api.extract --check
	$(PYTHON) -m tools.github_api.recordings

.PHONY: faults
faults: $(INSTALLED) ## every write of the clients with every fault of the sandbox, as a table
	$(PYTHON) -m tests.faults

.PHONY: oracle
oracle: $(INSTALLED) ## ask Go anew for the expected results of tests
	$(PYTHON) -m tools.oracle.record

.PHONY: oracle-check
oracle-check: $(INSTALLED) ## ask Go anew, and fail where an expected result differs
	$(PYTHON) -m tools.oracle.record --check
	$(PYTHON) -m tests.golden.record --check

.PHONY: oracle-report
oracle-report: $(INSTALLED) ## cases per part of the template language
	$(PYTHON) -m tools.oracle.report

.PHONY: differential
differential: $(INSTALLED) ## 5,000 random templates through Go and through ours
	$(PYTHON) -m tools.oracle.differential --count 5000

.PHONY: bench
bench: $(INSTALLED) ## speed and memory, stage by stage, beside git, Go, gotpl and PyYAML
	$(PYTHON) -m bench.run

# mkdocs' theme advertises its successor in every build.
SITE := NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

.PHONY: docs
docs: $(INSTALLED) ## rewrite docs/reference from the code, and build the site in .build/site
	$(PYTHON) -m tools.reference
	$(SITE)

.PHONY: docs-check
docs-check: $(INSTALLED) ## fail where docs/reference is not what the code says, or the site has faults
	$(PYTHON) -m tools.reference --check
	$(PYTHON) -m tools.diagrams --check
	$(SITE)

.PHONY: diagrams
diagrams: $(INSTALLED) ## draw the documentation's diagrams for the site (needs npm and chromium)
	$(PYTHON) -m tools.diagrams

.PHONY: lock
lock: $(INSTALLED) ## resolve the dependencies anew
	$(BIN)/uv pip compile pyproject.toml --generate-hashes --universal --python-version 3.11 \
		--upgrade --quiet -o requirements.lock
	$(BIN)/uv pip compile pyproject.toml --extra sandbox --group build --generate-hashes --universal \
		--python-version 3.11 --upgrade --quiet -o requirements-product.lock -c requirements.lock
	$(BIN)/uv pip compile pyproject.toml --group dev --generate-hashes --universal \
		--python-version 3.11 --upgrade --quiet -o requirements-dev.lock -c requirements-product.lock
	printf 'cel-expr-python>=0.1.3\n' | $(BIN)/uv pip compile - --generate-hashes --universal \
		--python-version 3.11 --upgrade --quiet -o requirements-placement.lock -c requirements-dev.lock
	printf 'fastapi>=0.160\nprometheus-client>=0.26\npsycopg[binary]>=3.3\nuvicorn>=0.50\n' | $(BIN)/uv pip compile - \
		--generate-hashes --universal --python-version 3.11 --upgrade --quiet -o requirements-hub.lock \
		-c requirements-dev.lock
	printf 'playwright\naxe-playwright-python\n' | $(BIN)/uv pip compile - --generate-hashes --universal \
		--python-version 3.11 --upgrade --quiet -o requirements-browser.lock -c requirements-dev.lock
	printf 'mutmut\n' | $(BIN)/uv pip compile - --generate-hashes --universal \
		--python-version 3.11 --upgrade --quiet -o requirements-mutation.lock -c requirements-dev.lock

.PHONY: ci
ci: ## what CI runs
	.ci/run
