"""The pile player: as base, but it draws from the deck alone, and without a path to follow it draws on while it can.

One whose fields forbid drawing tickets is the pile ticket hater.
"""

import numpy as np

from ttr.actions import DRAW_TICKETS
from ttr.agents.claims import NO_CODE, longest_claim
from ttr.agents.contract import agent
from ttr.agents.fallback import deck_code, deck_or_fallback
from ttr.agents.params import Pile, field_index
from ttr.agents.path import TICKETS_ABOVE, claim_on_path, note_needs, routes_to_claim
from ttr.agents.ticket_choice import choose_tickets
from ttr.deck import cards_to_draw
from ttr.jit import jitted
from ttr.state import CHOOSE, FIRST_CHOICE, TURN

DRAWS_TICKETS = field_index(Pile, "draws_tickets")
WITHOUT_PATH = field_index(Pile, "without_path")
DRAW_ON = 0  # the order of its words


@jitted
def without_path(g, seen, me):
    """Code of the action when the path is done or there is none: tickets if cars are many, cards while two are left, or as base."""
    if me.params[DRAWS_TICKETS] != 0 and seen.waiting > 0 and seen.cars[seen.player & 7] > me.params[TICKETS_ABOVE]:
        return np.int64(DRAW_TICKETS)
    if me.params[WITHOUT_PATH] == DRAW_ON and cards_to_draw(seen) >= 2:
        return deck_code(g)
    code = longest_claim(g, seen)
    return code if code != NO_CODE else deck_or_fallback(g, seen)


@agent
def decide(g, seen, me, scratch):
    """Code of the pile player's action, from what it sees."""
    if seen.phase == CHOOSE or seen.phase == FIRST_CHOICE:
        return choose_tickets(g, seen, me)
    if seen.phase == TURN:
        low, high = routes_to_claim(g, seen, me, scratch.paths)
        if low | high == 0:
            return without_path(g, seen, me)
        note_needs(g, scratch.paths, low, high)
        code = claim_on_path(g, seen, me, scratch.paths, low, high)
        if code != NO_CODE:
            return code
    return deck_or_fallback(g, seen)
