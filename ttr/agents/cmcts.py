"""The cheating search: UCT on the true state, the game's own random stream included."""

import numpy as np

from ttr.agents.contract import agent
from ttr.search.search import search

CHEATS = True


@agent
def decide(g, seen, me, scratch):
    """Code of the action the search chooses, from the true state."""
    return search(g, seen, me, scratch, np.int64(0))
