"""The base player: finds the cheapest set of routes that joins all its tickets, claims on it, and else draws for it."""

from ttr.agents.contract import agent
from ttr.agents.path import base_move


@agent
def decide(g, seen, me, scratch):
    """Code of the base player's action, from what it sees (algorithm 11)."""
    return base_move(g, seen, me, scratch.paths)
