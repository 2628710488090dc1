"""A player's path: the cheapest set of usable routes that joins the two cities of every ticket that can still be joined.

Exact (path_exact.py) while the tickets have few cities: ten on a small map, six (three tickets) on a large one, where each ticket
more makes the exact search four times slower. Beyond that a quickly found set (path_quick.py) is the answer. What was found is
remembered in the scratch, under a key of all it depends on: looking it up or finding it anew gives the same.
"""

import numpy as np

from ttr.bits import lowest_bit, shift_right, times
from ttr.jit import inlined, jitted
from ttr.path_exact import exact_forest, list_cities, list_groups
from ttr.path_graph import FAR, MAX_EXACT, MAX_GROUPS, MEMO, PATHS, lay_routes, list_tickets, set_costs
from ttr.path_quick import quick_forest

__all__ = ["PATHS", "best_routes", "quick_routes", "search_routes", "set_costs"]
SMALL_MAP, MAX_EXACT_ON_LARGE = 20, 6  # cities of a small map; cities of the tickets, for the exact search on a large one
_ODD = 0x2545F4914F6CDD1D


@inlined
def _fold(key, word):
    key = times(key ^ word, _ODD)
    return key ^ shift_right(key, 29)


@jitted
def _key(g, paths, held_low, held_high):
    """A signature of the board, its costs and the tickets' cities."""
    key = _fold(np.int64(g.cities), g.terminals)
    for route in range(g.routes):
        key = _fold(key, (paths.cost[route] << 12) | (g.tables.ends[route, 0] << 6) | g.tables.ends[route, 1])
    for w in range(2):
        held = held_low if w == 0 else held_high
        while held:
            ticket = 64 * w + lowest_bit(held)
            held &= held - 1
            key = _fold(key, (g.tables.ticket[ticket, 0] << 6) | g.tables.ticket[ticket, 1])
    return key


@jitted
def quick_routes(g, paths, usable_low, usable_high, held_low, held_high):
    """A cheap set of usable routes that joins every ticket that can still be joined, as two words, by the quick search alone."""
    lay_routes(g, paths, usable_low, usable_high)
    _, low, high = quick_forest(g, paths, list_tickets(g, paths, held_low, held_high))
    return low, high


@jitted
def search_routes(g, paths, usable_low, usable_high, held_low, held_high):
    """The path as two words, not looked up; needs set_costs. Empty if no ticket can be joined. Scratch: paths."""
    lay_routes(g, paths, usable_low, usable_high)
    tickets = list_tickets(g, paths, held_low, held_high)
    if tickets == 0:
        return np.int64(0), np.int64(0)
    cities = list_cities(paths, tickets)
    if cities <= (MAX_EXACT if g.cities <= SMALL_MAP else MAX_EXACT_ON_LARGE):
        groups = list_groups(g, paths, tickets, cities)
        if groups <= MAX_GROUPS:
            limit = FAR
            if cities > 2:
                limit, _, _ = quick_forest(g, paths, tickets)
            return exact_forest(g, paths, cities, groups, limit)
    _, low, high = quick_forest(g, paths, tickets)
    return low, high


@jitted
def best_routes(g, paths, usable_low, usable_high, held_low, held_high):
    """The path as two words, as search_routes finds it, looked up if it was found before."""
    key = _key(g, paths, held_low, held_high)
    place = _fold(_fold(key, usable_low), usable_high) & (MEMO - 1)
    if paths.memo[place, 0] != key or paths.memo[place, 1] != usable_low or paths.memo[place, 2] != usable_high:
        low, high = search_routes(g, paths, usable_low, usable_high, held_low, held_high)
        paths.memo[place, 0] = key
        paths.memo[place, 1] = usable_low
        paths.memo[place, 2] = usable_high
        paths.memo[place, 3] = low
        paths.memo[place, 4] = high
    return paths.memo[place, 3], paths.memo[place, 4]
