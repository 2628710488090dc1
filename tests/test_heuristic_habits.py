"""Each heuristic player has the habit it is named for: watched in whole games on small and large maps, against plain twins."""

from functools import cache

import numpy as np
import pytest
from scipy.stats import chisquare

from tests.naive.base_player import base_move, needs
from tests.naive.paths import best_routes as best_by_trying
from tests.test_invariants import cards_of, copy_of, exchange_unknown_cards, exchange_unseen_tickets, members
from tests.test_path_search import Search
from ttr.actions import apply_code
from ttr.agents.registry import parse_agent
from ttr.batch import Table, deals_and_rotations
from ttr.board import load_board
from ttr.deal import deal
from ttr.game import CONTENT
from ttr.moves import decode, legal_moves
from ttr.rules import resolve_rules
from ttr.seats import JittedSeat
from ttr.state import CHOOSE, FIRST_CHOICE, OVER, SECOND_CARD, TURN, new_state
from ttr.stream import game_stream
from ttr.tables import compile_game

FOLLOWERS = "base random_smart random_base villain hoarder hoarder_ticket pile pile_ticket_hater".split()


class Setting:
    """A map under a preset, and its games watched decision by decision."""

    def __init__(self, name, preset, players=2):
        self.board = load_board(name)
        self.rules = resolve_rules(self.board, preset, players)
        self.game = compile_game(self.board, self.rules)
        self.search = Search(name, preset)
        self.small = len(self.board.cities) < 16

    def watch(self, agents, deals, seed=1):
        """(state, seat, move, legal moves) of every decision."""
        rows, log = Table(self.game, [parse_agent(text) for text in agents]).play_logged(*deals_and_rotations(0, deals, 1), seed)
        for i in range(deals):
            s = new_state()
            deal(self.game, s, np.uint64(game_stream(seed, i)))
            for code in log["code"][log["row"] == i]:
                yield s, int(s["player"]), decode(self.board, int(code))
                apply_code(self.game, s, int(code))
            assert s["phase"] == OVER
        assert len(rows) == deals

    def turns_of(self, agents, deals, seat=0, phases=(TURN,), seed=1):
        """The same, of one seat and these phases."""
        for s, player, move in self.watch(agents, deals, seed):
            if player == seat and s["phase"] in phases:
                yield s, move

    def moves(self, s):
        return legal_moves(self.game, self.board, copy_of(s))

    def usable(self, s, player):
        free = s["free"][player if self.game.personal else 0]
        return members(free) + members(s["own"][player])

    def path(self, s, player):
        """The player's path: by trying everything on a small map."""
        return list(self._path(tuple(sorted(self.usable(s, player))), tuple(members(s["held"][player]))))

    @cache  # noqa: B019  (a few settings live as long as the tests)
    def _path(self, usable, tickets):
        if self.small:
            return tuple(best_by_trying(self.board, self.rules, usable, tickets))
        return tuple(self.search.best(usable, tickets))

    def left(self, s, player):
        """Routes of the path still to be claimed."""
        own = set(members(s["own"][player]))
        return [i for i in self.path(s, player) if i not in own]

    def row(self, s):
        counts = cards_of(s["row"])
        return [c for i, c in enumerate(self.board.colours) for _ in range(counts[i])] + ["locomotive"] * counts[8]

    def base_move(self, s, player):
        return base_move(self.board, self.rules, self.game, copy_of(s), self.path(s, player), self.row(s))

    def enough(self, s, player, share):
        """Whether a hand holds a share of the cards the path needs."""
        need = needs(self.board, self.left(s, player))
        counts = cards_of(s["hand"][player])
        hand = {c: counts[i] for i, c in enumerate(self.board.colours)}
        held = counts[8] + sum(min(n, need.get(c, 0)) for c, n in hand.items())
        spare = sum(max(0, n - need.get(c, 0)) for c, n in hand.items())
        return held + min(spare, need.get("grey", 0)) >= share * sum(need.values())


@cache
def setting(name, preset, players=2):
    return Setting(name, preset, players)


@pytest.mark.parametrize(
    ("name", "preset", "players", "deals"),
    [
        ("yang", "warwick", 2, 60),
        ("mini", "warwick", 2, 20),
        ("new_york", "official", 2, 8),
        ("first_journey", "orebro", 2, 5),
        ("usa", "official", 2, 4),
        ("usa", "official", 4, 2),
        ("germany", "warwick", 2, 2),
    ],
)
def test_base_is_its_plain_twin(name, preset, players, deals):
    """Every turn and second card of base, while it holds at most three tickets on a large map: there the search is exact."""
    at = setting(name, preset, players)
    kinds = set()
    for s, move in at.turns_of(["base", *["random_base"] * (players - 1)], deals, phases=(TURN, SECOND_CARD)):
        if at.small or len(members(s["held"][0])) <= 3:
            assert move == at.base_move(s, 0)
            kinds.add((move.kind, len(set(move.cards) - {"deck"}), bool(move.locomotives), bool(at.left(s, 0))))
    assert len(kinds) >= (4 if name == "first_journey" else 5)


@pytest.mark.parametrize("agent", ["base", "hoarder", "pile"])
def test_followers_of_a_path_complete_most_tickets(agent):
    at = setting("usa", "official")
    rows = Table(at.game, [parse_agent(agent), parse_agent("random")]).play(*deals_and_rotations(0, 60, 1), 3)
    assert rows["completed"][:, 0].sum() > 0.6 * rows["tickets"][:, 0].sum()


def test_base_draws_tickets_with_more_than_fifteen_cars_and_no_path_left():
    at = setting("usa", "official")
    drawn = 0
    for s, move in at.turns_of(["base", "base"], 12):
        done = not at.left(s, 0)
        assert (move.kind == "tickets") == (done and s["cars"][0] > 15 and s["waiting"] > 0)
        drawn += move.kind == "tickets"
    assert drawn > 5
    for _, move in at.turns_of(["base:tickets_above=45", "base"], 3):
        assert move.kind != "tickets"


def test_later_tickets_one_is_kept_first_ones_any_choice():
    at = setting("usa", "official")
    first, later = [], []
    for s, move in at.turns_of(["base", "base"], 60, phases=(FIRST_CHOICE, CHOOSE)):
        (first if s["phase"] == FIRST_CHOICE else later).append(len(move.tickets))
    assert set(later) == {1}
    assert 5 <= first.count(3) <= 26 and set(first) == {2, 3}  # one choice of four keeps all
    kept = [len(m.tickets) for _, m in at.turns_of(["greedy", "base"], 20, phases=(FIRST_CHOICE,))]
    assert set(kept) == {3}
    kept = [len(m.tickets) for _, m in at.turns_of(["base:later_tickets=all,first_tickets=fewest", "base"], 8, phases=(CHOOSE,))]
    assert kept and set(kept) == {3}


@pytest.mark.parametrize(("name", "preset", "deals"), [("yang", "warwick", 60), ("usa", "official", 6)])
@pytest.mark.parametrize("agent", ["pile", "pile_ticket_hater"])
def test_pile_takes_no_face_up_card(agent, name, preset, deals):
    """It draws from the deck alone, claims on its path like base, and without a path draws on while two cards are left."""
    at = setting(name, preset)
    draws = claims = drawn_on = 0
    for s, move in at.turns_of([agent, "base"], deals, phases=(TURN, SECOND_CARD)):
        to_draw = sum(cards_of(s["deck"])) + sum(cards_of(s["discard"]))
        if move.kind == "draw" and to_draw:
            assert set(move.cards) == {"deck"}
            draws += 1
        if s["phase"] == TURN and at.left(s, 0) and (at.small or len(members(s["held"][0])) <= 3):
            expected = at.base_move(s, 0)
            assert (move == expected) if expected.kind == "claim" else (move.kind == "draw" or not to_draw)
            claims += move.kind == "claim"
        elif s["phase"] == TURN and not at.left(s, 0) and to_draw >= 2 and move.kind != "tickets":
            assert move.kind == "draw"
            drawn_on += any(m.kind == "claim" for m in at.moves(s))
    assert draws > 50 and claims > 20 and (drawn_on or agent == "pile")


def test_the_hater_is_pile_where_no_tickets_are_drawn_and_differs_where_they_are():
    rows = {}
    for name, preset, deals in (("yang", "warwick", 500), ("usa", "official", 30)):
        at = setting(name, preset)
        for agent in ("pile", "pile_ticket_hater"):
            rows[name, agent] = Table(at.game, [parse_agent(agent), parse_agent("base")]).play(*deals_and_rotations(0, deals, 2), 5)
    assert np.array_equal(rows["yang", "pile"][CONTENT], rows["yang", "pile_ticket_hater"][CONTENT])
    pile, hater = (rows["usa", agent] for agent in ("pile", "pile_ticket_hater"))
    mine = pile["rotation"] % 2
    assert (pile["tickets"][np.arange(60), mine] > 3).any()
    assert (hater["tickets"][np.arange(60), mine] <= 3).all()


@pytest.mark.parametrize(("name", "preset", "deals"), [("yang", "warwick", 60), ("usa", "official", 5)])
@pytest.mark.parametrize("agent", ["hoarder", "hoarder_ticket"])
def test_hoarder_claims_nothing_before_its_share(agent, name, preset, deals):
    """While hoarding it only draws, although it could claim on its path; with its share it claims as base until it cannot."""
    at = setting(name, preset)
    claiming, held_back, claimed, number = False, 0, 0, -1
    for s, move in at.turns_of([agent, "base"], deals):
        first = s["turn"] < at.game.players
        if first:
            claiming, number = False, number + 1
            if agent == "hoarder_ticket":
                assert move.kind == "tickets"
                continue
            assert move.kind != "tickets"
        if not at.left(s, 0) or not (at.small or len(members(s["held"][0])) <= 3):
            continue
        expected = at.base_move(s, 0)
        to_draw = sum(cards_of(s["deck"])) + sum(cards_of(s["discard"]))
        claiming = claiming or at.enough(s, 0, 0.9)
        if claiming and expected.kind == "claim" and expected.route in at.left(s, 0):
            assert move == expected
            claimed += 1
        else:
            claiming = False
            assert move.kind == "draw" or to_draw == 0
            held_back += expected.kind == "claim" and move.kind == "draw"
    assert number == deals - 1 and held_back > deals and claimed > deals


@pytest.mark.parametrize(("name", "preset", "players", "deals"), [("yang", "warwick", 2, 60), ("usa", "official", 4, 3)])
def test_villain_prefers_routes_that_touch_an_opponent(name, preset, players, deals):
    at = setting(name, preset, players)
    near = otherwise = off_path = 0
    for s, move in at.turns_of(["villain", *["base"] * (players - 1)], deals):
        cities = set()
        for p in range(1, players):
            cities |= {c for i in members(s["own"][p]) for c in (at.board.routes[i].a, at.board.routes[i].b)}
        touching = {
            m.route for m in at.moves(s) if m.kind == "claim" and {at.board.routes[m.route].a, at.board.routes[m.route].b} & cities
        }
        if touching:
            assert move.kind == "claim" and move.route in touching
            near += 1
            off_path += move.route not in at.left(s, 0)
        elif at.small or len(members(s["held"][0])) <= 3:
            assert move == at.base_move(s, 0)
            otherwise += 1
    assert near > 20 and otherwise > 20 and off_path > 10


@pytest.mark.parametrize("agent", ["random_smart", "random_base"])
def test_without_chance_they_are_base(agent):
    at = setting("usa", "official")
    for s, move in at.turns_of([f"{agent}:random_share=0", "greedy"], 4, phases=(TURN, SECOND_CARD)):
        if len(members(s["held"][0])) <= 3:
            assert move == at.base_move(s, 0)


@pytest.mark.parametrize(("name", "preset", "deals"), [("yang", "warwick", 80), ("usa", "official", 4)])
def test_random_smart_keeps_to_its_path(name, preset, deals):
    """By chance it claims any route of its path, paid in any way, or draws any cards; never a route off it while there is one."""
    at = setting(name, preset)
    unlike_base = unneeded = 0
    for s, move in at.turns_of(["random_smart:random_share=1", "base"], deals):
        left = at.left(s, 0)
        claimable = {m.route for m in at.moves(s) if m.kind == "claim"}
        if claimable & set(left):
            assert move.kind == "claim" and move.route in left
            unlike_base += move != at.base_move(s, 0)
        elif any(m.kind == "draw" for m in at.moves(s)):
            assert move.kind == "draw"
            need = needs(at.board, left)
            unneeded += any(c not in ("deck", "locomotive") and c not in need for c in move.cards)
    assert unlike_base > 10 and unneeded > 10


def test_random_base_leaves_half_its_turns_to_chance():
    """Against a twin that knows base's move: a random action is rarely that one; tickets are never drawn."""
    at = setting("yang", "warwick")
    alike = total = 0
    for s, move in at.turns_of(["random_base", "base"], 150):
        assert move.kind != "tickets"
        total += 1
        alike += move == at.base_move(s, 0)
    assert 0.5 < alike / total < 0.65
    smart = [move == at.base_move(s, 0) for s, move in at.turns_of(["random_smart", "base"], 150)]
    assert alike / total < np.mean(smart) < 0.9  # a random move on the path is more often base's


def decisions(at, agent, s, number):
    """Many decisions of an agent in one state, each with another stream."""
    return [decode(at.board, JittedSeat(at.game, parse_agent(agent), np.uint64(7919 * i + 1)).decide(s)) for i in range(number)]


def a_turn(at, seed, wanted):
    """A state at the start of a turn, from a game of random players, that has what is wanted."""
    for s, _ in at.turns_of(["random", "random"], 40, seed=seed):
        if wanted(at.moves(s)):
            return copy_of(s)
    raise AssertionError("no such turn")


@pytest.mark.parametrize(("agent", "with_tickets"), [("random", True), ("random_base:random_share=1", False)])
def test_random_actions_are_uniform(agent, with_tickets):
    """Every legal action is as likely; drawing tickets belongs to random's list, not to random_base's."""
    at = setting("yang", "warwick")
    s = a_turn(at, 3, lambda moves: len({m.kind for m in moves}) == 3 and 12 <= len(moves) <= 30)
    legal = [m for m in at.moves(s) if with_tickets or m.kind != "tickets"]
    taken = decisions(at, agent, s, 60 * len(legal))
    assert set(taken) <= set(legal)
    assert chisquare([taken.count(m) for m in legal]).pvalue > 0.001


def test_greedy_claims_any_route_whenever_it_can():
    """Each claimable route is as likely, however many ways there are to pay for it; else it draws from the deck."""
    for name, preset, deals in (("yang", "warwick", 40), ("usa", "official", 3)):
        at = setting(name, preset)
        for s, move in at.turns_of(["greedy", "base"], deals, phases=(TURN, SECOND_CARD)):
            if any(m.kind == "claim" for m in at.moves(s)):
                assert move.kind == "claim"
            elif sum(cards_of(s["deck"])) + sum(cards_of(s["discard"])):
                assert set(move.cards) == {"deck"}
    at = setting("yang", "warwick")
    s = a_turn(at, 4, lambda moves: len({m.route for m in moves if m.kind == "claim"}) >= 4)
    routes = sorted({m.route for m in at.moves(s) if m.kind == "claim"})
    taken = [m.route for m in decisions(at, "greedy", s, 100 * len(routes))]
    assert chisquare([taken.count(r) for r in routes]).pvalue > 0.001


def test_swap_plays_the_first_agent_and_then_the_second():
    at = setting("yang", "warwick")
    swapped = at.turns_of(["swap:first=pile,second=greedy,round=4", "base"], 40)
    late = 0
    for s, move in swapped:
        if s["turn"] < 6:
            assert move.kind != "draw" or set(move.cards) == {"deck"}
            assert move.kind != "claim" or move.route in at.path(s, 0)
        elif any(m.kind == "claim" for m in at.moves(s)):
            assert move.kind == "claim"
            late += 1
    assert late > 40


@pytest.mark.parametrize("agent", ["random", "greedy", *FOLLOWERS])
def test_hidden_things_change_no_decision(agent):
    """Opponents' unknown cards and tickets, the deck and its stream exchanged: the same stream gives the same move."""
    random = np.random.default_rng(1)
    for name, preset, players, step in (("yang", "warwick", 2, 3), ("usa", "official", 3, 29)):
        at = setting(name, preset, players)
        for number, (s, player, _) in enumerate(at.watch(["base", "hoarder", "greedy"][:players], 2)):
            if number % step:
                continue
            other = copy_of(s)
            exchange_unknown_cards(at.game, other, player, random)
            exchange_unseen_tickets(at.game, other, player, random)
            other["stream"] = random.integers(2**63)
            one, two = (JittedSeat(at.game, parse_agent(agent), np.uint64(number)).decide(state) for state in (s, other))
            assert one == two
