"""The cheating control search: it keeps the game at the target score difference, from the true state."""

import numpy as np

from ttr.agents.contract import agent
from ttr.search.control import control_search

CHEATS = True
WATCHES = True


@agent
def decide(g, seen, me, scratch):
    """Code of the action the search chooses, from the true state."""
    return control_search(g, seen, me, scratch, np.int64(0))
