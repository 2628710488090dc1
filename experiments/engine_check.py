"""A changed engine is caught: before a run goes on, deal 0 and eight random stored deals of each matchup are played again.

All rows equal: the run goes on, and the manifest notes it. One differs: it is refused, and the game is shown with both rows.
A check, not a proof: `status` names runs whose shards come from several engines.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from experiments.content_hash import column_bytes
from experiments.executor import Executor
from experiments.matchup import Matchup
from experiments.reading import Run
from experiments.refusal import Failure, Refusal
from experiments.worker import Task

RANDOM_DEALS = 8


def check_engine(run: Run, matchups: Mapping[str, Matchup], engine: str, executor: Executor) -> dict[str, Any] | None:
    """Replays if the engine is not one that has played or was checked before; returns the note to be made, if any."""
    accepted = {note["engine"] for note in run.manifest.notes if note.get("note") == "engine"}
    played = run.manifest.engines()
    if not played or all(known == engine for known in played) or engine in accepted:
        return None
    chosen = chosen_deals(run)
    checked = replay_and_compare(run, matchups, chosen, executor)
    return {"note": "engine", "engine": engine, "before": played, "checked": checked}


def chosen_deals(run: Run, count: int = RANDOM_DEALS) -> dict[str, np.ndarray]:
    """Deal 0 and some random stored deals of each matchup; the same ones every time."""
    chosen = {}
    for matchup, deals in run.coverage().items():
        seed = int.from_bytes(hashlib.sha256(f"{run.info['identity']}/{matchup}".encode()).digest()[:8], "little")
        numbers = deals.deals()
        some = np.random.default_rng(seed).choice(numbers, min(count, len(numbers)), replace=False)
        chosen[matchup] = np.unique(np.concatenate([some, [0] if 0 in deals else []]).astype(np.int64))
    return chosen


def replay_and_compare(run: Run, matchups: Mapping[str, Matchup], chosen: Mapping[str, np.ndarray], executor: Executor) -> int:
    """Play stored deals again; returns the number of games that were compared, or refuses at the first that differs."""
    waiting = list(chosen.items())
    flying = games = 0
    on_error = run.info["config"].get("on_error", "stop")
    while waiting or flying:
        while waiting and flying < 2 * executor.workers:
            matchup, deals = waiting.pop()
            blob = json.dumps(matchups[matchup].data()).encode()
            executor.submit((matchup, deals), Task(blob, run.info["seed"], deals, ("games",), on_error))
            flying += 1
        for outcome in executor.collect(1.0):
            flying -= 1
            matchup, deals = outcome.key
            if outcome.lost:
                waiting.append(outcome.key)
            elif outcome.broken or outcome.played is None:
                raise Failure(f"a stored game cannot be played again: {outcome.broken}")
            else:
                games += _compare(run, matchups[matchup], deals, outcome.played.tables["games"])
    return games


def _compare(run: Run, matchup: Matchup, deals: np.ndarray, again: pa.Table) -> int:
    stored = run.rows(matchup.id)
    stored = stored.filter(pa.compute.is_in(stored.column("deal"), pa.array(deals)))
    difference = first_difference(stored.drop_columns("matchup"), again, run.game.MEASUREMENTS)
    if difference is not None:
        i, columns = difference
        row = stored.slice(i, 1).to_pylist()[0]
        new = again.slice(i, 1).to_pylist()[0] if i < len(again) else {}
        shown = ", ".join(f"{name} was {row.get(name)}, is {new.get(name)}" for name in columns[:6])
        more = f" and {len(columns) - 6} more" if len(columns) > 6 else ""
        raise Refusal(
            f"{_why(run)}: {run.path} game {matchup.id}/{row['deal']}/{row['rotation']} "
            f"({matchup.title}): {shown}{more}. Nothing was changed; fresh=true starts a new run beside it"
        )
    return len(again)


def _why(run: Run) -> str:
    if run.game.engine_identity() in run.manifest.engines():
        return "played again by the same engine, a game is not as stored (an agent that is not deterministic?)"
    return "the engine has changed and no longer plays the same"


def first_difference(stored: pa.Table, again: pa.Table, measurements: frozenset[str]) -> tuple[int, list[str]] | None:
    """The first row that differs in content, and the columns in which it does; None if all are equal."""
    if len(stored) != len(again):
        return min(len(stored), len(again)) - (1 if len(stored) <= len(again) else 0), ["number of rows"]
    names = [name for name in again.column_names if name not in measurements]
    different = [
        name
        for name in names
        if column_bytes(stored.column(name)) != column_bytes(again.column(name).cast(stored.schema.field(name).type))
    ]
    if not different:
        return None
    for i in range(len(again)):
        old, new = stored.slice(i, 1).to_pylist()[0], again.slice(i, 1).to_pylist()[0]
        columns = [name for name in different if old[name] != new[name]]
        if columns:
            return i, columns
    return None


def engine_facts(path: Path) -> dict[str, Any]:
    """Versions and commit, for the manifest."""
    import platform
    import subprocess
    from importlib.metadata import PackageNotFoundError, version

    facts: dict[str, Any] = {"python": platform.python_version(), "machine": platform.machine()}
    for package in ("numpy", "numba", "pyarrow", "ray"):
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            pass
    try:
        answer = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=path, capture_output=True, text=True, timeout=5)
        facts["commit"] = answer.stdout.strip() or None
    except (OSError, subprocess.TimeoutExpired):
        facts["commit"] = None
    return facts
