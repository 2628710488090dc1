"""Control search and its plain twin: the same two sums in every node, the same belief about opponents, the same move."""

import numpy as np
import pytest

from tests.naive.control import BasePlayer, PlainControl, belief, likely_moves, views_of
from tests.naive.reference import Stream
from tests.test_search_against_plain import dump, position
from ttr.actions import apply_code, count_actions
from ttr.agents.contract import GRID, new_scratch
from ttr.agents.registry import AgentError, parse_agent
from ttr.batch import Table, deals_and_rotations
from ttr.board import load_board
from ttr.deal import deal
from ttr.game import CONTENT
from ttr.observation import observe
from ttr.python_table import PythonTable
from ttr.rules import resolve_rules
from ttr.search.opponent_model import believed_randomness
from ttr.seats import JittedSeat
from ttr.state import OVER, new_state
from ttr.stream import game_stream
from ttr.tables import compile_game


@pytest.fixture(scope="module")
def scratch():
    return new_scratch()


def compare(g, s, text, word, scratch, believed=None):
    """Both searches of one decision, with beliefs by seat if any; returns how many nodes they have."""
    agent, hidden = parse_agent(text), text.startswith("ismcts")
    seat, seen = JittedSeat(g, agent, word, scratch), new_state()
    for p, weights in (believed or {}).items():
        seat.me["belief"][p] = weights
    observe(g, s, int(s["player"]), seen)
    code = seat.decide(s)
    if count_actions(g, s) <= 1:
        return 0
    fields, stream = agent.fields, Stream(word)
    sign = 1 - 2 * stream.below(2) if fields["coin"] else 1
    eps = [
        float(np.dot((believed or {}).get(p, [1 / 6] * 6), np.arange(6) / 5)) if fields["estimate"] else fields["randomness"]
        for p in range(g.players)
    ]
    plain = PlainControl(g, fields, stream.word, hidden, eps, sign * round(2 * fields["target"]))
    assert plain.run(seen if hidden else s) == code
    assert dump(scratch["tree"]) == plain.root.dump()
    assert plain.root.even < 0
    assert int(seat.me["stream"]) == plain.stream.word
    return int(seat.me["nodes"])


YANG = ("yang", "warwick", 2)
SHARP = [0.5, 0.25, 0.25, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("agent", ["cmcts_control", "ismcts_control"])
@pytest.mark.parametrize(
    ("fields", "believed"),
    [
        ("", {}),
        ("target=0,coin=false", {0: SHARP, 1: SHARP}),
        ("target=1.5", {0: [1, 0, 0, 0, 0, 0], 1: [1, 0, 0, 0, 0, 0]}),
        ("estimate=false,randomness=0", {}),
        ("estimate=false,randomness=1,cp=1", {}),
        ("estimate=false,randomness=0.25,target=-3,coin=false", {0: SHARP, 1: SHARP}),
    ],
)
def test_every_choice_on_yang(agent, fields, believed, scratch):
    nodes = 0
    for seed, decisions in ((1, 0), (2, 4), (3, 12), (4, 25)):
        text = f"{agent}:iterations=120,{fields}".rstrip(",")
        nodes += compare(*position(*YANG, seed, decisions), text, 1000 + seed, scratch, believed)
    assert nodes > 240


@pytest.mark.parametrize("agent", ["cmcts_control", "ismcts_control"])
@pytest.mark.parametrize(
    ("name", "preset", "players"),
    [("new_york", "official", 4), ("usa", "gatech", 3), ("europe", "official", 5), ("germany", "leiden_linear", 2)],
)
def test_maps_rules_and_players(agent, name, preset, players, scratch):
    fields = ",exploration=availability" if agent == "ismcts_control" else ""
    believed = {p: np.eye(GRID)[p] for p in range(players)}  # a different one of each
    nodes = 0
    for seed, decisions in enumerate((0, 9, 60)):
        where = position(name, preset, players, seed, decisions)
        nodes += compare(*where, f"{agent}:iterations=25{fields}", seed, scratch, believed)
    assert nodes > 40


def game_of(g, agents, seed, scratch, look):
    """Play a game seat by seat; `look(s, p, code)` is told of every move before it is done."""
    s = new_state()
    deal(g, s, np.uint64(game_stream(seed, 0)))
    seats = [JittedSeat(g, parse_agent(text), 77 + p, scratch) for p, text in enumerate(agents)]
    while s["phase"] != OVER:
        p = int(s["player"])
        code = seats[p].decide(s)
        look(s, p, code, seats)
        for q, other in enumerate(seats):
            if q != p:
                other.watch(s, q, code)
        apply_code(g, s, code)
    return seats


@pytest.mark.parametrize("watcher", ["cmcts_control", "ismcts_control"])
@pytest.mark.parametrize("opponents", [["base"], ["random"], ["random_smart", "greedy"]])
def test_beliefs_are_bayes_rule_over_the_moves_seen(watcher, opponents, scratch):
    """The posterior after every move of a game is the one counted out in fractions."""
    players = 1 + len(opponents)
    name, preset = ("yang", "warwick") if players == 2 else ("usa", "official")
    g = compile_game(load_board(name), resolve_rules(load_board(name), preset, players))
    base, seen, moves = BasePlayer(g), new_state(), {p: [] for p in range(1, players)}

    def look(s, p, code, seats):
        if p == 0 or len(moves[p]) >= 12:
            return
        if watcher == "cmcts_control":
            view = likely_moves(g, s, code, base)
            views = [view] if view else []
        else:
            observe(g, s, 0, seen)
            word = int(seats[0].stream)
            views = views_of(g, seen, code, 0, word, False, base) if likely_moves(g, s, code, base) else []
        if views:
            moves[p].append(views)
            expected[p] = [float(w) for w in belief(moves[p])]
            seats[0].watch(s, 0, code)
            assert np.allclose(seats[0].me["belief"][p], expected[p], rtol=1e-12)
            seats[0].me["belief"][p] = before[p]  # game_of lets it watch the move again
            before[p] = expected[p]

    expected, before = {}, {p: np.zeros(GRID) for p in moves}
    seats = game_of(g, [f"{watcher}:iterations=20", *opponents], 5, scratch, look)
    assert all(len(seen_moves) >= 5 for seen_moves in moves.values())
    assert int(seats[0].me["watched"]) == -1


def test_players_are_told_apart(scratch):
    """The cheating watcher takes base for one without randomness and a random player for a random one."""
    g = compile_game(load_board("yang"), resolve_rules(load_board("yang"), "warwick", 2))
    for opponent, low, high in (("base", 0.0, 0.1), ("random", 0.7, 1.0)):
        ends = [game_of(g, ["cmcts_control:iterations=20", opponent], seed, scratch, lambda *_: None) for seed in range(8)]
        assert low <= np.mean([believed_randomness(seats[0].me, 1) for seats in ends]) <= high


def test_a_watcher_that_does_not_cheat_is_not_told_the_tickets(scratch):
    """Whatever tickets an opponent keeps, the information-set watcher's record is the same."""
    g, s = position(*YANG, 3, 1)
    assert s["player"] == 1
    records = set()
    for code in (2, 2 | 5 << 4, 2 | 7 << 4 | 9 << 11):
        seat = JittedSeat(g, parse_agent("ismcts_control:iterations=20"), 5, scratch)
        seat.watch(s, 0, code)
        records.add(seat.me.tobytes())
    assert len(records) == 1


def test_the_hidden_cards_and_tickets_do_not_reach_the_information_set_watcher(scratch):
    """Two states that look the same to it leave the same belief."""
    g, s = position(*YANG, 8, 5)
    watcher = 1 - int(s["player"])
    one, other = new_state(), new_state()
    observe(g, s, watcher, one)
    changed = s.copy()
    mover = int(s["player"])
    unused = [t for t in range(g.tickets) if not (int(s["held"][0][0]) | int(s["held"][1][0])) >> t & 1]
    held = int(s["held"][mover][0])
    changed["held"][mover][0] = (held & (held - 1)) | 1 << unused[0]
    observe(g, changed, watcher, other)
    assert one.tobytes() == other.tobytes() and changed["held"][mover][0] != held
    beliefs = []
    for state in (s, changed):
        seat = JittedSeat(g, parse_agent("ismcts_control:iterations=20"), 5, scratch)
        seat.watch(state, watcher, 3 | 10 << 4 | 10 << 8)
        beliefs.append(seat.me["belief"].tolist())
    assert beliefs[0] == beliefs[1] != np.zeros((5, GRID)).tolist()


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("yang", ["cmcts_control:iterations=40", "ismcts_control:iterations=40"]),
        ("yang", ["swap:first=(ismcts_control:iterations=20),second=(cmcts_control:iterations=20),round=4", "random_smart"]),
        ("new_york", ["cmcts_control:iterations=20", "greedy", "ismcts_control:iterations=20"]),
    ],
)
def test_both_loops_show_the_same_moves(name, texts):
    board = load_board(name)
    g = compile_game(board, resolve_rules(board, "warwick", len(texts)))
    agents, games = [parse_agent(text) for text in texts], deals_and_rotations(3, 3, len(texts))
    fast, fast_log = Table(g, agents).play_logged(*games, 7)
    slow, slow_log = PythonTable(g, board, agents).play_logged(*games, 7)
    assert (fast[CONTENT] == slow[CONTENT]).all()
    told = [field for field in fast_log.dtype.names if field != "ticks"]
    assert (fast_log[told] == slow_log[told]).all()


def test_the_coin_falls_both_ways_and_once_a_game(scratch):
    g, s = position(*YANG, 1, 0)
    signs = []
    for word in range(40):
        seat = JittedSeat(g, parse_agent("cmcts_control:iterations=2"), word, scratch)
        seat.decide(s)
        sign = int(seat.me["memory"][5])
        seat.decide(s)
        assert seat.me["memory"][5] == sign
        signs.append(sign)
    assert set(signs) == {-1, 1} and 10 < signs.count(1) < 30


def test_the_model_is_part_of_the_identity():
    """Another base player is another opponent model: results of the two are not mixed."""
    agent = parse_agent("cmcts_control")
    assert agent.identity()["model"] == parse_agent("base").identity()
    assert "model" not in parse_agent("cmcts").identity()
    from ttr.adapter import agent_from

    changed = agent.identity() | {"model": parse_agent("base:grey_cost=3").identity()}
    assert agent_from(changed).identity() == changed
    assert agent_from(agent.identity()) == agent


@pytest.mark.parametrize("text", ["cmcts_control:randomness=1.5", "cmcts_control:target=300", "cmcts_control:dda=rosas"])
def test_refused_fields(text):
    with pytest.raises(AgentError):
        parse_agent(text)
