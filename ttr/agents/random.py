"""The random player: every legal action is as likely as any other; of tickets drawn later it keeps a single one."""

from ttr.actions import count_actions, keep_code, nth_code
from ttr.agents.contract import agent, pick
from ttr.bits import popcount
from ttr.jit import jitted
from ttr.state import CHOOSE
from ttr.tickets import count_choices, nth_choice


@jitted
def keep_fewest(g, seen, me):
    """Keep as few of the tickets drawn as the rules allow (one, where they do not ask for more), which ones by chance."""
    choices = count_choices(g, seen)
    fewest = popcount(nth_choice(g, seen, 0))
    for k in range(choices):
        fewest = min(fewest, popcount(nth_choice(g, seen, k)))
    n = 0
    for k in range(choices):
        n += 1 if popcount(nth_choice(g, seen, k)) == fewest else 0
    left = pick(me, n)
    for k in range(choices):
        mask = nth_choice(g, seen, k)
        if popcount(mask) == fewest:
            if left == 0:
                return keep_code(g, seen, mask)
            left -= 1
    return keep_code(g, seen, nth_choice(g, seen, 0))


@agent
def decide(g, seen, me, scratch):
    """Code of a random legal action, from what the player sees."""
    if seen.phase == CHOOSE:
        return keep_fewest(g, seen, me)
    n = count_actions(g, seen)
    return nth_code(g, seen, pick(me, n), n)
