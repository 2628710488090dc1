"""Ticket to Ride as experiments see it: setups, agents, batches and rows, all as plain data.

A setup (map and rules) and the seats (agents) resolve into data that are complete in themselves: a worker needs no file of the
user's, and an edited ticket or agent makes another matchup. `play_batch` is a pure function of its arguments.
"""

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from functools import cache, lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from ttr import __version__
from ttr.agents.python_agent import AgentFailure, agent_of_source
from ttr.agents.registry import SWAP, Agent, AgentError, agent_names, make_agent, near_misses, parse_agent
from ttr.board import Board, Box, MapError, load_board, map_names
from ttr.board_data import board_data, board_from, content
from ttr.compile_cache import cache_folder, source_hash, writable
from ttr.rules import FIELDS as RULE_FIELDS
from ttr.rules import Rules, resolve_rules

MAX_SEATS = 5
BUDGETS = ("iterations", "forward_model_calls", "seconds")  # of a search: an agent that says one of them keeps it
FAILURES = (AgentFailure, ValueError)  # their messages are one clear line
POINTS = {  # columns in points, and what the engine calls them (it counts half points)
    "score": "score",
    "unfloored": "unfloored",
    "route_points": "routes",
    "tickets_gained": "gained",
    "tickets_lost": "lost",
    "ticket_bonus": "ticket_bonus",
    "longest_bonus": "longest_bonus",
    "most_tickets_bonus": "most_tickets_bonus",
}
COUNTS = {
    "tickets_kept": "tickets",
    "tickets_completed": "completed",
    "routes": "routes_claimed",
    "cars_placed": "",  # the cars there were, less those left
    "cars_left": "cars_left",
    "cards_left": "cards_left",
    "longest_route": "longest",
    "longest_single": "longest_single",
    "turns": "turns_taken",
    "turns_led": "turns_led",
    "rank": "rank",
}
GAME_COLUMNS = [
    ("deal", pa.int64()),
    ("rotation", pa.int8()),
    ("forfeit", pa.int8()),
    ("winner", pa.int8()),
    ("turns", pa.int32()),
    ("decisions", pa.int32()),
    ("lead_changes", pa.int32()),
]
SEAT_COLUMNS = [
    ("agent", pa.string()),
    *((name, pa.float32()) for name in POINTS),
    *((name, pa.int16()) for name in COUNTS),
    ("seconds", pa.float32()),
]
DECISION_COLUMNS = [
    ("deal", pa.int64()),
    ("rotation", pa.int8()),
    ("number", pa.int32()),
    ("turn", pa.int32()),
    ("seat", pa.int8()),
    ("actions", pa.int32()),
    ("iterations", pa.int64()),
    ("nodes", pa.int64()),
    ("visits", pa.int64()),
    ("mean", pa.float64()),
    ("seconds", pa.float32()),
]
MOVE_COLUMNS = [
    ("deal", pa.int64()),
    ("rotation", pa.int8()),
    ("number", pa.int32()),
    ("seat", pa.int8()),
    ("code", pa.int64()),
]
SCHEMAS = {
    "games": pa.schema([*GAME_COLUMNS, *((f"{name}_{s}", kind) for s in range(MAX_SEATS) for name, kind in SEAT_COLUMNS)]),
    "decisions": pa.schema(DECISION_COLUMNS),
    "moves": pa.schema(MOVE_COLUMNS),
}
MEASUREMENTS = frozenset(["seconds", *(f"seconds_{s}" for s in range(MAX_SEATS))])  # no part of a result's content


def engine_identity() -> str:
    """A hash of the engine's code."""
    return source_hash()


def engine_version() -> str:
    """The engine's release."""
    return __version__


# --- from what a user writes to data -------------------------------------------------------------------------------------


def resolve_setup(map_spec: Any, rules_spec: Any, players: int) -> dict[str, Any]:
    """The board and the rules of games between so many players, nothing left open.

    A map is a name or folder, or a mapping of name, variant and numbers of the box; rules are a preset, or a mapping of preset
    and overridden fields.
    """
    given = {"name": map_spec} if isinstance(map_spec, str) else dict(map_spec)
    name, variant = given.pop("name", None), given.pop("variant", None)
    if not name:
        raise MapError(f"no map is named; the maps are {', '.join(map_names())}")
    board = load_board(f"{name}:{variant}" if variant else str(name))
    known = [field.name for field in fields(Box)]
    for key in given:
        if key not in known:
            raise MapError(f"map '{name}' has no field '{key}'{near_misses(key, ['name', 'variant', *known])}")
    board = replace(board, box=replace(board.box, **given))
    changes = {"preset": rules_spec} if isinstance(rules_spec, str) else dict(rules_spec)
    preset = str(changes.pop("preset", None) or "official")
    rules = resolve_rules(board, preset, players, changes)
    return {
        "board": board_data(board),
        "rules": asdict(rules) | {"points": list(rules.points)},
        "labels": {"map": _label(board.name, given), "rules": _label(preset, changes)},
    }


def _label(name: str, changes: Mapping[str, Any]) -> str:
    shown = ",".join(f"{key}={value}" for key, value in changes.items())
    return f"{name}[{shown}]" if shown else name


def setup_content(setup: Mapping[str, Any]) -> dict[str, Any]:
    """What the games of a setup depend on: not the names of map and preset."""
    rules = {key: value for key, value in setup["rules"].items() if key != "preset"}
    return {"board": content(setup["board"]), "rules": rules}


def setup_fields() -> dict[str, list[str]]:
    """The fields of map and rules that an experiment may sweep."""
    return {"map": ["name", "variant", *(field.name for field in fields(Box))], "rules": ["preset", *RULE_FIELDS]}


def resolve_agent(spec: Any, defaults: Mapping[str, Any] | None = None, changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """An agent's text and identity: `defaults` hold for fields it has and the text leaves open, `changes` are put over it."""
    if isinstance(spec, Mapping) and "agent" in spec:
        agent = make_agent(str(spec["agent"]), {key: value for key, value in spec.items() if key != "agent"})
    elif isinstance(spec, str):
        agent = parse_agent(spec)
    else:
        raise AgentError(f"{spec} is no agent; write a text, name:field=value, or a mapping {{agent: name, field: value}}")
    agent = _with(agent, {**_left_open(agent, defaults or {}), **(changes or {})})
    return {"text": agent.text, "identity": agent.identity()}


def _left_open(agent: Agent, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The defaults for fields that an agent has as configured; another budget of its own leaves none open."""
    if agent.first or agent.source or ("=" in agent.text and any(f"{name}=" in agent.text for name in BUDGETS)):
        return {}
    return {key: value for key, value in defaults.items() if key in agent.fields}


def _with(agent: Agent, changes: Mapping[str, Any]) -> Agent:
    if not changes:
        return agent
    fields = {**agent.fields, **changes}
    if agent.source:
        return agent_of_source(agent.source, agent.name, fields)
    if agent.first and agent.second:
        return make_agent(SWAP, {"first": agent.first, "second": agent.second, **fields})
    return make_agent(agent.name, fields)


def agent_from(identity: Mapping[str, Any]) -> Agent:
    """The agent that an identity describes."""
    values = {key: value for key, value in identity.items() if key not in ("agent", "source")}
    if identity["agent"] == SWAP:
        return make_agent(SWAP, {**values, "first": agent_from(values["first"]), "second": agent_from(values["second"])})
    if "source" in identity:
        return agent_of_source(identity["source"], identity["agent"], values)
    model = values.pop("model", None)
    return make_agent(identity["agent"], values, agent_from(model) if model else None)


def names() -> dict[str, list[str]]:
    """What there is to choose from."""
    return {"agents": list(agent_names()), "maps": map_names()}


# --- playing ---------------------------------------------------------------------------------------------------------------


@cache
def _scratch() -> np.void:
    """Room for searches, shared by all tables of this process."""
    from ttr.agents.contract import new_scratch

    return new_scratch()


def board_and_rules(setup: Mapping[str, Any]) -> tuple[Board, Rules]:
    """A setup as the engine takes it."""
    rules = setup["rules"]
    return board_from(setup["board"]), Rules(**{**rules, "points": tuple(rules["points"])})


def compile_agents(names: Sequence[str]) -> None:
    """Compile the game loop and these configured agents into the cache, or load them from it."""
    from ttr.agents.registry import seat_player
    from ttr.clock import seconds_per_tick
    from ttr.python_table import table_for

    for name in names:
        seat_player(make_agent(name))
    seconds_per_tick()
    table_for  # noqa: B018  its module holds the game loop


def warm_up(identities: Sequence[Mapping[str, Any]]) -> None:
    """Compile all that these agents need, once on a machine and in a process of its own.

    A process that has compiled keeps some 400 MB that a long-lived worker should not; and several that fill the cache at
    once have crashed, so that one at a time does.
    """
    parts = [part for i in identities for part in ([i["first"], i["second"]] if i["agent"] == SWAP else [i])]
    names = sorted({"random" if "source" in part else part["agent"] for part in parts})
    folder = writable(cache_folder())
    if not all((folder / f"compiled-{name}").exists() for name in names):
        with open(folder / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            wanted = [name for name in names if not (folder / f"compiled-{name}").exists()]
            if wanted:
                script = "import sys; from ttr.adapter import compile_agents; compile_agents(sys.argv[1:])"
                environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
                subprocess.run([sys.executable, "-c", script, *wanted], env=environment, check=True)
            for name in wanted:
                (folder / f"compiled-{name}").touch()
    if any("source" in part for part in parts):
        _compile_for_users()


@cache
def _compile_for_users() -> None:
    """Compile what the Python loop of users' agents needs, by a game of it."""
    from ttr.warm import warm

    warm([])


@lru_cache(maxsize=512)
def _table(setup: str, identities: str, on_error: str) -> Any:
    """A table for a matchup, made once in a process; the least used one makes room."""
    warm_up(json.loads(identities))
    from ttr.python_table import table_for

    agents = [agent_from(identity) for identity in json.loads(identities)]
    return table_for(*board_and_rules(json.loads(setup)), agents, on_error, _scratch())


def play_batch(
    setup: Mapping[str, Any],
    seats: Sequence[Mapping[str, Any]],
    seed: int,
    deals: np.ndarray,
    rotations: np.ndarray,
    datasets: Sequence[str] = ("games",),
    on_error: str = "stop",
) -> dict[str, pa.Table]:
    """The rows of these games in each dataset asked for; row i of `games` is deals[i] in rotations[i]."""
    table = _table(json.dumps(setup), json.dumps([seat["identity"] for seat in seats]), on_error)
    texts, cars = [seat["text"] for seat in seats], setup["rules"]["cars"]
    if set(datasets) == {"games"}:
        return {"games": _game_rows(table.play(deals, rotations, seed), texts, cars)}
    rows, log = table.play_logged(deals, rotations, seed)
    made = {
        "games": _game_rows(rows, texts, cars),
        "decisions": _log_rows(rows, log, "decisions"),
        "moves": _log_rows(rows, log, "moves"),
    }
    return {name: made[name] for name in datasets}


def record_game(
    setup: Mapping[str, Any], seats: Sequence[Mapping[str, Any]], seed: int, deal: int, rotation: int, on_error: str = "stop"
) -> list[dict[str, Any]]:
    """The record of one game, as `python -m ttr.replay` reads it."""
    from ttr.record import play_and_record

    agents = [agent_from(seat["identity"]) for seat in seats]
    return play_and_record(*board_and_rules(setup), agents, seed, deal, rotation, on_error)


def tell_record(lines: Sequence[Mapping[str, Any]]) -> list[str]:
    """A record for a person: its moves and its scores."""
    from ttr.replay import score_table

    agents, rotation = lines[0]["agents"], lines[0]["rotation"]
    told = [
        f"{line['move']:4}  turn {line['turn'] + 1:3}  player {line['player']} "
        f"({agents[(line['player'] + rotation) % len(agents)]}) {line['text']}"
        for line in lines[1:-1]
    ]
    return [*told, "", score_table(dict(lines[-1]))]


def _game_rows(rows: np.ndarray, agents: Sequence[str], cars: int) -> pa.Table:
    from ttr.clock import seconds_per_tick

    n = len(agents)
    columns: dict[str, Any] = {}
    for name, kind in GAME_COLUMNS:
        columns[name] = pa.array(rows[name].astype(kind.to_pandas_dtype()))
    for name in ("winner", "forfeit"):
        columns[name] = pa.array(rows[name].astype(np.int8), mask=rows[name] < 0)
    names = pa.array(agents, pa.string())
    for s in range(MAX_SEATS):
        if s >= n:
            for name, kind in SEAT_COLUMNS:
                columns[f"{name}_{s}"] = pa.nulls(len(rows), kind)
            continue
        entries = pa.array(((s + rows["rotation"]) % n).astype(np.int8))
        columns[f"agent_{s}"] = pa.DictionaryArray.from_arrays(entries, names).cast(pa.string())
        for name, engine_name in POINTS.items():
            columns[f"{name}_{s}"] = pa.array((rows[engine_name][:, s] / 2).astype(np.float32))
        for name, engine_name in COUNTS.items():
            values = rows[engine_name][:, s] if engine_name else cars - rows["cars_left"][:, s]
            columns[f"{name}_{s}"] = pa.array(values.astype(np.int16))
        columns[f"seconds_{s}"] = pa.array((rows["ticks"][:, s] * seconds_per_tick()).astype(np.float32))
    schema = SCHEMAS["games"]
    return pa.Table.from_arrays([columns[name] for name in schema.names], schema=schema)


def _log_rows(rows: np.ndarray, log: np.ndarray, dataset: str) -> pa.Table:
    """The logged decisions as rows of a dataset."""
    from ttr.clock import seconds_per_tick

    columns = {"deal": rows["deal"][log["row"]], "rotation": rows["rotation"][log["row"]]}
    columns["seconds"] = log["ticks"] * seconds_per_tick()
    schema = SCHEMAS[dataset]
    values = [(columns[f.name] if f.name in columns else log[f.name]).astype(f.type.to_pandas_dtype()) for f in schema]
    return pa.Table.from_arrays([pa.array(v) for v in values], schema=schema)
