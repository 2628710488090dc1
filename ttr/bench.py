"""How fast the engine is: CPU time of whole random games, as a table and as bench.json.

Machines lose wall clock to their neighbours, so everything is CPU time, the best of several runs, and also given as a
ratio to a small reference kernel timed in the same run.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from ttr.board import load_board, map_names
from ttr.game import play_random_games
from ttr.jit import jitted
from ttr.rules import RulesError, resolve_rules
from ttr.stream import GOLD, mix
from ttr.tables import Game, compile_game

GOALS = {  # games a second on one core: must, ambition
    "random_games_per_s/yang/2p": (600_000, 1_000_000),
    "random_games_per_s/usa/2p": (120_000, 220_000),
    "random_games_per_s/usa/4p": (65_000, 115_000),
    "cold_start_s": (20, 10),
    "warm_start_s": (2, 1),
}
FIRST_GAME = (
    "from ttr.board import load_board; from ttr.rules import resolve_rules; from ttr.tables import compile_game;"
    "from ttr.game import play_random_games; b = load_board('yang');"
    "play_random_games(compile_game(b, resolve_rules(b, 'warwick')), 1)"
)


@jitted
def reference_kernel(n):
    """A chain of hash steps that no compiler can shorten: the machine's yardstick."""
    word = np.uint64(1)
    for _ in range(n):
        word = mix(word + GOLD)
    return word


def best_cpu_seconds(work: Callable[[], Any], runs: int = 7) -> float:
    """Least CPU time of several runs."""
    best = float("inf")
    for _ in range(runs):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def start_seconds(cache: str) -> float:
    """CPU seconds of a new process, from its start to the end of its first game."""
    before = os.times()
    environment = os.environ | {"TTR_CACHE_DIR": cache}
    environment.pop("NUMBA_CACHE_DIR", None)
    subprocess.run([sys.executable, "-c", FIRST_GAME], check=True, env=environment)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def game_of(name: str, players: int) -> Game:
    """A map under the rules it is usually played by here."""
    board = load_board(name)
    return compile_game(board, resolve_rules(board, "warwick" if name in ("yang", "mini") else "official", players))


def row(name: str, value: float, unit: str, smaller_is_better: bool = False) -> dict[str, Any]:
    """One line of the table, measured against its goal."""
    must, ambition = GOALS.get(name, (None, None))
    met = None if must is None else (value <= must if smaller_is_better else value >= must)
    return dict(name=name, value=round(value, 4), unit=unit, must=must, ambition=ambition, met=met)


def measure() -> list[dict[str, Any]]:
    """All rows."""
    rows = []
    with tempfile.TemporaryDirectory() as cache:
        rows.append(row("cold_start_s", start_seconds(cache), "s", smaller_is_better=True))
        rows.append(row("warm_start_s", start_seconds(cache), "s", smaller_is_better=True))
    reference_kernel(10)
    step = best_cpu_seconds(lambda: reference_kernel(10_000_000)) / 10_000_000
    rows.append(row("reference_ns_per_step", step * 1e9, "ns"))
    for name in map_names():
        for players in range(2, 6):
            try:
                g = game_of(name, players)
            except RulesError:
                continue
            games = 100_000 if name in ("yang", "mini") else 10_000
            decisions = play_random_games(g, games, seed=7)["decisions"].sum()
            seconds = best_cpu_seconds(partial(play_random_games, g, games, seed=7))
            rows.append(row(f"random_games_per_s/{name}/{players}p", games / seconds, "games/s"))
            rows.append(row(f"random_ns_per_decision/{name}/{players}p", seconds / decisions * 1e9, "ns"))
            rows.append(
                row(f"random_reference_ratio/{name}/{players}p", seconds / decisions / step, "reference steps per decision")
            )
    return rows


def main() -> None:
    """Measure, print the table, write bench.json."""
    rows = measure()
    Path("bench.json").write_text(json.dumps(rows, indent=1) + "\n")
    table = Table(title="CPU time, one core")
    for heading in ("name", "value", "unit", "must", "ambition", "met"):
        table.add_column(heading, justify="right" if heading in ("value", "must", "ambition") else "left", no_wrap=True)
    for r in rows:
        goals = ["" if r[key] is None else f"{r[key]:,}" for key in ("must", "ambition")]
        met = {None: "", True: "yes", False: "NO"}[r["met"]]
        table.add_row(r["name"], f"{r['value']:,.2f}" if r["value"] < 1000 else f"{r['value']:,.0f}", r["unit"], *goals, met)
    Console().print(table)


if __name__ == "__main__":
    main()
