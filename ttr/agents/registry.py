"""From an agent's text to a player: `name[:field=value,...]`, `swap:first=a,second=b,round=n`, `file.py:Object[:field=value,...]`.

Values live in conf/agent/NAME.yaml; the dataclasses of params.py are the schema. A module is imported, and so
compiled, only when its agent is to play.
"""

import difflib
import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import yaml

from ttr.agents.params import MODELS, PARAMS

SWAP = "swap"


class AgentError(ValueError):
    """An agent that cannot be made, in one line."""


@dataclass(frozen=True)
class Agent:
    """A player as configured, every field resolved. `text` is its shortest name: what differs from the configuration is shown."""

    text: str
    name: str
    fields: Mapping[str, Any] = field(default_factory=dict, hash=False)
    source: str = ""  # of a user's own agent: the text of its file
    first: "Agent | None" = None  # of a swap
    second: "Agent | None" = None
    model: "Agent | None" = None  # what it takes other players for

    @property
    def by_user(self) -> bool:
        """Whether it is a user's own Python agent (or swaps with one)."""
        return bool(self.source) or any(part.by_user for part in (self.first, self.second) if part)

    def identity(self) -> dict[str, Any]:
        """All that determines its play, as plain data."""
        if self.first and self.second:
            return {
                "agent": SWAP,
                "first": self.first.identity(),
                "second": self.second.identity(),
                "round": self.fields["round"],
            }
        beside = {"source": self.source} if self.source else {"model": self.model.identity()} if self.model else {}
        return {"agent": self.name, **self.fields} | beside


@dataclass(frozen=True)
class Player:
    """A jitted agent ready to sit down: its compiled `decide` and its parameters as numbers."""

    decide: Any
    params: np.ndarray
    cheats: bool
    watches: bool
    model: np.ndarray  # parameters of the agent it takes others for


@cache
def agent_names() -> tuple[str, ...]:
    """All configured agents, swap last."""
    names = sorted(Path(str(entry)).stem for entry in files("conf").joinpath("agent").iterdir() if str(entry).endswith(".yaml"))
    return (*names, SWAP)


@cache
def _configured(name: str) -> dict[str, Any]:
    text = files("conf").joinpath("agent", f"{name}.yaml").read_text(encoding="utf-8")
    return dict(yaml.safe_load(text))


def near_misses(word: str, known: Sequence[str]) -> str:
    """A hint for a mistyped word: what it may have meant, and what there is."""
    near = difflib.get_close_matches(word, known, 3)
    return (f" (did you mean {' or '.join(near)}?)" if near else "") + f"; there are: {', '.join(known) or 'none'}"


def split_outside_brackets(text: str, mark: str) -> list[str]:
    """Split at a mark, but not inside round brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == mark and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    if depth:
        raise AgentError(f"agent '{text}': the brackets do not match")
    return parts


def parse_agent(text: str) -> Agent:
    """The agent that a text names, all fields resolved; raises AgentError."""
    name, fields = _split(text)
    if name.endswith(".py") or ".py:" in name:
        from ttr.agents.python_agent import user_agent  # only where a user's file is named

        return user_agent(name, fields)
    return make_agent(name, fields)


def _split(text: str) -> tuple[str, dict[str, str]]:
    """Name and fields of an agent's text; a file's name keeps its object."""
    parts = split_outside_brackets(text.strip(), ":")
    count = 2 if parts[0].endswith(".py") and len(parts) > 1 else 1
    name, rest = ":".join(parts[:count]), ":".join(parts[count:])
    if not name:
        raise AgentError(f"agent '{text}' has no name{near_misses('', agent_names())}")
    fields: dict[str, str] = {}
    for part in split_outside_brackets(rest, ",") if rest else []:
        key, equals, value = part.partition("=")
        if not equals or not key.strip():
            raise AgentError(f"agent '{text}': '{part}' should be field=value")
        if key.strip() in fields:
            raise AgentError(f"agent '{text}': {key.strip()} is given twice")
        fields[key.strip()] = value.strip()
    return name, fields


def make_agent(name: str, fields: Mapping[str, Any] | None = None, model: Agent | None = None) -> Agent:
    """A configured agent with some of its fields changed; what it takes others for is configured too, unless given."""
    given = dict(fields or {})
    if name == SWAP:
        return _swap(given)
    if name not in agent_names():
        raise AgentError(f"unknown agent '{name}'{near_misses(name, agent_names())}")
    values = {key: value for key, value in _configured(name).items() if key != "module"}
    for key in given:
        if key not in values:
            raise AgentError(f"agent '{name}' has no field '{key}'{near_misses(key, list(values))}")
    schema = _schema(name)
    resolved = {key: field_value(name, key, given.get(key, values[key]), kind) for key, kind in schema.items()}
    try:
        PARAMS[_configured(name)["module"]](**resolved)
    except ValueError as error:
        raise AgentError(f"agent '{name}': {error}") from None
    changed = [
        f"{key}={shown_value(resolved[key])}"
        for key in resolved
        if resolved[key] != field_value(name, key, values[key], schema[key])
    ]
    taken_for = MODELS.get(_configured(name)["module"])
    model = (model or make_agent(taken_for)) if taken_for else None
    return Agent(name + (":" + ",".join(changed) if changed else ""), name, resolved, model=model)


def shown_value(value: Any) -> str:
    """A field's value as it is written, to the last digit."""
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _swap(given: Mapping[str, Any]) -> Agent:
    for key in given:
        if key not in ("first", "second", "round"):
            raise AgentError(f"agent 'swap' has no field '{key}'{near_misses(key, ('first', 'second', 'round'))}")
    if set(given) != {"first", "second", "round"}:
        raise AgentError("agent 'swap' needs first, second and round: swap:first=base,second=greedy,round=5")
    first, second = (_part(given[key]) for key in ("first", "second"))
    number = field_value(SWAP, "round", given["round"], int)
    if first.first or second.first:
        raise AgentError("agent 'swap' swaps two plain agents, not another swap")
    if number < 1:
        raise AgentError(f"agent 'swap': round is {number}, it must be at least 1")
    shown = [f"({part.text})" if ":" in part.text else part.text for part in (first, second)]
    return Agent(f"swap:first={shown[0]},second={shown[1]},round={number}", SWAP, {"round": number}, "", first, second)


def _part(given: Any) -> Agent:
    return given if isinstance(given, Agent) else parse_agent(str(given).strip("()"))


def _schema(name: str) -> dict[str, Any]:
    """Field types of an agent."""
    return get_type_hints(PARAMS[_configured(name)["module"]])


def field_value(name: str, key: str, value: Any, kind: Any) -> Any:
    """A field's value as its type; texts come from a command line, anything else from a file."""
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise AgentError(f"agent '{name}': {key} is '{value}'{near_misses(str(value), get_args(kind))}")
        return value
    try:
        parsed = yaml.safe_load(value) if isinstance(value, str) else value
        if kind is bool and isinstance(parsed, bool):
            return parsed
        if kind is int and not isinstance(parsed, bool) and float(parsed) == int(float(parsed)):
            return int(float(parsed))
        if kind is float and not isinstance(parsed, bool) and np.isfinite(float(parsed)):
            return float(parsed)
    except (TypeError, ValueError, OverflowError, yaml.YAMLError):
        pass
    wanted = {int: "a whole number", float: "a number", bool: "true or false"}[kind]
    raise AgentError(f"agent '{name}': {key} is '{value}', it must be {wanted}")


def seat_player(agent: Agent) -> Player:
    """Import and so compile the jitted agent, and lay out its parameters."""
    module = importlib.import_module(f"ttr.agents.{_configured(agent.name)['module']}")
    cheats, watches = (bool(getattr(module, flag, False)) for flag in ("CHEATS", "WATCHES"))
    return Player(module.decide, _numbers(agent), cheats, watches, _numbers(agent.model))


def _numbers(agent: Agent | None) -> np.ndarray:
    """An agent's fields as its parameters."""
    from ttr.agents.contract import MAX_PARAMS

    params = np.zeros(MAX_PARAMS)
    for i, (key, kind) in enumerate(_schema(agent.name).items() if agent else ()):
        value = agent.fields[key] if agent else 0
        params[i] = get_args(kind).index(value) if get_origin(kind) is Literal else float(value)
    return params
