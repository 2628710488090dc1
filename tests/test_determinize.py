"""Determinizations follow the hypergeometric distribution, and keep what the player knows."""

from collections import Counter
from itertools import combinations
from math import comb, prod

import numpy as np
import pytest
from scipy.stats import chisquare

from tests.naive.search import cards_of, copy_of, members
from tests.test_invariants import assert_pieces_conserved, places
from tests.test_search_against_plain import position
from ttr.actions import apply_code
from ttr.board import load_board
from ttr.moves import legal_moves
from ttr.observation import observe
from ttr.search.determinize import PLAIN, RETURNED_KNOWN, determinize
from ttr.state import CHOOSE, FIRST_CHOICE, new_state

N = 6000


def drawn(g, s, mode=RETURNED_KNOWN, n=N):
    """Determinizations of what the player to move sees."""
    seen = new_state()
    observe(g, s, int(s["player"]), seen)
    for k in range(n):
        world = copy_of(seen)
        determinize(g, world, mode, np.uint64((k + 1) * 0x9E3779B9))
        yield world


def fits(counts, chances):
    """Chi-square against known chances; rare outcomes are taken together."""
    n = sum(counts.values())
    assert set(counts) <= set(chances)
    common = [k for k in chances if chances[k] * n >= 5]
    found = [counts[k] for k in common]
    expected = [chances[k] * n for k in common]
    if n - sum(expected) > 1e-6:
        found.append(n - sum(found))
        expected.append(n - sum(expected))
    return chisquare(found, expected).pvalue


def test_hidden_cards_are_hypergeometric():
    """Few hidden cards are drawn one by one; many as what stays behind."""
    for seed, decisions, few in ((2, 14, 3), (2, 14, 6)):
        g, s = position("mini", "warwick", 2, seed, decisions)
        other = 1 - int(s["player"])
        pool = cards_of(s["deck"] + s["hand"][other])
        known = s["known"][other] = 1 << 7 * pool[-1]
        pool.remove(pool[-1])
        pool = pool[:9]
        s["hand"][other] = known + sum(1 << 7 * c for c in pool[:few])
        s["deck"] = sum(1 << 7 * c for c in pool[few:])
        kinds = [pool.count(c) for c in range(9)]
        hands = {tuple(sorted(hand)) for hand in combinations(pool, few)}
        chances = {h: prod(comb(kinds[c], h.count(c)) for c in range(9)) / comb(len(pool), few) for h in hands}
        counts = Counter()
        for world in drawn(g, s):
            counts[tuple(cards_of(world["hand"][other] - known))] += 1
            assert world["hidden"] == 0 and not world["hidden_cards"].any()
        assert len(chances) > 3 and fits(counts, chances) > 0.001


def ticket_position():
    """A later choice on mini: the player has put tickets back, the opponent holds some, three are shown."""
    board = load_board("mini")
    for seed in range(200):
        g, s = position("mini", "warwick", 2, seed, 10)
        me = int(s["player"])
        move = next((m for m in legal_moves(g, board, s) if m.kind == "tickets"), None)
        if move and members(s["returned"][me]) and s["waiting"] >= 3:
            apply_code(g, s, move.code)
            if members(s["returned"][me]):
                return g, s
    raise AssertionError("no such position")


@pytest.mark.parametrize("mode", [RETURNED_KNOWN, PLAIN])
def test_tickets_are_drawn_evenly(mode):
    g, s = ticket_position()
    me, other = int(s["player"]), 1 - int(s["player"])
    assert s["phase"] == CHOOSE
    shown = s["queue"][places(g, s)[:3]].tolist()
    returned = members(s["returned"][me])
    unseen = [t for t in range(g.tickets) if t not in shown and t not in members(s["held"][me])]
    possible = [t for t in unseen if mode == PLAIN or t not in returned]
    held = len(members(s["held"][other]))
    hands, orders = Counter(), Counter()
    for world in drawn(g, s, mode):
        assert world["queue"][:3].tolist() == shown
        queue = tuple(world["queue"][3 : int(world["waiting"])].tolist())
        hands[tuple(members(world["held"][other]))] += 1
        orders[queue] += 1
        assert sorted([*queue, *members(world["held"][other])]) == unseen
    ways = comb(len(possible), held)
    assert ways > 1
    assert fits(hands, {hand: 1 / ways for hand in combinations(possible, held)}) > 0.001
    if mode == RETURNED_KNOWN:
        assert not any(set(hand) & set(returned) for hand in hands)
    else:
        assert any(set(hand) & set(returned) for hand in hands)
    last = Counter(order[-1] for order in orders.elements())
    if mode == PLAIN:
        assert fits(last, {t: 1 / len(unseen) for t in unseen}) > 0.001


@pytest.mark.parametrize(
    ("name", "preset", "players"),
    [
        ("yang", "warwick", 2),
        ("usa", "official", 5),
        ("europe", "official", 3),
        ("first_journey", "orebro", 4),
        ("germany", "leiden", 5),
    ],
)
def test_every_piece_is_somewhere(name, preset, players):
    """A determinization is a whole state that looks to the player like the one it stands for, with a deck stream of its own."""
    board = load_board(name)
    for seed in range(25):
        g, s = position(name, preset, players, seed, 5 * seed)
        tickets = s["queue"][places(g, s)].tolist() + [t for p in range(players) for t in members(s["held"][p])]
        far = [t for t in tickets if g.tables["far"][t]]
        me = int(s["player"])
        before, after = new_state(), new_state()
        observe(g, s, me, before)
        streams = set()
        for world in drawn(g, s, n=3):
            observe(g, world, me, after)
            assert before.tobytes() == after.tobytes()
            streams.add(int(world["stream"]))
            dealt = world["queue"][places(g, world)].tolist() + [t for p in range(players) for t in members(world["held"][p])]
            if g.far_and_near:
                assert len([t for t in dealt if g.tables["far"][t]]) == len(far)
                assert_pieces_conserved(board, g, world, dealt)
                chosen = [p for p in range(players) if world["phase"] != FIRST_CHOICE or p < me]
                assert all(sum(g.tables["far"][members(world["held"][p])]) == 1 for p in chosen)
            else:
                assert_pieces_conserved(board, g, world, tickets)
        assert len(streams) == 3
