"""Which tickets the opponents may hold, as their moves tell: hands of tickets with weights, a particle filter.

Whoever builds a route does so for a reason. Dealt anew at random, an opponent's tickets have nothing to do with the routes it has
built, so its final score is taken for lower than it is. Here HANDS hands are drawn for each opponent as a determinization would
deal them; each move it makes weighs them by how likely it was with such a hand (opponent_model.py). Tickets drawn later are added
by chance, and a hand that is seen to be impossible counts no more; with none left, all are drawn anew.
"""

import numpy as np

from ttr.agents.contract import HANDS
from ttr.jit import inlined, jitted
from ttr.search.determinize import determinize, draw_ticket, far_tickets, unseen_tickets
from ttr.stream import CERTAIN, GOLD, below, mix

FORGOTTEN = 1e-6  # a hand of less weight is dropped


@jitted
def _draw_anew(g, seen, me, scratch, p, plain, stream):
    """Draw the hands of player p as determinizations of what player `me.seat` sees."""
    s = scratch.tree.states[0]
    for k in range(HANDS):
        scratch.tree.states[0] = seen
        s.player = me.seat
        stream = determinize(g, s, plain, stream)
        me.hands[p, k].low = s.held[p, 0]
        me.hands[p, k].high = s.held[p, 1]
        me.hands[p, k].weight = 1.0 / HANDS
    return stream


@inlined
def _lengthen(g, hand, more, low, high, far_low, far_high, stream):
    """Add tickets to a hand by chance, from those unseen; far ones are only dealt."""
    low &= ~(hand.low | far_low)
    high &= ~(hand.high | far_high)
    for _ in range(more):
        if low | high:
            rest_low, rest_high, stream = draw_ticket(low, high, stream)
            hand.low |= low ^ rest_low
            hand.high |= high ^ rest_high
            low = rest_low
            high = rest_high
    return stream


@jitted
def settle_weights(me, p):
    """Make the weights of player p's hands sum to one, dropping the least; False if nothing is left."""
    whole = 0.0
    for k in range(HANDS):
        whole += me.hands[p, k].weight
    if whole <= 0.0:
        return False
    for k in range(HANDS):
        weight = me.hands[p, k].weight / whole
        me.hands[p, k].weight = weight if weight >= FORGOTTEN else 0.0
    return True


@jitted
def update_hands(g, seen, me, scratch, p, plain, stream):
    """Bring the hands of player p in line with what player `me.seat` sees; returns the stream. No hands while it has no tickets."""
    held = seen.hidden_tickets[p]
    if held == 0:
        return stream
    low, high, _, _ = unseen_tickets(g, seen, me.seat, plain)
    if me.tickets[p]:
        for k in range(HANDS):
            if (me.hands[p, k].low & ~low) | (me.hands[p, k].high & ~high):
                me.hands[p, k].weight = 0.0
    if me.tickets[p] == 0 or not settle_weights(me, p):
        stream = _draw_anew(g, seen, me, scratch, p, plain, stream)
    elif me.tickets[p] < held:
        far_low, far_high = far_tickets(g)
        for k in range(HANDS):
            stream = _lengthen(g, me.hands[p, k], held - me.tickets[p], low, high, far_low, far_high, stream)
    me.tickets[p] = held
    return stream


@jitted
def ready_hands(g, seen, me, scratch, plain, stream):
    """Bring all players' hands in line, and lay out their weights for drawing; returns the stream."""
    for p in range(g.players):
        if p != me.seat:
            stream = update_hands(g, seen, me, scratch, p, plain, stream)
            whole = 0.0
            for k in range(HANDS):
                whole += me.hands[p, k].weight
                me.hands[p, k].until = np.int64(np.floor(whole * CERTAIN))
    return stream


@inlined
def hold(s, p, hand):
    """Give player p a hand of tickets in state s, a copy of an observation."""
    s.held[p, 0] = hand.low
    s.held[p, 1] = hand.high
    s.hidden_tickets[p] = 0


@jitted
def deal_hands(g, s, me, stream):
    """Give every opponent in state s, a copy of the observation, a hand by weight, unless another one holds one of its tickets."""
    low = np.int64(0)
    high = np.int64(0)
    for p in range(g.players):
        if p == me.seat or s.hidden_tickets[p] == 0:
            continue
        stream += GOLD
        word = below(mix(stream), CERTAIN)
        for k in range(HANDS):
            hand = me.hands[p, k]
            if word < hand.until:
                if (hand.low & low) | (hand.high & high) == 0:
                    hold(s, p, hand)
                    low |= hand.low
                    high |= hand.high
                break
    return stream
