"""Batches: the missing deals of a plan in pieces of some seconds each, made one at a time and never listed.

Matchups take turns, so that all of them advance together. How large a batch is never influences a row.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from experiments.deal_set import DealSet
from experiments.store import Segment

MOST_ROWS, FASTEST_GROWTH = 20_000, 8


@dataclass(frozen=True)
class Batch:
    """Some deals of one matchup, each in every rotation."""

    matchup: str
    deals: np.ndarray
    datasets: tuple[str, ...]
    reason: str
    losses: int = 0  # workers lost over it so far


class Calibration:
    """Seconds a deal takes, by matchup, as measured; how many deals therefore make a batch."""

    def __init__(self, batch_seconds: float, fixed: int | None = None):
        self.batch_seconds, self.fixed = batch_seconds, fixed
        self._seconds: dict[str, float] = {}  # a deal
        self._largest: dict[str, int] = {}

    def learn(self, matchup: str, deals: int, seconds: float) -> None:
        """Take a measured batch; later ones weigh more."""
        now = max(seconds, 1e-6) / deals
        before = self._seconds.get(matchup)
        self._seconds[matchup] = now if before is None else 0.5 * (before + now)
        self._largest[matchup] = max(deals, self._largest.get(matchup, 0))

    def seconds(self, matchup: str) -> float | None:
        """Seconds a deal takes: as measured, or as the slowest matchup measured so far; None before any."""
        if matchup in self._seconds:
            return self._seconds[matchup]
        return max(self._seconds.values()) if self._seconds else None

    def size(self, matchup: str, rotations: int) -> int:
        """Deals for the next batch: a first try is small, and growth is bounded."""
        if self.fixed:
            return self.fixed
        seconds = self.seconds(matchup)
        if seconds is None:
            return 1
        wanted = self.batch_seconds / seconds
        if matchup in self._largest:
            wanted = min(wanted, FASTEST_GROWTH * self._largest[matchup])
        return max(1, min(int(wanted), MOST_ROWS // rotations))


class _Cursor:
    """Takes deals off a set from the front."""

    def __init__(self, deals: DealSet):
        self._deals, self._interval, self._at = deals, 0, 0
        self._left = len(deals)

    def __len__(self) -> int:
        return self._left

    def take(self, n: int) -> np.ndarray:
        pieces = []
        starts, stops = self._deals.starts, self._deals.stops
        while n > 0 and self._interval < len(starts):
            start = int(starts[self._interval]) + self._at
            stop = min(int(stops[self._interval]), start + n)
            pieces.append(np.arange(start, stop))
            n -= stop - start
            self._left -= stop - start
            self._at += stop - start
            if stop == stops[self._interval]:
                self._interval, self._at = self._interval + 1, 0
        return np.concatenate(pieces)


class BatchSource:
    """Hands out batches until nothing is missing."""

    def __init__(self, segments: Sequence[Segment], rotations: Mapping[str, int], calibration: Calibration):
        self._queue = deque((segment, _Cursor(segment.deals)) for segment in segments)
        self._rotations, self._calibration = rotations, calibration
        self._returned: deque[Batch] = deque()
        self.games_left = sum(len(segment.deals) * rotations[segment.matchup] for segment in segments)

    def next(self) -> Batch | None:
        """The next batch, or None when all are handed out."""
        if self._returned:
            return self._returned.popleft()
        if not self._queue:
            return None
        segment, cursor = self._queue.popleft()
        rotations = self._rotations[segment.matchup]
        deals = cursor.take(self._calibration.size(segment.matchup, rotations))
        if len(cursor):
            self._queue.append((segment, cursor))
        self.games_left -= len(deals) * rotations
        return Batch(segment.matchup, deals, segment.datasets, segment.reason)

    def give_back(self, batch: Batch) -> None:
        """A batch whose worker was lost is handed out again, before any other."""
        self._returned.append(Batch(batch.matchup, batch.deals, batch.datasets, batch.reason, batch.losses + 1))

    def seconds_left(self) -> float | None:
        """CPU seconds of what is not handed out yet, by calibration."""
        total = 0.0
        for segment, cursor in self._queue:
            seconds = self._calibration.seconds(segment.matchup)
            if seconds is None:
                return None
            total += len(cursor) * seconds
        return total
