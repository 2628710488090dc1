"""Uniformly random actions and draws: what the players with chance in their habits share."""

import numpy as np

from ttr.actions import count_actions, draw_code, nth_code
from ttr.agents.contract import pick
from ttr.agents.fallback import fallback
from ttr.draw import count_first_draws, count_second_draws, nth_draw
from ttr.jit import jitted
from ttr.state import TURN


@jitted
def random_action(g, seen, me, with_tickets):
    """Any legal action of a turn or second card, each as likely; drawing tickets is one, or is left out while there is another."""
    n = count_actions(g, seen)
    if with_tickets or seen.phase != TURN or seen.waiting == 0 or n == 1:
        return nth_code(g, seen, pick(me, n), n)
    k = pick(me, n - 1)
    return nth_code(g, seen, k + np.int64(k >= count_first_draws(g, seen)), n)


@jitted
def random_draw(g, seen, me):
    """Any legal way to draw train cards, each as likely."""
    draws = count_first_draws(g, seen) if seen.phase == TURN else count_second_draws(seen)
    if draws == 0:
        return fallback(g, seen)
    cards, blind = nth_draw(g, seen, pick(me, draws))
    return draw_code(cards, blind)
