"""The random base player: in some of its turns any legal action but drawing tickets; in the others it plays as base."""

from ttr.agents.chance import by_chance
from ttr.agents.contract import agent
from ttr.agents.params import RandomBase, field_index
from ttr.agents.path import follow_path, routes_to_claim
from ttr.agents.random_action import random_action
from ttr.agents.ticket_choice import choose_tickets
from ttr.state import CHOOSE, FIRST_CHOICE

DRAWS_TICKETS = field_index(RandomBase, "draws_tickets")


@agent
def decide(g, seen, me, scratch):
    """Code of the random base player's action, from what it sees."""
    if seen.phase == CHOOSE or seen.phase == FIRST_CHOICE:
        return choose_tickets(g, seen, me)
    if by_chance(seen, me):
        return random_action(g, seen, me, me.params[DRAWS_TICKETS] != 0)
    low, high = routes_to_claim(g, seen, me, scratch.paths)
    return follow_path(g, seen, me, scratch.paths, low, high)
