"""A user's own agent: named by its file, told in one line what is wrong with it, made from its source text alone."""

import pickle

import numpy as np
import pytest

from ttr.actions import apply_code, legal_codes
from ttr.agent_view import Setting, View
from ttr.agents.contract import ME, pick
from ttr.agents.registry import AgentError, parse_agent
from ttr.batch import deals_and_rotations
from ttr.board import load_board
from ttr.game import CONTENT
from ttr.moves import legal_moves
from ttr.observation import observe
from ttr.python_table import table_for
from ttr.random_stream import RandomStream
from ttr.record import start_game
from ttr.rules import resolve_rules
from ttr.score import new_sheet, score
from ttr.state import OVER, new_state

GOOD = """
from __future__ import annotations
from dataclasses import dataclass
from typing import Literal

def first(view, moves, random):
    return moves[0]

def fussy(view, moves, random, *, share: float = 0.5, word: Literal["a", "b"] = "a", free=None):
    return moves[int(share * len(moves))]

@dataclass
class Mine:
    steps: int
    bold: bool = False
    def decide(self, view, moves, random):
        return random.choice(moves)

class Lazy:
    pass

class Short:
    def decide(self, view):
        return None

number = 5
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Write my_agents.py into the folder the test runs in."""
    monkeypatch.chdir(tmp_path)

    def write(text=GOOD):
        (tmp_path / "my_agents.py").write_text(text)
        return "my_agents.py"

    return write


def test_fields_come_from_the_signature(file):
    file()
    mine = parse_agent("my_agents.py:Mine:steps=3")
    assert (mine.text, mine.name, mine.fields) == ("my_agents.py:Mine:steps=3", "my_agents.py:Mine", {"steps": 3, "bold": False})
    assert parse_agent("my_agents.py:fussy:share=0.5").text == "my_agents.py:fussy"
    fussy = parse_agent("my_agents.py:fussy:share=0.123456789,word=b,free=[1]")
    assert fussy.fields == {"share": 0.123456789, "word": "b", "free": [1]}
    assert fussy.text == "my_agents.py:fussy:share=0.123456789,word=b,free=[1]"
    assert mine.by_user and parse_agent("swap:first=greedy,second=(my_agents.py:Mine:steps=1),round=3").by_user


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nowhere.py:Mine", "agent 'nowhere.py:Mine': cannot read nowhere.py: No such file or directory"),
        ("my_agents.py", "agent 'my_agents.py': which object of the file? Write my_agents.py:Name; there are: "),
        ("my_agents.py:", "agent 'my_agents.py': which object of the file? Write my_agents.py:Name; there are: "),
        ("my_agents.py:Mien", "my_agents.py has no 'Mien' (did you mean Mine?); there are: first, fussy, Mine, Lazy, Short"),
        ("my_agents.py:number", "my_agents.py, line 26: number is no class or function but int"),
        ("my_agents.py:Lazy", "my_agents.py, line 19: Lazy has no method decide(self, view, moves, random)"),
        (
            "my_agents.py:Short",
            "my_agents.py, line 22: Short.decide(self, view, moves, random) is how it is called, but it takes 1",
        ),
        ("my_agents.py:Mine", "agent 'my_agents.py:Mine' needs steps: write my_agents.py:Mine:steps=..."),
        ("my_agents.py:Mine:step=1", "agent 'my_agents.py:Mine' has no field 'step' (did you mean steps?); there are: steps, bold"),
        ("my_agents.py:Mine:steps=x", "agent 'my_agents.py:Mine': steps is 'x', it must be a whole number"),
        ("my_agents.py:Mine:steps=1,bold=3", "agent 'my_agents.py:Mine': bold is '3', it must be true or false"),
        ("my_agents.py:fussy:word=c", "agent 'my_agents.py:fussy': word is 'c'; there are: a, b"),
        ("my_agents.py:first:x=1", "agent 'my_agents.py:first' has no field 'x'; there are: none"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(file, text, message):
    file()
    with pytest.raises(AgentError) as caught:
        parse_agent(text)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def mine(view:\n    pass\n", "my_agents.py, line 1: '(' was never closed"),
        ("import numpy\nx = 1 / 0\n", "my_agents.py, line 2: ZeroDivisionError: division by zero"),
        ("import nowhere_at_all\n", "my_agents.py, line 1: ModuleNotFoundError: No module named 'nowhere_at_all'"),
        ("\nfrom friend import x\n", "my_agents.py, line 2: an agent must stand in one file, but it imports friend from beside it"),
        ("from . import x\n", "my_agents.py, line 1: an agent must stand in one file, but it imports a module from beside it"),
        ("raise SystemExit(3)\n", "my_agents.py, line 1: SystemExit: 3"),
        ("x = 1\0\n", "my_agents.py, line 1: source code string cannot contain null bytes"),
    ],
)
def test_files_that_cannot_be_run(file, tmp_path, source, message):
    file(source)
    (tmp_path / "friend.py").write_text("x = 1\n")
    with pytest.raises(AgentError) as caught:
        parse_agent("my_agents.py:mine")
    assert str(caught.value) == message


def test_a_file_too_deep_to_be_read_is_refused(file):
    file("x = " + "-" * 100_000 + "1\n")
    with pytest.raises(AgentError, match=r"^my_agents\.py.*\w$"):
        parse_agent("my_agents.py:mine")


def test_the_source_is_the_identity_and_all_that_travels(file, tmp_path):
    """A pickled agent plays where its file is not; a changed file is another agent, another folder is not."""
    file()
    agent = parse_agent("my_agents.py:Mine:steps=3")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "my_agents.py").write_text(GOOD)
    assert parse_agent("deep/my_agents.py:Mine:steps=3").identity() == agent.identity()
    board = load_board("mini")
    rules = resolve_rules(board, "warwick", 2)
    games = deals_and_rotations(0, 2, 2)
    here = table_for(board, rules, [agent, parse_agent("greedy")]).play(*games, 1)
    file(GOOD + "# a remark\n")
    assert parse_agent("my_agents.py:Mine:steps=3").identity() != agent.identity()
    (tmp_path / "my_agents.py").unlink()
    there = table_for(board, rules, [pickle.loads(pickle.dumps(agent)), parse_agent("greedy")]).play(*games, 1)
    assert (here[CONTENT] == there[CONTENT]).all()


def test_the_stream_is_that_of_the_jitted_agents():
    stream, me = RandomStream(12345), np.zeros(1, ME)[0]
    me["stream"] = 12345
    for n in (1, 2, 7, 1000, 2**31):
        assert stream.below(n) == pick(me, n)
    assert stream.state == int(me["stream"])
    assert all(0 <= stream.random() < 1 for _ in range(1000))
    items = list(range(50))
    stream.shuffle(items)
    assert sorted(items) == list(range(50)) != items
    assert {stream.choice("abc") for _ in range(100)} == {"a", "b", "c"}
    with pytest.raises(ValueError):
        stream.below(0)
    with pytest.raises(ValueError):
        stream.choice([])


def positions(name, preset, players, deals):
    """Every position of some random games, with the view of the player to move."""
    board = load_board(name)
    rules = resolve_rules(board, preset, players)
    stream = RandomStream(5)
    for deal in range(deals):
        g, state = start_game(board, rules, 3, deal)
        setting, seen = Setting(board, g), new_state()
        while state["phase"] != OVER:
            observe(g, state, int(state["player"]), seen)
            yield g, board, state, View.of(setting, seen), setting.moves(seen)
            codes = np.zeros(4096, np.int64)
            n = legal_codes(g, state, codes)
            apply_code(g, state, int(codes[stream.below(n)]))


def cars_between(board, view, a, b):
    """Fewest cars from one city to the other over own (free) and open routes, by plain relaxation."""
    cars = {a: 0}
    for _ in board.cities:
        for route in view.routes:
            if route.owner != view.me and not route.open:
                continue
            price = 0 if route.owner == view.me else route.length
            ends = board.routes[route.id].a, board.routes[route.id].b
            for start, end in (ends, ends[::-1]):
                passable = start == a or start not in board.terminals
                if start in cars and passable and cars[start] + price < cars.get(end, 10**6):
                    cars[end] = cars[start] + price
    return cars.get(b)


@pytest.mark.parametrize(
    ("name", "preset", "players", "deals"),
    [("yang", "warwick", 2, 4), ("germany", "official", 4, 1), ("new_york:doubles", "official", 3, 2)],
)
def test_the_view_tells_the_truth(name, preset, players, deals):
    """Against the true state, the legal moves and a plain twin, in every position of random games."""
    phases = set()
    for number, (g, board, state, view, moves) in enumerate(positions(name, preset, players, deals)):
        me = int(state["player"])
        phases.add(view.phase)
        assert view.me == me and view.turn == state["turn"] and (view.turns_left or 0) == state["left"]
        assert list(moves) == legal_moves(g, board, state)
        sheet = new_sheet()
        score(g, state, sheet, True)
        assert 2 * view.score == sheet["routes"][me] + sheet["gained"][me] - sheet["lost"][me]
        assert sum(t.completed for t in view.tickets) == sheet["completed"][me]
        total = (
            g.players * 0
            + sum(view.unseen.values())
            + sum(view.hand.values())
            + sum(view.row.values())
            + sum(view.discard.values())
        )
        total += sum(sum(player.known.values()) for player in view.opponents)
        assert total == sum((g.deck >> (7 * c)) & 127 for c in range(9))
        for p, player in enumerate(view.players):
            assert player.cards == sum((int(state["hand"][p]) >> (7 * c)) & 127 for c in range(9))
            assert player.tickets == sum(int(w).bit_count() for w in state["held"][p].view(np.uint64).tolist())
            assert (player.cars, 2 * player.points) == (state["cars"][p], state["points"][p])
        assert [player.seat for player in view.opponents] == [(me + i) % players for i in range(1, players)]
        if view.phase == "turn":
            claimable = {move.route for move in moves if move.kind == "claim"}
            assert claimable == {route.id for route in view.routes if view.can_claim(route)}
        assert {t.id for t in view.offered} == {t for move in moves for t in move.tickets}
        if number % 7 == 0:
            for ticket in view.tickets:
                way, cars = (
                    view.path(ticket.a, ticket.b),
                    cars_between(board, view, *(board.tickets[ticket.id].a, board.tickets[ticket.id].b)),
                )
                assert (way is None) == (cars is None)
                assert way is None or sum(route.length for route in way) == cars
                assert ticket.completed == (way == () and cars == 0)
    assert {"turn", "choose", "choose_initial"} <= phases


def test_a_view_can_neither_be_changed_nor_grow_old():
    walk = positions("mini", "warwick", 2, 1)
    _, board, _, view, moves = next(walk)
    hand, phase = dict(view.hand), str(view.phase)
    for spoil in (
        lambda: setattr(view, "turn", 3),
        lambda: view.hand.__setitem__("red", 9),
        lambda: setattr(view.routes[0], "owner", 1),
        lambda: setattr(moves[0], "code", 1),
    ):
        with pytest.raises((AttributeError, TypeError)):
            spoil()
    later = list(walk)[-1][3]
    assert (dict(view.hand), view.phase) == (hand, phase) and later.turn > view.turn == 0
    with pytest.raises(ValueError, match="the map has no city 'Nowhere'"):
        view.path("Nowhere", board.cities[0].name)
