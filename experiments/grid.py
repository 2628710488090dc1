"""A grid: fields of agents, opponents, rules and map, each with a list of values; a point takes one value of each.

Written as `sweep.grid.agent.momentum=[0,0.1]`, or in YAML nested or with dots: `agent.momentum: [0, 0.1]`.
"""

import difflib
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from experiments.refusal import Refusal

OWNERS = ("agent", "opponent", "rules", "map", "players")


def flat_grid(grid: Mapping[str, Any] | None, prefix: str = "") -> dict[str, list[Any]]:
    """The grid as field -> values, "agent.momentum" -> [0, 0.1]."""
    flat: dict[str, list[Any]] = {}
    if grid is not None and not isinstance(grid, Mapping):
        raise Refusal(f"sweep.grid is {grid!r}; it must name fields with lists of values, e.g. sweep.grid.agent.cp=[1,3]")
    for key, value in (grid or {}).items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            flat |= flat_grid(value, name + ".")
            continue
        if not isinstance(value, (list, tuple)):
            raise Refusal(f"sweep.grid.{name} is {value!r}; it must be a list of values, e.g. sweep.grid.{name}=[{value}]")
        if not value:
            raise Refusal(f"sweep.grid.{name} is an empty list; there is nothing to play")
        flat[name] = list(value)
    for name in flat:
        owner, dot, field = name.partition(".")
        if owner not in OWNERS or (owner in ("agent", "opponent", "rules") and not field) or (owner == "players" and field):
            near = difflib.get_close_matches(owner, OWNERS, 1)
            hint = f" (did you mean {near[0]}{dot}{field}?)" if near and near[0] != owner else ""
            raise Refusal(
                f"sweep.grid.{name}: there is no such field to sweep{hint}; write agent.FIELD, opponent.FIELD, rules.FIELD, "
                "map (names), map.FIELD or players"
            )
    return flat


def points(grid: Mapping[str, list[Any]]) -> Iterator[dict[str, Any]]:
    """Every combination of values, the last field changing fastest; one empty point for an empty grid."""
    for values in product(*grid.values()):
        yield dict(zip(grid, values))


def part_of(point: Mapping[str, Any], owner: str) -> dict[str, Any]:
    """The fields of one owner at a point."""
    return {name.partition(".")[2]: value for name, value in point.items() if name.partition(".")[0] == owner}
