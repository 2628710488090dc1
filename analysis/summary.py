"""One pass over a run: everything the tables and figures need, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from analysis.closeness import Closeness
from analysis.correlations import Moments
from analysis.rates import Cell, cells
from analysis.sums import Seating, Sums, coarse_columns, numbers
from analysis.sweep import Point, points, without_shared_fields
from experiments.reading import Run, open_run
from experiments.refusal import Refusal

CORRELATED = [
    "win",
    "score",
    "route_points",
    "tickets_completed",
    "routes",
    "cars_placed",
    "longest_route",
    "longest_single",
    "turns_led",
]
FIRST_DEALS = 2  # of each matchup, shown as examples; the largest victories of either side come with them
DECISION_ROWS = 1_000_000  # of search statistics are looked at, in the order they are stored


@dataclass
class Examples:
    """A few games of each matchup that a reader may want to replay."""

    players: int
    first_deals: int
    kept: dict[tuple[str, int, int], dict[str, Any]] = field(default_factory=dict)
    widest: dict[tuple[str, str], tuple[float, tuple[str, int, int]]] = field(default_factory=dict)

    def look(self, batch: pa.RecordBatch, names: Sequence[str], place: np.ndarray) -> None:
        """Note the first deals of each matchup and its largest victories."""
        deal, rotation = batch.column("deal").to_numpy(), batch.column("rotation").to_numpy()
        scores = np.stack([numbers(batch, f"score_{seat}") for seat in range(self.players)], axis=1)
        winner = numbers(batch, "winner", missing=-1.0).astype(int)

        def keep(row: int) -> tuple[str, int, int]:
            key = (names[place[row]], int(deal[row]), int(rotation[row]))
            self.kept[key] = dict(winner=int(winner[row]), scores=[float(x) for x in scores[row]])
            return key

        for row in np.flatnonzero(deal < self.first_deals):
            keep(int(row))
        if self.players != 2:
            return
        lead = np.where(rotation == 0, scores[:, 0] - scores[:, 1], scores[:, 1] - scores[:, 0])
        for number in np.unique(place):
            rows = np.flatnonzero(place == number)
            for side, row in (("first", rows[np.argmax(lead[rows])]), ("second", rows[np.argmin(lead[rows])])):
                size, spot = abs(float(lead[row])), (names[number], side)
                if spot not in self.widest or size > self.widest[spot][0]:
                    self.widest[spot] = (size, keep(int(row)))

    def of(self, matchup: str) -> list[tuple[int, int, dict[str, Any]]]:
        """Deal, rotation, winner and scores of a matchup's examples, the first deals first."""
        wanted = {key for _, key in self.widest.values() if key[0] == matchup}
        wanted |= {key for key in self.kept if key[0] == matchup and key[1] < self.first_deals}
        return [(deal, rotation, self.kept[(name, deal, rotation)]) for name, deal, rotation in sorted(wanted)]


@dataclass
class Summary:
    """A run, added up."""

    run: Run
    sums: Sums
    closeness: Closeness
    moments: Moments
    examples: Examples

    @property
    def path(self) -> Path:
        """The run folder."""
        return self.run.path

    @property
    def info(self) -> Any:
        """run.json."""
        return self.run.info

    @property
    def seatings(self) -> list[Seating]:
        """The matchups."""
        return self.sums.seatings

    @property
    def title(self) -> str:
        """What a person would call the run."""
        name = self.info.get("study")
        kind = str(self.info["kind"]).replace("_", " ")
        if self.points:
            kind = f"{kind} of {self.points[0].field.rpartition('.')[2].replace('_', ' ')}"
        return f"{kind} {name}" if name else kind

    @cached_property
    def cells(self) -> list[Cell]:
        """Every agent at every table that has games."""
        return cells(self.sums)

    @cached_property
    def points(self) -> list[Point]:
        """The sweep, if there is one."""
        return points(self.seatings, self.cells)

    @cached_property
    def agent_cells(self) -> list[Cell]:
        """The cells of agents that are judged against opponents (by their role); empty where nobody has a role."""
        role = {s.id: s.agents[s.labels["role"]["agent"]] for s in self.seatings if s.labels.get("role")}
        return [cell for cell in self.cells if role.get(cell.matchup) == cell.agent]

    @cached_property
    def short_names(self) -> dict[str, str]:
        """The agents' names for figures, without what all searching agents of the run have in common."""
        return without_shared_fields([agent for seating in self.seatings for agent in seating.agents])

    @cached_property
    def search(self) -> pd.DataFrame:
        """What searches thought, by turn; empty without stored decisions."""
        return search_statistics(self)

    @property
    def two_players(self) -> bool:
        """Whether every table is for two."""
        return all(seating.players == 2 for seating in self.seatings)


def seatings_of(run: Run) -> list[Seating]:
    """The matchups of a run with labels and every field of the agents."""
    agents = run.info["agents"]
    return [
        Seating(m["id"], tuple(m["labels"]["agents"]), m["labels"], tuple(agents[seat]["identity"] for seat in m["seats"]))
        for m in run.info["matchups"]
    ]


def checked_batches(run: Run, columns: Sequence[str], dataset: str = "games") -> Iterator[pa.RecordBatch]:
    """The batches of a run; a damaged shard or a missing column is one clear line."""
    batches = run.batches(columns, dataset)
    while True:
        try:
            batch = next(batches)
        except StopIteration:
            return
        except (pa.ArrowException, OSError) as error:
            why = " ".join(str(error).split())[:160]
            raise Refusal(
                f"{run.path}: a shard cannot be read ({why}); `python -m experiments.verify {run.path}` names it, "
                "and the command of the run plays it again"
            ) from None
        missing = [name for name in columns if name not in batch.schema.names]
        if missing:
            raise Refusal(f"{run.path}: the rows lack the column {', '.join(missing)}; they were written by another release")
        yield batch


def summarise(path: str | Path) -> Summary:
    """Open a run and add it up; a run without games is refused."""
    run = open_run(path)
    seatings = seatings_of(run)
    players = max((seating.players for seating in seatings), default=0)
    sums = Sums(seatings, int(run.info["deals"]), coarse_columns(run.schema().names, players))
    closeness = Closeness(seatings, sums.blocks, run.schema().names)
    correlated = [name for name in CORRELATED if name == "win" or f"{name}_0" in run.schema().names]
    moments = Moments(correlated, players)
    spread = int(str(run.info.get("slice") or "1/1").partition("/")[2] or 1)
    examples = Examples(players, FIRST_DEALS * spread)
    names = [seating.id for seating in seatings]
    for batch in checked_batches(run, list(dict.fromkeys(sums.columns + closeness.columns + moments.columns))):
        place = sums.places(batch)
        sums.add(batch)
        closeness.add(batch, place)
        moments.add(batch)
        examples.look(batch, names, place)
    if not sums.rows:
        raise Refusal(
            f"{run.path} has no games yet; the command that made it plays them: see `python -m experiments.status {run.path}`"
        )
    return Summary(run, sums, closeness, moments, examples)


def search_statistics(summary: Summary) -> pd.DataFrame:
    """Best mean, share of visits and time by turn, per searching agent: median and middle half; empty without that dataset."""
    run = summary.run
    if "decisions" not in run.manifest.datasets():
        return pd.DataFrame()
    wanted = ["matchup", "rotation", "turn", "seat", "iterations", "visits", "mean", "seconds"]
    frames, rows = [], 0
    for batch in checked_batches(run, wanted, "decisions"):
        frame = batch.to_pandas()
        frames.append(frame[frame["iterations"] > 0])
        rows += len(frames[-1])
        if rows >= DECISION_ROWS:
            break
    table = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=wanted)
    if table.empty:
        return table
    seats = {seating.id: seating.agents for seating in summary.seatings}
    table["agent"] = [seats[m][(s + r) % len(seats[m])] for m, s, r in zip(table["matchup"], table["seat"], table["rotation"])]
    table["round"] = table["turn"] // np.array([len(seats[m]) for m in table["matchup"]]) + 1
    table["visit_share"] = 100 * table["visits"] / table["iterations"]
    table["milliseconds"] = 1000 * table["seconds"]
    result = []
    for (agent, number), group in table.groupby(["agent", "round"], sort=True):
        if len(group) >= 20:
            row: dict[str, object] = dict(agent=agent, turn=number, decisions=len(group))
            for name in ("mean", "visit_share", "milliseconds"):
                low, middle, high = np.nanpercentile(group[name], [25, 50, 75]) if group[name].notna().any() else (np.nan,) * 3
                row |= {name: middle, f"{name}_low": low, f"{name}_high": high}
            result.append(row)
    return pd.DataFrame(result)
