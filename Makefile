# What a contributor runs: make help. CI runs .ci/run, which makes its own environment and calls "check" here.
PYTHON ?= python3
.DEFAULT_GOAL := help
.PHONY: help setup test long validation check format docs site pictures bench golden wheels release

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

setup:  ## install the package, the tests' and the developers' tools into the active environment
	$(PYTHON) -m pip install -e ".[test,dev]"

test:  ## the default tests (README's command)
	$(PYTHON) -m pytest

long:  ## the tests that take longer than ten seconds each; needs pip install -e ".[bench]"
	$(PYTHON) -m pytest -m long

validation:  ## the validation report of this tree, HTML and PDF, in build/validation; needs pip install -e ".[test,validation]"
	$(PYTHON) -m limberjack validate --out build/validation

check:  ## lint, format, C format, spelling, types, import contracts
	ruff check .
	ruff format --check .
	codespell
	find engine fmu tests benchmarks examples -name '*.[ch]' -print0 | xargs -0 clang-format --dry-run -Werror
	mypy
	lint-imports

format:  ## rewrite Python and C in the project's format
	ruff format .
	find engine fmu tests benchmarks examples -name '*.[ch]' -print0 | xargs -0 clang-format -i

docs:  ## renew the pages' parts that follow from declarations and imports
	$(PYTHON) -m limberjack.engine.model.elements.reference docs/reference/model-format.md
	$(PYTHON) -m tests.architecture

site:  ## build the documentation site to build/site, warnings are errors; needs pip install -e ".[docs]" and graphviz
	$(PYTHON) -m sphinx -E -W --keep-going -b html -d build/site.trees docs build/site

pictures:  ## the pictures of the site in build/pictures, or those of NAMES="console.png bench.png"; compare, then copy to docs/images
	$(PYTHON) -m tests.pictures $(NAMES)

bench:  ## the engine beside its peers; needs pip install -e ".[bench]"
	limberjack bench

golden:  ## compare all results with those of revision BASE, bit for bit
	$(PYTHON) -m tests.golden compare $(or $(BASE),HEAD)

PLATFORMS = x86_64-linux aarch64-linux x86_64-windows x86_64-darwin aarch64-darwin
wheels:  ## wheels for all platforms, each with the binaries of FMUs for all; needs pip install build
	for platform in $(PLATFORMS); do \
	    SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) LIMBERJACK_WHEEL=$$platform LIMBERJACK_PLATFORMS=all \
	        $(PYTHON) -m build --wheel || exit 1; done

release:  ## source archive and wheels for all platforms, built and checked, in dist/; REHEARSE=1 for this platform only
	$(PYTHON) .ci/release.py $(if $(REHEARSE),--rehearse)
