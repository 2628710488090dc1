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
from ttr.state import PHASES, STATE, new_state
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
FIELDS = STATE.names


def plain(s):
    """A state record as a dict of Python numbers and lists."""
    return {name: value if isinstance(value, int) else value.tolist() for name, value in zip(FIELDS, s.item())}


def card_total(word):
    return sum([(word >> (7 * c)) & 127 for c in range(9)])


def pack(counts):
    """Counts per colour as the engine's card word."""
    return sum([n << (7 * c) for c, n in enumerate(counts)])


def as_set(words):
    """Two signed 64-bit words as one whole number, a set of bits."""
    return (words[0] % 2**64) | (words[1] % 2**64) << 64


def bits(ids):
    return sum([1 << i for i in ids])


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
    ours = plain(s)
    assert PHASES[ours["phase"]] == twin.phase
    if twin.phase != "over":
        assert ours["player"] == twin.player
    assert ours["deck"] == pack(twin.deck)
    assert ours["discard"] == pack(twin.discards)
    assert ours["row"] == pack(twin.row)
    assert ours["left"] == (twin.countdown or 0)
    assert ours["passes"] == twin.passes
    assert ours["turn"] == twin.turns
    assert ours["stream"] == twin.card_stream.word
    for p in range(g.players):
        assert ours["hand"][p] == pack(twin.hands[p])
        assert ours["known"][p] == pack(twin.known[p])
        assert ours["cars"][p] == twin.cars[p]
        assert as_set(ours["own"][p]) == bits(twin.routes[p])
        assert as_set(ours["held"][p]) == bits(twin.tickets[p])
        assert as_set(ours["returned"][p]) == bits(twin.returned[p])
    ring = ours["queue"][: g.tickets]
    tickets = (ring[ours["head"] :] + ring[: ours["head"]])[: ours["waiting"]]
    if twin.phase == "choose_initial":
        dealt = [t for p in range(twin.player, g.players) for t in twin.dealt[p]]
        assert tickets == dealt + list(twin.ticket_deck)
    else:
        assert tickets == list(twin.pending) + list(twin.ticket_deck)


def assert_same_view(g, s, twin, player):
    """What the engine lets a player see is exactly what the rules do."""
    record = new_state()
    observe(g, s, player, record)
    seen, view = plain(record), twin.view(player)
    assert seen["hand"][player] == pack(view["hand"])
    assert as_set(seen["held"][player]) == bits(view["tickets"])
    assert as_set(seen["returned"][player]) == bits(view["returned"])
    assert seen["queue"] == view["pending"] + [0] * (len(seen["queue"]) - len(view["pending"]))
    assert seen["known"][: g.players] == [pack(k) for k in view["known"]]
    assert seen["cars"][: g.players] == view["car_counts"]
    assert [as_set(own) for own in seen["own"][: g.players]] == [bits(routes) for routes in view["routes"]]
    assert (seen["row"], seen["discard"]) == (pack(view["row"]), pack(view["discards"]))
    for p in range(g.players):
        assert card_total(seen["hand"][p]) + seen["hidden_cards"][p] == view["card_counts"][p]
        assert as_set(seen["held"][p]).bit_count() + seen["hidden_tickets"][p] == view["ticket_counts"][p]
        if p != player:
            assert seen["hand"][p] == pack(view["known"][p])
    assert card_total(seen["deck"]) - seen["hidden"] == view["deck_size"]
    if twin.player == player and twin.phase != "over":
        assert count_actions(g, record) == count_actions(g, s)


def assert_same_scores(g, s, twin):
    row = np.zeros(1, RESULT)[0]
    write_result(g, s, new_sheet(), row)
    scores = twin.scores()
    for p, sheet in enumerate(scores):
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
    winners = twin.winners(scores)
    assert row["winner"] == (winners[0] if len(winners) == 1 else -1)
    assert [p for p in range(g.players) if row["rank"][p] == 1] == winners


def play_side_by_side(g, board, rules, seed, deal_number, compare_legal_every):
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


def play_many(board, rules, games, seed, compare_legal_every):
    g = compile_game(board, rules)
    for deal_number in range(games):
        play_side_by_side(g, board, rules, seed, deal_number, compare_legal_every)


@pytest.mark.parametrize(("board", "rules"), GAMES)
def test_engine_equals_reference(board, rules):
    play_many(board, rules, games=20, seed=7, compare_legal_every=7)


@pytest.mark.full
@pytest.mark.parametrize(("board", "rules"), GAMES)
def test_engine_equals_reference_many_games(board, rules):
    play_many(board, rules, games=200, seed=11, compare_legal_every=2)
