"""The base player: finds the cheapest set of routes that joins all its tickets, claims on it, and else draws for it."""

from ttr.agents.contract import agent
from ttr.agents.path import follow_path, routes_to_claim
from ttr.agents.ticket_choice import choose_tickets
from ttr.state import CHOOSE, FIRST_CHOICE


@agent
def decide(g, seen, me, scratch):
    """Code of the base player's action, from what it sees (algorithm 11)."""
    if seen.phase == CHOOSE or seen.phase == FIRST_CHOICE:
        return choose_tickets(g, seen, me)
    low, high = routes_to_claim(g, seen, me, scratch.paths)
    return follow_path(g, seen, me, scratch.paths, low, high)
