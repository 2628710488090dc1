"""The random smart player: in some of its turns a random claim on its path or else a random draw; in the others as base."""

from ttr.agents.chance import by_chance
from ttr.agents.claims import claimable_routes, random_member, random_payment
from ttr.agents.contract import agent
from ttr.agents.path import follow_path, routes_to_claim
from ttr.agents.random_action import random_draw
from ttr.agents.ticket_choice import choose_tickets
from ttr.state import CHOOSE, FIRST_CHOICE, TURN


@agent
def decide(g, seen, me, scratch):
    """Code of the random smart player's action, from what it sees."""
    if seen.phase == CHOOSE or seen.phase == FIRST_CHOICE:
        return choose_tickets(g, seen, me)
    low, high = routes_to_claim(g, seen, me, scratch.paths)
    if not by_chance(seen, me):
        return follow_path(g, seen, me, scratch.paths, low, high)
    if seen.phase == TURN:
        can_low, can_high = claimable_routes(g, seen)
        if low & can_low | high & can_high:
            return random_payment(g, seen, me, random_member(me, low & can_low, high & can_high))
    return random_draw(g, seen, me)
