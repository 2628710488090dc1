"""The recorded game of the Warwick report (its listing 11.5) can be played here, and ends where it ended there.

The listing names claims, draws and kept tickets, but neither the deal nor the cards that came from the deck. Those are
supplied when they are needed: a card nobody knows is exchanged for the one the listing asks for.
"""

import pytest

from ttr.actions import apply_code, index_of
from ttr.board import LOCOMOTIVE, load_board
from ttr.cards import FIELD, count_of, total
from ttr.moves import Move, decode, encode, legal_moves, warwick_code
from ttr.record import start_game
from ttr.rules import resolve_rules
from ttr.state import FIRST_CHOICE, OVER

# Game, round, player, milliseconds, then the action in the codes of the report's appendix A.
LISTING = """
1,0,0,0,0
1,0,0,0,1,2,1,1,0
1,0,1,0,0
1,0,1,561,1,2,1,0,1
1,1,0,562,8,4,5,0,6
1,1,1,1037,8,1,3,0,4
1,2,0,1037,8,4,6,0,4
1,2,1,1416,8,3,4,0,2
1,3,0,1417,3
1,3,1,1796,4
1,4,0,1796,4
1,4,1,2094,8,0,2,0,2
1,5,0,2095,8,1,5,3,8
1,5,1,2295,8,2,3,0,5
1,6,0,2295,4
1,6,1,2473,5,5,5
1,7,0,2474,8,3,5,0,4
1,7,1,2510,8,0,6,1,5
1,8,0,2510,4
"""
REVEALED, KEPT = 0, 1  # the report's codes for the tickets before the first round
TURNS = 15
BOARD = load_board("yang")


def actions():
    """Round, player and code of every printed action."""
    for line in LISTING.split():
        _, round_number, player, _, *code = map(int, line.split(","))
        yield round_number, player, code


def cards_named(names):
    return sum(1 << (FIELD * (LOCOMOTIVE if name == "locomotive" else BOARD.colours.index(name))) for name in names)


def every_move():
    """Every claim and draw there is on the board, legal or not."""
    colours = [*BOARD.colours, "locomotive"]
    for route, r in enumerate(BOARD.routes):
        for colour in colours:
            for locomotives in [r.length] if colour == "locomotive" else range(r.length):
                yield Move("claim", 0, route=route, colour=colour, locomotives=locomotives)
    yield Move("draw", 0, cards=("locomotive",))
    for colour in BOARD.colours:
        yield Move("draw", 0, cards=(colour, colour))
    yield Move("draw", 0, cards=("deck", "deck"))


def move_of(code):
    """The one move that a printed code means."""
    (move,) = [move for move in every_move() if warwick_code(BOARD, move) == code]
    return decode(BOARD, encode(BOARD, move))


def unknown_places(state):
    """Where cards lie that the listing does not tell: the deck, the row, and the hands but for what was seen to be taken."""
    places = [(state, "deck", 0), (state, "row", 0)]
    return places + [(state["hand"], seat, int(state["known"][seat])) for seat in range(2)]


def supply(state, place, needed):
    """Bring the needed cards to a place, one by one, each in exchange for a card that is not needed there."""
    record, key, seen = place
    for colour in range(9):
        while count_of(int(record[key]), colour) < count_of(needed, colour):
            spare = next(c for c in range(9) if count_of(int(record[key]), c) > max(count_of(needed, c), count_of(seen, c)))
            source, name, _ = next(p for p in unknown_places(state) if count_of(int(p[0][p[1]]) - p[2], colour))
            swap = (1 << (FIELD * colour)) - (1 << (FIELD * spare))
            record[key] += swap
            source[name] -= swap


def supply_cards_for(state, move):
    """Give the player to move, or the face-up row, the cards that the move needs."""
    _, row, *hands = unknown_places(state)
    if move.kind == "claim":
        coloured = BOARD.routes[move.route].length - move.locomotives
        supply(state, hands[state["player"]], cards_named([move.colour] * coloured + ["locomotive"] * move.locomotives))
    elif "deck" not in move.cards:
        supply(state, row, cards_named(move.cards))


def keep_tickets(game, state, chosen):
    """Do the first choice of tickets: one flag for every ticket dealt."""
    assert state["phase"] == FIRST_CHOICE
    dealt = [int(state["queue"][int(state["head"]) + i]) for i in range(len(chosen))]
    code = encode(BOARD, Move("keep", 0, tickets=tuple(ticket for ticket, flag in zip(dealt, chosen) if flag)))
    assert index_of(game, state, code) >= 0
    apply_code(game, state, code)


def cards_in_play(game, state):
    hands = sum(int(state["hand"][p]) for p in range(game.players))
    return hands + int(state["deck"]) + int(state["discard"]) + int(state["row"])


def follow(seed, **overrides):
    """Play the listing until the game is over; returns the game, the last state and how many turns were played."""
    game, state = start_game(BOARD, resolve_rules(BOARD, "warwick", overrides=overrides), seed, 0)
    turns = 0
    for round_number, player, code in actions():
        if state["phase"] == OVER:
            break
        assert state["player"] == player
        if round_number == 0:
            if code[0] == KEPT:
                assert sum(code[2:]) == code[1]
                keep_tickets(game, state, code[2:])
            else:
                assert code == [REVEALED]  # here the tickets are dealt without a move
            continue
        assert state["turn"] == turns == 2 * (round_number - 1) + player
        move = move_of(code)
        supply_cards_for(state, move)
        assert move in legal_moves(game, BOARD, state)
        apply_code(game, state, move.code)
        turns += 1
        assert cards_in_play(game, state) == game.deck
        assert total(int(state["row"])) == game.face_up
    return game, state, turns


@pytest.mark.parametrize("seed", range(20))
def test_the_recorded_game_is_legal_and_ends_where_it_ended(seed):
    game, state, turns = follow(seed)
    assert turns == TURNS  # not earlier: no turn is played once the game is over
    assert state["phase"] == OVER
    assert state["cars"][: game.players].tolist() == [2, 2]
    assert state["points"][: game.players].tolist() == [2 * 10, 2 * 9]  # half points: 1 + 1 + 4 + 4 and 1 + 2 + 1 + 1 + 4
    assert [total(int(state["hand"][p])) for p in range(game.players)] == [3, 0]


def test_by_the_words_of_the_report_the_last_printed_turn_would_not_be_played():
    _, state, turns = follow(0, trigger_plays_again=False)
    assert state["phase"] == OVER
    assert turns == TURNS - 1


def test_the_printed_claims_are_the_routes_they_should_be():
    claimed = [move_of(code).route for number, _, code in actions() if number and code[0] == 8]
    assert claimed == [11, 4, 12, 8, 1, 5, 6, 9, 3]
