"""The hoarder: only draws until it holds a share of the cards its path needs, then claims until it cannot, then hoards again.

With tickets on its first turn it is the hoarder that wants more.
"""

import numpy as np

from ttr.actions import DRAW_TICKETS
from ttr.agents.claims import NO_CODE
from ttr.agents.contract import agent
from ttr.agents.params import Hoarder, field_index
from ttr.agents.path import MODE, claim_on_path, draw_for_path, note_needs, routes_to_claim, without_path
from ttr.agents.ticket_choice import choose_tickets
from ttr.board import GREY
from ttr.cards import count_of, locomotives_in
from ttr.jit import jitted
from ttr.state import CHOOSE, FIRST_CHOICE, TURN

SHARE = field_index(Hoarder, "share")
FIRST_TURN_TICKETS = field_index(Hoarder, "first_turn_tickets")


@jitted
def has_enough(g, hand, paths, share):
    """Whether a hand holds a share of the cards needed: of each colour, spare cards for grey routes, and locomotives."""
    needed = paths.need[GREY]
    held = locomotives_in(hand)
    spare = 0
    for colour in range(g.colours):
        cards = count_of(hand, colour)
        useful = min(cards, paths.need[colour])
        needed += paths.need[colour]
        held += useful
        spare += cards - useful
    return held + min(spare, paths.need[GREY]) >= share * needed


@agent
def decide(g, seen, me, scratch):
    """Code of the hoarder's action, from what it sees."""
    if seen.phase == CHOOSE or seen.phase == FIRST_CHOICE:
        return choose_tickets(g, seen, me)
    first_turn = seen.phase == TURN and seen.turn < g.players
    if first_turn and me.params[FIRST_TURN_TICKETS] != 0 and seen.waiting > 0:
        return np.int64(DRAW_TICKETS)
    paths = scratch.paths
    low, high = routes_to_claim(g, seen, me, paths)
    if seen.phase == TURN and low | high == 0:
        return without_path(g, seen, me)
    note_needs(g, paths, low, high)
    if seen.phase == TURN:
        if me.memory[MODE] == 0 and has_enough(g, seen.hand[seen.player & 7], paths, me.params[SHARE]):
            me.memory[MODE] = 1
        if me.memory[MODE]:
            code = claim_on_path(g, seen, me, paths, low, high)
            if code != NO_CODE:
                return code
            me.memory[MODE] = 0
    return draw_for_path(g, seen, paths)
