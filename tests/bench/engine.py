"""The engine: whole random games on every map with every number of players, starting, and compiling."""

import sys
import tempfile
from functools import partial
from typing import Any

from tests.bench.measure import best_cpu_seconds, process_seconds, row
from ttr.board import load_board, map_names
from ttr.game import play_random_games
from ttr.rules import RulesError, resolve_rules, usual_preset
from ttr.tables import Game, compile_game

FIRST_GAME = (
    "from ttr.board import load_board; from ttr.rules import resolve_rules; from ttr.tables import compile_game;"
    "from ttr.game import play_random_games; b = load_board('yang');"
    "play_random_games(compile_game(b, resolve_rules(b, 'warwick')), 1)"
)


def game_of(name: str, players: int) -> Game:
    """A map under the rules it is usually played by here."""
    board = load_board(name)
    return compile_game(board, resolve_rules(board, usual_preset(board), players))


def starts() -> list[dict[str, Any]]:
    """A new process to the end of its first game, without and with compiled code at hand; and compiling all there is."""
    first = [sys.executable, "-c", FIRST_GAME]
    with tempfile.TemporaryDirectory() as cache:
        rows = [row("cold_start_s", process_seconds(first, cache), "s"), row("warm_start_s", process_seconds(first, cache), "s")]
    with tempfile.TemporaryDirectory() as cache:
        return [*rows, row("compile_everything_s", process_seconds([sys.executable, "-m", "ttr.warm"], cache), "s")]


def random_games(step: float) -> list[dict[str, Any]]:
    """Games a second, time for one decision, and that time in steps of the reference kernel."""
    rows = []
    for name in map_names():
        for players in range(2, 6):
            try:
                g = game_of(name, players)
            except RulesError:
                continue
            games = 100_000 if name in ("yang", "mini") else 10_000
            decisions = play_random_games(g, games, seed=7)["decisions"].sum()
            seconds = best_cpu_seconds(partial(play_random_games, g, games, seed=7))
            case = f"{name}/{players}p"
            rows.append(row(f"random_games_per_s/{case}", games / seconds, "games/s"))
            rows.append(row(f"random_ns_per_decision/{case}", seconds / decisions * 1e9, "ns"))
            rows.append(row(f"random_reference_ratio/{case}", seconds / decisions / step, "reference steps per decision"))
    return rows


def rows(step: float) -> list[dict[str, Any]]:
    """All rows of the engine."""
    return [*starts(), row("reference_ns_per_step", step * 1e9, "ns"), *random_games(step)]
