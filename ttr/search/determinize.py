"""A determinization: what the player cannot see is dealt out anew, over physical cards.

Opponents keep the cards they are known to hold; the rest of their hands is drawn without replacement from the unseen cards. Tickets
likewise: those the player chooses from stay at the head of the ticket deck, those it has put back are somewhere in it (unless plain
resampling is asked for, algorithm 7 of the Warwick report), the others are anywhere, in any order. An opponent that was given
tickets beforehand (ticket_belief.py) keeps them. The decks get fresh streams.
"""

import numpy as np

from ttr.bits import lowest_bit, nth_bit, popcount
from ttr.cards import nth_colour, one, total
from ttr.jit import inlined, jitted
from ttr.state import CHOOSE, FIRST_CHOICE
from ttr.stream import GOLD, below, mix
from ttr.tickets import revealed

RETURNED_KNOWN, PLAIN, BELIEVED = range(3)  # the field `tickets`; the last one for control search alone


@inlined
def _draw_cards(pool, n, stream):
    """n cards out of a pool, each set of cards as likely; drawn as the cards that stay behind where those are fewer."""
    size = total(pool)
    staying = 2 * n > size
    taken = 0
    for k in range(size - n if staying else n):
        stream += GOLD
        taken += one(nth_colour(pool - taken, below(mix(stream), size - k)))
    return (pool - taken if staying else taken), stream


@inlined
def draw_ticket(low, high, stream):
    """One ticket of a set, as the sets it leaves; the ticket is what they lack."""
    stream += GOLD
    k = below(mix(stream), popcount(low) + popcount(high))
    if k < popcount(low):
        return low ^ nth_bit(low, k), high, stream
    return low, high ^ nth_bit(high, k - popcount(low)), stream


@inlined
def _only(low, high):
    """The one ticket of a set."""
    return lowest_bit(low) if low else 64 + lowest_bit(high)


@inlined
def _all_tickets(g, w):
    n = g.tickets - 64 * w
    return -1 if n >= 64 else ((1 << n) - 1 if n > 0 else 0)


@inlined
def _shuffle(s, place, low, high, stream):
    """Lay a set of tickets into the queue from a place on, in random order."""
    start = place
    for w in range(2):
        tickets = low if w == 0 else high
        while tickets:
            ticket = 64 * w + lowest_bit(tickets)
            tickets &= tickets - 1
            stream += GOLD
            j = start + below(mix(stream), place - start + 1)
            s.queue[place] = s.queue[j]
            s.queue[j] = ticket
            place += 1
    return stream


@jitted
def far_tickets(g):
    """The far tickets, where far and near ones are dealt."""
    low = np.int64(0)
    high = np.int64(0)
    for ticket in range(g.tickets):
        if g.far_and_near and g.tables.far[ticket]:
            low |= 1 << ticket if ticket < 64 else 0
            high |= 1 << (ticket - 64) if ticket >= 64 else 0
    return low, high


@jitted
def _deal_far_and_near(g, s, me, shown, low, high, stay_low, stay_high, stream):
    """Every opponent holds one far ticket; those that have not chosen yet find theirs in the queue, with a near one."""
    far_low, far_high = far_tickets(g)
    near_low = low & ~far_low
    near_high = high & ~far_high
    far_low &= low
    far_high &= high
    place = shown
    for later in range(2):
        for p in range(g.players):
            if p == me or (s.phase == FIRST_CHOICE and p > me) != (later == 1) or s.held[p, 0] | s.held[p, 1]:
                continue
            before_low = far_low | near_low
            before_high = far_high | near_high
            far_low, far_high, stream = draw_ticket(far_low, far_high, stream)
            if later:
                s.queue[place] = _only(before_low ^ far_low ^ near_low, before_high ^ far_high ^ near_high)
                before_low = near_low
                before_high = near_high
                near_low, near_high, stream = draw_ticket(near_low, near_high, stream)
                s.queue[place + 1] = _only(before_low ^ near_low, before_high ^ near_high)
                place += 2
                continue
            for _ in range(s.hidden_tickets[p] - 1):
                near_low, near_high, stream = draw_ticket(near_low, near_high, stream)
            s.held[p, 0] = before_low ^ far_low ^ near_low
            s.held[p, 1] = before_high ^ far_high ^ near_high
            s.hidden_tickets[p] = 0
    return _shuffle(s, place, near_low | stay_low, near_high | stay_high, stream)


@jitted
def unseen_tickets(g, s, me, plain):
    """The tickets that others may hold, and own returned ones known to be in the deck, as two sets of two words each."""
    low = _all_tickets(g, 0)
    high = _all_tickets(g, 1)
    for p in range(g.players):
        low &= ~s.held[p, 0]
        high &= ~s.held[p, 1]
    for i in range(_shown(g, s)):
        ticket = np.int64(s.queue[i])
        if ticket < 64:
            low &= ~(1 << ticket)
        else:
            high &= ~(1 << (ticket - 64))
    stay_low = 0 if plain else low & s.returned[me, 0]
    stay_high = 0 if plain else high & s.returned[me, 1]
    return low ^ stay_low, high ^ stay_high, stay_low, stay_high


@inlined
def _shown(g, s):
    return revealed(g, s) if s.phase == CHOOSE or s.phase == FIRST_CHOICE else 0


@jitted
def _deal_tickets(g, s, me, plain, stream):
    """Tickets for the opponents and the ticket deck, out of those the player does not see."""
    shown = _shown(g, s)
    low, high, stay_low, stay_high = unseen_tickets(g, s, me, plain)
    if g.far_and_near:
        return _deal_far_and_near(g, s, me, shown, low, high, stay_low, stay_high, stream)
    for p in range(g.players):
        if s.hidden_tickets[p]:
            before_low = low
            before_high = high
            for _ in range(s.hidden_tickets[p]):
                low, high, stream = draw_ticket(low, high, stream)
            s.held[p, 0] = before_low ^ low
            s.held[p, 1] = before_high ^ high
            s.hidden_tickets[p] = 0
    return _shuffle(s, shown, low | stay_low, high | stay_high, stream)


@jitted
def determinize(g, s, plain, stream):
    """Turn a copy of the observation of the player to move into a whole state; returns the stream.

    `plain`: plain resampling, else own returned tickets are known to be in the deck.
    """
    me = s.player & 7
    for p in range(g.players):
        if s.hidden_cards[p]:
            cards, stream = _draw_cards(s.deck, s.hidden_cards[p], stream)
            s.hand[p] += cards
            s.deck -= cards
            s.hidden_cards[p] = 0
    s.hidden = 0
    stream = _deal_tickets(g, s, me, plain, stream)
    stream += GOLD
    s.stream = mix(stream)
    return stream
