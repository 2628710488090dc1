"""Every heuristic player plays every map, preset and number of players by the rules."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.test_invariants import GAMES
from ttr.actions import apply_code, index_of
from ttr.agents.registry import parse_agent
from ttr.batch import Table, deals_and_rotations
from ttr.deal import deal
from ttr.jit import jitted
from ttr.state import OVER, new_state
from ttr.stream import game_stream
from ttr.tables import compile_game

HEURISTICS = "random greedy base random_smart random_base villain hoarder hoarder_ticket pile pile_ticket_hater".split()


@jitted
def first_illegal(g, s, codes):
    """Replay a game: which of its actions is the first illegal one, or -1."""
    for i in range(len(codes)):
        if s.phase == OVER or index_of(g, s, codes[i]) < 0:
            return i
        apply_code(g, s, codes[i])
    return -1 if s.phase == OVER else len(codes)


def assert_legal(g, agents, seed):
    rows, log = Table(g, [parse_agent(text) for text in agents]).play_logged(*deals_and_rotations(seed, 1, 1), seed)
    s = new_state()
    deal(g, s, np.uint64(game_stream(seed, int(rows[0]["deal"]))))
    codes = np.ascontiguousarray(log["code"])
    assert first_illegal(g, s, codes) == -1, (agents, seed)


@pytest.mark.parametrize("part", range(4))
def test_all_play_everywhere_by_the_rules(part):
    """One game each over all fitting combinations: ten players, a few at a time."""
    for number, (board, rules) in enumerate(GAMES):
        if number % 4 != part:
            continue
        g = compile_game(board, rules)
        start = number % len(HEURISTICS)
        for first in range(0, len(HEURISTICS), g.players):
            agents = [HEURISTICS[(start + first + i) % len(HEURISTICS)] for i in range(g.players)]
            assert_legal(g, agents, seed=number)


CHECKED = """
from tests.test_heuristics_everywhere import assert_legal
from ttr.board import load_board
from ttr.rules import resolve_rules
from ttr.tables import compile_game
for case in ["yang warwick 2", "usa official 5", "germany leiden 4", "first_journey orebro 2"]:
    name, preset, players = case.split()
    players = int(players)
    board = load_board(name)
    g = compile_game(board, resolve_rules(board, preset, players))
    for seed in range(5):
        assert_legal(g, (AGENTS * 5)[seed : seed + players], seed)
"""


@pytest.mark.parametrize(
    "agents", [["base", "villain"], pytest.param(HEURISTICS, marks=pytest.mark.full)], ids=["two agents", "all agents"]
)
def test_no_index_is_out_of_bounds(agents):
    """The same with every index of the compiled code checked."""
    script = f"AGENTS = {agents}\n{CHECKED}"
    root, env = Path(__file__).parent.parent, os.environ | {"NUMBA_BOUNDSCHECK": "1"}
    run = subprocess.run([sys.executable, "-c", script], cwd=root, env=env, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
