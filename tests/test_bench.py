"""The tables of `make bench` can be read on 80 characters, and every goal is judged the right way round."""

import importlib
import io

import pytest
from rich.console import Console

from tests.bench.__main__ import AREAS, cases_table, goals_table
from tests.bench.goals import AT_LEAST, AT_MOST
from tests.bench.measure import row


@pytest.mark.parametrize("area", AREAS)
def test_every_area_has_rows(area):
    assert callable(importlib.import_module(f"tests.bench.{area}").rows)


@pytest.mark.parametrize("name", [*AT_LEAST, *AT_MOST])
def test_goals_are_judged(name):
    must, ambition = AT_LEAST.get(name) or AT_MOST[name]
    worse = must * (0.9 if name in AT_LEAST else 1.1)
    assert row(name, ambition, "")["met"] and row(name, must, "")["met"]
    assert row(name, worse, "")["met"] is False
    assert row("not_a_goal", 1, "")["met"] is None


def test_tables_fit_80_characters():
    quantities = ("random_games_per_s", "random_ns_per_decision", "random_reference_ratio")
    rows = [row(f"{quantity}/first_journey/5p", 1_234_567.891, "games/s") for quantity in quantities]
    rows += [row(name, 1_234_567.891, "games/s") for name in (*AT_LEAST, *AT_MOST)]
    out = io.StringIO()
    console = Console(file=out, width=80)
    console.print(cases_table("engine", rows[:3]), goals_table(rows))
    text = out.getvalue()
    assert "…" not in text and text.count("1,234,568") == len(rows)
    assert all(name in text for name in (*AT_LEAST, *AT_MOST)) and "first_journey/5p" in text
