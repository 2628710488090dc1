"""The figures of a run, each with a caption and words for those who cannot see it."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from PIL import Image

from analysis import plots
from analysis.balance import averages_frame, balances
from analysis.counterparts import Comparison
from analysis.dda import win_difference
from analysis.ranking import Ranking
from analysis.rates import Cell, matrix
from analysis.result_tables import ranking_of
from analysis.summary import Summary
from analysis.sums import DIFFERENCES
from analysis.sweep import curves

ENDINGS = ("pdf", "svg", "png")
FIELD_NAMES = {
    "posas_threshold": "POSAS threshold $I_h$ (points)",
    "momentum": "momentum $m$",
    "cp": "exploration constant $C_p$",
    "iterations": "iterations",
    "target": "target score difference (points)",
}
MOST_RIDGES, MOST_BARS = 12, 24


@dataclass(frozen=True)
class Picture:
    """A drawn figure: the stem of its file, its caption, and its text alternative."""

    name: str
    caption: str
    alt: str
    figure: Figure

    def save(self, folder: Path, endings: tuple[str, ...] = ENDINGS) -> list[Path]:
        """Write NAME.pdf, NAME.svg and NAME.png; the same figure gives the same bytes."""
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for ending in endings:
            path = folder / f"{self.name}.{ending}"
            path.write_bytes(self.render(ending))
            paths.append(path)
        return paths

    def small_png(self, dpi: int) -> bytes:
        """An image of few colours, for pages that must stay small."""
        image = Image.open(io.BytesIO(self.render("png", dpi))).convert("RGB").quantize(64)
        buffer = io.BytesIO()
        image.save(buffer, "png", optimize=True)
        return buffer.getvalue()

    def render(self, ending: str, dpi: int = 300) -> bytes:
        """The figure as a file of this kind."""
        metadata = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {"Software": None}}[ending]
        buffer = io.BytesIO()
        with plots.style():
            self.figure.savefig(buffer, format=ending, dpi=dpi, metadata=metadata)
        return buffer.getvalue()


def pictures(summary: Summary) -> Iterator[Picture]:
    """Every figure that this run has something for."""
    with plots.style():
        if summary.points:
            yield sweep_picture(summary)
        elif summary.agent_cells:
            yield from balance_pictures(summary)
            yield from dda_pictures(summary)
        square = matrix(summary.cells)
        if summary.two_players and not summary.agent_cells and len(square) > 2:
            yield heat_picture(square)
        ranking = ranking_of(summary)
        if ranking:
            yield ranking_picture(ranking)
            if summary.two_players:
                yield misfit_picture(ranking)
        yield from difference_pictures(summary)
        yield from search_pictures(summary)
        yield from board_pictures(summary)


def heat_picture(square: pd.DataFrame) -> Picture:
    """Win rates of everybody against everybody."""
    order = square.mean(axis=1).sort_values(ascending=False, kind="stable").index
    square = square.loc[order, order]
    figure, axes = plots.new_figure(plots.COLUMN, plots.COLUMN * 1.02)
    plots.heat_map(square, axes[0, 0])
    axes[0, 0].set_title("win % of the row agent (all games)")
    best, worst = order[0], order[-1]
    most = f"{best} wins {square.loc[best, worst]:.0f} % against {worst}"
    alt = f"Heat map of win rates, {len(order)} agents by strength: {best} first, {worst} last; {most}."
    return Picture("winrates", "Win rate of the row agent against the column agent, in percent of all games.", alt, figure)


def ranking_picture(ranking: Ranking) -> Picture:
    """Strengths with intervals."""
    frame = ranking.frame()
    figure, axes = plots.new_figure(plots.COLUMN, (18 + 6.4 * len(frame)) * plots.MM)
    plots.ranking(frame, axes[0, 0])
    alt = "Strengths in Elo points, strongest first: " + ", ".join(f"{r.agent} {r.elo:+.0f}" for r in frame.itertuples()) + "."
    return Picture("ranking", "Strength of each agent (Bradley-Terry) with 95 % intervals clustered by deal.", alt, figure)


def misfit_picture(ranking: Ranking) -> Picture:
    """What one number per agent does not tell."""
    table = ranking.misfit.pivot_table(index="agent", columns="opponent", values="misfit")
    table = table.reindex(index=ranking.agents, columns=ranking.agents)
    figure, axes = plots.new_figure(plots.COLUMN, plots.COLUMN * 1.02)
    largest = float(np.nanmax(np.abs(table.to_numpy(float))))
    plots.heat_map(table, axes[0, 0], centre=0.0, reach=max(10.0, largest))
    axes[0, 0].set_title("observed less expected share of points (%)")
    alt = f"Heat map of the ranking's misfit; the largest is {largest:.1f} points of percent."
    return Picture("misfit", "What the ranking misses: observed less expected share of points, row against column.", alt, figure)


def sweep_picture(summary: Summary) -> Picture:
    """Win rate and score difference over the swept field."""
    frame = curves(summary.points)
    field = summary.points[0].field.rpartition(".")[2]
    figure, axes = plots.new_figure(plots.COLUMN, 112 * plots.MM, rows=2, sharex=True)
    top, bottom = axes[:, 0]
    plots.curves(frame, "win", top, reference=50.0, legend=False)
    top.set_ylabel("win rate (%)")
    plots.curves(frame, "difference", bottom, reference=0.0, legend=False)
    bottom.set_ylabel("score difference (points)")
    bottom.set_xlabel(FIELD_NAMES.get(field, field.replace("_", " ")))
    lines = frame["agent"].nunique()
    figure.legend(*top.get_legend_handles_labels(), loc="outside upper center", ncols=2 if lines > 1 else 1, handlelength=1.8)
    told = []
    for agent, line in frame.groupby("agent", sort=False):
        first, last = line.iloc[0], line.iloc[-1]
        told.append(f"{agent} wins {first['win']:.0f} % at {first['value']:g} and {last['win']:.0f} % at {last['value']:g}")
    opponents = f"{frame['opponents'].max()} opponents"
    caption = f"Mean win rate and score difference over {opponents}; bands: 95 % intervals clustered by deal; dashed: even."
    return Picture(f"sweep_{field}", caption, "Curves over " + field + ": " + "; ".join(told) + ".", figure)


def signed_frame(cells: list[Cell]) -> pd.DataFrame:
    """Signed win % and score differences with intervals, per opponent."""
    rows = []
    for cell in cells:
        row: dict[str, object] = dict(opponent=cell.opponent)
        for name, estimate, scale in (("win_difference", win_difference(cell), 100), ("score_difference", cell.difference, 1)):
            low, high = estimate.interval()
            row |= {name: scale * estimate.value, f"{name}_low": scale * low, f"{name}_high": scale * high}
        rows.append(row)
    return pd.DataFrame(rows)


def balance_pictures(summary: Summary) -> Iterator[Picture]:
    """All judged agents side by side, one figure a map: gap with its noise, and how far apart the scores were."""
    given = balances(summary)
    frame = averages_frame(given) if given else pd.DataFrame(columns=["map"])
    for board, rows in frame.groupby("map", sort=False):
        rows = rows.iloc[:MOST_BARS].assign(agent=rows["agent"].map(summary.short_names))
        figure, axes = plots.new_figure(plots.COLUMN, (22 + 5.2 * len(rows)) * plots.MM, columns=2, sharey=True)
        left, right = axes[0]
        plots.gaps(rows, left)
        plots.distances(rows, right)
        right.tick_params(axis="y", length=0)
        found = dict(zip(*reversed(left.get_legend_handles_labels())))
        names = [name for name in ("ours, 95 %", "noise", "printed") if name in found]
        figure.legend([found[name] for name in names], names, loc="outside upper center", ncols=3, handlelength=1.4)
        told = ", ".join(f"{r.agent} {r.gap:.0f} % (noise {r.noise:.0f}), {r.distance:.1f} points" for r in rows.itertuples())
        alone = frame["map"].nunique() == 1
        stem = "balance" if alone else "balance_" + re.sub(r"[^a-z0-9]+", "_", str(board).lower()).strip("_")
        caption = (
            f"Mean over opponents{'' if alone else f' on {board}'} of the gap between win % and loss %, and of the absolute score "
            "difference. Grey: the gap that chance alone gives equals at this number of games; diamond: printed."
        )
        yield Picture(stem, caption, f"Agents by gap, the smallest first, with mean absolute difference: {told}.", figure)


def dda_pictures(summary: Summary) -> Iterator[Picture]:
    """Bars per opponent, two panels an agent: win % difference and score difference."""
    agents = list(dict.fromkeys(c.agent for c in summary.agent_cells))
    for start in range(0, min(len(agents), MOST_BARS), 2):
        pair = agents[start : start + 2]
        groups = [[c for c in summary.agent_cells if c.agent == agent] for agent in pair]
        height = sum(13 + 4.2 * len(group) for group in groups) + 6
        figure, axes = plots.new_figure(plots.COLUMN, height * plots.MM, rows=len(pair), columns=2, sharey="row", sharex="col")
        told = []
        for number, (agent, group) in enumerate(zip(pair, groups)):
            frame = signed_frame(group)
            last = number == len(pair) - 1
            plots.dda_bars(frame, axes[number, 0], "win_difference", "win % difference" if last else "")
            plots.dda_bars(frame, axes[number, 1], "score_difference", "score difference" if last else "")
            axes[number, 0].set_title(plots.plain_name(summary.short_names[agent]), loc="left")
            axes[number, 1].tick_params(axis="y", length=0)
            told.append(f"{agent}: mean win difference {frame['win_difference'].mean():+.0f} %")
        caption = (
            "Own win % less the opponent's, and own score less the opponent's; blue: the opponent is ahead, orange: the agent."
        )
        yield Picture(f"dda_{start // 2 + 1}", caption, "Bars per opponent. " + "; ".join(told) + ".", figure)


def difference_pictures(summary: Summary) -> Iterator[Picture]:
    """Distributions of the score difference: of each judged agent, or of the strongest agent, against its opponents."""
    if not summary.two_players:
        return
    place = {seating.id: number for number, seating in enumerate(summary.seatings)}
    chosen = summary.agent_cells or _strongest(summary.cells)
    if summary.points:
        return
    for number, agent in enumerate(list(dict.fromkeys(c.agent for c in chosen))[:2]):
        own = [c for c in chosen if c.agent == agent][:MOST_RIDGES]
        counts = []
        for c in own:
            row = summary.sums.differences[place[c.matchup]]
            counts.append(row if summary.seatings[place[c.matchup]].agents[0] == agent else row[::-1])
        figure, axes = plots.new_figure(plots.COLUMN, (16 + 7 * len(own)) * plots.MM)
        plots.ridges(np.array(counts), DIFFERENCES, [c.opponent for c in own], axes[0, 0])
        axes[0, 0].set_title(f"{plots.plain_name(summary.short_names[agent])} against", loc="left")
        alt = (
            f"Distributions of {agent}'s score difference, mean "
            + ", ".join(f"{c.difference.value:+.1f} against {c.opponent}" for c in own)
            + "."
        )
        caption = "Distribution of the score difference, ahead right of the dashed line; dot: median, bar: middle half."
        yield Picture(f"differences_{number + 1}", caption, alt, figure)


def _strongest(cells: list[Cell]) -> list[Cell]:
    groups: dict[str, list[Cell]] = {}
    for c in cells:
        groups.setdefault(c.agent, []).append(c)
    best = max(groups, key=lambda agent: np.mean([c.points.value for c in groups[agent]]))
    return [c for c in groups[best] if c.opponents[0] != best] or groups[best]


def search_pictures(summary: Summary) -> Iterator[Picture]:
    """What the search thinks over a game."""
    frame = summary.search
    if frame.empty:
        return
    agents = list(dict.fromkeys(frame["agent"]))[: len(plots.PALETTE)]
    frame = frame[frame["agent"].isin(agents)]
    frame = frame.assign(agent=frame["agent"].map(summary.short_names))
    timed = frame["milliseconds"].notna().any()
    figure, axes = plots.new_figure(plots.COLUMN, (120 if timed else 88) * plots.MM, rows=3 if timed else 2, sharex=True)
    column = axes[:, 0]
    column[0].axhline(0, color=plots.GREY, linewidth=0.8, linestyle=(0, (4, 3)))
    plots.over_turns(frame, "mean", column[0], "mean of chosen move\n(points ahead)")
    plots.over_turns(frame, "visit_share", column[1], "visits of chosen\nmove (%)")
    if timed:
        plots.over_turns(frame, "milliseconds", column[2], "time (ms)", logarithmic=True)
    column[-1].set_xlabel("own turn")
    figure.legend(
        *column[0].get_legend_handles_labels(), loc="outside upper center", ncols=2 if len(agents) > 1 else 1, handlelength=1.8
    )
    alt = "Search statistics by turn for " + ", ".join(agents) + "."
    yield Picture(
        "search", "The search over a game, by the agent's own turn: medians; bands, where drawn: the middle half.", alt, figure
    )


def board_pictures(summary: Summary) -> Iterator[Picture]:
    """The final board of the run's first game."""
    from analysis.final_board import final_board

    drawn = final_board(summary)
    if drawn is not None:
        yield Picture("board", drawn.caption, drawn.alt, drawn.figure)


def published_picture(comparison: Comparison, number: int) -> Picture:
    """Published against measured."""
    with plots.style():
        figure, axes = plots.new_figure(plots.COLUMN, plots.COLUMN * 0.95)
        unit = "%" if comparison.unit == "win" else "points"
        plots.against_published(comparison.frame, axes[0, 0], unit)
        axes[0, 0].set_title(
            f"{comparison.title} ({comparison.source})" if comparison.source not in comparison.title else comparison.title
        )
    inside = int(comparison.frame["within"].sum())
    alt = (
        f"Scatter of {len(comparison.frame)} published against measured values, {inside} within the intervals; "
        + comparison.verdicts()[1].text
        + "."
    )
    caption = "Published against measured with both 95 % intervals; on the dashed line they are equal."
    return Picture(f"published_{number}", caption, alt, figure)
