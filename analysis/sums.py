"""Games are added up while they are read: per matchup, rotation and block of deals, in bounded memory.

Up to a limit every deal is a block of its own. Beyond it deals share blocks (deal mod blocks), which is a coarser
clustering and still a valid one, so ten billion games need no more memory than ten million.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

SEATS = 5
FINE_CELLS = 1 << 24  # matchup x rotation x block cells of one measure: 64 MB each
COARSE_BLOCKS = 64
DIFFERENCES = np.arange(-300, 301)  # whole points of score difference that the distributions can show

SEAT_STATISTICS = (
    "score unfloored route_points tickets_gained tickets_lost ticket_bonus longest_bonus most_tickets_bonus tickets_kept "
    "tickets_completed routes cars_placed cars_left cards_left longest_route longest_single turns turns_led rank seconds"
).split()
GAME_STATISTICS = ["turns", "decisions", "lead_changes"]


@dataclass(frozen=True)
class Seating:
    """A matchup as analysis sees it: who sits where, and the labels the experiment gave it."""

    id: str
    agents: tuple[str, ...]  # by seat entry; in rotation r turn position s is entry (s + r) mod n
    labels: dict[str, Any] = field(default_factory=dict)
    identities: tuple[dict[str, Any], ...] = ()  # every field of each agent, by seat entry

    @property
    def players(self) -> int:
        """Number of seats."""
        return len(self.agents)

    def entries(self, agent: str) -> list[int]:
        """Seat entries that this agent holds (two or more in self-play)."""
        return [entry for entry, name in enumerate(self.agents) if name == agent]


def numbers(batch: pa.RecordBatch | pa.Table, name: str, missing: float = 0.0) -> np.ndarray:
    """One column as float32; null becomes `missing`."""
    column = batch.column(name)
    if column.null_count:
        column = pc.fill_null(column.cast(pa.float32()), missing)
    return np.asarray(column.to_numpy(zero_copy_only=False) if isinstance(column, pa.Array) else column.to_numpy(), np.float32)


def coarse_columns(available: Iterable[str], players: int) -> list[str]:
    """Game and seat statistics that this run has, for means without fine clustering."""
    have = set(available)
    wanted = GAME_STATISTICS + [f"{name}_{seat}" for name in SEAT_STATISTICS for seat in range(players)]
    return [name for name in wanted if name in have]


class Sums:
    """Sums of measures by (matchup, rotation, block of deals); `add` takes batches of rows in any order."""

    def __init__(self, seatings: Sequence[Seating], deals: int, statistics: Sequence[str] = (), cells: int = FINE_CELLS):
        self.seatings = list(seatings)
        self.index = {seating.id: place for place, seating in enumerate(self.seatings)}
        self.players = max((seating.players for seating in self.seatings), default=0)
        tables = max(1, len(self.seatings) * max(1, self.players))
        self.planned = max(1, deals)
        self.blocks = max(COARSE_BLOCKS, min(self.planned, cells // tables))
        shape = (len(self.seatings), max(1, self.players), self.blocks)
        seats = range(self.players)
        self.fine = {name: np.zeros(shape, np.float32) for name in ["games", "draw"]}
        self.fine |= {f"{name}_{seat}": np.zeros(shape, np.float32) for name in ("win", "score") for seat in seats}
        self.statistics = list(statistics)
        coarse = (len(self.seatings), max(1, self.players), COARSE_BLOCKS)
        self.coarse = {name: np.zeros(coarse) for name in ["games", "margin", "forfeit", *self.statistics]}
        self.differences = np.zeros((len(self.seatings), len(DIFFERENCES)), np.int64)
        self.rows = 0

    @property
    def columns(self) -> list[str]:
        """What must be read from a run."""
        base = ["matchup", "deal", "rotation", "forfeit", "winner"] + [f"score_{seat}" for seat in range(self.players)]
        return list(dict.fromkeys(base + self.statistics))

    def add(self, batch: pa.RecordBatch | pa.Table) -> None:
        """Add the games of one batch."""
        if batch.num_rows == 0:
            return
        self.rows += batch.num_rows
        place = self.places(batch)
        rotation = numbers(batch, "rotation").astype(np.int64)
        deal = batch.column("deal").to_numpy().astype(np.int64)
        table = place * max(1, self.players) + rotation
        fine, coarse = table * self.blocks + deal % self.blocks, table * COARSE_BLOCKS + deal % COARSE_BLOCKS
        winner = numbers(batch, "winner", missing=-1.0)
        scores = [numbers(batch, f"score_{seat}") for seat in range(self.players)]
        self._put(self.fine, "games", fine, np.ones(batch.num_rows, np.float32))
        self._put(self.fine, "draw", fine, (winner < 0).astype(np.float32))
        for seat in range(self.players):
            self._put(self.fine, f"win_{seat}", fine, (winner == seat).astype(np.float32))
            self._put(self.fine, f"score_{seat}", fine, scores[seat])
        self._put(self.coarse, "games", coarse, np.ones(batch.num_rows))
        if pc.count(batch.column("forfeit")).as_py():
            self._put(self.coarse, "forfeit", coarse, (numbers(batch, "forfeit", missing=-1.0) >= 0).astype(np.float64))
        self._put(self.coarse, "margin", coarse, self._margins(batch, scores, place))
        for name in self.statistics:
            self._put(self.coarse, name, coarse, numbers(batch, name).astype(np.float64))
        self._add_differences(place, rotation, scores)

    def places(self, batch: pa.RecordBatch | pa.Table) -> np.ndarray:
        """The number of each row's matchup."""
        column = batch.column("matchup")
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        coded = column if pa.types.is_dictionary(column.type) else pc.dictionary_encode(column)
        known = np.array([self.index[name] for name in coded.dictionary.to_pylist()], np.int64)
        return known[coded.indices.to_numpy()]

    @staticmethod
    def _put(sums: dict[str, np.ndarray], name: str, cells: np.ndarray, values: np.ndarray) -> None:
        np.add.at(sums[name].reshape(-1), cells, values)

    def _margins(self, batch: pa.RecordBatch | pa.Table, scores: list[np.ndarray], place: np.ndarray) -> np.ndarray:
        """Points between the best score and the next."""
        if self.players == 1:
            return np.zeros(batch.num_rows)
        if self.players == 2:
            return np.abs(scores[0] - scores[1]).astype(np.float64)
        stack = np.stack(scores)
        seated = np.array([seating.players for seating in self.seatings])[place]
        for seat in range(self.players):
            stack[seat, seated <= seat] = -np.inf
        top = np.partition(stack, self.players - 2, axis=0)
        return (top[-1] - top[-2]).astype(np.float64)

    def _add_differences(self, place: np.ndarray, rotation: np.ndarray, scores: list[np.ndarray]) -> None:
        """Two players: entry 0's score less entry 1's. More: turn position 0's score less the mean of the others."""
        if self.players == 2:
            points = np.where(rotation == 0, scores[0] - scores[1], scores[1] - scores[0])
        elif self.players > 2:
            points = scores[0] - np.sum(scores[1:], axis=0) / np.maximum(1, [s.players - 1 for s in self.seatings])[place]
        else:
            return
        bins = np.clip(np.rint(points).astype(np.int64) - DIFFERENCES[0], 0, len(DIFFERENCES) - 1)
        cells = np.bincount(place * len(DIFFERENCES) + bins, minlength=self.differences.size)
        self.differences += cells.reshape(self.differences.shape)


def add_up(batches: Iterable[pa.RecordBatch], seatings: Sequence[Seating], deals: int, statistics: Sequence[str] = ()) -> Sums:
    """The sums of all games of `batches`."""
    sums = Sums(seatings, deals, statistics)
    for batch in batches:
        sums.add(batch)
    return sums
