"""The information-set control search: it keeps the game at the target score difference, from what the player sees."""

import numpy as np

from ttr.agents.contract import agent
from ttr.search.control import control_search

WATCHES = True


@agent
def decide(g, seen, me, scratch):
    """Code of the action the search chooses, from what the player sees."""
    return control_search(g, seen, me, scratch, np.int64(1))
