"""Claiming routes: each affordable (route, colour, number of locomotives) is an action of its own.

Free routes are not searched: their numbers by colour and length are the bytes of one word per colour, the ways to pay
for each length come from a table, and the number of claims is a dot product by two multiplications.
"""

from ttr.bits import lowest_bit, nth_bit, popcount, shift_right, times
from ttr.cards import FIELD, LOCOMOTIVE, count_of, locomotives_in, without
from ttr.deck import fill_row
from ttr.jit import inlined
from ttr.map_settings import MAX_OF_A_KIND
from ttr.tables import ALL_FREE
from ttr.turn import end_turn

_EVEN_BYTES = 0x00FF00FF00FF00FF
_STRIDE = MAX_OF_A_KIND + 1
GREY = 8


@inlined
def route_set(g, s):
    """Which set of free routes the player to move claims from."""
    return (s.player & 7) if g.personal else 0


@inlined
def _dot(free, odd_ways, even_ways):
    """Sum over lengths of (free routes) x (ways to pay)."""
    odd = times(free & _EVEN_BYTES, odd_ways)
    even = times((free >> 8) & _EVEN_BYTES, even_ways)
    return shift_right(odd, 48) + shift_right(even, 48)


@inlined
def count_claims(g, s):
    """How many claims the player can pay; leaves the running totals by colour in s.up_to (locomotives alone come last)."""
    seat = s.player & 7
    a = route_set(g, s)
    hand = s.hand[seat]
    locomotives = locomotives_in(hand)
    grey = s.counts[a, GREY]
    within = g.tables.within[s.cars[seat] & 63]
    n = 0
    base = locomotives * _STRIDE
    for c in range(g.colours):
        i = base + count_of(hand, c)
        n += _dot((s.counts[a, c] + grey) & within, g.tables.ways[i, 0], g.tables.ways[i, 1])
        s.up_to[c] = n
    alone = g.tables.alone
    n += _dot(s.counts[a, ALL_FREE] & within, alone[locomotives & 31, 0], alone[locomotives & 31, 1])
    s.up_to[8] = n
    return n


@inlined
def nth_claim(g, s, k):
    """The k-th claim, as (route, colour, locomotives); needs the running totals of count_claims.

    Order: colours (locomotives alone last), lengths, routes, number of locomotives.
    """
    seat = s.player & 7
    a = route_set(g, s)
    hand = s.hand[seat]
    locomotives = locomotives_in(hand)
    colour = 0
    before = 0
    for c in range(g.colours):
        later = k >= s.up_to[c]
        colour += 1 if later else 0
        before = s.up_to[c] if later else before
    k -= before
    alone = colour == g.colours
    cards = count_of(hand, colour)
    free = s.counts[a, ALL_FREE] if alone else s.counts[a, colour & 7] + s.counts[a, GREY]
    colour = LOCOMOTIVE if alone else colour
    length = 0
    ways = 1
    n = 0
    while k >= n:
        k -= n
        length += 1
        if alone:
            ways = 1 if locomotives >= length else 0
        else:
            ways = max(0, min(locomotives, length - 1) - max(0, length - cards) + 1)
        n = ways * (free & 255)
        free >>= 8
    i = k // ways
    used = length if alone else k - i * ways + max(0, length - cards)
    w = 0
    routes = s.free[a, 0] & g.tables.usable[colour & 15, length & 15, 0]
    if i >= popcount(routes):
        i -= popcount(routes)
        w = 1
        routes = s.free[a, 1] & g.tables.usable[colour & 15, length & 15, 1]
    return 64 * w + lowest_bit(nth_bit(routes, i)), colour, used


@inlined
def _close(g, s, a, route):
    """Take a route out of one set of free routes, and out of its counts."""
    w = route >> 6
    bit = 1 << (route & 63)
    if s.free[a, w] & bit:
        s.free[a, w] ^= bit
        one_of_length = 1 << (8 * (g.tables.length[route] - 1))
        s.counts[a, g.tables.colour[route] & 15] -= one_of_length
        s.counts[a, ALL_FREE] -= one_of_length


@inlined
def claim(g, s, route, colour, locomotives):
    """Pay for a route and place its cars; it and, by the rule for parallel routes, its neighbours are closed."""
    route = route & 127
    seat = s.player & 7
    length = g.tables.length[route]
    pay = ((length - locomotives) << (FIELD * (colour & 7))) + (locomotives << (FIELD * LOCOMOTIVE))
    s.hand[seat] -= pay
    s.known[seat] = without(s.known[seat], pay)
    s.discard += pay
    s.cars[seat] -= length
    s.points[seat] += g.tables.points[length & 15]
    s.own[seat, route >> 6] |= 1 << (route & 63)
    if g.personal:
        for q in range(g.players):
            _close(g, s, q, route)
    a = route_set(g, s)
    for i in range(g.tables.family[route, 0]):
        _close(g, s, a, g.tables.family[route, 1 + i] & 127)
    fill_row(g, s)
    end_turn(g, s)
