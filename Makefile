# make solve   solve the bundled instances, print verified tours, draw them into out/
# make test    the tests, without type checks at run time, which take longer than the tests
# make quick   the tests that tell in a minute whether something broke
# make wheel   build wheel and sdist, list and check what they hold, and try the wheel in a new environment without torch
# make check   formatting, lint, import contracts, types, sizes
# make soak    hours: all tests with types checked at run time, 20,000 small tours against brute force, 300,000 mutated files, explanations of every constraint,
#              the service under load, killed 50 times, with 100,000 mutated bodies and beside VROOM, a million tours
# make docs    the site, into site/; a broken link or a missing page is an error
# make bench   speed and memory, as ratios
# Each sets up .venv by itself, and again whenever pyproject.toml or constraints.txt change.

# Every process of a test would compile the sources anew.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
BARE := build/bare
# Files, judge, proofs, search, explanations, policies, losses, figures; no beds, no runs, no other processes.
QUICK := test_judge.py problems policies recipes search/test_exact.py search/test_improve.py search/test_rollout.py \
	solver/test_solving.py solver/explain \
	evaluate/test_judging.py evaluate/test_metrics.py evaluate/test_outcomes.py evaluate/test_tables.py train/test_losses.py
UNTYPED := --import-mode=importlib -ra --strict-markers
UNHURRIED := problems/test_beds.py problems/test_draw.py problems/files/test_mutations.py

.PHONY: solve test quick wheel check format docs soak bench clean

solve: $(READY)
	$(BIN)/fairway solve --pictures out
	@echo "pictures: $$(ls out/*.png | tr '\n' ' ')"

test: $(READY)
	$(BIN)/python -m pytest -n auto --dist worksteal -q --durations 12 -m 'not soak' -o addopts='$(UNTYPED)' --ignore tests/interpret
	$(BIN)/python -m pytest -n auto --dist worksteal -q -o addopts='$(UNTYPED)' tests/interpret

quick: $(READY)
	$(BIN)/python -m pytest -n 2 --dist worksteal -q -m 'not slow and not soak' -o addopts='$(UNTYPED)' $(QUICK:%=tests/%) $(UNHURRIED:%=--ignore tests/%)

wheel: $(READY)
	rm -rf dist $(BARE)
	$(BIN)/python -m hatchling build --directory dist
	$(BIN)/twine check --strict dist/*
	$(BIN)/python tools/release.py dist
	$(BIN)/python -m venv --without-pip $(BARE)
	$(BIN)/python -m pip --python $(BARE)/bin/python install --quiet --no-compile --constraint constraints.txt dist/*.whl
	$(BARE)/bin/python -I tools/smoke.py

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/pyrefly check
	$(BIN)/python tools/size.py
	$(BIN)/python tools/problems.py

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

soak: $(READY)
	$(BIN)/python -m pytest -n auto --dist worksteal -q -m soak -o addopts='$(UNTYPED)' --ignore tests/interpret
	$(BIN)/python -m pytest -n auto --dist worksteal -q -m 'not soak' --ignore tests/interpret
	$(BIN)/python -m benchmarks.small --solved 20000 --resumed 1000 --relaxed 500
	$(BIN)/python -m benchmarks.mutations --count 300000
	$(BIN)/python -m benchmarks.explain --general 200
	$(BIN)/python -m benchmarks.service
	$(BIN)/python -m benchmarks.scale kills
	$(BIN)/python -m benchmarks.scale nodes --count 100000 --chunk 1000
	$(BIN)/python -m benchmarks.scale overhead --count 480000 --chunk 60000

bench: $(READY)
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.lookahead

docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

clean:
	rm -rf .venv build dist out site

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@
