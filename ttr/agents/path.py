"""The parts of the base player, shared by all who follow a path: find it; what it needs; claim on it; draw for it; do without.

The path is the cheapest set of routes that joins all tickets (path_search.py), the player's own routes at their full cost. It
depends on the tickets held and the routes still usable alone, and routes only ever cease to be usable: while none of its own does,
and no ticket comes, it stays the cheapest. So it is kept in the player's memory and looked for anew only then.
"""

import numpy as np

from ttr.actions import DRAW_TICKETS, claim_code, draw_code
from ttr.agents.claims import NO_CODE, free_routes, longest_claim
from ttr.agents.fallback import deck_or_fallback
from ttr.agents.params import Base, field_index
from ttr.agents.ticket_choice import choose_tickets
from ttr.bits import lowest_bit
from ttr.board import GREY, LOCOMOTIVE
from ttr.cards import ONE_LOCOMOTIVE, colours_in, count_of, locomotives_in, one
from ttr.deck import cards_to_draw
from ttr.jit import jitted
from ttr.path_search import best_routes, set_costs
from ttr.state import CHOOSE, FIRST_CHOICE, TURN
from ttr.tables import STEPWISE

COLOUR_COST, GREY_COST, POINTS_DISCOUNT, LOCOMOTIVE_COST, TICKETS_ABOVE = (
    field_index(Base, name) for name in ("colour_cost", "grey_cost", "points_discount", "locomotive_cost", "tickets_above")
)
_HELD, _PATH, MODE = 0, 2, 4  # places in the memory: tickets and path (two words each), and a habit's own


@jitted
def find_path(g, seen, me, paths):
    """All routes of the player's path, its own ones included, as two words; from memory while it holds. Scratch: paths."""
    seat = seen.player & 7
    free_low, free_high = free_routes(g, seen)
    usable_low = free_low | seen.own[seat, 0]
    usable_high = free_high | seen.own[seat, 1]
    low = me.memory[_PATH]
    high = me.memory[_PATH + 1]
    known = me.memory[_HELD] == seen.held[seat, 0] and me.memory[_HELD + 1] == seen.held[seat, 1]
    if not known or low & ~usable_low or high & ~usable_high:
        set_costs(g, paths, me.params[COLOUR_COST], me.params[GREY_COST], me.params[POINTS_DISCOUNT])
        low, high = best_routes(g, paths, usable_low, usable_high, seen.held[seat, 0], seen.held[seat, 1])
        me.memory[_PATH] = low
        me.memory[_PATH + 1] = high
        me.memory[_HELD] = seen.held[seat, 0]
        me.memory[_HELD + 1] = seen.held[seat, 1]
    return low, high


@jitted
def routes_to_claim(g, seen, me, paths):
    """The routes of the path that the player does not own yet, as two words; empty when the path is done or there is none."""
    low, high = find_path(g, seen, me, paths)
    seat = seen.player & 7
    return low & ~seen.own[seat, 0], high & ~seen.own[seat, 1]


@jitted
def note_needs(g, paths, low, high):
    """Write the cards that claiming these routes takes: by route colour, grey ones last; what is in hand is not subtracted."""
    for colour in range(9):
        paths.need[colour] = 0
    while low:
        route = lowest_bit(low)
        low &= low - 1
        paths.need[g.tables.colour[route] & 15] += g.tables.length[route]
    while high:
        route = 64 + lowest_bit(high)
        high &= high - 1
        paths.need[g.tables.colour[route] & 15] += g.tables.length[route]


@jitted
def claim_on_path(g, seen, me, paths, low, high):
    """Code of the best claim among these routes, the lowest of equals; NO_CODE if none can be paid for. Needs note_needs.

    The least of: the locomotive cost if any locomotive is used, plus the need of the route's colour if any card of a colour is
    used, minus the route's points. More locomotives than needed never cost less, and stand later.
    """
    seat = seen.player & 7
    hand = seen.hand[seat]
    locomotives = locomotives_in(hand)
    best = np.inf
    best_code = NO_CODE
    while low | high:
        if low:
            route = lowest_bit(low)
            low &= low - 1
        else:
            route = 64 + lowest_bit(high)
            high &= high - 1
        length = g.tables.length[route]
        if length > seen.cars[seat]:
            continue
        of = g.tables.colour[route]
        need = paths.need[of & 15] - 0.5 * g.tables.points[length & 15]
        first = 0 if of == GREY else of
        after = g.colours if of == GREY else of + 1
        for colour in range(first, after):
            used = max(0, length - count_of(hand, colour))
            if used <= locomotives and used < length:
                cost = need + (me.params[LOCOMOTIVE_COST] if used else 0.0)
                code = claim_code(route, colour, used)
                if cost < best or (cost == best and code < best_code):
                    best = cost
                    best_code = code
        if locomotives >= length:
            cost = me.params[LOCOMOTIVE_COST] - 0.5 * g.tables.points[length & 15]
            code = claim_code(route, np.int64(LOCOMOTIVE), length)
            if cost < best or (cost == best and code < best_code):
                best = cost
                best_code = code
    return best_code


@jitted
def _most_needed(paths, colours):
    """The most needed of some face-up colours, the first of equals; -1 if none is needed."""
    found = -1
    most = 0
    while colours:
        colour = lowest_bit(colours) // 7
        colours &= colours - 1
        if paths.need[colour] > most:
            most = paths.need[colour]
            found = colour
    return found


@jitted
def draw_for_path(g, seen, paths):
    """Code of the draw for the path: a face-up locomotive; else the most needed face-up colours; else the deck. Needs note_needs.

    What grey routes need never takes a face-up card.
    """
    row = seen.row
    if row >= ONE_LOCOMOTIVE and seen.phase == TURN:
        return draw_code(ONE_LOCOMOTIVE, 0)
    first = _most_needed(paths, colours_in(row))
    if g.drawing == STEPWISE:
        return draw_code(one(first), 0) if first >= 0 else deck_or_fallback(g, seen)
    if first >= 0:
        second = _most_needed(paths, colours_in(row - one(first)))
        if second >= 0:
            return draw_code(one(first) + one(second), 0)
        if cards_to_draw(seen) > 0:
            return draw_code(one(first), 1)
    return deck_or_fallback(g, seen)


@jitted
def without_path(g, seen, me):
    """Code of the action when the path is done or there is none: tickets if cars are many, the longest claim, or the deck."""
    if seen.waiting > 0 and seen.cars[seen.player & 7] > me.params[TICKETS_ABOVE]:
        return np.int64(DRAW_TICKETS)
    code = longest_claim(g, seen)
    return code if code != NO_CODE else deck_or_fallback(g, seen)


@jitted
def follow_path(g, seen, me, paths, low, high):
    """Code of the base player's action on a path of which these routes are to be claimed (algorithm 14). Scratch: paths."""
    if seen.phase == TURN and low | high == 0:
        return without_path(g, seen, me)
    note_needs(g, paths, low, high)
    if seen.phase == TURN:
        code = claim_on_path(g, seen, me, paths, low, high)
        if code != NO_CODE:
            return code
    return draw_for_path(g, seen, paths)


@jitted
def base_move(g, seen, me, paths):
    """Code of the base player's action, from what it sees (algorithm 11). Scratch: paths."""
    if seen.phase == CHOOSE or seen.phase == FIRST_CHOICE:
        return choose_tickets(g, seen, me)
    low, high = routes_to_claim(g, seen, me, paths)
    return follow_path(g, seen, me, paths, low, high)
