"""The same seed gives the same games in every process and build; the longest route has known answers."""

import os
import random
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.naive.reference import other_end
from ttr.board import load_board
from ttr.longest_route import WORK, longest_route
from ttr.rules import resolve_rules
from ttr.state import new_state
from ttr.tables import compile_game

ROOT = Path(__file__).parent.parent
GAMES = [("yang", "warwick", 2), ("usa", "official", 4), ("germany", "official", 5)]
SCRIPT = f"""
import hashlib
from ttr.board import load_board
from ttr.game import play_random_games
from ttr.rules import resolve_rules
from ttr.tables import compile_game
for name, preset, players in {GAMES!r}:
    board = load_board(name)
    rows = play_random_games(compile_game(board, resolve_rules(board, preset, players)), 200, seed=5)
    print(name, hashlib.sha256(rows.tobytes()).hexdigest())
"""


def hashes(**switches):
    """Hashes of the results of random games, played in a fresh process."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "TTR_NO_", "TTR_OWN_"))}
    run = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, env=env | switches, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


@pytest.fixture(scope="module")
def plain_hashes():
    return hashes()


@pytest.mark.parametrize("switch", [None, "NUMBA_BOUNDSCHECK", "TTR_NO_PDEP"])
def test_same_seed_same_games(plain_hashes, switch):
    again = hashes(**({switch: "1"} if switch else {}))
    assert len(set(again)) == len(GAMES)
    assert again == plain_hashes


def engine_longest(lengths_and_ends, terminals=()):
    """The engine's longest route of a network drawn by hand: (city, city, length) for each route."""
    board = load_board("usa")
    g = compile_game(board, resolve_rules(board, "official", 2))
    for i, (a, b, length) in enumerate(lengths_and_ends):
        g.tables["ends"][i] = a, b
        g.tables["length"][i] = length
    g = g._replace(terminals=sum(1 << c for c in terminals))
    s = new_state()
    s["own"][0][0] = (1 << len(lengths_and_ends)) - 1
    return longest_route(g, s, 0, np.zeros(1, WORK)[0])


def brute_force(lengths_and_ends, terminals=()):
    """Every trail from every city, nothing given up early."""
    routes = [SimpleNamespace(a=a, b=b, length=length) for a, b, length in lengths_and_ends]

    def onward(city, unused):
        best = 0
        for i in unused:
            end = other_end(routes[i], city)
            if end is not None:
                rest = 0 if end in terminals else onward(end, unused - {i})
                best = max(best, routes[i].length + rest)
        return best

    return max((onward(city, frozenset(range(len(routes)))) for r in routes for city in (r.a, r.b)), default=0)


CYCLE = [(0, 1, 2), (1, 2, 3), (2, 3, 4), (3, 0, 5)]
STAR = [(0, 1, 6), (0, 2, 5), (0, 3, 4), (0, 4, 1)]
EIGHT = [(0, 1, 1), (1, 2, 2), (2, 0, 3), (0, 3, 4), (3, 4, 5), (4, 0, 6)]


@pytest.mark.parametrize(
    ("network", "terminals", "longest"),
    [
        pytest.param([], (), 0, id="nothing"),
        pytest.param([(0, 1, 6)], (), 6, id="one route"),
        pytest.param([(0, 1, 2), (2, 3, 5)], (), 5, id="two apart"),
        pytest.param([(0, 1, 2), (0, 1, 3)], (), 5, id="there and back on parallel routes"),
        pytest.param(CYCLE, (), 14, id="cycle"),
        pytest.param([*CYCLE, (0, 4, 6)], (), 20, id="cycle with a tail"),
        pytest.param([*CYCLE, (0, 4, 6), (2, 5, 1)], (), 20, id="cycle with tails at opposite cities"),
        pytest.param(STAR, (), 11, id="star"),
        pytest.param(EIGHT, (), 21, id="figure eight"),
        pytest.param([*EIGHT, (1, 5, 2), (3, 6, 1)], (), 23, id="figure eight with two tails"),
        pytest.param(STAR, (0,), 6, id="star around a terminal"),
        pytest.param(CYCLE, (0,), 14, id="cycle from a terminal back to it"),
        pytest.param(EIGHT, (0,), 15, id="figure eight crossing in a terminal"),
        pytest.param([(0, 1, 2), (1, 2, 3), (2, 3, 4)], (1,), 7, id="path cut by a terminal"),
        pytest.param([(0, 1, 2), (1, 2, 3), (2, 3, 4)], (0, 3), 9, id="path between terminals"),
    ],
)
def test_longest_route_by_hand(network, terminals, longest):
    assert brute_force(network, terminals) == longest
    assert engine_longest(network, terminals) == longest


def test_longest_route_of_random_networks():
    """Small dense networks, with and without terminals, against all trails there are."""
    choose = random.Random(1)
    for _ in range(600):
        cities = choose.randint(3, 7)
        network = [(*choose.sample(range(cities), 2), choose.randint(1, 6)) for _ in range(choose.randint(1, 9))]
        terminals = choose.sample(range(cities), choose.randint(0, 2))
        network = [(a, b, length) for a, b, length in network if not {a, b} <= {*terminals}]  # no map joins two terminals
        assert engine_longest(network, terminals) == brute_force(network, terminals), (network, terminals)


def longest_on(g, routes):
    s = new_state()
    words = np.zeros(2, np.uint64)
    for r in routes:
        words[r // 64] |= np.uint64(1 << (r % 64))
    s["own"][0] = words.view(np.int64)
    return longest_route(g, s, 0, np.zeros(1, WORK)[0])


def test_no_trail_passes_a_country_on_germany():
    """Two routes that meet in a terminal do not add up; two that meet elsewhere do."""
    board = load_board("germany")
    g = compile_game(board, resolve_rules(board, "official", 2))
    assert board.terminals
    for city in range(len(board.cities)):
        at_city = [i for i, r in enumerate(board.routes) if city in (r.a, r.b)]
        one_each = list({other_end(board.routes[i], city): i for i in at_city}.values())[:2]
        if len(one_each) < 2:
            continue
        lengths = [board.routes[i].length for i in one_each]
        assert longest_on(g, one_each) == (max(lengths) if city in board.terminals else sum(lengths))


@pytest.mark.parametrize("name", ["usa", "germany", "europe"])
def test_longest_route_on_a_map(name):
    """Neighbouring routes of a real map against all trails there are."""
    board = load_board(name)
    g = compile_game(board, resolve_rules(board, "official", 2))
    choose = random.Random(2)
    for _ in range(100):
        mine = {choose.randrange(len(board.routes))}
        while len(mine) < 10:
            cities = {c for i in mine for c in (board.routes[i].a, board.routes[i].b)}
            mine.add(choose.choice([i for i, r in enumerate(board.routes) if r.a in cities or r.b in cities]))
        network = [(board.routes[i].a, board.routes[i].b, board.routes[i].length) for i in sorted(mine)]
        assert longest_on(g, mine) == brute_force(network, board.terminals), sorted(mine)
