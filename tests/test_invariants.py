"""What must hold in every game, whatever is played: pieces are conserved, actions are countable, secrets stay secret."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ttr.actions import PASS, apply_code, apply_nth, count_actions, index_of, nth_code
from ttr.board import load_board, map_names, variant_names
from ttr.deal import deal
from ttr.moves import decode, encode
from ttr.observation import observe
from ttr.rules import RulesError, preset_names, resolve_rules
from ttr.state import CHOOSE, FIRST_CHOICE, OVER, STATE, TURN, new_state
from ttr.stream import game_stream
from ttr.tables import compile_game

MAPS = [*map_names(), *(f"{name}:{variant}" for name in map_names() for variant in variant_names(name))]
MOST_DECISIONS = 5000


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


GAMES = list(fitting_games())
games = st.integers(0, len(GAMES) - 1)
seeds = st.integers(0, 2**32 - 1)


def dealt(game, seed):
    board, rules = GAMES[game]
    g = compile_game(board, rules)
    s = new_state()
    deal(g, s, np.uint64(game_stream(seed, 0)))
    return board, g, s


def copy_of(s):
    return np.frombuffer(bytearray(s.tobytes()), STATE)[0]


def cards_of(word):
    return [(int(word) >> (7 * c)) & 127 for c in range(9)]


def members(words):
    whole = (int(words[0]) % 2**64) | (int(words[1]) % 2**64) << 64
    return [i for i in range(128) if (whole >> i) & 1]


def as_words(ids):
    whole = sum(1 << i for i in ids)
    return np.array([whole % 2**64, whole >> 64], np.uint64).view(np.int64)


def places(g, s):
    """Places of the waiting tickets in the ring, from the top of the ticket deck."""
    return [(int(s["head"]) + i) % g.tickets for i in range(int(s["waiting"]))]


def play_on(g, s, random, decisions):
    """Random play for so many decisions, or to the last one before the end."""
    for _ in range(decisions):
        n = count_actions(g, s)
        before = copy_of(s)
        apply_nth(g, s, random.integers(max(n, 1)), n)
        if s["phase"] == OVER:
            return before
    return s


def assert_pieces_conserved(board, g, s, tickets_in_play):
    piles = [s["deck"], s["discard"], s["row"], *s["hand"][: g.players]]
    assert np.sum([cards_of(pile) for pile in piles], axis=0).tolist() == cards_of(g.deck)
    claimed, held = [], []
    for p in range(g.players):
        routes = members(s["own"][p])
        assert g.cars - s["cars"][p] == sum(board.routes[r].length for r in routes)
        assert s["cars"][p] >= 0
        assert all(k <= h for k, h in zip(cards_of(s["known"][p]), cards_of(s["hand"][p])))
        claimed += routes
        held += members(s["held"][p])
    assert len(set(claimed)) == len(claimed)
    tickets = held + s["queue"][places(g, s)].tolist()
    assert Counter(tickets) == Counter(tickets_in_play)


def assert_actions_countable(board, g, s, k, n):
    """Every counted action is one legal action, and all of them differ."""
    codes = [int(nth_code(g, s, i, n)) for i in range(n)]
    assert len(set(codes)) == n
    for i, code in enumerate(codes):
        assert index_of(g, s, code) == i
        assert encode(board, decode(board, code)) == code
    by_index, by_code = copy_of(s), copy_of(s)
    apply_nth(g, by_index, k, n)
    apply_code(g, by_code, codes[k] if n else PASS)
    assert by_index.tobytes() == by_code.tobytes()


@settings(deadline=None, derandomize=True, max_examples=60)
@given(games, seeds)
def test_whole_games_keep_the_rules(game, seed):
    board, g, s = dealt(game, seed)
    random = np.random.default_rng(seed)
    tickets = s["queue"][places(g, s)].tolist()
    assert len(set(tickets)) == len(tickets)
    decisions = 0
    while s["phase"] != OVER:
        assert_pieces_conserved(board, g, s, tickets)
        n = count_actions(g, s)
        assert n > 0 or s["phase"] == TURN  # only a turn may be passed
        if n == 0:
            assert int(nth_code(g, s, 0, 0)) == PASS
            assert index_of(g, s, PASS) == 0
        else:
            assert index_of(g, s, PASS) == -1
        k = int(random.integers(max(n, 1)))
        if decisions % 5 == 0 or n == 0:
            assert_actions_countable(board, g, s, k, n)
        apply_nth(g, s, k, n)
        decisions += 1
        assert decisions < MOST_DECISIONS
    assert_pieces_conserved(board, g, s, tickets)


def seen_by(g, s, player):
    seen = new_state()
    observe(g, s, player, seen)
    return seen.tobytes()


def exchange_unknown_cards(g, s, player, random):
    """Opponents' unknown cards and the deck are dealt out anew; everyone keeps as many as before."""
    others = [p for p in range(g.players) if p != player]
    unknown = {p: int(s["hand"][p] - s["known"][p]) for p in others}
    pool = [c for word in [int(s["deck"]), *unknown.values()] for c, n in enumerate(cards_of(word)) for _ in range(n)]
    random.shuffle(pool)
    for p in others:
        n = sum(cards_of(unknown[p]))
        s["hand"][p] = s["known"][p] + sum(1 << (7 * c) for c in pool[:n])
        pool = pool[n:]
    s["deck"] = sum(1 << (7 * c) for c in pool)


def exchange_unseen_tickets(g, s, player, random):
    """Tickets the player does not see are dealt out anew, the queue's order included; those it returned stay in the queue."""
    others = [p for p in range(g.players) if p != player]
    choosing = s["player"] == player and s["phase"] in (CHOOSE, FIRST_CHOICE)
    shown = min(int(s["waiting"]), g.dealt if s["phase"] == FIRST_CHOICE else g.drawn) if choosing else 0
    queue = places(g, s)[shown:]
    waiting, returned = s["queue"][queue].tolist(), members(s["returned"][player])
    stays = [t for t in waiting if t in returned]
    pool = [t for t in waiting if t not in returned] + [t for p in others for t in members(s["held"][p])]
    random.shuffle(pool)
    for p in others:
        n = len(members(s["held"][p]))
        s["held"][p] = as_words(pool[:n])
        pool = pool[n:]
    pool += stays
    random.shuffle(pool)
    s["queue"][queue] = pool
    # What an opponent returned is as hidden as what it holds.
    for p in others:
        s["returned"][p] = as_words(random.permutation(g.tickets)[:3].tolist())


@settings(deadline=None, derandomize=True, max_examples=150)
@given(games, seeds, st.integers(0, 400))
def test_a_player_sees_nothing_hidden(game, seed, decisions):
    _, g, s = dealt(game, seed)
    random = np.random.default_rng(seed)
    s = play_on(g, s, random, decisions)
    for player in range(g.players):
        other = copy_of(s)
        exchange_unknown_cards(g, other, player, random)
        exchange_unseen_tickets(g, other, player, random)
        other["stream"] = random.integers(2**63)
        assert other.tobytes() != s.tobytes()
        assert seen_by(g, other, player) == seen_by(g, s, player)


def visible_changes(g, s, player):
    """Copies of a state, each changed in one thing that the player sees."""
    opponent = (player + 1) % g.players

    def changed(field, place, by=1):
        other = copy_of(s)
        if place is None:
            other[field] += by
        else:
            other[field][place] += by
        return field, other

    for field in ("row", "discard", "player", "phase", "left", "passes", "turn", "waiting"):
        yield changed(field, None)
    for p in range(g.players):
        for field in ("cars", "points", "known"):
            yield changed(field, p)
        yield changed("own", (p, 0), 1 << 40)
    yield changed("hand", player)
    yield changed("hand", opponent)  # one card more in hand is seen, whichever it is
    yield changed("held", (player, 0), 1 << 50)
    yield changed("returned", (player, 0), 1 << 50)
    yield changed("deck", None)
    other = copy_of(s)
    other["held"][opponent] = as_words([*members(s["held"][opponent]), 100])
    yield "held by the opponent", other
    if s["player"] == player and s["phase"] in (CHOOSE, FIRST_CHOICE):
        yield changed("queue", int(s["head"]))


@settings(deadline=None, derandomize=True, max_examples=60)
@given(games, seeds, st.integers(0, 300))
def test_a_player_sees_all_that_is_open(game, seed, decisions):
    _, g, s = dealt(game, seed)
    s = play_on(g, s, np.random.default_rng(seed), decisions)
    for player in range(g.players):
        before = seen_by(g, s, player)
        for what, other in visible_changes(g, s, player):
            assert seen_by(g, other, player) != before, what
