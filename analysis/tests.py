"""Which differences are more than luck: pairwise tests corrected for their number, and the balance of the seats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.stats.multitest import multipletests

from analysis.dda import win_difference
from analysis.estimate import Estimate
from analysis.rates import Cell


class SeatBalance(NamedTuple):
    """Are wins spread evenly over turn positions? Pearson's chi-square on counts, and a test that clusters by deal."""

    counts: list[int]
    chi_square: float
    p_value: float
    clustered_statistic: float
    clustered_p_value: float


def correct(p_values: Sequence[float], method: str = "holm") -> list[float]:
    """P values corrected for how many there are (Holm by default, `fdr_bh` for the false discovery rate)."""
    given = np.asarray(p_values, float)
    known = np.isfinite(given)
    result = np.full(len(given), np.nan)
    if known.any():
        result[known] = multipletests(given[known], method=method)[1]
    return result.tolist()


def pairwise_tests(cells: Sequence[Cell], method: str = "holm") -> pd.DataFrame:
    """For every two-player table: does one side win more often than the other? Clustered by deal, corrected together."""
    rows, seen = [], set()
    for c in cells:
        if len(c.opponents) != 1 or c.opponents[0] == c.agent or c.matchup in seen:
            continue
        seen.add(c.matchup)
        edge = win_difference(c)
        rows.append(dict(matchup=c.matchup, agent=c.agent, opponent=c.opponent, win_difference=100 * edge.value, p=edge.p_value()))
    frame = pd.DataFrame(rows, columns=["matchup", "agent", "opponent", "win_difference", "p"])
    frame["p_corrected"] = correct(frame["p"].tolist(), method)
    return frame


def chi_square(observed: Sequence[float], expected: Sequence[float] | None = None) -> tuple[float, float]:
    """Pearson's statistic and its p value; even shares are expected unless told."""
    result = stats.chisquare(np.asarray(observed, float), None if expected is None else np.asarray(expected, float))
    return float(result.statistic), float(result.pvalue)


def seat_balance(seats: Sequence[Estimate], games: int) -> SeatBalance:
    """Test equal win rates of all turn positions, from their estimates over the same deals."""
    counts = [round(seat.value * games) for seat in seats]
    statistic, p = chi_square(counts) if sum(counts) else (float("nan"), float("nan"))
    contrasts = np.array([seat.value - seats[-1].value for seat in seats[:-1]])
    moved = np.stack([seat.influence - seats[-1].influence for seat in seats[:-1]])
    clusters = seats[0].clusters
    covariance = moved @ moved.T * clusters / max(1, clusters - 1)
    wald = float(contrasts @ np.linalg.pinv(covariance) @ contrasts)
    freedom = len(contrasts)
    if clusters <= freedom:
        return SeatBalance(counts, statistic, p, wald, float("nan"))
    scaled = wald * (clusters - freedom) / (freedom * (clusters - 1))  # Hotelling: the covariance is estimated too
    return SeatBalance(counts, statistic, p, wald, float(stats.f.sf(scaled, freedom, clusters - freedom)))
