"""The greedy player: claims a route whenever it can, any one, and draws from the deck when it cannot."""

from ttr.agents.claims import claimable_routes, random_member, random_payment
from ttr.agents.contract import agent
from ttr.agents.fallback import deck_or_fallback
from ttr.agents.ticket_choice import choose_tickets
from ttr.state import CHOOSE, FIRST_CHOICE, TURN


@agent
def decide(g, seen, me, scratch):
    """Code of the greedy player's action, from what it sees."""
    if seen.phase == CHOOSE or seen.phase == FIRST_CHOICE:
        return choose_tickets(g, seen, me)
    if seen.phase == TURN:
        low, high = claimable_routes(g, seen)
        if low | high:
            return random_payment(g, seen, me, random_member(me, low, high))
    return deck_or_fallback(g, seen)
