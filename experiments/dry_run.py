"""The plan before anything is played: matchups, games, what is there already, CPU time by calibration, interval widths, files.

Calibration plays a few games and throws them away: one of every agent as configured, as long as ten seconds last.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from experiments.compaction import FILE_BYTES, MOST_FILES
from experiments.confidence import expected_half_width
from experiments.config import Settings
from experiments.deal_set import DealSet
from experiments.driver import run_folder
from experiments.game import load_game
from experiments.manifest import read_manifest
from experiments.matchup import Matchup
from experiments.plan import Plan
from experiments.progress import duration
from experiments.reading import slice_deals
from experiments.run_file import FILE
from experiments.slices import slice_folders

PATIENCE, MOST_DEALS = 10.0, 16  # seconds of calibration, deals of one matchup
BYTES_A_ROW = 18  # of a stored two-player game (docs/results.md); other tables in proportion to their seats
SHOWN = 15


@dataclass(frozen=True)
class Forecast:
    """What a plan will take."""

    seconds: float  # CPU time of what is missing
    games: int  # missing
    measured: int  # games played to find out


def missing_deals(plan: Plan, settings: Settings) -> dict[str, int]:
    """How many deals of each matchup are still to be played, slices that are not merged counted as played."""
    folder = run_folder(plan, settings)
    wanted = slice_deals(plan.spec.deals, settings.part)
    if not (folder / FILE).exists() or settings.force:
        return {m.id: len(wanted) for m in plan.matchups}
    coverage = read_manifest(folder).coverage()
    for part in slice_folders(folder).values():
        for matchup, deals in read_manifest(part).coverage().items():
            coverage[matchup] = coverage[matchup] | deals if matchup in coverage else deals
    return {m.id: len(wanted - coverage.get(m.id, DealSet())) for m in plan.matchups}


def agent_class(seat: Mapping[str, Any]) -> str:
    """Agents that take about the same time: same name, same budget."""
    identity = seat["identity"]
    name = seat["text"].partition(":")[0] if "first" not in identity else seat["text"]
    return f"{name} {identity.get('iterations', '')} {identity.get('forward_model_calls', '')}"


def seconds_a_game(plan: Plan) -> tuple[dict[str, float], int]:
    """CPU seconds of a game of each matchup, from a few games with every kind of agent; and how many games that took.

    A matchup that was not measured itself is taken as the sum of its agents' decision times.
    """
    game = load_game(plan.spec.game)
    agents: dict[str, list[float]] = {}
    measured: dict[str, float] = {}
    played = 0
    start = time.monotonic()
    for m in sorted(plan.matchups, key=lambda m: -len({agent_class(s) for s in m.seats})):
        classes = [agent_class(seat) for seat in m.seats]
        if all(name in agents for name in classes) and time.monotonic() - start > PATIENCE / 4:
            continue
        game.warm_up([seat["identity"] for seat in m.seats])
        deals = 1
        while True:
            numbers, turns = np.repeat(np.arange(deals), m.rotations), np.tile(np.arange(m.rotations), deals)
            before = time.process_time()
            rows = game.play_batch(m.setup, list(m.seats), plan.spec.seed, numbers, turns, ("games",), "forfeit")["games"]
            spent = time.process_time() - before
            played += len(rows)
            if deals >= MOST_DEALS or spent > PATIENCE / 40:
                break
            deals *= 4
        measured[m.id] = spent / len(rows)
        decided = sum(float(np.asarray(rows.column(f"seconds_{s}")).sum()) for s in range(len(m.seats)))
        busy = spent / decided if decided else 1.0  # decisions are timed by the clock, which runs on while others have the core
        for s in range(len(m.seats)):
            seconds, turns = busy * np.asarray(rows.column(f"seconds_{s}")), np.asarray(rows.column("rotation"))
            for rotation in range(m.rotations):
                agents.setdefault(classes[(s + rotation) % len(m.seats)], []).append(float(seconds[turns == rotation].mean()))
    means = {name: float(np.mean(values)) for name, values in agents.items()}
    return {m.id: measured.get(m.id, sum(means[agent_class(seat)] for seat in m.seats)) for m in plan.matchups}, played


def forecast(plan: Plan, missing: Mapping[str, int]) -> Forecast:
    """The CPU time of what is missing."""
    games = {m.id: missing[m.id] * m.rotations for m in plan.matchups}
    left = sum(games.values())
    if not left:
        return Forecast(0.0, 0, 0)
    costs, played = seconds_a_game(plan)
    return Forecast(sum(costs[name] * count for name, count in games.items()), left, played)


def show_plan(plan: Plan, settings: Settings) -> Forecast:
    """Print the plan; returns what it will take."""
    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    missing = missing_deals(plan, settings)
    wanted = len(slice_deals(plan.spec.deals, settings.part))
    games = wanted * sum(m.rotations for m in plan.matchups)
    expected = forecast(plan, missing)
    seats = max(len(m.seats) for m in plan.matchups)
    size = games * BYTES_A_ROW * seats / 2
    files = min(MOST_FILES, int(np.ceil(size / FILE_BYTES)))
    _show_matchups(console, plan.matchups, missing)
    study = f" ({plan.spec.name})" if plan.spec.name else ""
    part = f", slice {settings.part}" if settings.part else ""
    cpu = f"{expected.seconds / 3600:,.2f} CPU-hours ({duration(expected.seconds)} on one core"
    lines = [
        f"{plan.spec.kind}{study}: {len(plan.matchups):,} matchups x {wanted:,} deals{part}, seed {plan.spec.seed}",
        f"games: {games:,}, of which {games - expected.games:,} are there already and {expected.games:,} are to be played",
        f"time: {cpu}; by calibration on {expected.measured} games, which are thrown away)",
        f"intervals: a win rate will be known to about +-{100 * expected_half_width(wanted):.1f} points at 95 % (each matchup)",
        f"files: {files} of together about {size / 1e6:,.1f} MB in {run_folder(plan, settings)}",
    ]
    for line in lines:
        console.print(line)
    return expected


def _show_matchups(console: Console, matchups: Any, missing: Mapping[str, int]) -> None:
    table = Table(box=None, pad_edge=False)
    for heading in ("matchup", "agents", "map", "rules", "sweep", "rotations", "deals missing"):
        table.add_column(heading, justify="right" if heading in ("rotations", "deals missing") else "left", overflow="fold")
    shown: list[Matchup] = list(matchups)[:SHOWN]
    for m in shown:
        sweep = ", ".join(f"{name}={value}" for name, value in m.labels["sweep"].items())
        row = (m.id[:8], m.title, m.labels["map"], m.labels["rules"], sweep, str(m.rotations), f"{missing[m.id]:,}")
        table.add_row(*row)
    console.print(table)
    if len(matchups) > SHOWN:
        console.print(f"... and {len(matchups) - SHOWN:,} more matchups")
    console.print()
