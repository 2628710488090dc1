"""The jitted engine and the plain Python rules, played side by side on the same streams, must agree after every move."""

import numpy as np
import pytest

from tests.naive import reference
from ttr.actions import apply_code, apply_nth, count_actions, index_of, nth_code
from ttr.board import load_board, map_names, variant_names
from ttr.deal import deal
from ttr.game import RESULT, write_result
from ttr.moves import decode, encode
from ttr.observation import observe
from ttr.rules import RulesError, preset_names, resolve_rules
from ttr.score import new_sheet
from ttr.state import PHASES, new_state
from ttr.stream import game_stream
from ttr.tables import compile_game

MAPS = [*map_names(), *(f"{name}:{variant}" for name in map_names() for variant in variant_names(name))]


def fitting_games():
    """Every map, preset and number of players whose deal fits."""
    for name in MAPS:
        board = load_board(name)
        for preset in preset_names():
            for players in range(2, 6):
                try:
                    yield board, resolve_rules(board, preset, players)
                except RulesError:
                    continue


GAMES = [pytest.param(b, r, id=f"{b.name}-{r.preset}-{r.players}p") for b, r in fitting_games()]


def unpack(cards):
    return [(int(cards) >> (7 * i)) & 127 for i in range(9)]


def members(words):
    return {64 * w + i for w in range(2) for i in range(64) if (int(words[w]) >> i) & 1}


def queue(g, s):
    return [int(s["queue"][(int(s["head"]) + i) % g.tickets]) for i in range(int(s["waiting"]))]


def as_reference_action(board, move):
    slots = {name: i for i, name in enumerate(board.colours)} | {"locomotive": 8, "deck": 9}
    if move.kind == "draw":
        cards = sorted(slots[c] for c in move.cards)
        return ("draw", cards[0], cards[1] if len(cards) > 1 else None)
    if move.kind == "claim":
        return ("claim", move.route, slots[move.colour], move.locomotives)
    if move.kind == "keep":
        return ("keep", tuple(move.tickets))
    return (move.kind,)


def assert_same_state(g, s, twin):
    assert PHASES[s["phase"]] == twin.phase
    if twin.phase != "over":
        assert s["player"] == twin.player
    for name, cards in (("deck", twin.deck), ("discard", twin.discards), ("row", twin.row)):
        assert unpack(s[name]) == list(cards), name
    assert int(s["left"]) == (twin.countdown or 0)
    assert s["passes"] == twin.passes
    assert s["turn"] == twin.turns
    for p in range(g.players):
        assert unpack(s["hand"][p]) == list(twin.hands[p])
        assert unpack(s["known"][p]) == list(twin.known[p])
        assert s["cars"][p] == twin.cars[p]
        assert members(s["own"][p]) == set(twin.routes[p])
        assert members(s["held"][p]) == set(twin.tickets[p])
        assert members(s["returned"][p]) == set(twin.returned[p])
    tickets = queue(g, s)
    if twin.phase == "choose_initial":
        dealt = [t for p in range(twin.player, g.players) for t in twin.dealt[p]]
        assert tickets == dealt + list(twin.ticket_deck)
    else:
        assert tickets == list(twin.pending) + list(twin.ticket_deck)


def assert_same_view(g, s, twin, player):
    """What the engine lets a player see is exactly what the rules do."""
    seen = new_state()
    observe(g, s, player, seen)
    view = twin.view(player)
    assert unpack(seen["hand"][player]) == list(view["hand"])
    assert members(seen["held"][player]) == set(view["tickets"])
    assert members(seen["returned"][player]) == set(view["returned"])
    shown = [int(t) for t in seen["queue"][: len(view["pending"] or [])]]
    assert shown == list(view["pending"] or [])
    assert not seen["queue"][len(shown) :].any()
    assert [unpack(k) for k in seen["known"][: g.players]] == [list(k) for k in view["known"]]
    for p in range(g.players):
        cards = sum(unpack(seen["hand"][p])) + int(seen["hidden_cards"][p])
        assert cards == view["card_counts"][p]
        held = len(members(seen["held"][p])) + int(seen["hidden_tickets"][p])
        assert held == view["ticket_counts"][p]
        if p != player:
            assert unpack(seen["hand"][p]) == list(view["known"][p])
    assert sum(unpack(seen["deck"])) - int(seen["hidden"]) == view["deck_size"]
    if s["player"] == player and twin.phase != "over":
        assert count_actions(g, seen) == count_actions(g, s)


def assert_same_scores(g, s, twin):
    row = np.zeros(1, RESULT)[0]
    write_result(g, s, new_sheet(), row)
    for p, sheet in enumerate(twin.scores()):
        for ours, theirs in (
            ("score", "shown"),
            ("unfloored", "total"),
            ("routes", "route_points"),
            ("gained", "tickets_gained"),
            ("lost", "tickets_lost"),
            ("ticket_bonus", "ticket_bonus"),
            ("longest_bonus", "longest_bonus"),
            ("most_tickets_bonus", "most_tickets_bonus"),
        ):
            assert row[ours][p] / 2 == sheet[theirs], (ours, p)
        assert row["longest"][p] == sheet["longest"]
        assert row["completed"][p] == sheet["completed"]
    winners = twin.winners()
    assert row["winner"] == (winners[0] if len(winners) == 1 else -1)
    assert [p for p in range(g.players) if row["rank"][p] == 1] == winners


def play_side_by_side(board, rules, seed, deal_number, compare_legal_every):
    g = compile_game(board, rules)
    s = new_state()
    deal(g, s, np.uint64(game_stream(seed, deal_number)))
    twin = reference.Game(board, rules, seed, deal_number)
    chooser = reference.Stream(reference.fold(99, seed, deal_number))
    decisions = 0
    assert_same_state(g, s, twin)
    while twin.phase != "over":
        n = count_actions(g, s)
        k = chooser.below(max(n, 1))
        code = int(nth_code(g, s, k, n))
        move = decode(board, code)
        assert encode(board, move) == code
        if decisions % compare_legal_every == 0:
            codes = [int(nth_code(g, s, i, n)) for i in range(n)] or [0]
            legal = [as_reference_action(board, decode(board, c)) for c in codes]
            assert len(set(legal)) == len(legal)
            assert set(legal) == set(twin.legal())
            assert index_of(g, s, code) == k
            assert_same_view(g, s, twin, decisions % g.players)
            assert_same_view(g, s, twin, int(s["player"]))
        if decisions % 2:
            apply_nth(g, s, k, n)
        else:
            apply_code(g, s, code)
        twin.apply(as_reference_action(board, move))
        assert_same_state(g, s, twin)
        decisions += 1
        assert decisions < 5000
    assert_same_scores(g, s, twin)


@pytest.mark.parametrize(("board", "rules"), GAMES)
def test_engine_equals_reference(board, rules):
    for deal_number in range(20):
        play_side_by_side(board, rules, seed=7, deal_number=deal_number, compare_legal_every=7)


@pytest.mark.full
@pytest.mark.parametrize(("board", "rules"), GAMES)
def test_engine_equals_reference_many_games(board, rules):
    for deal_number in range(200):
        play_side_by_side(board, rules, seed=11, deal_number=deal_number, compare_legal_every=2)
