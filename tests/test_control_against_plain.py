"""Control search and its plain twin: the same two sums in every node, the same belief about opponents, the same move."""

import numpy as np
import pytest

from tests.naive.control import BasePlayer, PlainControl, belief, likely_moves, views_of
from tests.naive.reference import Stream
from tests.naive.search import as_words
from tests.naive.ticket_belief import PlainHands
from tests.test_search_against_plain import dump, position
from ttr.actions import apply_code, count_actions
from ttr.agents.contract import GRID, ME, new_scratch
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


def compare(g, s, text, word, scratch, believed=None, before=None):
    """Both searches of one decision, with beliefs by seat, or all those of the record `before`; returns the number of nodes."""
    agent, hidden = parse_agent(text), text.startswith("ismcts")
    seat, seen = JittedSeat(g, agent, word, scratch), new_state()
    for name in ("belief", "tickets", "hands") if before is not None else ():
        seat.me[name] = before[name]
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
    start = np.zeros(1, ME)[0] if before is None else before
    hands = PlainHands.of(g, int(s["player"]), start) if fields.get("tickets") == "believed" else None
    plain = PlainControl(g, fields, stream.word, hidden, eps, sign * round(2 * fields["target"]), hands)
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
        ("tickets=plain", {}),
        ("tickets=returned_known", {}),
    ],
)
def test_every_choice_on_yang(agent, fields, believed, scratch):
    nodes = 0
    if agent == "cmcts_control" and "tickets" in fields:
        pytest.skip("it knows the tickets")
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


@pytest.mark.parametrize("watcher", ["cmcts_control", "ismcts_control", "ismcts_control:tickets=plain"])
@pytest.mark.parametrize("opponents", [["base"], ["random"], ["random_smart", "greedy"]])
def test_beliefs_are_bayes_rule_over_the_moves_seen(watcher, opponents, scratch):
    """The posterior on randomness and the hands of tickets after every move of a game are those counted out plainly."""
    players = 1 + len(opponents)
    name, preset = ("yang", "warwick") if players == 2 else ("usa", "official")
    g = compile_game(load_board(name), resolve_rules(load_board(name), preset, players))
    base, seen, moves = BasePlayer(g), new_state(), {p: [] for p in range(1, players)}
    weighs = watcher == "ismcts_control"

    def look(s, p, code, seats):
        if p == 0 or len(moves[p]) >= 12:
            return
        told = likely_moves(g, s, code, base)
        views = [told] if told else []
        hands = PlainHands.of(g, 0, seats[0].me, "plain" in watcher)
        if watcher != "cmcts_control" and told:
            observe(g, s, 0, seen)
            eps = float(np.dot(before[p], np.arange(6) / 5)) if moves[p] else 0.5
            views = views_of(g, seen, code, int(seats[0].stream), hands, base, eps if weighs else None)
        if views:
            moves[p].append(views)
            expected = [float(w) for w in belief(moves[p])]
            me, mine = seats[0].me, seats[0].me.copy()
            seats[0].watch(s, 0, code)
            assert np.allclose(me["belief"][p], expected, rtol=1e-12)
            if weighs:
                assert [(h["low"], h["high"]) for h in me["hands"][p]] == [tuple(as_words(hand)) for hand, _ in hands.hands[p]]
                assert np.allclose(me["hands"][p]["weight"], [weight for _, weight in hands.hands[p]], rtol=1e-9)
            for name in me.dtype.names:
                me[name] = mine[name]  # game_of lets it watch the move again
            before[p] = expected

    before = {p: np.zeros(GRID) for p in moves}
    seats = game_of(g, [f"{watcher}{',' if ':' in watcher else ':'}iterations=20", *opponents], 5, scratch, look)
    assert all(len(seen_moves) >= 5 for seen_moves in moves.values())
    assert int(seats[0].me["watched"]) == -1


@pytest.mark.parametrize(("name", "preset", "opponents"), [("yang", "warwick", ["hoarder_ticket"]), ("europe", "orebro", ["base"])])
def test_searches_from_what_was_learnt(name, preset, opponents, scratch):
    """In mid-game, with hands of tickets weighed by many moves and made longer by tickets drawn, both searches are the same."""
    g = compile_game(load_board(name), resolve_rules(load_board(name), preset, 1 + len(opponents)))
    searched, drawn = [], []

    def look(s, p, code, seats):
        before = records[-1] if records else None
        if p == 0 and before is not None and before["tickets"][1] and len(searched) < 6 and int(s["turn"]) % 4 == 0:
            drawn.append(int(s["turn"]))
            believed = before["belief"][1]
            eps = {1: believed} if believed.any() else {}
            searched.append(compare(g, s, "ismcts_control:iterations=40", 5 + len(searched), scratch, eps, before))
        records.append(seats[0].me.copy())

    records = []
    game_of(g, ["ismcts_control:iterations=10", *opponents], 3, scratch, look)
    assert len(searched) >= 3 and sum(searched) > 60


def test_opponents_tickets_are_found_out(scratch):
    """Towards the end of a game the base player's very hand has much more weight than a hand dealt by chance."""
    g = compile_game(load_board("yang"), resolve_rules(load_board("yang"), "warwick", 2))
    weights, chances = [], []

    def look(s, p, code, seats):
        hands, held = seats[0].me["hands"][1], s["held"][1]
        if seats[0].me["tickets"][1] and int(s["turn"]) >= 16 and p == 0:
            weights.append(sum(float(h["weight"]) for h in hands if (h["low"], h["high"]) == tuple(held)))
            chances.append(1 / len({(int(h["low"]), int(h["high"])) for h in hands}))

    for seed in range(12):
        game_of(g, ["ismcts_control:iterations=20", "base"], seed, scratch, look)
    assert len(weights) >= 10 and np.mean(weights) > 4 * np.mean(chances)


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
