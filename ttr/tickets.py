"""Destination tickets: drawing reveals them, choosing which to keep is a second decision of the same turn.

The ticket deck is a ring of ids. Tickets under choice lie at its head; rejected ones go to its end.
"""

import numpy as np

from ttr.jit import inlined, jitted
from ttr.state import CHOOSE, FIRST_CHOICE, TURN
from ttr.turn import end_turn


@inlined
def revealed(g, s):
    """How many tickets the player to move chooses from."""
    return min(s.waiting, g.dealt if s.phase == FIRST_CHOICE else g.drawn)


@inlined
def least_kept(g, s):
    """How many of them must be kept."""
    return g.kept if s.phase == FIRST_CHOICE else g.kept_later


@inlined
def count_choices(g, s):
    """Ways to keep enough of the revealed tickets."""
    return g.tables.choices[revealed(g, s), least_kept(g, s)]


@inlined
def nth_choice(g, s, k):
    """The k-th choice, as a bit mask over the revealed tickets."""
    return g.tables.subsets[revealed(g, s), least_kept(g, s), k]


@inlined
def ticket_at(g, s, i):
    """The i-th ticket of the queue."""
    place = s.head + i
    return np.int64(s.queue[place - g.tickets if place >= g.tickets else place])


@jitted
def reveal(g, s):
    """Draw tickets: the player sees the top ones; whoever had put one of them back no longer knows where it is."""
    s.phase = CHOOSE
    for i in range(revealed(g, s)):
        ticket = ticket_at(g, s, i)
        for q in range(g.players):
            s.returned[q, ticket >> 6] &= ~(1 << (ticket & 63))


@jitted
def keep(g, s, mask):
    """Keep the tickets of a mask; the others go to the bottom of the ticket deck in the order drawn."""
    seat = s.player & 7
    first = s.phase == FIRST_CHOICE
    shown = revealed(g, s)
    waiting = s.waiting
    for i in range(shown):
        ticket = ticket_at(g, s, i)
        bit = 1 << (ticket & 63)
        if (mask >> i) & 1:
            s.held[seat, ticket >> 6] |= bit
        else:
            s.returned[seat, ticket >> 6] |= bit
            s.queue[(s.head + waiting) % g.tickets] = ticket
            waiting += 1
    s.head = (s.head + shown) % g.tickets
    s.waiting = waiting - shown
    if not first:
        end_turn(g, s)
    elif s.player + 1 < g.players:
        s.player += 1
    else:
        s.player = 0
        s.phase = TURN
