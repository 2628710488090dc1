"""Legal actions: counting them, the k-th one, and their canonical codes.

A code is one integer, stable across states; records, search nodes and users speak it. The index k is only for sampling.

    bits  0-3   kind
    DRAW  4-7   first card, 8-11 second card: 0 none, 1-8 a colour + 1, 9 locomotive, 10 the deck; first <= second
    KEEP  4-52  up to seven ticket ids + 1, seven bits each, ascending
    CLAIM 4-10  route, 11-14 colour paid (8: locomotives alone), 15-18 locomotives; 19-21 kept free for a target player

Kinds 5 to 15 are free for rules to come (sacrifice, steal, block).
"""

import numpy as np

from ttr.bits import lowest_bit
from ttr.cards import FIELD
from ttr.claim import claim, count_claims, nth_claim
from ttr.draw import count_first_draws, count_second_draws, nth_draw, take
from ttr.jit import inlined, jitted
from ttr.state import CHOOSE, FIRST_CHOICE, SECOND_CARD, TURN
from ttr.tickets import count_choices, keep, nth_choice, reveal, revealed, ticket_at
from ttr.turn import pass_turn

PASS, DRAW_TICKETS, KEEP, DRAW, CLAIM = range(5)
FROM_DECK = 10


@inlined
def count_actions(g, s):
    """Number of legal actions; 0 at the start of a turn means that the player passes."""
    if s.phase == TURN:
        return count_first_draws(g, s) + np.int64(s.waiting > 0) + count_claims(g, s)
    if s.phase == SECOND_CARD:
        return count_second_draws(s)
    return count_choices(g, s)


@inlined
def apply_nth(g, s, k, n):
    """Do the k-th of n legal actions, as just counted (n = 0: pass)."""
    if s.phase == TURN:
        if n == 0:
            pass_turn(g, s)
            return
        s.passes = 0
        draws = count_first_draws(g, s)
        claims_from = draws + np.int64(s.waiting > 0)
        if k >= claims_from:
            route, colour, locomotives = nth_claim(g, s, k - claims_from)
            claim(g, s, route, colour, locomotives)
        elif k >= draws:
            reveal(g, s)
        else:
            cards, blind = nth_draw(g, s, k)
            take(g, s, cards, blind)
    elif s.phase == SECOND_CARD:
        cards, blind = nth_draw(g, s, k)
        take(g, s, cards, blind)
    else:
        keep(g, s, nth_choice(g, s, k))


@inlined
def draw_code(cards, blind):
    """Code of a train card draw."""
    first = 0
    second = 0
    if cards:
        first = lowest_bit(cards) // FIELD + 1
        rest = cards - (1 << (FIELD * (first - 1)))
        if rest:
            second = lowest_bit(rest) // FIELD + 1
        elif blind:
            second = FROM_DECK
    else:
        first = FROM_DECK
        second = FROM_DECK if blind > 1 else 0
    return DRAW | (first << 4) | (second << 8)


@inlined
def claim_code(route, colour, locomotives):
    """Code of a claim."""
    return CLAIM | (route << 4) | (colour << 11) | (locomotives << 15)


@jitted
def keep_code(g, s, mask):
    """Code of a ticket choice: the kept ids in ascending order."""
    code = 0
    last = -1
    place = 4
    shown = revealed(g, s)
    for _ in range(shown):
        following = 1000
        for i in range(shown):
            ticket = ticket_at(g, s, i)
            if (mask >> i) & 1 and last < ticket < following:
                following = ticket
        if following == 1000:
            break
        code |= (following + 1) << place
        place += 7
        last = following
    return KEEP | code


@jitted
def nth_code(g, s, k, n):
    """Canonical code of the k-th of n legal actions, as just counted (n = 0: pass)."""
    if s.phase == TURN:
        if n == 0:
            return np.int64(PASS)
        draws = count_first_draws(g, s)
        claims_from = draws + np.int64(s.waiting > 0)
        if k >= claims_from:
            route, colour, locomotives = nth_claim(g, s, k - claims_from)
            return claim_code(route, colour, locomotives)
        if k >= draws:
            return np.int64(DRAW_TICKETS)
    if s.phase == CHOOSE or s.phase == FIRST_CHOICE:
        return keep_code(g, s, nth_choice(g, s, k))
    cards, blind = nth_draw(g, s, k)
    return draw_code(cards, blind)


@jitted
def legal_codes(g, s, out):
    """Write the codes of all legal actions, in sampling order; returns how many (a lone pass included)."""
    n = count_actions(g, s)
    for k in range(n):
        out[k] = nth_code(g, s, k, n)
    if n == 0:
        out[0] = PASS
        return 1
    return n


@jitted
def index_of(g, s, code):
    """Which of the legal actions has this code; -1 if none: the test of legality."""
    n = count_actions(g, s)
    if n == 0:
        return 0 if code == PASS else -1
    for k in range(n):
        if nth_code(g, s, k, n) == code:
            return k
    return -1


@jitted
def apply_code(g, s, code):
    """Do a legal action given by its code."""
    kind = code & 15
    if kind == PASS:
        pass_turn(g, s)
        return
    s.passes = 0
    if kind == CLAIM:
        claim(g, s, (code >> 4) & 127, (code >> 11) & 15, (code >> 15) & 15)
    elif kind == DRAW:
        cards = 0
        blind = 0
        for slot in range(4, 12, 4):
            card = (code >> slot) & 15
            if card == FROM_DECK:
                blind += 1
            elif card:
                cards += 1 << (FIELD * (card - 1))
        take(g, s, cards, blind)
    elif kind == DRAW_TICKETS:
        reveal(g, s)
    else:
        mask = 0
        for i in range(revealed(g, s)):
            ticket = ticket_at(g, s, i)
            for slot in range(4, 53, 7):
                if (code >> slot) & 127 == ticket + 1:
                    mask |= 1 << i
        keep(g, s, mask)
