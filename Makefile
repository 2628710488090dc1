# make demo | test | test-full | test-slurm | bench | lint | setup
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-full test-slurm bench lint setup clean

setup: .venv/ready

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

demo: setup
	$(BIN)/python -m ttr.demo

test: setup
	$(BIN)/python -m pytest -n 2 -m "not full and not slurm"

test-full: setup
	$(BIN)/python -m pytest -n 2 -m "not slurm"

# A real SLURM of three nodes on this machine, as root: installed if need be, started, tested with, taken down.
test-slurm: setup
	tests/slurm/install.sh
	$(BIN)/python -m pytest -m slurm -rs tests/slurm

bench: setup
	$(BIN)/python -m tests.bench

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

clean:
	rm -rf .venv build *.egg-info
