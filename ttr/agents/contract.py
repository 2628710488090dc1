"""What every jitted agent is: one signature, so that the game loop is compiled once and an unused agent never.

    decide(g, seen, me, scratch) -> canonical action code

`g` is the game (tables.py), `seen` what the player to move may see (observation.py; the true state for agents that cheat), its
seat being `seen.player`. `me` is the player's own record: random stream, parameters in the order of params.py, and a
memory that starts at zero in every game. `scratch` belongs to the worker: room for path searches and search trees, whose
content means nothing between decisions.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import from_dtype, njit, types
from numba.core.errors import NumbaExperimentalFeatureWarning

from ttr.jit import OPTIONS, inlined
from ttr.path_search import PATHS
from ttr.search.tree import TREE
from ttr.state import STATE
from ttr.stream import GOLD, below, mix
from ttr.tables import GAME_TYPE, MAX_PLAYERS

MAX_PARAMS, MAX_MEMORY = 16, 16
ME = np.dtype(
    [
        ("stream", "u8"),
        ("params", "f8", MAX_PARAMS),
        ("memory", "i8", MAX_MEMORY),
        ("iterations", "i8"),  # what the last search did; zero for agents that do not search
        ("nodes", "i8"),
        ("visits", "i8"),
        ("mean", "f8"),
    ],
    align=True,
)
SCRATCH = np.dtype([("paths", PATHS), ("tree", TREE)], align=True)
DECIDE = types.int64(GAME_TYPE, from_dtype(STATE), from_dtype(ME), from_dtype(SCRATCH))
DECIDERS = types.UniTuple(types.FunctionType(DECIDE), 2 * MAX_PLAYERS)  # two for a seat: before and after a swap

warnings.simplefilter("ignore", NumbaExperimentalFeatureWarning)  # functions as values: tested here on every game


def agent(function: Callable) -> Any:
    """Compile an agent's `decide`. This happens at import, so agents' modules are imported only when they play."""
    return njit(DECIDE, **OPTIONS)(function)


def new_scratch() -> np.void:
    """A worker's scratch; the memory is taken only as it is used."""
    return np.zeros(1, SCRATCH)[0]


@inlined
def pick(me, n):
    """A random number 0 .. n-1 from the player's own stream."""
    me.stream += GOLD
    return below(mix(me.stream), n)
