"""The longest continuous route of a player: a trail that uses no route twice; cities may repeat.

Most networks are trees, and so are the outskirts of the others: they are peeled off from their loose ends, each city keeping
the longest two branches that hang on it. Trails that stay in peeled parts are measured on the way. What is left are cycles and
the routes between them. A longest trail through those starts at a city with a branch, or at one with an odd number of
routes (any other end could be extended); if there is neither, the whole of such a network is one trail. A terminal city ends
a trail: a route to one is a branch of its other city.
"""

import numpy as np

from ttr.bits import lowest_bit
from ttr.jit import inlined, jitted

MAX_EDGES = 60  # more cars than any box has

WORK = np.dtype(
    [
        ("edge", "i8", (MAX_EDGES, 2)),  # the player's routes between two cities
        ("length", "i8", MAX_EDGES),
        ("at", "i8", 64),  # routes at a city not peeled off, as a set
        ("branch", "i8", 64),  # longest branch peeled off at a city
        ("second", "i8", 64),  # the next longest, along another route
        ("city", "i8", MAX_EDGES + 1),  # the trail under search
        ("untried", "i8", MAX_EDGES + 1),
        ("taken", "i8", MAX_EDGES + 1),
    ],
    align=True,
)


@inlined
def _hang(work, city, reach, best):
    """Hang a branch on a city; returns the longest trail met so far: two branches of a city make one."""
    longest = work.branch[city]
    work.second[city] = max(work.second[city], min(reach, longest))
    work.branch[city] = max(longest, reach)
    return max(best, longest + reach)


@inlined
def _gather(g, s, player, work):
    """List the player's routes and the routes at each city; those to terminals are hung on the other city at once.

    Returns the number of routes listed, the sets of cities where one of them ends and where an odd number of them do, and the
    longest trail met so far.
    """
    n = 0
    best = 0
    odd = 0
    once = 0
    twice = 0
    for city in range(g.cities):
        work.at[city] = 0
        work.branch[city] = 0
        work.second[city] = 0
    for w in range(g.words):
        routes = s.own[player, w]
        while routes:
            route = 64 * w + lowest_bit(routes)
            routes &= routes - 1
            a = g.tables.ends[route, 0] & 63
            b = g.tables.ends[route, 1] & 63
            if ((g.terminals >> a) | (g.terminals >> b)) & 1:
                best = _hang(work, b if (g.terminals >> a) & 1 else a, g.tables.length[route], best)
                continue
            work.edge[n, 0] = a
            work.edge[n, 1] = b
            work.length[n] = g.tables.length[route]
            work.at[a] |= 1 << n
            work.at[b] |= 1 << n
            ends = (1 << a) | (1 << b)
            twice |= once & ends
            once |= ends
            odd ^= ends
            n += 1
    return n, once & ~twice, odd, best


@inlined
def _peel(work, n, loose, best):
    """Take off all loose ends, hanging them on the cities they lead to; returns the routes left and the longest trail met."""
    rest = (1 << n) - 1
    while loose:
        city = lowest_bit(loose)
        loose &= loose - 1
        if work.at[city] == 0:  # both ends of its route were loose
            continue
        e = lowest_bit(work.at[city])
        there = (work.edge[e, 0] + work.edge[e, 1] - city) & 63
        best = _hang(work, there, work.branch[city] + work.length[e], best)
        left = work.at[there] ^ (1 << e)
        work.at[city] = 0
        work.at[there] = left
        rest ^= 1 << e
        loose |= np.int64(left & (left - 1) == 0 and left != 0) << there
    return rest, best


@jitted
def _network_of(work, first):
    """All routes left that are joined to one of them, as a set."""
    network = 1 << first
    fresh = network
    while fresh:
        e = lowest_bit(fresh)
        joined = work.at[work.edge[e, 0]] | work.at[work.edge[e, 1]]
        fresh = (fresh & (fresh - 1)) | (joined & ~network)
        network |= joined
    return network


@jitted
def _trail_from(work, start, most, best):
    """Longest trail through the routes left from a city on, its branch before and the last city's after it; at least `best`."""
    depth = 0
    length = work.branch[start]
    used = 0
    work.city[0] = start
    work.untried[0] = work.at[start]
    while depth >= 0 and best < most:
        if work.untried[depth] == 0:
            depth -= 1
            if depth >= 0:
                e = work.taken[depth]
                used ^= 1 << e
                length -= work.length[e]
            continue
        e = lowest_bit(work.untried[depth])
        work.untried[depth] &= work.untried[depth] - 1
        there = work.edge[e, 0] + work.edge[e, 1] - work.city[depth]
        used |= 1 << e
        length += work.length[e]
        best = max(best, length + (work.second[there] if there == start else work.branch[there]))
        work.taken[depth] = e
        depth += 1
        work.city[depth] = there
        work.untried[depth] = work.at[there] & ~used
    return best


@jitted
def _longest_through_cycles(work, rest, odd, best):
    """Longest trail of a player, given that of the peeled parts, the routes left and the cities with an odd number of routes."""
    while rest:
        network = _network_of(work, lowest_bit(rest))
        rest &= ~network
        whole = 0
        longest_branch = 0
        starts = 0
        edges = network
        while edges:
            e = lowest_bit(edges)
            edges &= edges - 1
            whole += work.length[e]
            for end in range(2):
                city = work.edge[e, end]
                longest_branch = max(longest_branch, work.branch[city])
                if work.branch[city] > 0 or (odd >> city) & 1:
                    starts |= 1 << city
        if starts == 0:
            best = max(best, whole)
        while starts:
            city = lowest_bit(starts)
            starts &= starts - 1
            best = _trail_from(work, city, work.branch[city] + whole + longest_branch, best)
    return best


@jitted
def longest_route(g, s, player, work):
    """Length of the player's longest continuous route. Scratch: work."""
    n, loose, odd, best = _gather(g, s, player, work)
    rest, best = _peel(work, n, loose, best)
    if rest:
        best = _longest_through_cycles(work, rest, odd, best)
    return best
