"""The greedy player: claims a route whenever it can, any one, and draws from the deck when it cannot.

It keeps all its first tickets, and a single one of those drawn later.
"""

from ttr.actions import claim_code, count_actions, keep_code, nth_code
from ttr.agents.contract import agent, pick
from ttr.agents.random import keep_fewest
from ttr.bits import lowest_bit, nth_bit, popcount
from ttr.claim import count_claims, nth_claim
from ttr.deck import cards_to_draw
from ttr.draw import count_first_draws, count_second_draws
from ttr.jit import jitted
from ttr.state import CHOOSE, FIRST_CHOICE, SECOND_CARD
from ttr.tickets import revealed


@jitted
def random_claim(g, seen, me, claims):
    """A claimable route, each as likely, then one of the ways to pay for it; `claims` as just counted."""
    low = 0
    high = 0
    for k in range(claims):
        route, _, _ = nth_claim(g, seen, k)
        if route < 64:
            low |= 1 << route
        else:
            high |= 1 << (route - 64)
    k = pick(me, popcount(low) + popcount(high))
    if k < popcount(low):
        wanted = lowest_bit(nth_bit(low, k))
    else:
        wanted = 64 + lowest_bit(nth_bit(high, k - popcount(low)))
    ways = 0
    for k in range(claims):
        route, _, _ = nth_claim(g, seen, k)
        ways += 1 if route == wanted else 0
    left = pick(me, ways)
    code = 0
    for k in range(claims):
        route, colour, locomotives = nth_claim(g, seen, k)
        if route == wanted:
            if left == 0:
                code = claim_code(route, colour, locomotives)
            left -= 1
    return code


@agent
def decide(g, seen, me, scratch):
    """Code of the greedy player's action, from what it sees."""
    if seen.phase == FIRST_CHOICE:
        return keep_code(g, seen, (1 << revealed(g, seen)) - 1)
    if seen.phase == CHOOSE:
        return keep_fewest(g, seen, me)
    n = count_actions(g, seen)
    if seen.phase == SECOND_CARD:
        draws = count_second_draws(seen)
    else:
        claims = count_claims(g, seen)
        if claims:
            return random_claim(g, seen, me, claims)
        draws = count_first_draws(g, seen)
    if cards_to_draw(seen) > 0:
        return nth_code(g, seen, draws - 1, n)  # the deck is the last way to draw
    if draws:
        return nth_code(g, seen, pick(me, draws), n)
    return nth_code(g, seen, 0, n)  # tickets if there are any, else a pass
