"""How often each agent wins, draws and loses, by how many points, and what moving first is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.estimate import LEVEL, Estimate, average, ratio
from analysis.sums import COARSE_BLOCKS, Seating, Sums


@dataclass(frozen=True)
class Cell:
    """One agent at one table: every rotation of every deal, its own copies together."""

    matchup: str
    agent: str
    opponents: tuple[str, ...]
    games: int
    win: Estimate
    draw: Estimate
    score: Estimate
    difference: Estimate  # its score less the mean of the others' scores

    @property
    def loss(self) -> Estimate:
        """Share of games someone else won."""
        return (self.win + self.draw) * -1.0 + 1.0

    @property
    def decided(self) -> Estimate:
        """Win rate with draws removed."""
        return self.win / (self.draw * -1.0 + 1.0)

    @property
    def points(self) -> Estimate:
        """A win counts one, a draw an equal share for everybody."""
        return self.win + self.draw / (len(self.opponents) + 1)

    @property
    def opponent(self) -> str:
        """The opponents' names in seat order."""
        return " + ".join(self.opponents)


def entry_sums(sums: Sums, place: int, name: str, entry: int) -> np.ndarray:
    """Block sums of a seat measure for one seat entry: in rotation r it sits at turn position (entry - r) mod n."""
    n = sums.seatings[place].players
    return sum((sums.fine[f"{name}_{(entry - r) % n}"][place, r].astype(np.float64) for r in range(n)), np.zeros(sums.blocks))


def deals_behind(sums: Sums, place: int) -> int:
    """Deals with at least one game; where deals share blocks, games over rotations played."""
    games = sums.fine["games"][place]
    if sums.blocks >= sums.planned:
        return int(np.count_nonzero(games.sum(axis=0)))
    rotations = int(np.count_nonzero(games.sum(axis=1)))
    return int(games.sum(dtype=np.float64) // max(1, rotations))


def cell(sums: Sums, place: int, agent: str) -> Cell:
    """One agent's results at one table."""
    seating = sums.seatings[place]
    entries = seating.entries(agent)
    own = len(entries)
    games = sums.fine["games"][place].sum(axis=0, dtype=np.float64)
    deals = deals_behind(sums, place)
    win = np.sum([entry_sums(sums, place, "win", entry) for entry in entries], axis=0) / own
    score = np.sum([entry_sums(sums, place, "score", entry) for entry in entries], axis=0) / own
    everybody = np.sum([entry_sums(sums, place, "score", entry) for entry in range(seating.players)], axis=0)
    others = (everybody - score) / max(1, seating.players - 1)
    rest = list(seating.agents)
    rest.remove(agent)
    return Cell(
        seating.id,
        agent,
        tuple(rest),
        int(games.sum()),
        ratio(win, games, deals),
        ratio(sums.fine["draw"][place].sum(axis=0, dtype=np.float64), games, deals),
        ratio(score, games, deals),
        ratio(score - others, games, deals),
    )


def cells(sums: Sums) -> list[Cell]:
    """Every agent at every table that has a game, in the order of the matchups."""
    played = sums.fine["games"].sum(axis=(1, 2))
    return [
        cell(sums, place, agent)
        for place, seating in enumerate(sums.seatings)
        if played[place]
        for agent in dict.fromkeys(seating.agents)
    ]


def averages(given: Sequence[Cell], over_self: bool = True) -> dict[str, dict[str, Estimate]]:
    """Each agent's mean over its tables (each counts the same); `over_self=False` leaves self-play out."""
    groups: dict[str, list[Cell]] = {}
    for c in given:
        if over_self or any(other != c.agent for other in c.opponents):
            groups.setdefault(c.agent, []).append(c)
    names = ("win", "draw", "decided", "points", "score", "difference")
    return {agent: {name: average([getattr(c, name) for c in group]) for name in names} for agent, group in groups.items()}


def rates_frame(given: Sequence[Cell], level: float = LEVEL) -> pd.DataFrame:
    """One row per cell: rates in percent and scores in points, each with the ends of its interval."""
    rows = []
    for c in given:
        row: dict[str, object] = dict(matchup=c.matchup, agent=c.agent, opponent=c.opponent, games=c.games, deals=c.win.deals)
        for name in ("win", "draw", "loss", "decided"):
            estimate = getattr(c, name)
            low, high = estimate.rate_interval(level)
            row |= {name: 100 * estimate.value, f"{name}_low": 100 * low, f"{name}_high": 100 * high}
        for name in ("score", "difference"):
            estimate = getattr(c, name)
            low, high = estimate.interval(level)
            row |= {name: estimate.value, f"{name}_low": low, f"{name}_high": high}
        rows.append(row)
    return pd.DataFrame(rows)


def matrix(given: Sequence[Cell], name: str = "win", scale: float = 100.0) -> pd.DataFrame:
    """Row agent against column agent (two players): the value of one measure."""
    found = {(c.agent, c.opponents[0]): scale * getattr(c, name).value for c in given if len(c.opponents) == 1}
    agents = list(dict.fromkeys([pair[0] for pair in found] + [pair[1] for pair in found]))
    return pd.DataFrame([[found.get((a, b), np.nan) for b in agents] for a in agents], index=agents, columns=agents)


def seat_rates(sums: Sums, places: Sequence[int] | None = None) -> list[Estimate]:
    """Share of games won from each turn position, every game of the given tables counting the same."""
    chosen = list(range(len(sums.seatings))) if places is None else list(places)
    n = min((sums.seatings[place].players for place in chosen), default=0)
    games = sums.fine["games"][chosen].sum(axis=(0, 1), dtype=np.float64)
    deals = max((deals_behind(sums, place) for place in chosen), default=0)
    return [ratio(sums.fine[f"win_{seat}"][chosen].sum(axis=(0, 1), dtype=np.float64), games, deals) for seat in range(n)]


def first_move(sums: Sums, places: Sequence[int] | None = None) -> Estimate:
    """What moving first is worth: the first position's win rate less the last one's."""
    seats = seat_rates(sums, places)
    return seats[0] - seats[-1]


def statistics_frame(sums: Sums, level: float = LEVEL) -> pd.DataFrame:
    """Means of every recorded statistic per agent and table (long form), intervals from up to 64 groups of deals."""
    rows = []
    seat_names = list(dict.fromkeys(name[:-2] for name in sums.statistics if name[-2] == "_" and name[-1].isdigit()))
    for place, seating in enumerate(sums.seatings):
        games = sums.coarse["games"][place]
        if not games.sum():
            continue
        for agent in dict.fromkeys(seating.agents):
            for name in seat_names:
                total = _coarse_entries(sums, place, name, seating, agent)
                rows.append(_statistic_row(seating, agent, name, ratio(total, games.sum(axis=0)), level))
        for name in ("margin", *(s for s in sums.statistics if s in ("turns", "decisions", "lead_changes"))):
            rows.append(_statistic_row(seating, "", name, ratio(sums.coarse[name][place].sum(axis=0), games.sum(axis=0)), level))
    return pd.DataFrame(rows)


def _coarse_entries(sums: Sums, place: int, name: str, seating: Seating, agent: str) -> np.ndarray:
    """Group sums of one statistic over the seats that the agent holds, per copy of it."""
    entries, n = seating.entries(agent), seating.players
    total = np.zeros(COARSE_BLOCKS)
    for entry in entries:
        for r in range(n):
            total += sums.coarse[f"{name}_{(entry - r) % n}"][place, r]
    return total / len(entries)


def _statistic_row(seating: Seating, agent: str, name: str, estimate: Estimate, level: float) -> dict[str, object]:
    low, high = estimate.interval(level)
    table = " + ".join(seating.agents)
    return dict(matchup=seating.id, table=table, agent=agent, statistic=name, mean=estimate.value, low=low, high=high)
