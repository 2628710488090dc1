"""What one player may see: a State record with everything else blanked.

A player sees its own hand and tickets, the board, the row, the discards, everyone's counts of cars, cards and tickets, every
face-up card anyone took (known until spent), the tickets it chooses from, and which tickets it has itself put back.

In the observation the unseen cards are one pool: `deck` holds the deck and the opponents' unknown cards together, `hidden_cards`
says how many of them each opponent holds, an opponent's `hand` holds its known cards. Tickets likewise: `hidden_tickets` counts
those an opponent holds; the queue shows only what the player chooses from.
"""

from ttr.bits import popcount
from ttr.cards import total
from ttr.jit import jitted
from ttr.state import CHOOSE, FIRST_CHOICE
from ttr.tickets import revealed, ticket_at


@jitted
def observe(g, s, player, seen):
    """Write into `seen` what the player may see of state s. `seen` must not be s."""
    seen.stream = 0
    seen.row = s.row
    seen.discard = s.discard
    seen.player = s.player
    seen.phase = s.phase
    seen.left = s.left
    seen.passes = s.passes
    seen.turn = s.turn
    seen.waiting = s.waiting
    pool = s.deck
    hidden = 0
    for p in range(5):
        playing = p < g.players
        mine = p == player
        for w in range(2):
            seen.own[p, w] = s.own[p, w] if playing else 0
            seen.held[p, w] = s.held[p, w] if mine else 0
            seen.returned[p, w] = s.returned[p, w] if mine else 0
            seen.free[p, w] = s.free[p, w] if p < (g.players if g.personal else 1) else 0
        for c in range(10):
            seen.counts[p, c] = s.counts[p, c] if p < (g.players if g.personal else 1) else 0
        seen.cars[p] = s.cars[p] if playing else 0
        seen.points[p] = s.points[p] if playing else 0
        seen.known[p] = s.known[p] if playing else 0
        seen.hidden_cards[p] = 0
        seen.hidden_tickets[p] = 0
        seen.hand[p] = 0
        if mine:
            seen.hand[p] = s.hand[p]
        elif playing:
            unknown = s.hand[p] - s.known[p]
            seen.hand[p] = s.known[p]
            pool += unknown
            seen.hidden_cards[p] = total(unknown)
            seen.hidden_tickets[p] = popcount(s.held[p, 0]) + popcount(s.held[p, 1])
            hidden += seen.hidden_cards[p]
    seen.deck = pool
    seen.hidden = hidden
    for c in range(9):
        seen.up_to[c] = 0
    choosing = s.player == player and (s.phase == CHOOSE or s.phase == FIRST_CHOICE)
    shown = revealed(g, s) if choosing else 0
    for i in range(96):
        seen.queue[i] = ticket_at(g, s, i) if i < shown else 0
    seen.head = 0
