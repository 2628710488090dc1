"""Drawing train cards: paired (one decision takes both) or stepwise (card by card).

A draw is a pair (face-up cards taken as a card word, number of cards from the deck).
"""

import numpy as np

from ttr.bits import nth_bit, popcount
from ttr.cards import (
    ONE_LOCOMOTIVE,
    colours_in,
    colours_twice_in,
    kinds_in,
    locomotives_in,
    total,
)
from ttr.deck import cards_to_draw, draw_card, replace_row
from ttr.jit import inlined
from ttr.state import SECOND_CARD, TURN
from ttr.tables import STEPWISE
from ttr.turn import end_turn

# The k-th pair (lower < higher), ordered by its higher member: numbers of face-up colours, the last one for the deck.
_PAIRS = [(low, high) for high in range(8) for low in range(high)]
LOWER = np.zeros(32, np.int64)
HIGHER = np.zeros(32, np.int64)
LOWER[: len(_PAIRS)] = [pair[0] for pair in _PAIRS]
HIGHER[: len(_PAIRS)] = [pair[1] for pair in _PAIRS]


@inlined
def count_first_draws(g, s):
    """Ways to draw train cards at the start of a turn."""
    row = s.row
    rest = cards_to_draw(s)
    if g.drawing == STEPWISE:
        return popcount(kinds_in(row)) + np.int64(rest > 0)
    n = popcount(colours_in(row))
    pairs = ((n * (n - 1)) >> 1) + popcount(colours_twice_in(row)) + np.int64(row >= ONE_LOCOMOTIVE)
    return pairs + (n + 1 if rest > 0 else 0)


@inlined
def count_second_draws(s):
    """Ways to draw the second card: a face-up colour or the deck, never a face-up locomotive."""
    return popcount(colours_in(s.row)) + np.int64(cards_to_draw(s) > 0)


@inlined
def nth_stepwise_draw(s, k):
    """Order: face-up cards by colour (a locomotive last, and only as first card), then the deck."""
    kinds = kinds_in(s.row) if s.phase == TURN else colours_in(s.row)
    card = nth_bit(kinds, k)
    return card, np.int64(card == 0)


@inlined
def nth_paired_draw(s, k):
    """Order: two of one face-up colour, a face-up locomotive, pairs out of (face-up colours, deck), two from the deck."""
    row = s.row
    twice = colours_twice_in(row)
    doubles = popcount(twice)
    singles = doubles + np.int64(row >= ONE_LOCOMOTIVE)
    if k < singles:
        return (2 * nth_bit(twice, k) if k < doubles else ONE_LOCOMOTIVE), 0
    k -= singles
    colours = colours_in(row)
    n = popcount(colours)
    two_blind = k == (n * (n + 1)) >> 1
    low = nth_bit(colours, LOWER[k & 31])
    high = nth_bit(colours, HIGHER[k & 31])  # none for number n: the deck
    low = 0 if two_blind else low
    high = 0 if two_blind else high
    return low + high, np.int64(low == 0) + np.int64(high == 0)


@inlined
def nth_draw(g, s, k):
    """The k-th way to draw now, as (face-up cards, cards from the deck)."""
    if g.drawing == STEPWISE:
        return nth_stepwise_draw(s, k)
    return nth_paired_draw(s, k)


@inlined
def take_stepwise(g, s, card):
    """Take a face-up card, or the deck's (card = 0). Either way one leaves the deck: for the hand or for the gap in the row."""
    seat = s.player & 7
    first = s.phase == TURN
    fresh = draw_card(s)
    s.hand[seat] += fresh if card == 0 else card
    s.known[seat] += card
    s.row += 0 if card == 0 else fresh - card
    if locomotives_in(s.row) >= 3:
        replace_row(g, s)
    if not first or card == ONE_LOCOMOTIVE or (colours_in(s.row) == 0 and cards_to_draw(s) <= 0):
        end_turn(g, s)
    else:
        s.phase = SECOND_CARD


@inlined
def take_paired(g, s, cards, blind):
    """Take both cards of a paired draw; deck cards first, then the row is filled."""
    seat = s.player & 7
    hand = s.hand[seat] + cards
    row = s.row - cards
    s.known[seat] += cards
    for i in range(blind + g.face_up - total(row)):
        fresh = draw_card(s)
        hand += fresh if i < blind else 0
        row += 0 if i < blind else fresh
    s.hand[seat] = hand
    s.row = row
    if locomotives_in(row) >= 3:
        replace_row(g, s)
    end_turn(g, s)


@inlined
def take(g, s, cards, blind):
    """Draw train cards."""
    if g.drawing == STEPWISE:
        take_stepwise(g, s, cards)
    else:
        take_paired(g, s, cards, blind)
