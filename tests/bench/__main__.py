"""Measure the areas, print their tables, write bench.json.

python -m tests.bench            # everything: what `make bench` does
python -m tests.bench engine     # one area; bench.json then holds its rows alone
"""

import argparse
import importlib
import json
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from tests.bench.measure import reference_step

AREAS = ["engine", "heuristics", "report", "search", "thousand_workers", "experiments"]


def number(value: float | None) -> str:
    """A value with as many digits as it deserves; nothing for None."""
    return "" if value is None else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:,.2f}".rstrip("0").rstrip(".")


def goals_table(rows: list[dict[str, Any]]) -> Table:
    """The rows that have a goal."""
    table = Table(title="Goals", title_justify="left", box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in ("name", "value", "unit", "must", "ambition", "met"):
        table.add_column(heading, justify="right" if heading in ("value", "must", "ambition") else "left", no_wrap=True)
    for r in rows:
        if r["must"] is not None:
            goals = [number(r[key]) for key in ("value", "must", "ambition")]
            table.add_row(r["name"], goals[0], r["unit"], *goals[1:], "yes" if r["met"] else "NO")
    return table


def cases_table(area: str, rows: list[dict[str, Any]]) -> Table:
    """One line for each case (what stands after the first bar of a name), one column for each quantity."""
    values: dict[str, dict[str, float]] = {}
    for r in rows:
        quantity, _, case = r["name"].partition("/")
        values.setdefault(case or "-", {})[quantity] = r["value"]
    quantities = list(dict.fromkeys(quantity for found in values.values() for quantity in found))
    table = Table(title=f"{area}: CPU time, one core", title_justify="left", box=SIMPLE, pad_edge=False)
    table.add_column("case", no_wrap=True)
    for quantity in quantities:
        table.add_column(quantity.replace("_", " "), justify="right", overflow="fold")
    for case, found in values.items():
        table.add_row(case, *(number(found.get(quantity)) for quantity in quantities))
    return table


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measure speed; writes bench.json.")
    parser.add_argument("areas", nargs="*", metavar="AREA", help=f"any of {', '.join(AREAS)} (default: all)")
    areas = parser.parse_args().areas or AREAS
    for area in areas:
        if area not in AREAS:
            parser.error(f"there is no area {area!r}; the areas are {', '.join(AREAS)}")
    console, step = Console(), reference_step()
    measured = {area: importlib.import_module(f"tests.bench.{area}").rows(step) for area in areas}
    rows = [r for found in measured.values() for r in found]
    Path("bench.json").write_text(json.dumps(rows, indent=1) + "\n")
    for area, found in measured.items():
        console.print(cases_table(area, [r for r in found if "/" in r["name"]]))
        for r in found:
            if "/" not in r["name"] and r["must"] is None:
                console.print(f"{r['name']}: {number(r['value'])} {r['unit']}", highlight=False)
    console.print(goals_table(rows))
    console.print("All rows are in bench.json.", highlight=False)


if __name__ == "__main__":
    main()
