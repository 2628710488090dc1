"""A multiset of train cards is one word: nine 7-bit counts, eight colours and then the locomotives.

    bit 62..56   55..49  ...  13..7     6..0
        locos    colour 7     colour 1  colour 0

Adding and removing cards is adding and subtracting words. No count exceeds 63, so the top bit of each field is
free as a guard; no multiset exceeds 126 cards, so prefix sums fit too.
"""

from ttr.bits import popcount, times
from ttr.jit import inlined

FIELD = 7
LOCOMOTIVE = 8  # field of the locomotives in a card word
KINDS = 9
ONES = sum(1 << (FIELD * i) for i in range(KINDS))
COLOURS_ONES = ONES & ~(1 << (FIELD * LOCOMOTIVE))
ONE_LOCOMOTIVE = 1 << (FIELD * LOCOMOTIVE)
GUARDS = 64 * ONES
_EVEN = sum(127 << (14 * i) for i in range(5)) & (2**63 - 1)
_EVEN_GUARD = sum(128 << (14 * i) for i in range(5)) & (2**63 - 1)
_EVEN_ONE = sum(1 << (14 * i) for i in range(5))
_ODD = sum(127 << (14 * i) for i in range(4))  # the four odd fields, moved down by one field
_ODD_GUARD = sum(128 << (14 * i) for i in range(4))
_ODD_ONE = sum(1 << (14 * i) for i in range(4))


@inlined
def count_of(cards, colour):
    """How many cards of one colour."""
    return (cards >> (FIELD * colour)) & 127


@inlined
def locomotives_in(cards):
    """How many locomotives."""
    return cards >> (FIELD * LOCOMOTIVE)


@inlined
def total(cards):
    """How many cards in all."""
    return (times(cards, ONES) >> (FIELD * LOCOMOTIVE)) & 127


@inlined
def one(colour):
    """A single card of a colour."""
    return 1 << (FIELD * colour)


@inlined
def nth_colour(cards, r):
    """Colour of the r-th card (from 0) of a multiset laid out in colour order.

    Field c of the prefix sums is the number of cards of colours 0..c; the colour is the number of fields that are <= r.
    """
    up_to = times(cards, ONES)
    even = ((_EVEN_GUARD + r * _EVEN_ONE) - (up_to & _EVEN)) & _EVEN_GUARD
    odd = ((_ODD_GUARD + r * _ODD_ONE) - ((up_to >> FIELD) & _ODD)) & _ODD_GUARD
    return popcount(even) + popcount(odd)


@inlined
def kinds_in(cards):
    """One bit at the foot of the field of each kind that is there at least once, locomotives included (counts below 8)."""
    return (cards | (cards >> 1) | (cards >> 2)) & ONES


@inlined
def colours_in(cards):
    """The same without the locomotives."""
    return (cards | (cards >> 1) | (cards >> 2)) & COLOURS_ONES


@inlined
def colours_twice_in(cards):
    """One bit per colour that is there at least twice (locomotives apart; counts below 8)."""
    return ((cards >> 1) | (cards >> 2)) & COLOURS_ONES


@inlined
def without(cards, spent):
    """Per colour max(0, cards - spent)."""
    difference = (cards | GUARDS) - spent
    enough = difference & GUARDS
    return difference & (enough - (enough >> 6))
