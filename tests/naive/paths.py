"""The cheapest set of routes that joins all tickets, by trying all paths of all tickets; nothing is clever but giving up early."""

from fractions import Fraction

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import lil_matrix


def route_cost(board, rules, i, colour_cost=8, grey_cost=1, discount=Fraction(1, 10)):
    """Algorithm 12 of the Warwick report."""
    route = board.routes[i]
    return (grey_cost if route.colour == 8 else colour_cost) * route.length - discount * Fraction(rules.points[route.length - 1])


def simple_paths(board, usable, a, b):
    """Every path of usable routes from a to b that visits no city twice and passes no terminal, as sets of ids."""
    found = []
    routes_at = {city: [] for city in range(len(board.cities))}
    for i in usable:
        routes_at[board.routes[i].a].append((i, board.routes[i].b))
        routes_at[board.routes[i].b].append((i, board.routes[i].a))

    def onward(city, visited, used):
        if city == b:
            found.append(frozenset(used))
            return
        if city in board.terminals and city != a:
            return
        for i, other in routes_at[city]:
            if other not in visited:
                onward(other, visited | {other}, [*used, i])

    onward(a, {a}, [])
    return found


def best_routes(board, rules, usable, tickets):
    """Of all ways to take one path for each ticket that has any: the least total cost, then the least list of ids."""
    cost = {i: int(1000 * route_cost(board, rules, i)) for i in usable}  # exact: thousandths

    def total(routes):
        return sum(cost[i] for i in routes)

    choices = []
    for t in tickets:
        paths = simple_paths(board, usable, board.tickets[t].a, board.tickets[t].b)
        if paths:
            choices.append(sorted(((total(p), sorted(p), p) for p in paths), key=lambda entry: entry[:2]))
    choices.sort(key=len)
    union_of_cheapest = frozenset().union(*(paths[0][2] for paths in choices)) if choices else frozenset()
    best = (total(union_of_cheapest), sorted(union_of_cheapest))

    def extend(k, routes, spent):
        nonlocal best
        if k == len(choices):
            best = min(best, (spent, sorted(routes)))
            return
        for alone, _, path in choices[k]:
            if alone > best[0]:  # the whole costs at least as much as any of its paths
                break
            more = spent + total(path - routes)
            if more <= best[0]:
                extend(k + 1, routes | path, more)

    extend(0, frozenset(), 0)
    return best[1]


def cheapest_cost(board, rules, usable, tickets):
    """Least cost, in thousandths, of usable routes that join these tickets (all of which can be joined): an integer program.

    Each ticket sends one unit from city to city; a route pays once for all tickets that pass it. Terminals pass nothing on.
    """
    routes = list(usable)
    cost = np.array([int(1000 * route_cost(board, rules, i)) for i in routes], float)
    n, cities = len(routes), len(board.cities)
    width = n * (1 + 2 * len(tickets))  # routes taken; then for each ticket what flows from a to b and from b to a
    upper = np.ones(width)
    balance = lil_matrix((cities * len(tickets), width))
    wanted = np.zeros(cities * len(tickets))
    paid = lil_matrix((n * len(tickets), width))
    for k, t in enumerate(tickets):
        source, target = board.tickets[t].a, board.tickets[t].b
        wanted[cities * k + source], wanted[cities * k + target] = 1, -1
        for j, i in enumerate(routes):
            for way, (tail, head) in enumerate(((board.routes[i].a, board.routes[i].b), (board.routes[i].b, board.routes[i].a))):
                column = n * (1 + 2 * k + way) + j
                balance[cities * k + tail, column] = 1
                balance[cities * k + head, column] = -1
                paid[n * k + j, column] = 1
                if (tail in board.terminals and tail != source) or (head in board.terminals and head != target):
                    upper[column] = 0
            paid[n * k + j, j] = -1
    found = milp(
        np.concatenate([cost, np.zeros(width - n)]),
        integrality=np.concatenate([np.ones(n), np.zeros(width - n)]),
        bounds=Bounds(0, upper),
        constraints=[LinearConstraint(balance.tocsr(), wanted, wanted), LinearConstraint(paid.tocsr(), -np.inf, 0)],
    )
    assert found.success, found.message
    return round(found.fun)
