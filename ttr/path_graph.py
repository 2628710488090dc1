"""The usable part of a board as a network, and the cheapest paths through it: what both searches for a player's path stand on.

Of equally cheap sets of routes the least one counts, ids compared in ascending order. Costs are positive, so neither of two such
sets contains the other, and the lesser is the one with the lowest id that they do not share: an order that sums respect as costs
do. A terminal city ends a path, so a path may touch it, but never leads through it.
"""

import numpy as np

from ttr.bits import lowest_bit
from ttr.jit import inlined, jitted
from ttr.map_settings import MAX_CITIES, MAX_ROUTES, MAX_TICKETS

MAX_EXACT = 10  # cities of the tickets, for the exact search
MAX_GROUPS = 8  # groups of tickets that may share trees, for the exact search
ROWS = (1 << (MAX_EXACT - 1)) + 2
SPARE = ROWS - 1  # a row of labels for single paths
FAR = 1 << 50
UNIT = 1000  # costs are whole thousandths
MEMO = 1 << 13  # searches remembered

PATHS = np.dtype(
    [
        ("cost", "i8", MAX_ROUTES),
        ("degree", "i8", MAX_CITIES),  # the usable routes at a city: how many, then other end, cost and id of each
        ("end", "i8", (MAX_CITIES, MAX_CITIES)),
        ("price", "i8", (MAX_CITIES, MAX_CITIES)),
        ("route", "i8", (MAX_CITIES, MAX_CITIES)),
        ("next_to", "i8", MAX_CITIES),  # the other ends as a set
        ("tickets", "i8", (MAX_TICKETS, 2)),  # those that can be joined: their cities
        ("joined", "i8", (MAX_TICKETS, 2)),  # the path of each ticket in the quick search
        ("city", "i8", MAX_CITIES),  # cities of the tickets, each once
        ("group", "i8", MAX_TICKETS),  # cities that must be in one tree, as sets of indices into `city`
        ("tree", "i8", (ROWS, MAX_CITIES)),  # [cities joined, city reached]: cost of the cheapest tree, and its routes
        ("low", "i8", (ROWS, MAX_CITIES)),
        ("high", "i8", (ROWS, MAX_CITIES)),
        ("reached", "i8", ROWS),  # the cities with a label, as sets
        ("forest", "i8", (1 << MAX_GROUPS, 3)),  # [groups joined]: cost, routes
        ("memo", "i8", (MEMO, 5)),  # searches done (path_search.py): key, routes usable; routes found
        ("need", "i8", 9),  # cards by colour that a path still needs, grey routes last (agents/path.py)
    ],
    align=True,
)


@inlined
def is_less(low, high, other_low, other_high):
    """Whether a set of routes has the lowest id that two sets do not share."""
    differ = low ^ other_low
    if differ:
        return (low >> lowest_bit(differ)) & 1 == 1
    differ = high ^ other_high
    if differ:
        return (high >> lowest_bit(differ)) & 1 == 1
    return False


@inlined
def city_bit(city):
    """A city, or a route below 64, as a set."""
    return np.int64(1) << city


@jitted
def set_costs(g, paths, colour_cost, grey_cost, discount):
    """Cost of each route (algorithm 12): its spaces, dearer if it has a colour, less a share of its points; never nothing."""
    for route in range(g.routes):
        length = g.tables.length[route]
        a_space = grey_cost if g.tables.colour[route] == 8 else colour_cost
        cost = a_space * length - discount * 0.5 * g.tables.points[length & 15]
        paths.cost[route] = max(1, np.int64(np.floor(cost * UNIT + 0.5)))


@jitted
def lay_routes(g, paths, usable_low, usable_high):
    """List the usable routes at each city; of parallel ones only the cheapest, the first of equals."""
    for city in range(g.cities):
        paths.degree[city] = 0
        paths.next_to[city] = 0
    for w in range(g.words):
        usable = usable_low if w == 0 else usable_high
        while usable:
            route = 64 * w + lowest_bit(usable)
            usable &= usable - 1
            best = True
            for i in range(g.tables.family[route, 0]):
                other = g.tables.family[route, 1 + i]
                there = (usable_low >> other) & 1 if other < 64 else (usable_high >> (other - 64)) & 1
                if other != route and there:
                    cost = paths.cost[other] - paths.cost[route]
                    if cost < 0 or (cost == 0 and other < route):
                        best = False
            if best:
                a = g.tables.ends[route, 0]
                b = g.tables.ends[route, 1]
                _lay(paths, route, a, b)
                _lay(paths, route, b, a)


@inlined
def _lay(paths, route, a, b):
    n = paths.degree[a]
    paths.end[a, n] = b
    paths.price[a, n] = paths.cost[route]
    paths.route[a, n] = route
    paths.degree[a] = n + 1
    paths.next_to[a] |= city_bit(b)


@jitted
def _can_be_joined(g, paths, a, b):
    """Whether a path of usable routes leads from a to b without passing a terminal."""
    reached = city_bit(a)
    fresh = reached
    while fresh:
        city = lowest_bit(fresh)
        fresh &= fresh - 1
        if (g.terminals >> city) & 1 == 0 or city == a:
            found = paths.next_to[city] & ~reached
            reached |= found
            fresh |= found
        if (reached >> b) & 1:
            return True
    return False


@jitted
def list_tickets(g, paths, held_low, held_high):
    """The tickets that can still be joined, equal ones once; returns how many."""
    n = 0
    for w in range(2):
        held = held_low if w == 0 else held_high
        while held:
            ticket = 64 * w + lowest_bit(held)
            held &= held - 1
            a = min(g.tables.ticket[ticket, 0], g.tables.ticket[ticket, 1])
            b = max(g.tables.ticket[ticket, 0], g.tables.ticket[ticket, 1])
            known = False
            for i in range(n):
                known = known or (paths.tickets[i, 0] == a and paths.tickets[i, 1] == b)
            if not known and _can_be_joined(g, paths, a, b):
                paths.tickets[n, 0] = a
                paths.tickets[n, 1] = b
                n += 1
    return n


@jitted
def spread(g, paths, row, start, limit):
    """Carry the labels of a row on along routes, cheapest first; not beyond `limit`, not through terminals (but `start`)."""
    waiting = paths.reached[row]
    while waiting:
        rest = waiting
        here = lowest_bit(rest)
        least = paths.tree[row, here]
        rest &= rest - 1
        while rest:
            city = lowest_bit(rest)
            rest &= rest - 1
            if paths.tree[row, city] < least:
                least = paths.tree[row, city]
                here = city
        waiting ^= city_bit(here)
        if (g.terminals >> here) & 1 and here != start:
            continue
        for i in range(paths.degree[here]):
            there = paths.end[here, i]
            cost = least + paths.price[here, i]
            if cost > limit or ((paths.reached[row] >> there) & 1 and cost > paths.tree[row, there]):
                continue
            route = paths.route[here, i]
            low = paths.low[row, here] | (city_bit(route) if route < 64 else 0)
            high = paths.high[row, here] | (city_bit(route - 64) if route >= 64 else 0)
            if (paths.reached[row] >> there) & 1 and cost == paths.tree[row, there]:
                if not is_less(low, high, paths.low[row, there], paths.high[row, there]):
                    continue
            paths.tree[row, there] = cost
            paths.low[row, there] = low
            paths.high[row, there] = high
            paths.reached[row] |= city_bit(there)
            waiting |= city_bit(there)


@jitted
def start_at(g, paths, row, city, limit):
    """Labels of single paths from a city, none beyond `limit`."""
    paths.reached[row] = city_bit(city)
    paths.tree[row, city] = 0
    paths.low[row, city] = 0
    paths.high[row, city] = 0
    spread(g, paths, row, city, limit)
