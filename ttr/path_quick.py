"""A cheap set of routes that joins all tickets, found quickly.

Tickets are joined one after another, in several orders, each by the cheapest path that uses the others' routes for nothing, then
joined anew one by one while that helps.
"""

import numpy as np

from ttr.bits import lowest_bit
from ttr.jit import jitted
from ttr.path_graph import FAR, SPARE, city_bit, is_less


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
    row = SPARE
    paths.reached[row] = city_bit(a)
    paths.tree[row, a] = 0
    paths.low[row, a] = 0
    paths.high[row, a] = 0
    waiting = city_bit(a)
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
        waiting ^= city_bit(here)
        done |= city_bit(here)
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
            paths.low[row, there] = paths.low[row, here] | (city_bit(route) if route < 64 else 0)
            paths.high[row, there] = paths.high[row, here] | (city_bit(route - 64) if route >= 64 else 0)
            waiting |= city_bit(there)
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
