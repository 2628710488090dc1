"""The deal: train cards to the players, the face-up row, the shuffled tickets."""

import numpy as np

from ttr.deck import draw_card, fill_row
from ttr.jit import jitted
from ttr.state import FIRST_CHOICE
from ttr.stream import CARD_TAG, GOLD, TICKET_TAG, below, fold, mix

_ZERO = np.uint64(0)


@jitted
def shuffle_tickets(g, s, stream):
    """Lay the ticket deck in random order (an inside-out shuffle)."""
    for i in range(g.tickets):
        stream += GOLD
        j = below(mix(stream), i + 1)
        s.queue[i] = s.queue[j]
        s.queue[j] = i
    s.head = 0
    s.waiting = g.tickets
    if g.far_and_near:
        _sort_far_and_near(g, s)


@jitted
def _sort_far_and_near(g, s):
    """Each player's first tickets are one far and one near; only near ones are drawn later, the other far ones leave the game."""
    far = np.empty(96, np.int64)
    near = np.empty(96, np.int64)
    fars = 0
    nears = 0
    for i in range(g.tickets):
        ticket = np.int64(s.queue[i])
        if g.tables.far[ticket]:
            far[fars] = ticket
            fars += 1
        else:
            near[nears] = ticket
            nears += 1
    place = 0
    for p in range(g.players):
        s.queue[place] = far[p]
        s.queue[place + 1] = near[p]
        place += 2
    for i in range(g.players, nears):
        s.queue[place] = near[i]
        place += 1
    s.waiting = place


@jitted
def deal(g, s, game_stream):
    """Set up a game from its stream: the train card deck and the ticket deck have streams of their own."""
    s.stream = fold(fold(_ZERO, CARD_TAG), game_stream)
    s.deck = g.deck
    s.discard = 0
    s.row = 0
    s.player = 0
    s.phase = FIRST_CHOICE
    s.left = 0
    s.passes = 0
    s.turn = 0
    s.hidden = 0
    for p in range(g.players):
        s.cars[p] = g.cars
        s.points[p] = 0
        s.known[p] = 0
        s.hidden_cards[p] = 0
        s.hidden_tickets[p] = 0
        for w in range(2):
            s.own[p, w] = 0
            s.held[p, w] = 0
            s.returned[p, w] = 0
        hand = 0
        for _ in range(g.hand):
            hand += draw_card(s)
        s.hand[p] = hand
    for a in range(g.players if g.personal else 1):
        for w in range(2):
            s.free[a, w] = g.tables.free[w]
        for c in range(10):
            s.counts[a, c] = g.tables.free_count[c]
    fill_row(g, s)
    shuffle_tickets(g, s, fold(fold(_ZERO, TICKET_TAG), game_stream))
