"""The searches find what can be worked out by force or by hand, use what they may see and nothing else, and keep their books."""

from itertools import combinations

import numpy as np
import pytest

from tests.naive.search import copy_of, legal_codes, payoff
from tests.test_invariants import exchange_unknown_cards, exchange_unseen_tickets
from tests.test_search_against_plain import position
from ttr.actions import CLAIM, apply_code, apply_nth, count_actions
from ttr.agents.contract import new_scratch
from ttr.agents.registry import AgentError, parse_agent
from ttr.batch import Table, deals_and_rotations
from ttr.board import load_board
from ttr.moves import decode, encode, legal_moves
from ttr.rules import resolve_rules
from ttr.search.reading import children
from ttr.seats import JittedSeat
from ttr.state import CHOOSE, FIRST_CHOICE, OVER, TURN
from ttr.tables import compile_game


@pytest.fixture(scope="module")
def scratch():
    return new_scratch()


def decide(g, s, text, scratch, word=7):
    """The code that an agent decides on, and its record."""
    seat = JittedSeat(g, parse_agent(text), word, scratch)
    return seat.decide(s), seat.me


def minimax(g, s, me):
    """Value of the true continuation in half points: the player maximises, the others minimise, the cards are as they lie."""
    if s["phase"] == OVER:
        return payoff(g, s, me)
    values = [minimax(g, after(g, s, code), me) for code in legal_codes(g, s)]
    return max(values) if s["player"] == me else min(values)


def after(g, s, code):
    other = copy_of(s)
    apply_code(g, other, code)
    return other


def endings(name, left, wanted, most_actions):
    """Positions with so many turns left and few but several actions, by random play."""
    board = load_board(name)
    g = compile_game(board, resolve_rules(board, "warwick", 2))
    seed = 0
    while wanted:
        seed += 1
        g, s = position(name, "warwick", 2, seed, 0)
        random = np.random.default_rng(seed)
        while s["phase"] != OVER and s["left"] != left:
            n = count_actions(g, s)
            apply_nth(g, s, random.integers(max(n, 1)), n)
        if s["phase"] == TURN and 2 <= count_actions(g, s) <= most_actions:
            wanted -= 1
            yield g, s


@pytest.mark.parametrize(("left", "most_actions", "wanted"), [(1, 40, 8), (2, 9, 8)])
def test_cheating_search_plays_the_minimax_action(left, most_actions, wanted, scratch):
    """Exploration must match the range of payoffs for that: with a small Cp a good reply that begins badly is soon forgotten."""
    for g, s in endings("mini", left, wanted, most_actions):
        me = int(s["player"])
        values = {code: minimax(g, after(g, s, code), me) for code in legal_codes(g, s)}
        code, record = decide(g, s, "cmcts:iterations=200000,cp=10,final_choice=most_visits", scratch)
        assert values[code] == max(values.values())
        assert record["mean"] == pytest.approx(max(values.values()) / 2, abs=1.0)


def last_turn_values(g, s):
    """Expected payoff in points of each action of the last turn, over everything the player cannot see, by enumeration."""
    me, other = int(s["player"]), 1 - int(s["player"])
    returned = [t for t in range(g.tickets) if (int(s["returned"][me][0]) >> t) & 1]
    mine = [t for t in range(g.tickets) if (int(s["held"][me][0]) >> t) & 1]
    held = int(s["held"][other][0]).bit_count()
    unseen = [t for t in range(g.tickets) if t not in mine]
    values: dict[int, list[float]] = {}
    for theirs in combinations([t for t in unseen if t not in returned], held):
        for shown in combinations([t for t in unseen if t not in theirs], min(3, g.tickets - len(mine) - held)):
            world = copy_of(s)
            world["held"][other][0] = sum(1 << t for t in theirs)
            world["queue"][int(s["head"]) :] = 0
            world["head"] = 0
            world["queue"][: len(shown)] = shown
            for code in legal_codes(g, world):
                values.setdefault(code, []).append(minimax(g, after(g, world, code), me) / 2)
    return {code: float(np.mean(found)) for code, found in values.items()}


def test_information_set_search_finds_the_expected_values_of_the_last_turn(scratch):
    """Only chance and its own choice of tickets remain: expectimax."""
    for g, s in endings("yang", 1, 6, 30):
        expected = last_turn_values(g, s)
        code, _ = decide(g, s, "ismcts:iterations=40000", scratch)
        assert expected[code] == pytest.approx(max(expected.values()), abs=1e-9)
        for child in children(scratch["tree"]):
            if child.visits > 2000 and decode(load_board("yang"), child.code).kind != "tickets":
                assert child.mean == pytest.approx(expected[child.code], abs=0.35)
            if child.visits > 2000:
                assert child.mean < expected[child.code] + 0.35


def mini_position(left, hands, owners=None, tickets=None, row=None):
    """A position on the map mini: turns left, cards of both players, owners of the routes, tickets held; player 0 to move."""
    board = load_board("mini")
    g, s = position("mini", "warwick", 2, 3, 2)
    pool = g.deck
    for player, cards in enumerate(hands):
        s["hand"][player] = word = sum(n << (7 * c) for c, n in cards.items())
        pool -= word
        s["held"][player][0] = sum(1 << t for t in (tickets or ((), ()))[player])
    s["row"] = sum(n << (7 * c) for c, n in (row or {0: 2, 1: 2, 2: 1}).items())
    s["deck"], s["left"], s["known"][:] = pool - s["row"], 0, 0
    held = [t for chosen in (tickets or ((), ())) for t in chosen]
    waiting = [t for t in range(g.tickets) if t not in held]
    s["queue"][: len(waiting)], s["head"], s["waiting"] = waiting, 0, len(waiting)
    for route, owner in (owners or {}).items():
        keep = copy_of(s)
        s["player"], s["hand"][owner] = owner, s["hand"][owner] + (4 << (7 * board.routes[route].colour))
        code = next(m.code for m in legal_moves(g, board, s) if m.kind == "claim" and m.route == route and not m.locomotives)
        apply_code(g, s, code)
        for field in ("deck", "discard", "row", "player", "turn", "left", "stream"):
            s[field] = keep[field]
    s["player"], s["phase"], s["left"], s["cars"][:] = 0, TURN, left, 10
    return board, g, s


BOTH = pytest.mark.parametrize("agent", ["cmcts", "ismcts"])


@BOTH
def test_completes_a_ticket_on_the_last_turn(agent, scratch):
    """White or red: both routes bring seven points, one of them the ticket Ashford - Cedarton too."""
    board, g, s = mini_position(1, [{1: 4, 2: 4}, {0: 2}], {0: 0}, [(1, 3), (5, 11)])
    move = decode(board, decide(g, s, f"{agent}:iterations=3000", scratch)[0])
    assert (move.kind, move.route) == ("claim", 1)


def test_blocks_the_route_that_a_ticket_hangs_on(scratch):
    """Route 1 is all the opponent needs for sixteen points and it can pay; routes 1 and 2 bring the same here."""
    board, g, s = mini_position(2, [{1: 4, 2: 4}, {1: 4}], {0: 1}, [(5, 11), (1, 7)])
    move = decode(board, decide(g, s, "cmcts:iterations=5000", scratch)[0])
    assert (move.kind, move.route) == ("claim", 1)


@BOTH
def test_takes_the_last_card_it_needs(agent, scratch):
    """Three red cards in hand, one face up, two turns to come: red is taken and route 2 completes two tickets."""
    board, g, s = mini_position(3, [{2: 3}, {0: 1}], {}, [(5, 11), (0, 6)], {0: 2, 1: 2, 2: 1})
    move = decode(board, decide(g, s, f"{agent}:iterations=20000", scratch)[0])
    assert move.kind == "draw" and "red" in move.cards


@pytest.mark.parametrize("text", ["cmcts", "ismcts", "cmcts_true_posas", "ismcts_true_rosas", "ismcts:exploration=availability"])
@pytest.mark.parametrize("name", ["yang", "usa"])
def test_visits_add_up(text, name, scratch):
    """The root is visited at every iteration; any other node once when it is made, and then with one of its children."""
    agent = f"{text}{',' if ':' in text else ':'}iterations=3000"
    g, s = position(name, "warwick" if name == "yang" else "official", 2, 5, 9)
    _, record = decide(g, s, agent, scratch)
    tree = scratch["tree"]
    assert tree["visits"][0] == record["iterations"] == 3000
    found = children(tree)
    assert sum(c.visits for c in found) == 3000 and sum(c.total for c in found) == tree["total"][0]
    nodes = 1
    while found:
        child = found.pop()
        nodes += 1
        under = children(tree, child.slot)
        assert len({c.code for c in under}) == len(under)
        if under:
            assert child.visits == 1 + sum(c.visits for c in under)
        found += under
    assert nodes == record["nodes"]


def unseen_changed(g, s, random):
    """A state that looks the same to the player to move."""
    other, me = copy_of(s), int(s["player"])
    exchange_unknown_cards(g, other, me, random)
    exchange_unseen_tickets(g, other, me, random)
    other["stream"] = random.integers(2**63)
    return other


GAMES = [
    ("yang", "warwick", 2, 400),
    ("new_york", "official", 3, 100),
    ("usa", "official", 4, 60),
    ("first_journey", "orebro", 3, 60),
]


@pytest.mark.parametrize(("name", "preset", "players", "iterations"), GAMES)
def test_information_set_search_sees_nothing_hidden(name, preset, players, iterations, scratch):
    random = np.random.default_rng(1)
    differ = 0
    for seed in range(12):
        g, s = position(name, preset, players, seed, 4 * seed)
        other = unseen_changed(g, s, random)
        for dda in ("", "_posas", "_true_rosas"):
            (ours, a), (theirs, b) = (decide(g, state, f"ismcts{dda}:iterations={iterations}", scratch) for state in (s, other))
            assert ours == theirs and a.tobytes() == b.tobytes()
        pair = [decide(g, state, f"cmcts:iterations={iterations}", scratch)[1]["mean"] for state in (s, other)]
        differ += pair[0] != pair[1]
    assert differ > 6  # the cheating search does see it


def test_the_cheating_search_beats_the_other():
    board = load_board("yang")
    g = compile_game(board, resolve_rules(board, "warwick", 2))
    table = Table(g, [parse_agent("cmcts:iterations=1000"), parse_agent("ismcts:iterations=1000")])
    rows = table.play(*deals_and_rotations(0, 100, 2), seed=1)
    cheater = rows["rotation"] % 2
    margin = (
        (rows["unfloored"][np.arange(200), cheater] - rows["unfloored"][np.arange(200), 1 - cheater]).reshape(100, 2).mean(axis=1)
    )
    assert margin.mean() > 4 * margin.std(ddof=1) / 10
    assert (rows["winner"] == cheater).sum() > (rows["winner"] == 1 - cheater).sum() + 30


@BOTH
def test_a_full_tree_is_searched_on(agent):
    """Without room no node is added, and the others are visited on."""
    scratch = new_scratch()
    scratch["tree"]["limit"] = 200
    g, s = position("yang", "warwick", 2, 5, 9)
    code, record = decide(g, s, f"{agent}:iterations=5000", scratch)
    assert code in legal_codes(g, s)
    assert record["nodes"] <= scratch["tree"]["slots"] <= 200
    assert record["iterations"] == scratch["tree"]["visits"][0] == sum(c.visits for c in children(scratch["tree"])) == 5000


def test_a_lone_action_is_not_searched(scratch):
    g, s = position("first_journey", "orebro", 2, 1, 0)
    assert s["phase"] == FIRST_CHOICE and count_actions(g, s) == 1
    code, record = decide(g, s, "ismcts", scratch)
    assert code == legal_codes(g, s)[0]
    assert (record["iterations"], record["nodes"], record["visits"]) == (0, 0, 0)


def test_seconds_are_kept(scratch):
    g, s = position("yang", "warwick", 2, 5, 9)
    _, record = decide(g, s, "cmcts:iterations=0,seconds=0.05", scratch)
    assert record["iterations"] >= 64


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("cmcts:seconds=1", "exactly one of iterations, forward_model_calls and seconds must be above 0"),
        ("cmcts:iterations=0", "exactly one of"),
        ("ismcts:iterations=-5", "exactly one of"),
        ("cmcts:iterations=3000000", "at most 2000000"),
        ("cmcts:cp=-1", "cp is -1"),
        ("cmcts:dda=rosa", "did you mean rosas"),
        ("cmcts:exploration=parent", "no field 'exploration'"),
    ],
)
def test_fields_that_make_no_search(text, problem):
    with pytest.raises(AgentError, match=problem):
        parse_agent(text)


@pytest.mark.parametrize("dda", ["none", "rosas", "posas", "true_rosas", "true_posas"])
@pytest.mark.parametrize(("name", "cp"), [("cmcts", 3), ("ismcts", 4)])
def test_configured_agents_are_the_published_ones(name, cp, dda):
    fields = parse_agent(name if dda == "none" else f"{name}_{dda}").fields
    assert fields["dda"] == dda and fields["cp"] == cp
    assert (fields["iterations"], fields["posas_threshold"], fields["momentum"], fields["target"]) == (30000, 5, 0, 0)


def test_drawn_tickets_are_chosen_by_search(scratch):
    """A later ticket choice, of the searcher itself, keeps the tickets that are shown."""
    board = load_board("yang")
    for seed in range(40):
        g, s = position("yang", "warwick", 2, seed, 12)
        if s["phase"] == TURN and s["waiting"] > 2:
            apply_code(g, s, encode(board, next(m for m in legal_moves(g, board, s) if m.kind == "tickets")))
            assert s["phase"] == CHOOSE
            for agent in ("cmcts:iterations=500", "ismcts:iterations=500"):
                code, record = decide(g, s, agent, scratch)
                assert code in legal_codes(g, s) and record["iterations"] == 500
                assert code & 15 != CLAIM
