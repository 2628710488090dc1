"""The random player: every legal action is as likely as any other (its fields say whether drawing tickets is one)."""

from ttr.agents.contract import agent
from ttr.agents.params import Random, field_index
from ttr.agents.random_action import random_action
from ttr.agents.ticket_choice import choose_tickets
from ttr.state import CHOOSE, FIRST_CHOICE

DRAWS_TICKETS = field_index(Random, "draws_tickets")


@agent
def decide(g, seen, me, scratch):
    """Code of a random legal action, from what the player sees."""
    if seen.phase == CHOOSE or seen.phase == FIRST_CHOICE:
        return choose_tickets(g, seen, me)
    return random_action(g, seen, me, me.params[DRAWS_TICKETS] != 0)
