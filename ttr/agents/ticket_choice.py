"""Which of the tickets shown a player keeps: as few as it may, any legal choice, or all; its first fields say which, and when."""

from ttr.actions import keep_code
from ttr.agents.contract import pick
from ttr.agents.params import Tickets, field_index
from ttr.bits import popcount
from ttr.jit import jitted
from ttr.state import FIRST_CHOICE
from ttr.tickets import count_choices, nth_choice, revealed

FIRST = field_index(Tickets, "first_tickets")
LATER = field_index(Tickets, "later_tickets")
FEWEST, RANDOM, ALL = range(3)  # the order of params.Keep


@jitted
def _keep_fewest(g, seen, me):
    """Keep as few of the tickets as the rules allow (one, where they do not ask for more), which ones by chance."""
    choices = count_choices(g, seen)
    fewest = popcount(nth_choice(g, seen, 0))
    for k in range(choices):
        fewest = min(fewest, popcount(nth_choice(g, seen, k)))
    n = 0
    for k in range(choices):
        n += 1 if popcount(nth_choice(g, seen, k)) == fewest else 0
    left = pick(me, n)
    mask = nth_choice(g, seen, 0)
    for k in range(choices):
        if popcount(nth_choice(g, seen, k)) == fewest:
            if left == 0:
                mask = nth_choice(g, seen, k)
            left -= 1
    return keep_code(g, seen, mask)


@jitted
def choose_tickets(g, seen, me):
    """Code of the player's choice among the tickets it is shown."""
    how = me.params[FIRST if seen.phase == FIRST_CHOICE else LATER]
    if how == FEWEST:
        return _keep_fewest(g, seen, me)
    if how == RANDOM:
        return keep_code(g, seen, nth_choice(g, seen, pick(me, count_choices(g, seen))))
    return keep_code(g, seen, (1 << revealed(g, seen)) - 1)
