"""How near an agent keeps the game to even: the measures by which difficulty adjustment is judged."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from analysis.estimate import LEVEL, Estimate, average, magnitude_interval
from analysis.rates import Cell

AVERAGE = "Average"


def win_difference(cell: Cell) -> Estimate:
    """The agent's win rate less its opponent's, signed: 2 win + draw - 1."""
    return cell.win * 2.0 + cell.draw - 1.0


def dda_row(cell: Cell, level: float = LEVEL) -> dict[str, object]:
    """One line of the study's DDA tables: win %, draw %, absolute win % difference and score difference, with intervals."""
    signed, points = win_difference(cell), cell.difference
    row: dict[str, object] = dict(matchup=cell.matchup, agent=cell.agent, opponent=cell.opponent, games=cell.games)
    _fill(row, "win", cell.win.value, cell.win.rate_interval(level), 100)
    _fill(row, "draw", cell.draw.value, cell.draw.rate_interval(level), 100)
    _fill(row, "win_difference", abs(signed.value), magnitude_interval(signed, level), 100)
    _fill(row, "score_difference", abs(points.value), magnitude_interval(points, level), 1)
    return row | dict(signed_win_difference=100 * signed.value, signed_score_difference=points.value)


def average_row(group: Sequence[Cell], level: float = LEVEL) -> dict[str, object]:
    """The mean over opponents of each measure: of the absolute values as the study prints them, and of the signed ones.

    The interval of a mean of absolute values takes each sign as known; where one is not, the mean is biased upward by less
    than the interval's half-width, so the signed mean stands beside it.
    """
    win, draw = average([c.win for c in group]), average([c.draw for c in group])
    wins = average([abs(win_difference(c)) for c in group])
    points = average([abs(c.difference) for c in group])
    row: dict[str, object] = dict(matchup="", agent=group[0].agent, opponent=AVERAGE, games=sum(c.games for c in group))
    _fill(row, "win", win.value, win.rate_interval(level), 100)
    _fill(row, "draw", draw.value, draw.rate_interval(level), 100)
    _fill(row, "win_difference", wins.value, wins.interval(level), 100)
    _fill(row, "score_difference", points.value, points.interval(level), 1)
    signed = average([win_difference(c) for c in group]).value
    return row | dict(signed_win_difference=100 * signed, signed_score_difference=average([c.difference for c in group]).value)


def _fill(row: dict[str, object], name: str, value: float, ends: tuple[float, float], scale: float) -> None:
    row |= {name: scale * value, f"{name}_low": scale * ends[0], f"{name}_high": scale * ends[1]}


def dda_frame(cells: Sequence[Cell], level: float = LEVEL) -> pd.DataFrame:
    """Per opponent and averaged, one block of rows for each agent."""
    rows = []
    for agent in dict.fromkeys(c.agent for c in cells):
        group = [c for c in cells if c.agent == agent]
        rows += [dda_row(c, level) for c in group] + ([average_row(group, level)] if len(group) > 1 else [])
    return pd.DataFrame(rows)
