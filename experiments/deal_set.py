"""Sets of deals as sorted half-open intervals, and as [start, stop, step] ranges where they are written down.

A run of a million deals is one interval; a slice of it (every eighth deal) is one range.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

Range = Sequence[int]  # start, stop, step


class DealSet:
    """A set of deal numbers."""

    __slots__ = ("starts", "stops")

    def __init__(self, starts: np.ndarray | None = None, stops: np.ndarray | None = None):
        """Intervals in any order; they may touch and overlap."""
        if starts is None or stops is None or not len(starts):
            self.starts = self.stops = np.zeros(0, np.int64)
            return
        order = np.argsort(starts, kind="stable")
        starts, reach = starts[order], np.maximum.accumulate(stops[order])
        opens = np.concatenate([[True], starts[1:] > reach[:-1]])
        self.starts = starts[opens]
        self.stops = reach[np.concatenate([opens[1:], [True]])]

    @classmethod
    def of(cls, ranges: Iterable[Range]) -> "DealSet":
        """The union of ranges."""
        starts, stops = [], []
        for start, stop, step in ranges:
            if stop <= start:
                continue
            if step == 1:
                starts.append(np.array([start]))
                stops.append(np.array([stop]))
            else:
                deals = np.arange(start, stop, step)
                starts.append(deals)
                stops.append(deals + 1)
        return cls(np.concatenate(starts), np.concatenate(stops)) if starts else cls()

    def __len__(self) -> int:
        return int((self.stops - self.starts).sum())

    def __bool__(self) -> bool:
        return len(self.starts) > 0

    def __contains__(self, deal: int) -> bool:
        i = int(np.searchsorted(self.starts, deal, side="right")) - 1
        return i >= 0 and deal < self.stops[i]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DealSet) and np.array_equal(self.starts, other.starts) and np.array_equal(self.stops, other.stops)

    def __or__(self, other: "DealSet") -> "DealSet":
        return DealSet(np.concatenate([self.starts, other.starts]), np.concatenate([self.stops, other.stops]))

    def __sub__(self, other: "DealSet") -> "DealSet":
        return self._combined(other, lambda mine, theirs: mine & ~theirs)

    def __and__(self, other: "DealSet") -> "DealSet":
        return self._combined(other, lambda mine, theirs: mine & theirs)

    def _combined(self, other: "DealSet", keep) -> "DealSet":
        """Cut the line at all ends of both sets and keep the pieces that belong."""
        cuts = np.unique(np.concatenate([self.starts, self.stops, other.starts, other.stops]))
        if len(cuts) < 2:
            return DealSet()
        left, right = cuts[:-1], cuts[1:]
        kept = keep(self._covers(left), other._covers(left))
        return DealSet(left[kept], right[kept])

    def _covers(self, deals: np.ndarray) -> np.ndarray:
        if not len(self.starts):
            return np.zeros(len(deals), bool)
        i = np.searchsorted(self.starts, deals, side="right") - 1
        return (i >= 0) & (deals < self.stops[np.maximum(i, 0)])

    def below(self, end: int) -> "DealSet":
        """Those before a deal."""
        return self & DealSet(np.array([0]), np.array([end])) if end > 0 else DealSet()

    def prefix(self) -> int:
        """How many deals from the first on are there without a gap."""
        return int(self.stops[0]) if self and self.starts[0] == 0 else 0

    def deals(self) -> np.ndarray:
        """All of them, in order."""
        return np.concatenate([np.arange(a, b) for a, b in zip(self.starts, self.stops)]) if self else np.zeros(0, np.int64)

    def chunks(self) -> Iterator[np.ndarray]:
        """All of them in order, a bounded number at a time."""
        for a, b in zip(self.starts.tolist(), self.stops.tolist()):
            for start in range(a, b, 65_536):
                yield np.arange(start, min(b, start + 65_536))


def as_ranges(deals: np.ndarray) -> list[list[int]]:
    """Sorted deals as few ranges; a stretch of equal steps is one range."""
    ranges: list[list[int]] = []
    i, n = 0, len(deals)
    gaps = np.diff(deals)
    while i < n:
        if i == n - 1:
            ranges.append([int(deals[i]), int(deals[i]) + 1, 1])
            break
        step = int(gaps[i])
        other = np.flatnonzero(gaps[i:] != step)
        j = i + int(other[0]) if len(other) else n - 1  # the last deal of the stretch
        ranges.append([int(deals[i]), int(deals[j]) + 1, step])
        i = j + 1
    return ranges
