# make demo | test | test-full | test-slurm | bench | lint | setup
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-full test-slurm test-slurm-short bench lint setup clean

setup: .venv/ready

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

# A first result, from nothing: the POSAS sweep at the default scale, its report page and figures.
demo: setup
	@echo "1/2  The POSAS sweep of the Warwick report: four searching agents, eleven thresholds, five opponents,"
	@echo "     the same 50 deals everywhere, both seats. The agents are compiled first (once, about a minute)."
	$(BIN)/python -m experiments.sweep +sweep=posas
	@echo "2/2  Tables and figures, with what the report claims about this sweep."
	$(BIN)/python -m analysis.figures --results results -o figures
	@echo "Open the page in a browser. Next: docs/analysis.md, python -m ttr.play human ismcts_posas"

test: setup
	$(BIN)/python -m pytest -n 2 -m "not full and not slurm"

test-full: setup
	$(BIN)/python -m pytest -n 2 -m "not slurm"

# A real SLURM of three nodes on this machine, as root: installed if need be, started, tested with, taken down.
test-slurm: setup
	tests/debian.sh slurm
	$(BIN)/python -m pytest -m slurm -rs tests/slurm

# Of these, three that every change must pass: the start, a sweep over three nodes, a killed node.
test-slurm-short: setup
	tests/debian.sh slurm
	$(BIN)/python -m pytest -m short -rs tests/slurm

bench: setup
	$(BIN)/python -m tests.bench

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

clean:
	rm -rf .venv build *.egg-info
