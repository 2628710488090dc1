"""Small real runs for the tests of reports: played by the experiments themselves, once per test session."""

from pathlib import Path

import pytest

from experiments import final_eval, free_for_all, round_robin, sweep

QUIET = ["cluster=serial", "display=none"]


def play(module, folder: Path, *words: str) -> Path:
    """Run an experiment and return its run folder."""
    before = set(folder.glob("*/run.json"))
    assert module.main([*words, f"results_dir={folder}", *QUIET]) == 0
    (made,) = set(folder.glob("*/run.json")) - before
    return made.parent


@pytest.fixture(scope="session")
def results(tmp_path_factory) -> Path:
    """A results folder."""
    return tmp_path_factory.mktemp("results")


@pytest.fixture(scope="session")
def robin(results) -> Path:
    """Four heuristics, 60 deals."""
    return play(round_robin, results, "agents=[random,greedy,base,hoarder]", "deals=60")


@pytest.fixture(scope="session")
def swept(results) -> Path:
    """A sweep of three points with search statistics."""
    words = ["agents=[cmcts_posas]", "opponents=[random,greedy]", "iterations=20", "deals=12", "decisions=true"]
    return play(sweep, results, "+sweep=posas", "sweep.grid.agent.posas_threshold=[0,5,10]", *words)


@pytest.fixture(scope="session")
def final(results) -> Path:
    """Two DDA agents against two opponents."""
    agents = "agents=[cmcts_rosas,'cmcts_rosas:target=3']"
    return play(final_eval, results, agents, "opponents=[random,greedy]", "iterations=20", "deals=12")


@pytest.fixture(scope="session")
def crowd(results) -> Path:
    """A table of four on the USA map."""
    return play(free_for_all, results, "agents=[random,greedy,base,hoarder]", "players=4", "map=usa", "rules=official", "deals=6")
