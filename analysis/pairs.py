"""Two results on the same deals are compared deal by deal: the luck of the cards cancels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from analysis.estimate import LEVEL, Estimate, Interval


class Difference(NamedTuple):
    """a - b, with the interval of the pairing and the one that ignores it."""

    value: float
    paired: Interval
    unpaired: Interval
    p_value: float

    @property
    def gain(self) -> float:
        """How many times as many deals the unpaired comparison would need for the same width."""
        return float((self.unpaired.half_width / self.paired.half_width) ** 2) if self.paired.half_width else float("inf")


def unpaired_interval(a: Estimate, b: Estimate, level: float = LEVEL) -> Interval:
    """Welch's interval: what one would have without shared deals."""
    va, vb = a.variance, b.variance
    if va + vb == 0:
        return Interval(a.value - b.value, a.value - b.value)
    freedom = (va + vb) ** 2 / (va**2 / max(1, a.clusters - 1) + vb**2 / max(1, b.clusters - 1))
    reach = float(stats.t.ppf((1 + level) / 2, freedom) * np.sqrt(va + vb))
    return Interval(a.value - b.value - reach, a.value - b.value + reach)


def difference(a: Estimate, b: Estimate, level: float = LEVEL) -> Difference:
    """a - b over shared deals; both must be added up in the same blocks."""
    both = a - b
    return Difference(both.value, both.interval(level), unpaired_interval(a, b, level), both.p_value())


def differences_frame(points: Sequence[tuple[str, Estimate]], baseline: int = 0, level: float = LEVEL) -> pd.DataFrame:
    """Every named estimate less the baseline one, paired beside unpaired."""
    name, base = points[baseline]
    rows = []
    for other, estimate in points:
        if other != name:
            d = difference(estimate, base, level)
            rows.append(
                dict(
                    point=other,
                    against=name,
                    difference=d.value,
                    low=d.paired.low,
                    high=d.paired.high,
                    half_width=d.paired.half_width,
                    unpaired_half_width=d.unpaired.half_width,
                    deals_saved=d.gain,
                    p=d.p_value,
                )
            )
    return pd.DataFrame(rows)
