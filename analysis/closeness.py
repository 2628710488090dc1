"""How close games were: a judged agent's score less the best opponent's, added up while rows are read, in bounded memory.

The scores are the unfloored ones, which decide games: a score shown is never below zero and would hide how far apart players were.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from analysis.sums import Seating, numbers

CLOSE = 3  # points


def leads(scores: np.ndarray, seat: np.ndarray) -> np.ndarray:
    """Points of each game's `seat` less those of the best other seat; scores [seats, games], -inf where nobody sits."""
    games = np.arange(scores.shape[1])
    others = scores.astype(np.float64)
    others[seat, games] = -np.inf
    return scores[seat, games] - others.max(axis=0)


class Closeness:
    """Sums of each judged agent's lead by (matchup, block of deals); `add` takes batches of rows in any order."""

    def __init__(self, seatings: Sequence[Seating], blocks: int, available: Iterable[str]):
        own = [s.entries(s.agents[s.labels["role"]["agent"]]) if s.labels.get("role") else [] for s in seatings]
        self.players = np.array([s.players for s in seatings], np.int64)
        self.columns = [f"unfloored_{seat}" for seat in range(max(self.players, default=0))]
        if not set(self.columns) <= set(available):
            own = [[] for _ in seatings]
        judged = [place for place, entries in enumerate(own) if entries]
        if not judged:
            self.columns = []
        self.number = np.full(len(own), -1)
        self.number[judged] = np.arange(len(judged))
        self.entries = np.full((len(own), max(map(len, own), default=0)), -1)  # several where the agent sits there more than once
        for place, entries in enumerate(own):
            self.entries[place, : len(entries)] = entries
        self.copies = np.array([max(1, len(entries)) for entries in own])
        self.blocks = blocks
        self.sums = {name: np.zeros((len(judged), blocks), np.float32) for name in ("difference", "distance", "close")}

    def add(self, batch: pa.RecordBatch | pa.Table, place: np.ndarray) -> None:
        """Add the games of one batch; `place` is the number of each row's matchup."""
        rows = np.flatnonzero(self.number[place] >= 0)
        if not len(rows):
            return
        place = place[rows]
        players = self.players[place]
        rotation = numbers(batch, "rotation")[rows].astype(np.int64)
        cells = self.number[place] * self.blocks + batch.column("deal").to_numpy()[rows].astype(np.int64) % self.blocks
        scores = np.stack([numbers(batch, name)[rows] for name in self.columns])
        scores[np.arange(len(scores))[:, None] >= players] = -np.inf
        for entry in self.entries[place].T:
            here = np.flatnonzero(entry >= 0)
            points = leads(scores[:, here], (entry - rotation)[here] % players[here])
            for name, values in (("difference", points), ("distance", abs(points)), ("close", abs(points) <= CLOSE)):
                np.add.at(self.sums[name].reshape(-1), cells[here], (values / self.copies[place[here]]).astype(np.float32))

    def of(self, place: int, name: str) -> np.ndarray:
        """Block sums of a judged matchup's "difference", "distance" or "close" (games)."""
        return self.sums[name][self.number[place]].astype(np.float64)
