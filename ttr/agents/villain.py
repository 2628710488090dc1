"""The villain: claims any route that touches an opponent's; if it can claim none of these, it plays as base."""

import numpy as np

from ttr.agents.claims import claimable_routes, random_member, random_payment
from ttr.agents.contract import agent
from ttr.agents.path import follow_path, routes_to_claim
from ttr.agents.ticket_choice import choose_tickets
from ttr.bits import lowest_bit
from ttr.jit import jitted
from ttr.state import CHOOSE, FIRST_CHOICE, TURN


@jitted
def opponents_cities(g, seen):
    """The cities at which a route of an opponent ends, as a set."""
    cities = np.int64(0)
    for p in range(g.players):
        if p != seen.player:
            for w in range(g.words):
                routes = seen.own[p, w]
                while routes:
                    route = 64 * w + lowest_bit(routes)
                    routes &= routes - 1
                    cities |= (1 << g.tables.ends[route, 0]) | (1 << g.tables.ends[route, 1])
    return cities


@jitted
def touching(g, cities, low, high):
    """Those routes of a set that end at one of the cities, as two words."""
    kept_low = np.int64(0)
    kept_high = np.int64(0)
    while low:
        route = lowest_bit(low)
        low &= low - 1
        if ((cities >> g.tables.ends[route, 0]) | (cities >> g.tables.ends[route, 1])) & 1:
            kept_low |= np.int64(1) << route
    while high:
        route = lowest_bit(high)
        high &= high - 1
        if ((cities >> g.tables.ends[route + 64, 0]) | (cities >> g.tables.ends[route + 64, 1])) & 1:
            kept_high |= np.int64(1) << route
    return kept_low, kept_high


@agent
def decide(g, seen, me, scratch):
    """Code of the villain's action, from what it sees."""
    if seen.phase == CHOOSE or seen.phase == FIRST_CHOICE:
        return choose_tickets(g, seen, me)
    if seen.phase == TURN:
        can_low, can_high = claimable_routes(g, seen)
        low, high = touching(g, opponents_cities(g, seen), can_low, can_high)
        if low | high:
            return random_payment(g, seen, me, random_member(me, low, high))
    low, high = routes_to_claim(g, seen, me, scratch.paths)
    return follow_path(g, seen, me, scratch.paths, low, high)
