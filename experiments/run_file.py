"""run.json: what a run is, complete in itself: identity, configuration, seed, matchups with setups and agents, how many deals.

Setups and agents that many matchups share stand once, under the start of their hash.
"""

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.content_hash import digest
from experiments.matchup import Matchup
from experiments.plan import SCHEMA_VERSION, Plan
from experiments.refusal import Refusal
from experiments.shard import sync_folder

FILE = "run.json"
CONTENT = {
    "identity": str,
    "kind": str,
    "game": str,
    "seed": int,
    "deals": int,
    "created": str,
    "sweep": dict,
    "config": dict,
    "setups": dict,
    "agents": dict,
    "matchups": list,
}


def run_data(plan: Plan, config: Mapping[str, Any], part: str | None = None) -> dict[str, Any]:
    """The content of run.json for a plan."""
    setups: dict[str, Any] = {}
    agents: dict[str, Any] = {}
    matchups = []
    for m in plan.matchups:
        key = digest(m.setup)[:12]
        setups[key] = m.setup
        seats = []
        for seat in m.seats:
            name = digest(seat)[:12]
            agents[name] = seat
            seats.append(name)
        matchups.append({"id": m.id, "setup": key, "seats": seats, "rotations": m.rotations, "labels": m.labels})
    return {
        "schema": SCHEMA_VERSION,
        "identity": plan.identity,
        "kind": plan.spec.kind,
        "study": plan.spec.name,
        "game": plan.spec.game,
        "seed": plan.spec.seed,
        "deals": plan.spec.deals,
        "slice": part,
        "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "sweep": {"grid": dict(plan.grid)},
        "config": config,
        "setups": setups,
        "agents": agents,
        "matchups": matchups,
    }


def write_run(folder: Path, data: Mapping[str, Any]) -> None:
    """Write run.json so that it is whole at every moment."""
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / f".{FILE}.tmp"
    try:
        with open(unfinished, "w", encoding="utf-8") as file:
            json.dump(data, file, indent=1, ensure_ascii=False)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, folder / FILE)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
    sync_folder(folder)


def read_run(folder: Path) -> dict[str, Any]:
    """run.json of a folder; refuses folders that are no runs and schemas of another release."""
    if not folder.exists():
        raise Refusal(f"{folder}: there is no such run folder; `python -m experiments.list` shows those there are")
    try:
        data = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise Refusal(f"{folder} is no run folder: it has no {FILE}") from None
    except (OSError, ValueError) as error:
        raise Refusal(f"{folder / FILE} cannot be read: {error}") from None
    version = data.get("schema") if isinstance(data, dict) else None
    if version != SCHEMA_VERSION:
        raise Refusal(
            f"{folder} has schema {version}, this release reads schema {SCHEMA_VERSION}; "
            "read it with the release that wrote it, or start again with fresh=true"
        )
    _check_whole(folder, data)
    return data


def _check_whole(folder: Path, data: Mapping[str, Any]) -> None:
    """Nothing is missing of what a run needs to be read, continued and played again."""
    problem = next((name for name, kind in CONTENT.items() if not isinstance(data.get(name), kind)), "")
    if not problem:
        try:
            whole = matchups_of(data) and all(isinstance(m["rotations"], int) for m in data["matchups"])
        except (KeyError, TypeError):
            whole = False
        problem = "" if whole else "a matchup"
    if problem:
        raise Refusal(f"{folder / FILE} is damaged: {problem} is missing or wrong; put a copy back, or start again with fresh=true")


def matchups_of(data: Mapping[str, Any]) -> list[Matchup]:
    """The matchups of a run, as they were planned."""
    return [
        Matchup(
            m["id"],
            data["game"],
            data["setups"][m["setup"]],
            tuple(data["agents"][name] for name in m["seats"]),
            m["labels"],
        )
        for m in data["matchups"]
    ]
