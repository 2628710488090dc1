"""Whether a turn is left to chance: decided once at its start, and kept for its second card."""

import numpy as np

from ttr.agents.contract import pick
from ttr.agents.params import Randomized, field_index
from ttr.agents.path import MODE
from ttr.jit import jitted
from ttr.state import TURN

RANDOM_SHARE = field_index(Randomized, "random_share")
_FINE = 1 << 30


@jitted
def by_chance(seen, me):
    """Whether the player acts at random in this turn."""
    if seen.phase == TURN:
        me.memory[MODE] = np.int64(pick(me, _FINE) < me.params[RANDOM_SHARE] * _FINE)
    return me.memory[MODE] != 0
