"""Heuristic players: whole games, every seat the same player, on deals not played before (path searches are remembered)."""

import time
from typing import Any

from tests.bench.engine import game_of
from tests.bench.measure import row
from ttr.agents.registry import parse_agent
from ttr.batch import Table, deals_and_rotations

AGENTS = "greedy base random_smart random_base villain hoarder hoarder_ticket pile".split()
CASES = [("yang", 2, 10_000), ("usa", 2, 400), ("usa", 4, 300), ("europe", 4, 200), ("germany", 4, 200)]


def seconds_and_decisions(agent: str, name: str, players: int, games: int, runs: int = 5) -> tuple[float, float]:
    """Least CPU seconds and the decisions of a game."""
    table = Table(game_of(name, players), [parse_agent(agent)] * players)
    best = (float("inf"), 0.0)
    for run in range(runs):
        deals = deals_and_rotations(run * games, games, 1)
        start = time.process_time()
        played = table.play(*deals, 7)
        best = min(best, ((time.process_time() - start) / games, played["decisions"].mean()))
    return best


def rows(step: float) -> list[dict[str, Any]]:
    """All rows: base on several maps, and every player on the small one."""
    result = []
    for name, players, games in CASES:
        seconds, decisions = seconds_and_decisions("base", name, players, games)
        case = f"{name}/{players}p"
        result.append(row(f"heuristic_games_per_s/{case}", 1 / seconds, "games/s"))
        result.append(row(f"heuristic_ns_per_decision/{case}", seconds / decisions * 1e9, "ns"))
        result.append(row(f"heuristic_reference_ratio/{case}", seconds / decisions / step, "reference steps per decision"))
    for agent in AGENTS:
        seconds, _ = seconds_and_decisions(agent, "yang", 2, 5_000)
        result.append(row(f"heuristic_games_per_s/yang/{agent}", 1 / seconds, "games/s"))
    return result
