"""Claims as players think of them: which routes can be paid for, the cheapest way and any way to pay, the longest route."""

import numpy as np

from ttr.actions import claim_code
from ttr.agents.contract import pick
from ttr.bits import lowest_bit, nth_bit, popcount
from ttr.board import GREY, LOCOMOTIVE
from ttr.cards import count_of, locomotives_in
from ttr.claim import route_set
from ttr.jit import inlined, jitted
from ttr.map_settings import MAX_LENGTH

NO_CODE = 1 << 62  # higher than any code


@inlined
def ways_to_pay(cards, locomotives, length):
    """Ways to pay with at least one card of a colour: numbers of locomotives."""
    return max(0, min(locomotives, length - 1) - max(0, length - cards) + 1)


@inlined
def free_routes(g, seen):
    """The routes that the player to move may still claim, as two words."""
    a = route_set(g, seen)
    return seen.free[a, 0], seen.free[a, 1]


@jitted
def claimable_routes(g, seen):
    """The routes the player to move can claim and pay for now, as two words."""
    seat = seen.player & 7
    hand = seen.hand[seat]
    locomotives = locomotives_in(hand)
    free_low, free_high = free_routes(g, seen)
    low = np.int64(0)
    high = np.int64(0)
    for length in range(1, min(MAX_LENGTH, seen.cars[seat]) + 1):
        for colour in range(g.colours):
            cards = count_of(hand, colour)
            if cards > 0 and cards + locomotives >= length:
                low |= g.tables.usable[colour, length, 0]
                high |= g.tables.usable[colour, length, 1]
        if locomotives >= length:
            low |= g.tables.usable[LOCOMOTIVE, length, 0]
            high |= g.tables.usable[LOCOMOTIVE, length, 1]
    return low & free_low, high & free_high


@jitted
def random_member(me, low, high):
    """A route of a set that is not empty, each as likely."""
    k = pick(me, popcount(low) + popcount(high))
    if k < popcount(low):
        return lowest_bit(nth_bit(low, k))
    return 64 + lowest_bit(nth_bit(high, k - popcount(low)))


@jitted
def random_payment(g, seen, me, route):
    """Code of claiming a route that can be paid for, each way to pay as likely."""
    hand = seen.hand[seen.player & 7]
    locomotives = locomotives_in(hand)
    length = g.tables.length[route]
    of = g.tables.colour[route]
    ways = np.int64(locomotives >= length)
    for colour in range(g.colours):
        if of == colour or of == GREY:
            ways += ways_to_pay(count_of(hand, colour), locomotives, length)
    k = pick(me, ways)
    for colour in range(g.colours):
        if of == colour or of == GREY:
            cards = count_of(hand, colour)
            n = ways_to_pay(cards, locomotives, length)
            if 0 <= k < n:
                return claim_code(route, colour, max(0, length - cards) + k)
            k -= n
    return claim_code(route, np.int64(LOCOMOTIVE), length)


@jitted
def longest_claim(g, seen):
    """Code of claiming the longest route that can be paid for, the lowest code of equals; NO_CODE if there is none."""
    seat = seen.player & 7
    hand = seen.hand[seat]
    locomotives = locomotives_in(hand)
    free_low, free_high = free_routes(g, seen)
    for length in range(min(MAX_LENGTH, seen.cars[seat]), 0, -1):
        best = NO_CODE
        for colour in range(g.colours + 1):
            alone = colour == g.colours
            paid = LOCOMOTIVE if alone else colour
            cards = 0 if alone else count_of(hand, colour)
            used = max(0, length - cards)
            if used > locomotives or (used == length and not alone):
                continue
            low = free_low & g.tables.usable[paid, length, 0]
            high = free_high & g.tables.usable[paid, length, 1]
            if low:
                best = min(best, claim_code(lowest_bit(low), paid, used))
            elif high:
                best = min(best, claim_code(64 + lowest_bit(high), paid, used))
        if best != NO_CODE:
            return best
    return NO_CODE
