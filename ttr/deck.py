"""The train card deck and the face-up row.

A shuffled deck need not exist: the deck is its counts and its own stream, and each draw is sampled when it happens. The k-th
draw is then the same card whoever draws it.
"""

from ttr.cards import locomotives_in, nth_colour, one, total
from ttr.jit import inlined, jitted
from ttr.stream import GOLD, below, mix


@inlined
def draw_card(s):
    """Take the top card of the deck, as a card word; an empty deck is refilled from the discards; 0 if there is no card."""
    if s.deck == 0:
        s.deck = s.discard
        s.discard = 0
        if s.deck == 0:
            return 0
    s.stream += GOLD
    card = one(nth_colour(s.deck, below(mix(s.stream), total(s.deck))))
    s.deck -= card
    return card


@inlined
def cards_to_draw(s):
    """Cards that can still be drawn from the deck, reshuffled discards included."""
    return total(s.deck + s.discard) - s.hidden


@jitted
def replace_row(g, s):
    """Three face-up locomotives: the row is discarded and laid anew, while enough other cards are to be had."""
    while locomotives_in(s.row) >= 3:
        cards = s.row + s.deck + s.discard
        if total(cards) - locomotives_in(cards) < g.face_up - 2:
            return
        s.discard += s.row
        s.row = 0
        for _ in range(g.face_up):
            s.row += draw_card(s)


@inlined
def fill_row(g, s):
    """Fill the gaps of the row from the deck."""
    for _ in range(g.face_up - total(s.row)):
        s.row += draw_card(s)
    if locomotives_in(s.row) >= 3:
        replace_row(g, s)
