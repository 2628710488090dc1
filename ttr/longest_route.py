"""The longest continuous route of a player: a trail that uses no route twice; cities may repeat.

Branches that no circuit passes are cut off first, from their tips inwards: a trail that enters a branch ends in it, so it is enough
to know for each city how long a trail into the branches at it can be (the two longest: a trail may begin and end at one city). Most
networks are gone then. What is left are circuits and the routes between them; there the search starts only at cities with a
branch or with an odd number of routes: a trail that ends elsewhere with a route unused could be extended.

A terminal city ends a trail: each route that touches it is the tip of a branch.
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
        ("branch", "i8", (64, 2)),  # the longest and second longest trail into the branches cut off at a city
        ("city", "i8", MAX_EDGES + 1),  # the trail under search
        ("untried", "i8", MAX_EDGES + 1),
        ("taken", "i8", MAX_EDGES + 1),
    ],
    align=True,
)


@inlined
def _join_branch(work, city, length, best):
    """A branch of this length is cut off at a city; returns the longest trail known, which may lead from branch to branch."""
    longest = work.branch[city & 63, 0]
    work.branch[city & 63, 1] = max(work.branch[city & 63, 1], min(longest, length))
    work.branch[city & 63, 0] = max(longest, length)
    return max(best, longest + length)


@inlined
def _gather(g, s, player, work):
    """List the player's routes and those at each city; returns the cities, as a set, and the longest trail into terminals."""
    n = 0
    best = 0
    cities = np.int64(0)
    for city in range(g.cities):
        work.at[city] = 0
        work.branch[city, 0] = 0
        work.branch[city, 1] = 0
    for w in range(g.words):
        routes = s.own[player, w]
        while routes:
            route = 64 * w + lowest_bit(routes)
            routes &= routes - 1
            a = g.tables.ends[route, 0]
            b = g.tables.ends[route, 1]
            length = g.tables.length[route]
            if ((g.terminals >> a) | (g.terminals >> b)) & 1:
                a = b if (g.terminals >> a) & 1 else a
                best = max(best, length) if (g.terminals >> a) & 1 else _join_branch(work, a, length, best)
                continue
            work.edge[n, 0] = a
            work.edge[n, 1] = b
            work.length[n] = length
            work.at[a & 63] |= 1 << n
            work.at[b & 63] |= 1 << n
            cities |= (1 << a) | (1 << b)
            n += 1
    return cities, best


@inlined
def _cut_branches(work, cities, best):
    """Cut off all branches, from their tips inwards; returns the longest trail that lies in branches alone."""
    while cities:
        tip = lowest_bit(cities)
        cities &= cities - 1
        while True:  # follow the branch down
            routes = work.at[tip & 63]
            if routes == 0 or routes & (routes - 1):
                break
            e = lowest_bit(routes)
            foot = work.edge[e, 0] + work.edge[e, 1] - tip
            work.at[tip & 63] = 0
            work.at[foot & 63] ^= routes
            best = _join_branch(work, foot, work.branch[tip & 63, 0] + work.length[e], best)
            tip = foot
    return best


@inlined
def _network_of(work, first):
    """All routes joined to the first one, and their cities, as sets."""
    network = np.int64(1) << first
    fresh = network
    cities = np.int64(0)
    while fresh:
        e = lowest_bit(fresh)
        fresh &= fresh - 1
        for end in range(2):
            city = work.edge[e, end]
            cities |= 1 << city
            joined = work.at[city & 63] & ~network
            network |= joined
            fresh |= joined
    return network, cities


@jitted
def _trail_from(work, start, network, most, best):
    """Longest trail that starts at a city, in a branch of it if there is one; at least `best`, given up at `most`."""
    depth = 0
    length = work.branch[start, 0]
    used = np.int64(0)
    work.city[0] = start
    work.untried[0] = work.at[start] & network
    while depth >= 0:
        if work.untried[depth] == 0 or best >= most:
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
        best = max(best, length + work.branch[there, 1 if there == start else 0])
        work.taken[depth] = e
        depth += 1
        work.city[depth] = there
        work.untried[depth] = work.at[there] & network & ~used
    return best


@jitted
def _longest_in(work, network, cities, best):
    """Longest trail through a network of circuits and the branches at it; at least `best`."""
    whole = 0
    routes = network
    while routes:
        whole += work.length[lowest_bit(routes)]
        routes &= routes - 1
    starts = np.int64(0)
    odd = 0
    at_odd = 0  # branches at the odd cities
    at_one = 0  # two branches at one city
    first = 0  # the longest branches of all
    second = 0
    rest = cities
    while rest:
        city = lowest_bit(rest)
        rest &= rest - 1
        long = work.branch[city, 0]
        short = work.branch[city, 1]
        at_one = max(at_one, long + short)
        second = max(second, min(first, long), short)
        first = max(first, long)
        if popcount(work.at[city]) & 1:
            odd += 1
            at_odd += long
            starts |= 1 << city
        elif long:
            starts |= 1 << city
    most = whole + first + second
    # All routes of the network make one trail if no city is odd (from any city back to it), or two are (from one to the other).
    if odd <= 2:
        best = max(best, whole + (at_one if odd == 0 else at_odd))
    while starts and best < most:
        city = lowest_bit(starts)
        starts &= starts - 1
        if work.branch[city, 0] + whole + first > best:
            best = _trail_from(work, city, network, most, best)
    return best


@jitted
def longest_route(g, s, player, work):
    """Length of the player's longest continuous route. Scratch: work."""
    cities, best = _gather(g, s, player, work)
    best = _cut_branches(work, cities, best)
    while cities:
        city = lowest_bit(cities)
        cities &= cities - 1
        if work.at[city]:
            network, joined = _network_of(work, lowest_bit(work.at[city]))
            cities &= ~joined
            best = _longest_in(work, network, joined, best)
    return best
