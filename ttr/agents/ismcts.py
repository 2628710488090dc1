"""The information-set search: single-observer UCT over determinizations of what the player sees."""

import numpy as np

from ttr.agents.contract import agent
from ttr.search.search import search


@agent
def decide(g, seen, me, scratch):
    """Code of the action the search chooses, from what the player sees."""
    return search(g, seen, me, scratch, np.int64(1))
