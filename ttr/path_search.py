"""The cheapest set of routes that joins the two cities of every ticket: a Steiner forest.

Exact for few cities, by dynamic programming: the cheapest tree that joins a set of ticket cities and reaches a city grows out of
two smaller ones that meet there, or along a route (Dreyfus and Wagner); tickets then share trees in the cheapest way. Trees that
cost more than a quickly found set are never grown. Beyond MAX_EXACT cities that quickly found set is the answer: tickets are
joined one after another, in several orders, each by the cheapest path that uses the others' routes for nothing, then joined
anew one by one while that helps.

Of equally cheap sets the least one counts, ids compared in ascending order. Costs are positive, so neither of two such sets
contains the other, and the lesser is the one with the lowest id that they do not share: an order that sums respect as costs do.
A terminal city ends a path, so a tree may touch it, but never leads through it.
"""

import numpy as np

from ttr.bits import lowest_bit
from ttr.jit import inlined, jitted
from ttr.tables import MAX_CITIES, MAX_ROUTES, MAX_TICKETS

MAX_EXACT = 10  # cities of the tickets, for the exact search
MAX_GROUPS = 8  # groups of tickets that may share trees, for the exact search
ROWS = (1 << (MAX_EXACT - 1)) + 2
_SPARE = ROWS - 1  # a row of labels for single paths
FAR = 1 << 50
UNIT = 1000  # costs are whole thousandths

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
def _bit(city):
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
def _lay_routes(g, paths, usable_low, usable_high):
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
    paths.next_to[a] |= _bit(b)


@jitted
def _can_be_joined(g, paths, a, b):
    """Whether a path of usable routes leads from a to b without passing a terminal."""
    reached = _bit(a)
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
def _list_tickets(g, paths, held_low, held_high):
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
def _list_cities(paths, tickets):
    """The cities of the tickets, each once; returns how many."""
    seen = np.int64(0)
    q = 0
    for i in range(tickets):
        for end in range(2):
            city = paths.tickets[i, end]
            if (seen >> city) & 1 == 0:
                seen |= _bit(city)
                paths.city[q] = city
                q += 1
    return q


@jitted
def _list_groups(g, paths, tickets, cities):
    """Tickets that meet in a city belong to one tree (in a terminal they need not); returns the number of such groups."""
    groups = 0
    for t in range(tickets):
        group = np.int64(0)
        inner = np.int64(0)  # without terminals, where two trees may touch
        for i in range(cities):
            if paths.city[i] == paths.tickets[t, 0] or paths.city[i] == paths.tickets[t, 1]:
                group |= 1 << i
        k = 0
        while k < groups:
            inner = np.int64(0)
            common = group & paths.group[k]
            while common:
                i = lowest_bit(common)
                common &= common - 1
                if (g.terminals >> paths.city[i]) & 1 == 0:
                    inner |= 1 << i
            if inner:
                group |= paths.group[k]
                groups -= 1
                paths.group[k] = paths.group[groups]
                k = 0
            else:
                k += 1
        paths.group[groups] = group
        groups += 1
    return groups


@jitted
def _spread(g, paths, row, start, limit):
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
        waiting ^= _bit(here)
        if (g.terminals >> here) & 1 and here != start:
            continue
        for i in range(paths.degree[here]):
            there = paths.end[here, i]
            cost = least + paths.price[here, i]
            if cost > limit or ((paths.reached[row] >> there) & 1 and cost > paths.tree[row, there]):
                continue
            route = paths.route[here, i]
            low = paths.low[row, here] | (_bit(route) if route < 64 else 0)
            high = paths.high[row, here] | (_bit(route - 64) if route >= 64 else 0)
            if (paths.reached[row] >> there) & 1 and cost == paths.tree[row, there]:
                if not is_less(low, high, paths.low[row, there], paths.high[row, there]):
                    continue
            paths.tree[row, there] = cost
            paths.low[row, there] = low
            paths.high[row, there] = high
            paths.reached[row] |= _bit(there)
            waiting |= _bit(there)


@jitted
def _start_at(g, paths, row, city):
    """Labels of single paths from a city."""
    paths.reached[row] = _bit(city)
    paths.tree[row, city] = 0
    paths.low[row, city] = 0
    paths.high[row, city] = 0
    _spread(g, paths, row, city, FAR)


@jitted
def _set_cost(g, paths, low, high):
    cost = 0
    while low:
        cost += paths.cost[lowest_bit(low)]
        low &= low - 1
    while high:
        cost += paths.cost[64 + lowest_bit(high)]
        high &= high - 1
    return cost


@jitted
def _join_one(g, paths, a, b, low, high):
    """The path that joins a and b most cheaply when the routes of a set cost nothing, as a set."""
    row = _SPARE
    paths.reached[row] = _bit(a)
    paths.tree[row, a] = 0
    paths.low[row, a] = 0
    paths.high[row, a] = 0
    waiting = _bit(a)
    done = np.int64(0)
    while waiting:
        rest = waiting
        here = lowest_bit(rest)
        rest &= rest - 1
        while rest:
            city = lowest_bit(rest)
            rest &= rest - 1
            if paths.tree[row, city] < paths.tree[row, here]:
                here = city
        if here == b:
            break
        waiting ^= _bit(here)
        done |= _bit(here)
        if (g.terminals >> here) & 1 and here != a:
            continue
        for i in range(paths.degree[here]):
            there = paths.end[here, i]
            if (done >> there) & 1:
                continue
            route = paths.route[here, i]
            chosen = (low >> route) & 1 if route < 64 else (high >> (route - 64)) & 1
            cost = paths.tree[row, here] + (0 if chosen else paths.price[here, i])
            if (waiting >> there) & 1 and cost >= paths.tree[row, there]:
                continue
            paths.tree[row, there] = cost
            paths.low[row, there] = paths.low[row, here] | (_bit(route) if route < 64 else 0)
            paths.high[row, there] = paths.high[row, here] | (_bit(route - 64) if route >= 64 else 0)
            waiting |= _bit(there)
    return paths.low[row, b], paths.high[row, b]


@jitted
def _others(paths, tickets, left_out):
    """The routes of all tickets' paths but one."""
    low = np.int64(0)
    high = np.int64(0)
    for t in range(tickets):
        if t != left_out:
            low |= paths.joined[t, 0]
            high |= paths.joined[t, 1]
    return low, high


@jitted
def quick_forest(g, paths, tickets):
    """A cheap set of routes that joins all tickets: the best of several orders, improved ticket by ticket. (cost, low, high)"""
    best = FAR
    best_low = np.int64(0)
    best_high = np.int64(0)
    for first in range(tickets):
        low = np.int64(0)
        high = np.int64(0)
        for i in range(tickets):
            t = (first + i) % tickets
            more_low, more_high = _join_one(g, paths, paths.tickets[t, 0], paths.tickets[t, 1], low, high)
            paths.joined[t, 0] = more_low
            paths.joined[t, 1] = more_high
            low |= more_low
            high |= more_high
        cost = _set_cost(g, paths, low, high)
        better = tickets > 1
        while better:
            better = False
            for t in range(tickets):
                rest_low, rest_high = _others(paths, tickets, t)
                more_low, more_high = _join_one(g, paths, paths.tickets[t, 0], paths.tickets[t, 1], rest_low, rest_high)
                now = _set_cost(g, paths, rest_low | more_low, rest_high | more_high)
                if now < cost:
                    cost = now
                    paths.joined[t, 0] = more_low
                    paths.joined[t, 1] = more_high
                    better = True
        low, high = _others(paths, tickets, -1)
        if cost < best or (cost == best and is_less(low, high, best_low, best_high)):
            best = cost
            best_low = low
            best_high = high
    return best, best_low, best_high


@inlined
def _still_to_pay(paths, cities, open_cities, v):
    """At least so much must be paid at a city reached: the longest way on to a city of a group begun."""
    most = 0
    while open_cities:
        i = lowest_bit(open_cities)
        open_cities &= open_cities - 1
        row = _row_of(cities, 1 << i)
        if (paths.reached[row] >> v) & 1 == 0:
            return FAR
        most = max(most, paths.tree[row, v])
    return most


@inlined
def _row_of(cities, joined):
    """Row of a set of cities; the last city is only ever reached, so its single paths have a row after the others."""
    return min(joined, 1 << (cities - 1))


@jitted
def _grow_trees(g, paths, cities, groups, limit):
    """Fill the labels of all sets of cities but the last, larger sets from smaller ones."""
    for i in range(cities):
        _start_at(g, paths, _row_of(cities, 1 << i), paths.city[i])
    inner = ~g.terminals
    for joined in range(3, 1 << (cities - 1)):
        if joined & (joined - 1) == 0:
            continue
        begun = np.int64(0)
        for k in range(groups):
            if paths.group[k] & joined:
                begun |= paths.group[k] & ~joined
        paths.reached[joined] = 0
        first = joined & -joined
        rest = joined ^ first
        part = rest
        while part:  # the part without the first city; together with the rest all ways to split
            other = joined ^ part
            both = paths.reached[part] & paths.reached[other] & inner
            while both:
                v = lowest_bit(both)
                both &= both - 1
                cost = paths.tree[part, v] + paths.tree[other, v]
                if cost > limit or ((paths.reached[joined] >> v) & 1 and cost > paths.tree[joined, v]):
                    continue
                low = paths.low[part, v] | paths.low[other, v]
                high = paths.high[part, v] | paths.high[other, v]
                if (paths.reached[joined] >> v) & 1 and cost == paths.tree[joined, v]:
                    if not is_less(low, high, paths.low[joined, v], paths.high[joined, v]):
                        continue
                paths.tree[joined, v] = cost
                paths.low[joined, v] = low
                paths.high[joined, v] = high
                paths.reached[joined] |= _bit(v)
            part = (part - 1) & rest
        _drop_hopeless(paths, cities, joined, begun, limit)
        _spread(g, paths, joined, -1, limit)
        _drop_hopeless(paths, cities, joined, begun, limit)


@jitted
def _drop_hopeless(paths, cities, joined, begun, limit):
    """Forget the labels from which the groups begun cannot be finished within the limit."""
    if begun:
        rest = paths.reached[joined]
        while rest:
            v = lowest_bit(rest)
            rest &= rest - 1
            if paths.tree[joined, v] + _still_to_pay(paths, cities, begun, v) > limit:
                paths.reached[joined] ^= _bit(v)


@jitted
def _exact_forest(g, paths, cities, groups, limit):
    """The cheapest way to share out the groups of tickets among trees."""
    _grow_trees(g, paths, cities, groups, limit)
    last = 1 << (cities - 1)
    paths.forest[0, 0] = 0
    paths.forest[0, 1] = 0
    paths.forest[0, 2] = 0
    for some in range(1, 1 << groups):
        paths.forest[some, 0] = FAR
        first = some & -some
        rest = some ^ first
        part = rest
        while True:  # the groups that share a tree with the first one: all subsets of the rest
            members = np.int64(0)
            for k in range(groups):
                if ((part | first) >> k) & 1:
                    members |= paths.group[k]
            root = cities - 1 if members & last else lowest_bit(members)
            row = _row_of(cities, members ^ (1 << root))
            v = paths.city[root]
            others = rest ^ part
            if (paths.reached[row] >> v) & 1 and paths.forest[others, 0] < FAR:
                cost = paths.tree[row, v] + paths.forest[others, 0]
                low = paths.low[row, v] | paths.forest[others, 1]
                high = paths.high[row, v] | paths.forest[others, 2]
                if cost < paths.forest[some, 0] or (
                    cost == paths.forest[some, 0] and is_less(low, high, paths.forest[some, 1], paths.forest[some, 2])
                ):
                    paths.forest[some, 0] = cost
                    paths.forest[some, 1] = low
                    paths.forest[some, 2] = high
            if part == 0:
                break
            part = (part - 1) & rest
    all_groups = (1 << groups) - 1
    return paths.forest[all_groups, 1], paths.forest[all_groups, 2]


@jitted
def best_routes(g, paths, usable_low, usable_high, held_low, held_high):
    """The cheapest set of usable routes that joins every ticket that can still be joined, as two words; needs set_costs.

    Empty if there is none to join. Scratch: paths.
    """
    _lay_routes(g, paths, usable_low, usable_high)
    tickets = _list_tickets(g, paths, held_low, held_high)
    if tickets == 0:
        return np.int64(0), np.int64(0)
    cities = _list_cities(paths, tickets)
    if cities <= MAX_EXACT:
        groups = _list_groups(g, paths, tickets, cities)
        if groups <= MAX_GROUPS:
            limit = FAR
            if cities > 2:
                limit, _, _ = quick_forest(g, paths, tickets)
            return _exact_forest(g, paths, cities, groups, limit)
    _, low, high = quick_forest(g, paths, tickets)
    return low, high
