"""A sweep is read as curves: one agent with one field changed, averaged over the same opponents on the same deals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.estimate import LEVEL, Estimate, average
from analysis.pairs import differences_frame
from analysis.rates import Cell
from analysis.sums import Seating


@dataclass(frozen=True)
class Point:
    """One agent at one value of the swept field, against all its opponents."""

    line: str  # the agent without the swept field
    field: str
    value: float
    cells: tuple[Cell, ...]

    @property
    def win(self) -> Estimate:
        """Mean win rate over the opponents."""
        return average([cell.win for cell in self.cells])

    @property
    def draw(self) -> Estimate:
        """Mean draw rate over the opponents."""
        return average([cell.draw for cell in self.cells])

    @property
    def difference(self) -> Estimate:
        """Mean score difference over the opponents, signed."""
        return average([cell.difference for cell in self.cells])

    @property
    def score(self) -> Estimate:
        """Mean score over the opponents."""
        return average([cell.score for cell in self.cells])


def split_agent(text: str) -> tuple[str, dict[str, str]]:
    """Name and written fields of an agent's text."""
    name, _, rest = text.partition(":")
    fields: dict[str, str] = {}
    last = ""
    for part in rest.split(",") if rest else []:
        key, equals, value = part.partition("=")
        if equals:
            fields[key] = value
            last = key
        elif last:  # a comma inside a value
            fields[last] += "," + part
    return name, fields


def join_agent(name: str, fields: dict[str, str]) -> str:
    """The text of an agent with these fields."""
    return name + (":" + ",".join(f"{key}={value}" for key, value in fields.items()) if fields else "")


def without_shared_fields(texts: Sequence[str]) -> dict[str, str]:
    """Shorter names: what every agent with fields writes alike (iterations, say) is left out, if names stay apart."""
    parts = {text: split_agent(text) for text in dict.fromkeys(texts)}
    written = [fields for _, fields in parts.values() if fields]
    shared = {key for key in written[0] if len({fields.get(key) for fields in written}) == 1} if written else set()
    short = {text: join_agent(name, {k: v for k, v in fields.items() if k not in shared}) for text, (name, fields) in parts.items()}
    return short if len(set(short.values())) == len(short) else {text: text for text in parts}


def swept_field(seatings: Sequence[Seating]) -> str | None:
    """The field of the horizontal axis: the numeric one with the most values."""
    values: dict[str, set[float]] = {}
    for seating in seatings:
        for labels in all_labels(seating):
            for field, value in (labels.get("sweep") or {}).items():
                if isinstance(value, (int, float)) and not isinstance(value, bool):
                    values.setdefault(field, set()).add(float(value))
    return max(values, key=lambda field: len(values[field])) if values else None


def all_labels(seating: Seating) -> list[dict[str, Any]]:
    """A matchup's labels, and those of other points of the grid at which it is the same."""
    return [seating.labels, *seating.labels.get("also", [])]


def points(seatings: Sequence[Seating], cells: Sequence[Cell]) -> list[Point]:
    """The points of a sweep in the order of line and value; matchups without a role or a swept field are no part of it."""
    field = swept_field(seatings)
    if field is None:
        return []
    found: dict[tuple[str, float], list[Cell]] = {}
    by_place = {(cell.matchup, cell.agent): cell for cell in cells}
    for seating in seatings:
        for labels in all_labels(seating):
            sweep, role = labels.get("sweep") or {}, labels.get("role")
            if field not in sweep or not role:
                continue
            text = labels["agents"][role["agent"]]
            cell = by_place.get((seating.id, text))
            if cell is not None:
                found.setdefault((_line(text, sweep, field), float(sweep[field])), []).append(cell)
    short = without_shared_fields([line for line, _ in found])
    lines = list(dict.fromkeys(line for line, _ in found))
    ordered = sorted(found, key=lambda key: (lines.index(key[0]), key[1]))
    return [Point(short[line], field, value, tuple(found[(line, value)])) for line, value in ordered]


def _line(text: str, sweep: dict[str, Any], field: str) -> str:
    """The agent's text without what is swept, plus the other swept values."""
    name, fields = split_agent(text)
    for key in sweep:
        owner, _, inner = key.partition(".")
        if owner == "agent":
            fields.pop(inner, None)
    for key, value in sweep.items():
        if key != field:
            fields[key.removeprefix("agent.")] = str(value)
    return join_agent(name, fields)


def curves(given: Sequence[Point], level: float = LEVEL) -> pd.DataFrame:
    """One row per point: win rate, draw rate (percent), score and score difference (points), with intervals."""
    rows = []
    for point in given:
        row: dict[str, object] = dict(agent=point.line, value=point.value, opponents=len(point.cells))
        row["games"] = sum(cell.games for cell in point.cells)
        for name in ("win", "draw"):
            estimate = getattr(point, name)
            low, high = estimate.rate_interval(level)
            row |= {name: 100 * estimate.value, f"{name}_low": 100 * low, f"{name}_high": 100 * high}
        for name in ("score", "difference"):
            estimate = getattr(point, name)
            low, high = estimate.interval(level)
            row |= {name: estimate.value, f"{name}_low": low, f"{name}_high": high}
        rows.append(row)
    return pd.DataFrame(rows)


def paired_steps(given: Sequence[Point]) -> pd.DataFrame:
    """Each point's win rate less that of its line's first point (percent), paired by deal and beside the unpaired width."""
    frames = []
    for line in dict.fromkeys(point.line for point in given):
        own = [point for point in given if point.line == line]
        if len(own) > 1:
            frame = differences_frame([(f"{point.value:g}", point.win * 100.0) for point in own])
            frame.insert(0, "agent", line)
            frames.append(frame)
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
