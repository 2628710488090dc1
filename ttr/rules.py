"""Rules as data: a preset per study (conf/rules/NAME.yaml), resolved against a board into a full `Rules` record.

A field that a preset leaves out is its base preset's, in the end that of `official`; a field that `official` leaves out is the
map's (what lies in its box). Any field can be overridden.
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import yaml

from ttr.board import Board

PRESETS = Path(__file__).parent.parent / "conf" / "rules"


class RulesError(ValueError):
    """Rules that do not exist, or that do not fit a board; the message is one line."""


@dataclass(frozen=True)
class Rules:
    """The rules of one game, nothing left open."""

    preset: str
    players: int
    cars: int
    hand: int  # train cards dealt
    cards_per_colour: int
    locomotives: int
    face_up: int
    drawing: str  # stepwise | paired | blind
    tickets_dealt: int
    tickets_kept: int  # at least, at the start
    tickets_drawn: int
    tickets_kept_later: int
    far_and_near: bool  # the first tickets are one far and one near
    parallel: str  # official: all open to 4-5 players, one of them to 2-3; one: always one of them
    end_cars: int  # the end is triggered with so few cars left
    trigger_plays_again: bool  # the player who triggers the end has a last turn too
    points: tuple[float, ...]  # for a route, by length 1..8
    longest_bonus: float
    most_tickets_bonus: float
    ticket_bonus: float  # for each completed ticket
    tie_break: str  # tickets_then_longest | none (a tie is a draw)
    floor: bool  # the score shown is not below zero; the winner is decided without


CHOICES = {
    "drawing": ("stepwise", "paired", "blind"),
    "parallel": ("official", "one"),
    "tie_break": ("tickets_then_longest", "none"),
}
RANGES = {
    "players": (2, 5),
    "cars": (1, 60),
    "hand": (0, 20),
    "cards_per_colour": (1, 31),
    "locomotives": (0, 31),
    "face_up": (0, 7),
    "tickets_dealt": (1, 5),
    "tickets_kept": (1, 5),
    "tickets_drawn": (1, 5),
    "tickets_kept_later": (1, 5),
    "end_cars": (0, 60),
}
BOX_FIELDS = (
    "cars hand cards_per_colour locomotives face_up tickets_dealt tickets_kept tickets_drawn tickets_kept_later "
    "end_cars points longest_bonus most_tickets_bonus"
).split()
FIELDS = [field.name for field in fields(Rules) if field.name != "preset"]


def preset_names() -> list[str]:
    """The presets that exist."""
    return sorted(path.stem for path in PRESETS.glob("*.yaml"))


def usual_preset(board: Board) -> str:
    """The rules a map is usually played by here: those of the study it comes from, else the official ones."""
    return "warwick" if board.name in ("yang", "mini") else "official"


def resolve_rules(
    board: Board, preset: str = "official", players: int | None = None, overrides: Mapping[str, Any] | None = None
) -> Rules:
    """The full rules of a preset on a board; raises RulesError, in one line, if they do not fit."""
    values: dict[str, Any] = {name: getattr(board.box, name) for name in BOX_FIELDS}
    values |= _read_preset(preset, board.name)
    for name, value in (overrides or {}).items():
        _known(name, FIELDS, "rules have no field")
        values[name] = value
    if players is not None:
        values["players"] = players
    rules = Rules(preset=preset, **{name: _checked(name, values[name]) for name in FIELDS})
    if rules.drawing == "blind" and rules.face_up:
        raise RulesError(f"drawing=blind has no face-up row, but face_up is {rules.face_up}; set face_up=0")
    _check_fit(board, rules)
    return rules


def parse_overrides(texts: list[str]) -> dict[str, Any]:
    """Overrides written as field=value."""
    result = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign:
            raise RulesError(f"'{text}' is not an override; write field=value, e.g. cars=30")
        try:
            result[name.removeprefix("rules.")] = yaml.safe_load(value)
        except (yaml.YAMLError, ValueError):  # a date that there is not
            raise RulesError(f"'{value}' is not a value for {name}") from None
    return result


def _read_preset(name: str, board_name: str) -> dict[str, Any]:
    """A preset's own fields on top of its base's; the key `maps` holds what differs on single maps."""
    _known(name, preset_names(), "no rules are called")
    values: dict[str, Any] = yaml.safe_load((PRESETS / f"{name}.yaml").read_text()) or {}
    base = values.pop("base", None if name == "official" else "official")
    values |= values.pop("maps", {}).get(board_name, {})
    for field in values:
        _known(field, FIELDS, f"conf/rules/{name}.yaml: rules have no field")
    return (_read_preset(base, board_name) if base else {}) | values


def _known(name: str, names: list[str], problem: str) -> None:
    if name in names:
        return
    near = difflib.get_close_matches(name, names, 1)
    hint = f" (did you mean {near[0]}?)" if near else ""
    raise RulesError(f"{problem} '{name}'{hint}; there are: {', '.join(names)}")


def _checked(name: str, value: Any) -> Any:
    """A field's value, of the right kind and within its range."""
    if name in CHOICES:
        value = "none" if value is None else value
        if value not in CHOICES[name]:
            raise RulesError(f"{name}={value}: it must be one of {', '.join(CHOICES[name])}")
        return value
    if name in ("far_and_near", "trigger_plays_again", "floor"):
        if not isinstance(value, bool):
            raise RulesError(f"{name}={value}: it must be true or false")
        return value
    if name == "points":
        return _checked_points(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise RulesError(f"{name}={value}: it must be a number")
    if name in RANGES:
        low, high = RANGES[name]
        if not low <= value <= high or value != int(value):
            raise RulesError(f"{name}={value}: it must be a whole number from {low} to {high}")
        return int(value)
    if (2 * value) % 1 or not 0 <= value <= 200:
        raise RulesError(f"{name}={value}: it must be from 0 to 200, in whole or half points")
    return value


def _checked_points(value: Any) -> tuple[float, ...]:
    if not isinstance(value, (list, tuple)) or len(value) != 8:
        raise RulesError(f"points={value}: it must be a list of eight numbers, for lengths 1 to 8")
    for points in value:
        number = isinstance(points, (int, float)) and not isinstance(points, bool)
        if not number or (2 * points) % 1 or not 0 <= points <= 200:
            raise RulesError(f"points={value}: '{points}' must be from 0 to 200, in whole or half points")
    return tuple(value)


def _check_fit(board: Board, rules: Rules) -> None:
    """A deal must fit: enough train cards, enough tickets, far and near ones where they are asked for."""
    where = f"rules {rules.preset} do not fit map {board.name} with {rules.players} players"
    cards = rules.cards_per_colour * len(board.colours) + rules.locomotives
    needed = rules.players * rules.hand + rules.face_up
    if cards > 126:
        raise RulesError(f"{where}: {cards} train cards, at most 126 can be played with")
    if needed > cards:
        raise RulesError(f"{where}: the deal needs {needed} train cards, there are {cards}")
    if rules.tickets_kept > rules.tickets_dealt:
        raise RulesError(f"{where}: {rules.tickets_kept} of {rules.tickets_dealt} dealt tickets cannot be kept")
    if rules.tickets_kept_later > rules.tickets_drawn:
        raise RulesError(f"{where}: {rules.tickets_kept_later} of {rules.tickets_drawn} drawn tickets cannot be kept")
    if rules.far_and_near:
        far = sum("long" in ticket.tags for ticket in board.tickets)
        near = sum("short" in ticket.tags for ticket in board.tickets)
        if rules.tickets_dealt != 2:
            raise RulesError(f"{where}: one far and one near ticket are dealt, but tickets_dealt is {rules.tickets_dealt}")
        if far + near != len(board.tickets) or min(far, near) < rules.players:
            raise RulesError(f"{where}: far and near tickets are needed (tags long and short), there are {far} and {near}")
    elif rules.players * rules.tickets_dealt > len(board.tickets):
        needed = rules.players * rules.tickets_dealt
        raise RulesError(f"{where}: the deal needs {needed} tickets, there are {len(board.tickets)}")
