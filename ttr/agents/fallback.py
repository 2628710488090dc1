"""What a player does whose habit has no legal action: claim, deck, face-up card, tickets, pass, in this order."""

import numpy as np

from ttr.actions import DRAW_TICKETS, PASS, draw_code
from ttr.agents.claims import NO_CODE, longest_claim
from ttr.deck import cards_to_draw
from ttr.draw import count_first_draws, count_second_draws, nth_draw
from ttr.jit import inlined, jitted
from ttr.state import TURN
from ttr.tables import STEPWISE


@inlined
def deck_code(g):
    """Code of drawing from the deck alone: two cards, or one where cards are drawn one by one."""
    return draw_code(0, 1 if g.drawing == STEPWISE else 2)


@jitted
def deck_or_fallback(g, seen):
    """Draw from the deck, or do what comes next."""
    return deck_code(g) if cards_to_draw(seen) > 0 else fallback(g, seen)


@jitted
def fallback(g, seen):
    """Code of the first of these that is legal: the longest claim, the deck, a face-up card (the lowest code), tickets, a pass."""
    if seen.phase == TURN:
        code = longest_claim(g, seen)
        if code != NO_CODE:
            return code
    if cards_to_draw(seen) > 0:
        return deck_code(g)
    draws = count_first_draws(g, seen) if seen.phase == TURN else count_second_draws(seen)
    if draws:
        code = NO_CODE
        for k in range(draws):
            cards, blind = nth_draw(g, seen, k)
            code = min(code, draw_code(cards, blind))
        return code
    return np.int64(DRAW_TICKETS if seen.waiting > 0 else PASS)
