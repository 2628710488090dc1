"""How well an agent balances: the gap between wins and losses, and what a small gap alone would hide.

A coin between full strength and losing on purpose has a small gap too. So beside it stand the mean and the mean absolute score
difference (unfloored, which decides games), the share of games within three points, draws, and the gap that chance alone would
show between equals over as many deals.

python -m analysis.balance RUN [RUN ...]              the table, each agent's opponents and their mean
python -m analysis.balance RUN --forecast             what searches forecast less what came, by opponent and part of the game
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

from analysis.dda import AVERAGE
from analysis.estimate import LEVEL, Estimate, average, magnitude_interval, ratio
from analysis.published import HEURISTICS, dda_tables
from experiments.matchup import Matchup
from experiments.reading import Run, open_run
from experiments.refusal import Refusal

CLOSE = 3  # points
PARTS = 4  # of a game, for forecasts


@dataclass(frozen=True)
class Balance:
    """One agent against one opponent; shares of games and points."""

    map: str
    agent: str
    opponent: str
    games: int
    signed_gap: Estimate  # wins less losses
    draws: Estimate
    difference: Estimate
    distance: Estimate  # mean absolute difference
    close: Estimate

    @property
    def noise(self) -> float:
        """The gap to expect of two equals over these deals: the mean magnitude of a normal error of this size."""
        return float(self.signed_gap.error * np.sqrt(2 / np.pi))


def judged(run: Run) -> Iterator[tuple[Matchup, int, str]]:
    """The matchups that have an agent and opponents, with the agent's seat entry and the map."""
    for matchup in run.planned:
        role = matchup.labels.get("role")
        if role:
            yield matchup, int(role["agent"]), str(matchup.labels["map"])


def differences(run: Run, matchup: Matchup, entry: int) -> pd.DataFrame:
    """Each stored game's deal, rotation, and the agent's unfloored score less the best opponent's."""
    n = len(matchup.seats)
    rows = run.rows(matchup.id, "games", ["deal", "rotation", *(f"unfloored_{s}" for s in range(n))]).to_pandas()
    scores = rows[[f"unfloored_{s}" for s in range(n)]].to_numpy(np.float64, copy=True)
    seat = (entry - rows["rotation"].to_numpy(np.int64)) % n
    own = scores[np.arange(len(rows)), seat]
    scores[np.arange(len(rows)), seat] = -np.inf
    return rows[["deal", "rotation"]].assign(difference=own - scores.max(axis=1))


def balance(run: Run, matchup: Matchup, entry: int, board: str) -> Balance:
    """The measures of one matchup, clustered by deal."""
    games = differences(run, matchup, entry)
    places, deal = np.arange(run.info["deals"]), games["deal"].to_numpy(np.int64)
    d = games["difference"].to_numpy(np.float64)
    counts = np.bincount(deal, minlength=len(places))

    def mean(values: np.ndarray) -> Estimate:
        return ratio(np.bincount(deal, values, len(places)), counts)

    texts = [seat["text"] for seat in matchup.seats]
    others = " + ".join(text for e, text in enumerate(texts) if e != entry)
    measures = (np.sign(d), (d == 0).astype(float), d, abs(d), (abs(d) <= CLOSE).astype(float))
    return Balance(board, texts[entry], others, len(games), *(mean(values) for values in measures))


def balances(run: Run) -> list[Balance]:
    """All agents against all opponents that have games."""
    found = [balance(run, *each) for each in judged(run) if run.stored_games[each[0].id]]
    if not found:
        raise Refusal(f"{run.path} has no games of agents against opponents; name them as agents=[...] opponents=[...]")
    return found


def published_gaps() -> dict[tuple[str, str, float, float, float], float]:
    """Printed |win % - loss %| by agent, opponent (or Average), threshold, momentum and target."""
    tables = dda_tables()
    return {
        (row.key[0], row.opponent, *row.key[1:]): float(row.win_pct_difference)
        for title in ("Appendix C", "Figure 12.10")
        for row in tables[title].itertuples()
    }


def _printed(agent: str, opponent: str, board: str) -> float:
    """The published gap of an agent, whatever its iterations; not a number where there is none."""
    name, _, rest = agent.partition(":")
    fields = dict(part.split("=") for part in rest.split(",") if "=" in part)
    threshold = float(fields.get("posas_threshold", 5)) if name.endswith("_posas") else 0.0
    key = (name, opponent, threshold, float(fields.get("momentum", 0)), float(fields.get("target", 0)))
    return published_gaps().get(key, float("nan")) if board == "yang" else float("nan")


def balance_frame(given: Sequence[Balance], level: float = LEVEL) -> pd.DataFrame:
    """One row per opponent and the mean over opponents, for each agent on each map; shares in percent."""
    rows = []
    for board, agent in dict.fromkeys((b.map, b.agent) for b in given):
        group = [b for b in given if (b.map, b.agent) == (board, agent)]
        for b in group:
            low, high = magnitude_interval(b.signed_gap, level)
            rows.append(_row(board, agent, b.opponent, b.games, abs(b.signed_gap.value), (low, high), b.noise, [b]))
        if len(group) > 1:
            gap = average([abs(b.signed_gap) for b in group])
            noise = float(np.mean([b.noise for b in group]))
            rows.append(_row(board, agent, AVERAGE, sum(b.games for b in group), gap.value, gap.interval(level), noise, group))
    return pd.DataFrame(rows)


def _row(
    board: str, agent: str, opponent: str, games: int, gap: float, ends: tuple[float, float], noise: float, group: Sequence[Balance]
) -> dict[str, object]:
    mean = {name: average([getattr(b, name) for b in group]).value for name in ("draws", "difference", "distance", "close")}
    comparable = opponent != AVERAGE or {b.opponent for b in group} == set(HEURISTICS)  # the printed means are over those ten
    return dict(
        map=board,
        agent=agent,
        opponent=opponent,
        games=games,
        gap=100 * gap,
        gap_low=100 * max(0.0, ends[0]),
        gap_high=100 * ends[1],
        noise=100 * noise,
        difference=mean["difference"],
        distance=mean["distance"],
        close=100 * mean["close"],
        draws=100 * mean["draws"],
        published_gap=_printed(agent, opponent, board) if comparable else float("nan"),
    )


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
        texts = [seat["text"] for seat in matchup.seats]
        others = " + ".join(text for e, text in enumerate(texts) if e != entry)
        row = {f"part {p}": bias.get(p, np.nan) for p in range(1, PARTS + 1)}
        rows.append(dict(map=board, agent=texts[entry], opponent=others) | row)
    if not rows:
        raise Refusal(f"{run.path} has no stored decisions of searches; play it with decisions=true")
    return pd.DataFrame(rows)


SHORT = dict(gap_interval="95 %", difference="mean", distance="abs", close="close %", draws="draw %", published_gap="printed")


def show(frame: pd.DataFrame, console: Console, title: str) -> None:
    """A frame in the terminal, 80 characters wide: a table for each agent, or one of all where there are only means."""
    if "gap" in frame:
        ends = [f"{low:.1f}-{high:.1f}" for low, high in zip(frame["gap_low"], frame["gap_high"], strict=True)]
        frame = frame.drop(columns=["gap_low", "gap_high"])
        frame.insert(list(frame.columns).index("gap") + 1, "gap_interval", ends)
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
        table.add_column(SHORT.get(name, name.replace("_", " ")), justify="right" if number else "left", overflow="fold")
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
    try:
        runs = [open_run(path) for path in arguments.runs]
        if arguments.forecast:
            frame = pd.concat([forecast_frame(run) for run in runs], ignore_index=True)
        else:
            frame = pd.concat([balance_frame(balances(run)) for run in runs], ignore_index=True)
    except Refusal as refusal:
        print(f"analysis.balance: {refusal}", file=sys.stderr)
        return 2
    if arguments.average and not arguments.forecast:
        frame = frame[frame["opponent"] == AVERAGE]
    title = "Forecast less outcome, points" if arguments.forecast else "Gap |win % - loss %|, its noise, and how close games were"
    show(frame, Console(), title)
    if arguments.csv:
        frame.to_csv(arguments.csv, index=False)
        print(arguments.csv)
    return 0


if __name__ == "__main__":
    sys.exit(main())
