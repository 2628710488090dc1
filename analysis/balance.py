"""How well an agent balances: the gap between wins and losses, and what a small gap alone would hide.

A coin between full strength and losing on purpose has a small gap too. So beside it stand the mean and the mean absolute score
difference (unfloored, which decides games), the share of games within three points, draws, and the gap that chance alone would
show between equals over as many deals. Regret stands there too, where `analysis.regret` has judged the run.

python -m analysis.balance RUN [RUN ...]              the table, each agent's opponents and their mean
python -m analysis.balance RUN --forecast             what searches forecast less what came, by opponent and part of the game
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

from analysis.closeness import leads
from analysis.counterparts import configured_name, dda_key_of, on_small_map
from analysis.dda import AVERAGE, win_difference
from analysis.estimate import LEVEL, Estimate, average, magnitude_interval, ratio
from analysis.published import HEURISTICS, DdaKey, dda_tables
from analysis.rates import deals_behind
from analysis.regret_file import Regret
from analysis.summary import Summary, summarise
from experiments.command import answering, writing
from experiments.matchup import Matchup
from experiments.reading import Run, open_run
from experiments.refusal import Refusal

PARTS = 4  # of a game, for forecasts
SHARES = ("close", "draws")  # of games
MEASURES = ("difference", "distance", *SHARES, "points_lost", "grave")


@dataclass(frozen=True)
class Balance:
    """One agent against one opponent; shares of games and points."""

    matchup: str
    map: str
    agent: str
    opponent: str
    games: int
    signed_gap: Estimate  # wins less losses
    draws: Estimate
    difference: Estimate
    distance: Estimate  # mean absolute difference
    close: Estimate
    points_lost: Estimate | None = None  # per decision, where regret was judged
    grave: Estimate | None = None
    decisions: int = 0
    counterpart: tuple[DdaKey, str] | None = None  # the published agent and opponent that these would be

    @property
    def noise(self) -> float:
        """The gap to expect of two equals over these deals: the mean magnitude of a normal error of this size."""
        return float(self.signed_gap.error * np.sqrt(2 / np.pi))


def boards(labels: Sequence[Mapping[str, object]]) -> list[str]:
    """Each matchup's map, with the rules where a run has several."""
    several = len({str(label.get("rules")) for label in labels}) > 1
    return [f"{label['map']}, {label.get('rules')}" if several else str(label["map"]) for label in labels]


def balances(summary: Summary, regret: Regret | None = None) -> list[Balance]:
    """All agents against all opponents that have games; empty where nobody is judged."""
    places = {seating.id: place for place, seating in enumerate(summary.seatings)}
    names = boards([seating.labels for seating in summary.seatings])
    found = []
    for cell in summary.agent_cells:
        place = places[cell.matchup]
        lead = _lead(summary, place)
        if lead is None:
            continue
        seating = summary.seatings[place]
        key = dda_key_of(seating, cell.agent) if on_small_map(seating) else None
        each = Balance(cell.matchup, names[place], cell.agent, cell.opponent, cell.games, win_difference(cell), cell.draw, *lead)
        points, grave, decisions = regret.of(cell.matchup) if regret else (None, None, 0)
        counterpart = (key, configured_name(seating, cell.opponents[0])) if key else None
        found.append(replace(each, points_lost=points, grave=grave, decisions=decisions, counterpart=counterpart))
    return found


def _lead(summary: Summary, place: int) -> tuple[Estimate, Estimate, Estimate] | None:
    """Difference, distance and share of close games of a matchup's agent; nothing where the rows do not tell."""
    if summary.closeness.number[place] < 0:
        return None
    games = summary.sums.fine["games"][place].sum(axis=0, dtype=np.float64)
    deals = deals_behind(summary.sums, place)
    difference, distance, close = (
        ratio(summary.closeness.of(place, name), games, deals) for name in ("difference", "distance", "close")
    )
    return difference, distance, close


@cache
def published_gaps() -> dict[tuple[str, str, float, float, float], float]:
    """Printed |win % - loss %| by agent, opponent (or Average), threshold, momentum and target; searches of 30,000 iterations.

    The printed average over swap agents is that of signed differences, which is none of gaps.
    """
    tables = dda_tables()
    return {
        (row.key[0], row.opponent, *row.key[1:]): abs(float(row.win_pct_difference))
        for title in ("Figure 12.9", "Appendix C", "Figure 12.10")
        for row in tables[title].itertuples()
        if (title, row.opponent) != ("Figure 12.9", AVERAGE)
    }


def _published(group: Sequence[Balance], mean: bool) -> float:
    """The printed gap against an opponent, or the printed mean if these are its ten opponents; not a number where there is none."""
    key = group[0].counterpart
    opponents = {b.counterpart[1] for b in group if b.counterpart}
    if key is None or (mean and opponents != set(HEURISTICS)):
        return float("nan")
    (name, threshold, momentum, target), opponent = key
    return published_gaps().get((name, AVERAGE if mean else opponent, threshold, momentum, target), float("nan"))


def balance_frame(given: Sequence[Balance], level: float = LEVEL) -> pd.DataFrame:
    """One row per agent, map and opponent: shares in percent and points, each with the ends of its interval."""
    return pd.DataFrame([dict(matchup=b.matchup, opponent=b.opponent) | _row([b], False, level) for b in given])


def averages_frame(given: Sequence[Balance], level: float = LEVEL) -> pd.DataFrame:
    """One row per agent and map, the smallest gap first: means over the opponents, of the gap that of its magnitudes."""
    groups: dict[tuple[str, str], list[Balance]] = {}
    for b in given:
        groups.setdefault((b.map, b.agent), []).append(b)
    rows = [dict(opponents=len(group)) | _row(group, True, level) for group in groups.values()]
    return pd.DataFrame(rows).sort_values(["map", "gap"], kind="stable", ignore_index=True)


def _row(group: Sequence[Balance], mean: bool, level: float) -> dict[str, object]:
    """The mean of some matchups. The interval of a mean of magnitudes takes each sign as known, as that of analysis.dda does."""
    gap = average([abs(b.signed_gap) for b in group])
    ends = gap.interval(level) if len(group) > 1 else magnitude_interval(group[0].signed_gap, level)
    row: dict[str, object] = dict(map=group[0].map, agent=group[0].agent, games=sum(b.games for b in group), gap=100 * gap.value)
    row |= dict(zip(("gap_low", "gap_high"), 100 * np.clip(ends, 0, 1)))
    row |= dict(noise=100 * float(np.mean([b.noise for b in group])), published_gap=_published(group, mean))
    row["decisions"] = sum(b.decisions for b in group)
    for name in MEASURES:
        scale = 100 if name in (*SHARES, "grave") else 1
        each = [estimate for b in group if (estimate := getattr(b, name)) is not None]
        value = low = high = float("nan")
        if len(each) == len(group):
            whole = average(each)
            value, (low, high) = whole.value, whole.rate_interval(level) if name in SHARES else whole.interval(level)
        if name != "difference":
            low, high = np.maximum(low, 0), np.minimum(high, 1 if scale == 100 else np.inf)
        row |= {name: scale * value, f"{name}_low": scale * low, f"{name}_high": scale * high}
    return row


def judged(run: Run) -> Iterator[tuple[Matchup, int, str]]:
    """The matchups that have an agent and opponents, with the agent's seat entry and the map."""
    for matchup, board in zip(run.planned, boards([m.labels for m in run.planned])):
        role = matchup.labels.get("role")
        if role:
            yield matchup, int(role["agent"]), board


def opponents_of(matchup: Matchup, entry: int) -> str:
    """The opponents' names in seat order."""
    return " + ".join(seat["text"] for e, seat in enumerate(matchup.seats) if e != entry)


def differences(run: Run, matchup: Matchup, entry: int) -> pd.DataFrame:
    """Each stored game's deal, rotation, and the agent's unfloored score less the best opponent's."""
    n = len(matchup.seats)
    rows = run.rows(matchup.id, "games", ["deal", "rotation", *(f"unfloored_{s}" for s in range(n))]).to_pandas()
    scores = rows[[f"unfloored_{s}" for s in range(n)]].to_numpy(np.float64).T
    seat = (entry - rows["rotation"].to_numpy(np.int64)) % n
    return rows[["deal", "rotation"]].assign(difference=leads(scores, seat))


def forecast_frame(run: Run) -> pd.DataFrame:
    """What the agent's search forecast for its move less what the game came to, by opponent and part of the game, in points."""
    rows = []
    for matchup, entry, board in judged(run):
        n = len(matchup.seats)
        told = run.rows(matchup.id, "decisions", ["deal", "rotation", "number", "seat", "iterations", "mean"]).to_pandas()
        told = told[(told["seat"] == (entry - told["rotation"]) % n) & (told["iterations"] > 0)]
        if told.empty:
            continue
        told = told.merge(differences(run, matchup, entry), on=["deal", "rotation"])
        last = told.groupby(["deal", "rotation"])["number"].transform("max")
        told["part"] = np.minimum(PARTS - 1, PARTS * told["number"] // (last + 1)) + 1
        bias = (told["mean"] - told["difference"]).groupby(told["part"]).mean()
        row = {f"part {p}": bias.get(p, np.nan) for p in range(1, PARTS + 1)}
        rows.append(dict(map=board, agent=matchup.seats[entry]["text"], opponent=opponents_of(matchup, entry)) | row)
    if not rows:
        raise Refusal(f"{run.path} has no stored decisions of searches; play it with decisions=true")
    return pd.DataFrame(rows)


SHORT = dict(difference="mean", distance="abs", close="close %", draws="draw %", published_gap="printed")
SHOWN = ["opponent", "games", "gap", "gap_low", "gap_high", "noise", "difference", "distance", "close", "draws", "published_gap"]


def terminal_frame(summary: Summary, average: bool) -> pd.DataFrame:
    """What the terminal shows of a run: all opponents and, last, their mean; or the means alone."""
    given = balances(summary)
    if not given:
        raise Refusal(f"{summary.path} has no games of agents against opponents; name them as agents=[...] opponents=[...]")
    means = averages_frame(given).assign(opponent=AVERAGE)
    frame = means if average else pd.concat([balance_frame(given), means[means["opponents"] > 1]], ignore_index=True)
    return frame[["map", "agent", *SHOWN]]


def show(frame: pd.DataFrame, console: Console, title: str) -> None:
    """A frame in the terminal, 80 characters wide: a table for each agent, or one of all where there are only means."""
    for name in [name for name in frame.columns if f"{name}_low" in frame]:
        pairs = zip(frame[f"{name}_low"], frame[f"{name}_high"], strict=True)
        ends = ["" if np.isnan(low) else f"{low:.1f}-{high:.1f}" for low, high in pairs]
        frame = frame.drop(columns=[f"{name}_low", f"{name}_high"])
        frame.insert(list(frame.columns).index(name) + 1, f"{name}_interval", ends)
    console.print(title, highlight=False)
    if set(frame["opponent"]) == {AVERAGE}:
        console.print(_table(frame.drop(columns=["opponent", "games"])))
        return
    for (board, agent), group in frame.groupby(["map", "agent"], sort=False):
        console.print(f"\n{agent} on {board}", highlight=False)
        console.print(_table(group.drop(columns=["map", "agent"])))


def _table(frame: pd.DataFrame) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0))
    for name in frame.columns:
        number = pd.api.types.is_numeric_dtype(frame[name])
        heading = "95 %" if name.endswith("_interval") else SHORT.get(name, name.replace("_", " "))
        table.add_column(heading, justify="right" if number else "left", overflow="fold")
    for values in frame.itertuples(index=False):
        cells = ["" if isinstance(v, float) and np.isnan(v) else f"{v:.2f}" if isinstance(v, float) else str(v) for v in values]
        table.add_row(*cells, style="bold" if AVERAGE in values else "")
    return table


def main(argv: Sequence[str] | None = None) -> int:
    """Print the measures of runs."""
    parser = argparse.ArgumentParser(prog="python -m analysis.balance", description="How well agents balance.")
    parser.add_argument("runs", nargs="+", metavar="RUN", help="run folders of agents against opponents")
    parser.add_argument("--forecast", action="store_true", help="forecasts less outcomes instead (runs with decisions=true)")
    parser.add_argument("--average", action="store_true", help="only the means over opponents")
    parser.add_argument("--csv", metavar="FILE", help="also write the table")
    arguments = parser.parse_args(argv)
    return answering("analysis.balance", lambda: _print(arguments))


def _print(arguments: argparse.Namespace) -> int:
    if arguments.forecast:
        frames = [forecast_frame(open_run(path)) for path in arguments.runs]
    else:
        frames = [terminal_frame(summarise(path), arguments.average) for path in arguments.runs]
    frame = pd.concat(frames, ignore_index=True)
    title = "Forecast less outcome, points" if arguments.forecast else "Gap |win % - loss %|, its noise, and how close games were"
    show(frame, Console(), title)
    if arguments.csv:
        with writing(arguments.csv):
            frame.to_csv(arguments.csv, index=False)
        print(arguments.csv)
    return 0


if __name__ == "__main__":
    sys.exit(main())
