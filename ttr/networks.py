"""The networks of a player: which cities its routes join.

A network is a set of cities, one word. No path passes through a terminal city, so a terminal joins nothing: it belongs to
the network of each city that a route leads from it to. A ticket is completed when one network holds both its cities.
"""

import numpy as np

from ttr.bits import lowest_bit
from ttr.jit import inlined

NETWORKS = np.dtype([("neighbours", "i8", 64), ("cities", "i8", 64)], align=True)


@inlined
def find_networks(g, s, player, work):
    """Write the player's networks to work.cities, as sets of cities; returns how many. Scratch: work.neighbours."""
    touched = 0
    for city in range(g.cities):
        work.neighbours[city] = 0
    for w in range(g.words):
        routes = s.own[player, w]
        while routes:
            route = 64 * w + lowest_bit(routes)
            routes &= routes - 1
            a = g.tables.ends[route, 0] & 63
            b = g.tables.ends[route, 1] & 63
            work.neighbours[a] |= 1 << b
            work.neighbours[b] |= 1 << a
            touched |= (1 << a) | (1 << b)
    n = 0
    touched &= ~g.terminals
    while touched:
        network = touched & -touched
        fresh = network
        while fresh:
            joined = work.neighbours[lowest_bit(fresh)]
            fresh = ((fresh & (fresh - 1)) | (joined & ~network)) & ~g.terminals
            network |= joined
        work.cities[n & 63] = network
        n += 1
        touched &= ~network
    return n


@inlined
def is_completed(g, ticket, work, networks):
    """Whether one of the networks holds both cities of a ticket."""
    a = g.tables.ticket[ticket, 0]
    b = g.tables.ticket[ticket, 1]
    found = 0
    for i in range(networks):
        found |= (work.cities[i & 63] >> a) & (work.cities[i & 63] >> b)
    return found & 1
