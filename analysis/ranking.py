"""One strength per agent (Bradley-Terry, many-player tables as its choice model), with its misfit in every cell.

An agent with strength t wins a table with probability exp(t) over the sum of exp over everybody seated; a draw is an equal
share for all. Elo points are strengths on the scale of 400 per factor of ten. Intervals follow the deals through the fit
(sandwich): a table's surprise on a deal moves the strengths by the inverse curvature.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import optimize

from analysis.estimate import LEVEL, Estimate
from analysis.rates import Cell

ELO = 400 / np.log(10)


@dataclass(frozen=True)
class Table:
    """What a fit needs of one table: who sat there, how the points were shared, over how many games."""

    agents: tuple[str, ...]  # one per seat
    shares: np.ndarray  # float[seats], sums to one
    games: float
    influence: np.ndarray | None = None  # float[seats, blocks] of the shares, where deals are known
    deals: int = 0
    clusters: int = 0


@dataclass(frozen=True)
class Ranking:
    """Agents by strength (mean zero), strongest first, and how far each table lies from what the strengths predict."""

    agents: list[str]
    strengths: list[Estimate]
    misfit: pd.DataFrame  # agent, opponent, observed, expected, misfit (points in percent)

    def frame(self, level: float = LEVEL) -> pd.DataFrame:
        """Place, agent, Elo with interval, largest misfit of the agent's cells."""
        rows = []
        for place, (agent, strength) in enumerate(zip(self.agents, self.strengths, strict=True), 1):
            low, high = strength.interval(level)
            misses = self.misfit.loc[self.misfit["agent"] == agent, "misfit"].to_numpy(float)
            largest = float(misses[np.argmax(np.abs(misses))]) if len(misses) else float("nan")
            rows.append(
                dict(place=place, agent=agent, elo=ELO * strength.value, low=ELO * low, high=ELO * high, worst_misfit=largest)
            )
        return pd.DataFrame(rows)


def tables_of(cells: Sequence[Cell]) -> list[Table]:
    """Two-player and larger tables from their cells (self-play says nothing about strength and is left out)."""
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.matchup, []).append(cell)
    tables = []
    for group in groups.values():
        if len(group) < 2:
            continue
        seats = [cell for cell in group for _ in range(1 + cell.opponents.count(cell.agent))]
        points = [cell.points for cell in seats]
        shares = np.array([p.value for p in points])
        influence = np.stack([p.influence for p in points])
        first = points[0]
        tables.append(Table(tuple(c.agent for c in seats), shares, seats[0].games, influence, first.deals, first.clusters))
    return tables


def tables_of_matrix(points: pd.DataFrame, games: float = 1.0) -> list[Table]:
    """Two-player tables from a matrix of points shares in percent (a published one: no deals, no intervals)."""
    names = [str(name) for name in points.index]
    values = points.to_numpy(float) / 100
    return [
        Table((names[i], names[j]), np.array([values[i, j], 1 - values[i, j]]), games)
        for i in range(len(names))
        for j in range(i + 1, len(names))
        if np.isfinite(values[i, j])
    ]


def rank(tables: Sequence[Table]) -> Ranking:
    """Fit the strengths; one drawn game is added to every table, so that an agent that always wins stays finite."""
    names = list(dict.fromkeys(agent for table in tables for agent in table.agents))
    if len(names) < 2:
        return Ranking(names, [], pd.DataFrame(columns=["agent", "opponent", "observed", "expected", "misfit"]))
    seats = [np.array([names.index(agent) for agent in table.agents]) for table in tables]
    weights = np.array([table.games + 1 for table in tables], float)
    shares = [(table.games * table.shares + 1 / len(table.shares)) / (table.games + 1) for table in tables]
    strength = _fit(len(names), seats, shares, weights)
    curvature = _hessian(strength, seats, weights)
    inverse = np.linalg.pinv(curvature)  # the direction "all stronger" is empty; pinv keeps the mean at zero
    estimates = _estimates(strength, inverse, tables, seats)
    order = np.argsort(-strength, kind="stable")
    misfit = pd.DataFrame([row for table, where in zip(tables, seats, strict=True) for row in _misfits(table, strength[where])])
    return Ranking([names[i] for i in order], [estimates[i] for i in order], misfit)


def _chances(strengths: np.ndarray) -> np.ndarray:
    powers = np.exp(strengths - strengths.max())
    return powers / powers.sum()


def _fit(n: int, seats: list[np.ndarray], shares: list[np.ndarray], weights: np.ndarray) -> np.ndarray:
    scale = weights.sum()

    def loss(t: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = 0.0, np.zeros(n)
        for where, share, weight in zip(seats, shares, weights, strict=True):
            chances = _chances(t[where])
            value -= weight * float(share @ np.log(chances))
            np.add.at(slope, where, weight * (chances - share))
        return value / scale, slope / scale

    found = optimize.minimize(
        loss,
        np.zeros(n),
        jac=True,
        hess=lambda t: _hessian(t, seats, weights) / scale,
        method="trust-exact",
        options={"gtol": 1e-10},
    )
    return found.x - found.x.mean()


def _hessian(t: np.ndarray, seats: list[np.ndarray], weights: np.ndarray) -> np.ndarray:
    total = np.zeros((len(t), len(t)))
    for where, weight in zip(seats, weights, strict=True):
        chances = _chances(t[where])
        np.add.at(total, (where[:, None], where[None, :]), weight * (np.diag(chances) - np.outer(chances, chances)))
    return total


def _estimates(strength: np.ndarray, inverse: np.ndarray, tables: Sequence[Table], seats: list[np.ndarray]) -> list[Estimate]:
    moved = None
    for table, where in zip(tables, seats, strict=True):
        if table.influence is None:
            return [Estimate(float(value), np.zeros(1), 0, 0) for value in strength]
        if moved is None:
            moved = np.zeros((len(strength), table.influence.shape[1]))
        np.add.at(moved, where, table.games * table.influence)
    assert moved is not None
    deals, clusters = min(t.deals for t in tables), min(t.clusters for t in tables)
    return [Estimate(float(value), row, deals, clusters) for value, row in zip(strength, inverse @ moved, strict=True)]


def _misfits(table: Table, strengths: np.ndarray) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for seat, chance in enumerate(_chances(strengths)):
        others = list(table.agents)
        agent = others.pop(seat)
        observed, expected = 100 * float(table.shares[seat]), 100 * float(chance)
        rows.append(
            dict(agent=agent, opponent=" + ".join(others), observed=observed, expected=expected, misfit=observed - expected)
        )
    return rows


def davidson(wins: np.ndarray, draws: np.ndarray) -> tuple[np.ndarray, float]:
    """Davidson's model: a draw has weight nu * sqrt(ab) beside wins a and b. Returns log-strengths (mean zero) and nu.

    wins[i, j]: games i won against j; draws[i, j] = draws[j, i]. Where many games are drawn, nu says how many more than
    equal strength alone explains.
    """
    n = len(wins)
    i, j = np.triu_indices(n, 1)
    total = wins.sum() + draws[i, j].sum()

    def loss(x: np.ndarray) -> float:
        a, b, level = x[i], x[j], x[n] + (x[i] + x[j]) / 2
        norm = np.logaddexp(np.logaddexp(a, b), level)
        return -float(np.sum(wins[i, j] * (a - norm) + wins[j, i] * (b - norm) + draws[i, j] * (level - norm))) / total

    found = optimize.minimize(loss, np.zeros(n + 1), method="BFGS", options={"gtol": 1e-8})
    return found.x[:n] - found.x[:n].mean(), float(np.exp(found.x[n]))
