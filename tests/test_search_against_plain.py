"""The fast search and the plain one build the same tree from the same stream, node for node, and choose the same action."""

import numpy as np
import pytest

from tests.naive.search import PlainSearch, copy_of
from ttr.actions import apply_nth, count_actions
from ttr.agents.registry import parse_agent
from ttr.board import load_board
from ttr.deal import deal
from ttr.observation import observe
from ttr.rules import resolve_rules
from ttr.search.reading import children
from ttr.seats import JittedSeat
from ttr.state import OVER, new_state
from ttr.stream import game_stream
from ttr.tables import compile_game


@pytest.fixture(scope="module")
def scratch():
    from ttr.agents.contract import new_scratch

    return new_scratch()


def dump(tree, slot=0, code=None):
    """The fast tree as plain data."""
    below = [dump(tree, child.slot, child.code) for child in children(tree, slot)]
    even = int(tree["even"][slot]) if tree["two_sums"] else 0
    return (code, int(tree["visits"][slot]), int(tree["total"][slot]), even, below)


def position(name, preset, players, seed, decisions):
    """A game after some random decisions."""
    board = load_board(name)
    g, s = compile_game(board, resolve_rules(board, preset, players)), new_state()
    deal(g, s, np.uint64(game_stream(seed, 0)))
    random = np.random.default_rng(seed)
    for _ in range(decisions):
        before, n = copy_of(s), count_actions(g, s)
        apply_nth(g, s, random.integers(max(n, 1)), n)
        if s["phase"] == OVER:
            return g, before
    return g, s


def compare(g, s, text, word, scratch):
    """Both searches of one decision; returns how many nodes they have."""
    agent = parse_agent(text)
    seat = JittedSeat(g, agent, word, scratch)
    hidden = agent.name.startswith("ismcts")
    seen = new_state()
    observe(g, s, int(s["player"]), seen)
    count_actions(g, s)  # leaves its running totals in the state
    before = s.tobytes()
    code = seat.decide(s)
    assert s.tobytes() == before
    if count_actions(g, s) <= 1:
        assert seat.me["iterations"] == 0
        return 0
    plain = PlainSearch(g, agent.fields, word, hidden)
    assert plain.run(seen if hidden else s) == code
    assert dump(scratch["tree"]) == plain.root.dump()
    assert int(seat.me["stream"]) == plain.stream.word
    chosen = next(c for c in children(scratch["tree"]) if c.code == code)
    assert (seat.me["visits"], seat.me["mean"]) == (chosen.visits, chosen.mean)
    assert seat.me["iterations"] == plain.root.visits
    assert seat.me["nodes"] == scratch["tree"]["nodes"]
    return int(seat.me["nodes"])


YANG = ("yang", "warwick", 2)
VARIANTS = [
    "",
    "cp=0",
    "cp=0.5,final_choice=most_visits",
    "dda=rosas",
    "dda=rosas,momentum=0.5,target=3",
    "dda=posas,posas_threshold=5",
    "dda=posas,posas_threshold=2.5,momentum=-0.1",
    "dda=true_rosas",
    "dda=true_rosas,momentum=0.5,target=3",
    "dda=true_posas,posas_threshold=4,momentum=0.1",
    "iterations=0,forward_model_calls=3000",
]


@pytest.mark.parametrize("fields", VARIANTS)
@pytest.mark.parametrize("agent", ["cmcts", "ismcts"])
def test_every_choice_on_yang(agent, fields, scratch):
    budget = "" if "forward_model_calls" in fields else "iterations=250,"
    for seed, decisions in ((1, 0), (2, 12), (3, 25)):
        compare(*position(*YANG, seed, decisions), f"{agent}:{budget}{fields}".rstrip(":,"), 1000 + seed, scratch)


@pytest.mark.parametrize("fields", ["exploration=availability", "tickets=plain", "exploration=availability,dda=true_posas"])
def test_information_set_choices_on_yang(fields, scratch):
    for seed, decisions in ((1, 3), (2, 12), (3, 20)):
        assert compare(*position(*YANG, seed, decisions), f"ismcts:iterations=250,{fields}", 1000 + seed, scratch)


GAMES = [
    ("mini", "warwick", 2, 300),
    ("yang", "official", 2, 200),
    ("new_york", "warwick", 2, 100),
    ("new_york", "official", 4, 60),
    ("usa", "official", 2, 40),
    ("usa", "gatech", 3, 30),
    ("usa", "warwick", 5, 30),
    ("usa_1910", "leiden", 4, 30),
    ("europe", "official", 5, 30),
    ("germany", "leiden_linear", 4, 30),
    ("europe", "orebro", 2, 40),
    ("europe", "orebro", 4, 30),
]


@pytest.mark.parametrize(("name", "preset", "players", "iterations"), GAMES)
@pytest.mark.parametrize("agent", ["cmcts", "ismcts"])
def test_maps_rules_and_players(agent, name, preset, players, iterations, scratch):
    """Paired and stepwise drawing, two to five players, one or two words of routes, terminals, bonuses."""
    nodes = 0
    for seed, decisions in enumerate((0, 7, 20, 90, 300)):
        nodes += compare(*position(name, preset, players, seed, decisions), f"{agent}:iterations={iterations}", seed, scratch)
    assert nodes > 2 * iterations
