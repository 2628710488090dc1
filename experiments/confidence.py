"""Intervals that stay valid when watched: a beta-binomial confidence sequence for the mean of numbers between 0 and 1.

The unit is the deal (the mean over its rotations), taken in the order of the deals, not in the order in which they finish. For
numbers in [0, 1] with mean m, the mixture over p ~ Beta(1, 1) of (p/m)^x ((1-p)/(1-m))^(1-x) is a supermartingale, since each
factor is convex in x and fair for x in {0, 1}; by Ville's inequality it ever exceeds 1/alpha with probability at most alpha. The
interval after n deals with sum s holds every m at which it has not.
"""

import heapq
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaln, xlog1py, xlogy

EDGE = 1e-12


def log_evidence(m: float, total: float, n: float) -> float:
    """Logarithm of the mixture martingale against the mean m, after n numbers with that sum."""
    return float(betaln(total + 1, n - total + 1) - xlogy(total, m) - xlog1py(n - total, -m))


def interval(total: float, n: int, alpha: float = 0.05) -> tuple[float, float]:
    """The means not yet excluded after n numbers with sum `total`; valid at all n at once with probability 1 - alpha."""
    if n == 0:
        return 0.0, 1.0
    limit = -np.log(alpha)
    mean = min(max(total / n, EDGE), 1 - EDGE)

    def excess(m: float) -> float:
        return log_evidence(m, total, n) - limit

    low = brentq(excess, EDGE, mean) if excess(EDGE) > 0 else 0.0
    high = brentq(excess, mean, 1 - EDGE) if excess(1 - EDGE) > 0 else 1.0
    return float(low), float(high)


def expected_half_width(n: int, alpha: float = 0.05) -> float:
    """Half the width of a final fixed-n interval for a rate near one half whose deals are independent: the plan's estimate."""
    return 1.96 * 0.5 / np.sqrt(n) if alpha == 0.05 else float("nan")


@dataclass
class Tally:
    """One matchup's running mean over the finished prefix of its deals; later deals wait until the gap before them closes."""

    step: int = 1  # of a slice: every n-th deal, from deal `first` on
    first: int = 0
    deals: int = 0
    total: float = 0.0
    waiting: list[tuple[int, int, float]] = field(default_factory=list)  # (first index, deals, sum), a heap

    def add(self, deals: np.ndarray, values: np.ndarray) -> None:
        """Take per-deal means of some deals, in ascending order."""
        index = (deals - self.first) // self.step
        for run in np.split(np.arange(len(index)), np.flatnonzero(np.diff(index) != 1) + 1):
            if len(run):
                heapq.heappush(self.waiting, (int(index[run[0]]), len(run), float(values[run].sum())))
        while self.waiting and self.waiting[0][0] == self.deals:
            _, count, total = heapq.heappop(self.waiting)
            self.deals += count
            self.total += total

    @property
    def rate(self) -> float:
        """The mean so far."""
        return self.total / self.deals if self.deals else float("nan")

    def interval(self) -> tuple[float, float]:
        """Its anytime-valid 95 % interval."""
        return interval(self.total, self.deals)


def deal_means(
    deals: np.ndarray, rotations: np.ndarray, winners: np.ndarray, entry: int, players: int
) -> tuple[np.ndarray, np.ndarray]:
    """Per deal, the mean result of one entry over its rotations: 1 for a win, an equal share for a draw (winner -1)."""
    won = (winners + rotations) % players == entry
    value = np.where(winners < 0, 1.0 / players, won)
    found, inverse = np.unique(deals, return_inverse=True)
    return found, np.bincount(inverse, value) / np.bincount(inverse)
