"""What runs in a worker: one batch of seeded games, from plain data to rows. It knows no run, no file and no driver."""

import json
import resource
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from experiments.game import load_game


@dataclass(frozen=True)
class Task:
    """A batch for a worker. `matchup` is the matchup's data as JSON text, so that it travels cheaply."""

    matchup: bytes
    seed: int
    deals: np.ndarray
    datasets: tuple[str, ...]
    on_error: str = "stop"


@dataclass(frozen=True)
class Played:
    """What a worker gives back."""

    tables: dict[str, Any]  # dataset -> pyarrow.Table
    seconds: float  # CPU time
    peak_mb: float  # the worker's largest memory so far


class GameFailure(Exception):
    """An agent or the engine failed in a game; trying again would fail again."""


@lru_cache(maxsize=256)
def _data(matchup: bytes) -> dict[str, Any]:
    return json.loads(matchup)


def play(task: Task) -> Played:
    """Play a batch: every deal in every rotation."""
    data = _data(task.matchup)
    game = load_game(data["game"])
    rotations = data["rotations"]
    deals = np.repeat(np.asarray(task.deals, np.int64), rotations)
    turns = np.tile(np.arange(rotations, dtype=np.int64), len(task.deals))
    start = time.process_time()
    try:
        tables = game.play_batch(data["setup"], data["seats"], task.seed, deals, turns, task.datasets, task.on_error)
    except Exception as error:
        first, last = int(deals[0]), int(deals[-1])
        where = f"{data['id']}/{first}" if first == last else f"{data['id']}, deals {first} to {last}"
        told = str(error) if isinstance(error, game.FAILURES) else f"{type(error).__name__}: {error}"
        raise GameFailure(f"{' - '.join(seat['text'] for seat in data['seats'])} ({where}): {' '.join(told.split())}") from None
    seconds = time.process_time() - start
    return Played(tables, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def warm(adapter: str, identities: list[dict[str, Any]]) -> float:
    """Compile all that these agents need; returns the seconds it took."""
    start = time.monotonic()
    load_game(adapter).warm_up(identities)
    return time.monotonic() - start
