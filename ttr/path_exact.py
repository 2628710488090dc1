"""The cheapest set of routes that joins all tickets: a Steiner forest, for few cities, by dynamic programming.

The cheapest tree that joins a set of ticket cities and reaches a city grows out of two smaller ones that meet there, or along a
route (Dreyfus and Wagner). Tickets then share trees in the cheapest way. Labels that cannot be part of the answer are dropped:
those that cost too much to finish, and those that carry finished tickets along at a loss.
"""

import numpy as np

from ttr.bits import lowest_bit
from ttr.jit import inlined, jitted
from ttr.path_graph import FAR, city_bit, is_less, spread, start_at


@jitted
def list_cities(paths, tickets):
    """The cities of the tickets, each once; returns how many."""
    seen = np.int64(0)
    q = 0
    for i in range(tickets):
        for end in range(2):
            city = paths.tickets[i, end]
            if (seen >> city) & 1 == 0:
                seen |= city_bit(city)
                paths.city[q] = city
                q += 1
    return q


@jitted
def list_groups(g, paths, tickets, cities):
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
def _meet(g, paths, joined, limit):
    """Labels of a set of cities where the trees of two parts of it meet; terminals are no places to meet."""
    paths.reached[joined] = 0
    rest = joined & (joined - 1)
    part = rest
    while part:  # a part without the first city, and the others: all ways to split
        other = joined ^ part
        both = paths.reached[part] & paths.reached[other] & ~g.terminals
        while both:
            v = lowest_bit(both)
            both &= both - 1
            cost = paths.tree[part, v] + paths.tree[other, v]
            known = (paths.reached[joined] >> v) & 1
            if cost > limit or (known and cost > paths.tree[joined, v]):
                continue
            low = paths.low[part, v] | paths.low[other, v]
            high = paths.high[part, v] | paths.high[other, v]
            if known and cost == paths.tree[joined, v] and not is_less(low, high, paths.low[joined, v], paths.high[joined, v]):
                continue
            paths.tree[joined, v] = cost
            paths.low[joined, v] = low
            paths.high[joined, v] = high
            paths.reached[joined] |= city_bit(v)
        part = (part - 1) & rest


@jitted
def _drop_hopeless(paths, cities, joined, begun, to_come, finished, limit):
    """Forget the labels that no answer needs.

    `begun` are those of the cities joined whose groups lack the cities `to_come`: with too far to go to these, a label is too dear.
    `finished` is the cost of the other groups on their own: a label dearer than theirs and that of `begun` carries them at a loss.
    """
    rest = paths.reached[joined]
    while rest:
        v = lowest_bit(rest)
        rest &= rest - 1
        cost = paths.tree[joined, v]
        apart = finished
        if begun and begun != joined:
            apart += paths.tree[begun, v] if (paths.reached[begun] >> v) & 1 else FAR
        elif begun:
            apart = FAR
        if cost > apart or cost + _still_to_pay(paths, cities, to_come, v) > limit:
            paths.reached[joined] ^= city_bit(v)


@jitted
def _grow_trees(g, paths, cities, groups, limit):
    """Fill the labels of all sets of cities but the last, larger sets from smaller ones."""
    for i in range(cities):
        start_at(g, paths, _row_of(cities, 1 << i), paths.city[i], limit)
    for joined in range(3, 1 << (cities - 1)):
        if joined & (joined - 1) == 0:
            continue
        begun = np.int64(0)
        to_come = np.int64(0)
        complete = 0
        for k in range(groups):
            missing = paths.group[k] & ~joined
            if missing == 0:
                complete |= 1 << k
            elif paths.group[k] & joined:
                begun |= paths.group[k] & joined
                to_come |= missing
        _meet(g, paths, joined, limit)
        if begun == 0:
            _share_out(paths, cities, groups, complete)
        finished = paths.forest[complete, 0]
        _drop_hopeless(paths, cities, joined, begun, to_come, finished, limit)
        spread(g, paths, joined, -1, limit)
        _drop_hopeless(paths, cities, joined, begun, to_come, finished, limit)


@jitted
def _share_out(paths, cities, groups, some):
    """The cheapest way to share out some groups among trees, all subsets of them having been done."""
    paths.forest[some, 0] = FAR
    first = some & -some
    rest = some ^ first
    part = rest
    while True:  # the groups that share a tree with the first one: all subsets of the rest
        members = np.int64(0)
        for k in range(groups):
            if ((part | first) >> k) & 1:
                members |= paths.group[k]
        root = cities - 1 if members >> (cities - 1) else lowest_bit(members)
        row = _row_of(cities, members ^ (1 << root))
        v = paths.city[root]
        others = rest ^ part
        cost = paths.tree[row, v] + paths.forest[others, 0] if (paths.reached[row] >> v) & 1 else FAR
        if cost <= paths.forest[some, 0] and cost < FAR:
            low = paths.low[row, v] | paths.forest[others, 1]
            high = paths.high[row, v] | paths.forest[others, 2]
            if cost < paths.forest[some, 0] or is_less(low, high, paths.forest[some, 1], paths.forest[some, 2]):
                paths.forest[some, 0] = cost
                paths.forest[some, 1] = low
                paths.forest[some, 2] = high
        if part == 0:
            break
        part = (part - 1) & rest


@jitted
def exact_forest(g, paths, cities, groups, limit):
    """The cheapest set of routes for all groups of tickets, as two words; `limit` is what some set is known to cost."""
    for k in range(3):
        paths.forest[0, k] = 0
    for some in range(1, 1 << groups):
        paths.forest[some, 0] = FAR
    _grow_trees(g, paths, cities, groups, limit)
    for some in range(1, 1 << groups):
        _share_out(paths, cities, groups, some)
    all_groups = (1 << groups) - 1
    return paths.forest[all_groups, 1], paths.forest[all_groups, 2]
