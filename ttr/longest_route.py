"""The longest continuous route of a player: a trail that uses no route twice; cities may repeat.

A longest trail of a connected network either uses all of it (at most two cities with an odd number of routes), or both its ends
lie at odd cities: an end where a route were left unused could be extended. So the search starts at odd cities only, and gives up a
branch when all unused routes of the network together cannot beat the best. A terminal city ends a trail: each route that touches it
ends in a stop of its own.
"""

import numpy as np

from ttr.bits import lowest_bit, popcount
from ttr.jit import inlined, jitted

MAX_EDGES = 60  # more cars than any box has

WORK = np.dtype(
    [
        ("edge", "i8", (MAX_EDGES, 2)),  # the player's routes: two cities
        ("length", "i8", MAX_EDGES),
        ("at", "i8", 64),  # routes at a city, as a set
        ("city", "i8", MAX_EDGES + 1),  # the trail under search
        ("untried", "i8", MAX_EDGES + 1),
        ("taken", "i8", MAX_EDGES + 1),
    ],
    align=True,
)


@inlined
def _gather(g, s, player, work):
    """List the player's routes and the routes at each city; returns how many."""
    n = 0
    for city in range(g.cities):
        work.at[city] = 0
    for w in range(g.words):
        routes = s.own[player, w]
        while routes:
            route = 64 * w + lowest_bit(routes)
            routes &= routes - 1
            bit = 1 << n
            for end in range(2):
                city = g.tables.ends[route, end]
                work.edge[n, end] = city
                work.at[city] |= bit
            work.length[n] = g.tables.length[route]
            n += 1
    return n


@inlined
def _is_stop(g, city):
    return (g.terminals >> city) & 1


@inlined
def _network_of(g, work, first):
    """All routes joined to the first one without passing a terminal, as a set."""
    network = 1 << first
    fresh = network
    while fresh:
        e = lowest_bit(fresh)
        fresh &= fresh - 1
        for end in range(2):
            city = work.edge[e, end]
            if not _is_stop(g, city):
                joined = work.at[city] & ~network
                network |= joined
                fresh |= joined
    return network


@inlined
def _trail_from(g, work, start, network, whole, best):
    """Longest trail that starts at a city (or, from a terminal, with the one route given there); at least `best`."""
    depth = 0
    length = 0
    used = 0
    work.city[0] = start
    work.untried[0] = work.at[start] & network
    while depth >= 0:
        if work.untried[depth] == 0 or best == whole:
            depth -= 1
            if depth >= 0:
                e = work.taken[depth]
                used ^= 1 << e
                length -= work.length[e]
            continue
        e = lowest_bit(work.untried[depth])
        work.untried[depth] &= work.untried[depth] - 1
        here = work.city[depth]
        there = work.edge[e, 1] if work.edge[e, 0] == here else work.edge[e, 0]
        used |= 1 << e
        length += work.length[e]
        best = max(best, length)
        work.taken[depth] = e
        depth += 1
        work.city[depth] = there
        if _is_stop(g, there):
            work.untried[depth] = 0
        else:
            work.untried[depth] = work.at[there] & network & ~used
    return best


@jitted
def longest_route(g, s, player, work):
    """Length of the player's longest continuous route. Scratch: work."""
    n = _gather(g, s, player, work)
    rest = (1 << n) - 1
    best = 0
    while rest:
        network = _network_of(g, work, lowest_bit(rest))
        rest &= ~network
        whole = 0
        odd_ends = 0
        edges = network
        odd_cities = np.int64(0)
        while edges:
            e = lowest_bit(edges)
            edges &= edges - 1
            whole += work.length[e]
            for end in range(2):
                city = work.edge[e, end]
                if _is_stop(g, city):
                    odd_ends += 1
                else:
                    odd_cities ^= 1 << city
        odd_ends += popcount(odd_cities)
        if whole <= best:
            continue
        if odd_ends <= 2:
            best = whole
            continue
        starts = odd_cities
        while starts:
            city = lowest_bit(starts)
            starts &= starts - 1
            best = _trail_from(g, work, city, network, whole, best)
        # Trails between two terminals start at neither odd city.
        for city in range(g.cities):
            if _is_stop(g, city) and work.at[city] & network:
                best = _trail_from(g, work, city, network, whole, best)
    return best
