"""How statistics of a player go together, with intervals that know a deal's rows belong together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy import stats

from analysis.estimate import LEVEL, Interval
from analysis.sums import COARSE_BLOCKS, numbers


class Correlation(NamedTuple):
    """Pearson's r, its interval and p value, and the number of points."""

    r: float
    interval: Interval
    p_value: float
    points: int


def pearson(x: np.ndarray, y: np.ndarray, level: float = LEVEL) -> Correlation:
    """Independent points: scipy's r with Fisher's interval."""
    result = stats.pearsonr(x, y)
    ends = result.confidence_interval(level)
    return Correlation(float(result.statistic), Interval(float(ends.low), float(ends.high)), float(result.pvalue), len(x))


class Moments:
    """Sums of products of a few seat statistics by group of deals: enough for every correlation, in constant memory."""

    def __init__(self, names: Sequence[str], players: int, groups: int = COARSE_BLOCKS):
        self.names = list(names)  # seat statistics without their number; "win" is made from the winner
        self.players, self.groups = players, groups
        width = len(self.names) + 1
        self.sums = np.zeros((groups, width, width))  # index 0 is the constant one

    @property
    def columns(self) -> list[str]:
        """What must be read."""
        seats = [f"{name}_{seat}" for name in self.names if name != "win" for seat in range(self.players)]
        return ["deal", "winner", *seats]

    def add(self, batch: pa.RecordBatch | pa.Table) -> None:
        """Add every seat of every game of a batch (seats beyond a smaller table's players are left out)."""
        group = batch.column("deal").to_numpy().astype(np.int64) % self.groups
        order = np.argsort(group, kind="stable")
        ends = np.searchsorted(group[order], np.arange(self.groups + 1))
        winner = numbers(batch, "winner", missing=-1.0)
        for seat in range(self.players):
            values = [np.ones(batch.num_rows)]
            for name in self.names:
                given = winner == seat if name == "win" else numbers(batch, f"{name}_{seat}", missing=np.nan)
                values.append(given.astype(np.float64))
            table = np.stack(values, axis=1)[order]
            table[~np.isfinite(table).all(axis=1)] = 0.0
            for number in range(self.groups):
                rows = table[ends[number] : ends[number + 1]]
                self.sums[number] += rows.T @ rows

    @property
    def used(self) -> int:
        """How many groups have games."""
        return int(np.count_nonzero(self.sums[:, 0, 0]))

    def correlation(self, first: str, second: str, level: float = LEVEL) -> Correlation:
        """Pearson's r with a delete-one-group jackknife on Fisher's scale: groups of deals are independent, rows are not."""
        i, j = self.names.index(first) + 1, self.names.index(second) + 1
        total = self.sums.sum(axis=0)
        r = _r(total, i, j)
        used, k = np.flatnonzero(self.sums[:, 0, 0]), self.used
        if k < 3 or not np.isfinite(r) or abs(r) >= 1:
            return Correlation(r, Interval(float("nan"), float("nan")), float("nan"), int(total[0, 0]))
        left_out = np.array([np.arctanh(np.clip(_r(total - self.sums[number], i, j), -1 + 1e-12, 1 - 1e-12)) for number in used])
        error = float(np.sqrt((k - 1) / k * ((left_out - left_out.mean()) ** 2).sum()))
        z = float(np.arctanh(r))
        reach = float(stats.t.ppf((1 + level) / 2, k - 1)) * error
        p = float(2 * stats.t.sf(abs(z) / error, k - 1)) if error else 0.0
        return Correlation(r, Interval(float(np.tanh(z - reach)), float(np.tanh(z + reach))), p, int(total[0, 0]))

    def frame(self, target: str, level: float = LEVEL) -> pd.DataFrame:
        """Every other statistic against the target."""
        rows = []
        for name in self.names:
            if name != target:
                c = self.correlation(name, target, level)
                rows.append(
                    dict(pair=f"{name} - {target}", r=c.r, low=c.interval.low, high=c.interval.high, p=c.p_value, points=c.points)
                )
        return pd.DataFrame(rows)


def _r(sums: np.ndarray, i: int, j: int) -> float:
    n = sums[0, 0]
    if n < 2:
        return float("nan")
    cov = sums[i, j] - sums[0, i] * sums[0, j] / n
    spread = (sums[i, i] - sums[0, i] ** 2 / n) * (sums[j, j] - sums[0, j] ** 2 / n)
    return float(cov / np.sqrt(spread)) if spread > 0 else float("nan")


def moments_of(batches: Iterable[pa.RecordBatch], names: Sequence[str], players: int) -> Moments:
    """The moments of all games of `batches`."""
    moments = Moments(names, players)
    for batch in batches:
        moments.add(batch)
    return moments
