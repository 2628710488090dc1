"""What every jitted agent is: one signature, so that the game loop is compiled once and an unused agent never.

    decide(g, seen, me, scratch) -> canonical action code

`g` is the game (tables.py), `seen` what the player to move may see (observation.py; the true state for agents that cheat), its
seat being `seen.player`. `me` is the player's own record: random stream, parameters in the order of params.py, and a
memory that starts at zero in every game, as do `belief` and `tickets`. `scratch` belongs to the worker: room for path searches
and search trees, whose content means nothing between decisions.

A module with `WATCHES = True` is also called before each other player's action is done, with `me.watched` = its code (-1 when it
is to decide), `me.seat` = its own seat and `seen` what it may see of that moment; what it returns is ignored, and its stream must
stay as it is. Who does not cheat is not told which tickets others keep: the code is then a bare KEEP. A module with an entry in
params.MODELS has the parameters of that other agent in `me.model`.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import from_dtype, njit, types
from numba.core.errors import NumbaExperimentalFeatureWarning

from ttr.actions import KEEP
from ttr.jit import OPTIONS, inlined, jitted
from ttr.path_search import PATHS
from ttr.search.tree import TREE
from ttr.state import STATE
from ttr.stream import GOLD, below, mix
from ttr.tables import GAME_TYPE, MAX_PLAYERS

MAX_PARAMS, MAX_MEMORY = 16, 16
GRID = 6  # values that a belief is spread over
HANDS = 64  # hands of tickets that another player is believed to hold
KNOWN_PATHS = 1 << 13
HAND = np.dtype([("low", "i8"), ("high", "i8"), ("weight", "f8"), ("until", "i8")], align=True)
ME = np.dtype(
    [
        ("stream", "u8"),
        ("params", "f8", MAX_PARAMS),
        ("memory", "i8", MAX_MEMORY),
        ("model", "f8", MAX_PARAMS),  # parameters of the agent it takes others for
        ("belief", "f8", (MAX_PLAYERS, GRID)),  # about each other player, by seat
        ("tickets", "i8", MAX_PLAYERS),  # how many tickets the hands of each other player have; 0: no hands yet
        ("hands", HAND, (MAX_PLAYERS, HANDS)),
        ("seat", "i8"),  # set when it watches
        ("watched", "i8"),
        ("iterations", "i8"),  # what the last search did; zero for agents that do not search
        ("nodes", "i8"),
        ("visits", "i8"),
        ("mean", "f8"),
    ],
    align=True,
)
KNOWN_PATH = np.dtype([("search", "i8"), ("seat", "i8"), ("held", "i8", 2), ("path", "i8", 2)], align=True)
SCRATCH = np.dtype(
    [
        ("paths", PATHS),
        ("tree", TREE),
        ("models", ME, MAX_PLAYERS),  # the other players as a search imagines them (search/opponent_model.py)
        ("searches", "i8"),  # how many have used `known`
        ("known", KNOWN_PATH, KNOWN_PATHS),
    ],
    align=True,
)
DECIDE = types.int64(GAME_TYPE, from_dtype(STATE), from_dtype(ME), from_dtype(SCRATCH))
DECIDERS = types.UniTuple(types.FunctionType(DECIDE), 2 * MAX_PLAYERS)  # two for a seat: before and after a swap

warnings.simplefilter("ignore", NumbaExperimentalFeatureWarning)  # functions as values: tested here on every game


def agent(function: Callable) -> Any:
    """Compile an agent's `decide`. This happens at import, so agents' modules are imported only when they play."""
    return njit(DECIDE, **OPTIONS)(function)


def new_scratch() -> np.void:
    """A worker's scratch; the memory is taken only as it is used."""
    return np.zeros(1, SCRATCH)[0]


def new_player(player: Any, stream: int = 0) -> np.void:
    """The record of a seated player (registry.Player) at the start of a game."""
    me = np.zeros(1, ME)[0]
    me["params"], me["model"], me["stream"], me["watched"] = player.params, player.model, stream, -1
    return me


@inlined
def start_game(me, stream):
    """Forget the last game."""
    me.stream = stream
    me.watched = -1
    for k in range(MAX_MEMORY):
        me.memory[k] = 0
    for p in range(MAX_PLAYERS):
        me.tickets[p] = 0
        for k in range(GRID):
            me.belief[p, k] = 0.0


@inlined
def as_seen_by(cheats, code):
    """A code as another player sees it done: which tickets are kept is seen by cheats alone."""
    return np.int64(KEEP) if code & 15 == KEEP and not cheats else code


@jitted
def seen_code(cheats, code):
    """The same, for Python."""
    return as_seen_by(cheats, code)


@inlined
def pick(me, n):
    """A random number 0 .. n-1 from the player's own stream."""
    me.stream += GOLD
    return below(mix(me.stream), n)
