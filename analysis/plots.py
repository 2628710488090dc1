"""Plots for a printed column: data and axes go in, axes come out; intervals drawn, colours that everybody can tell apart.

Sizes are those of print: `COLUMN` is 85 mm, text is 6 to 8 points. Colours are Okabe and Ito's; lines also differ by marker.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

MINUS = "\u2212"
MM = 1 / 25.4
COLUMN, PAGE = 85 * MM, 176 * MM  # inches
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
GREY, LIGHT = "#555555", "#D9D9D9"
STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 7,
    "axes.titlesize": 7.5,
    "axes.labelsize": 7,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "legend.fontsize": 6.5,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.1,
    "lines.markersize": 3.2,
    "svg.fonttype": "path",
    "svg.hashsalt": "ttr-lab",
    "pdf.fonttype": 42,
    "savefig.dpi": 300,
}


@contextmanager
def style() -> Iterator[None]:
    """The look of every figure, left as it was afterwards."""
    with matplotlib.rc_context(STYLE):  # type: ignore[arg-type]
        yield


def new_figure(width: float, height: float, rows: int = 1, columns: int = 1, **options: Any) -> tuple[Figure, np.ndarray]:
    """A figure that needs no window, with its axes in an array."""
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, axes


def heat_map(values: pd.DataFrame, ax: Axes, centre: float = 50.0, reach: float = 50.0, decimals: int = 0) -> Axes:
    """Row agent against column agent, the number in every square; orange above the centre, purple below."""
    grid = values.to_numpy(float)
    image = ax.imshow(grid, cmap="PuOr_r", vmin=centre - reach, vmax=centre + reach, aspect="equal")
    for (i, j), value in np.ndenumerate(grid):
        if np.isfinite(value):
            red, green, blue, _ = image.cmap(image.norm(value))
            bright = 0.299 * red + 0.587 * green + 0.114 * blue
            shown = f"{value + 0.0:.{decimals}f}"
            shown = shown.replace("-", MINUS) if float(shown) else shown.lstrip("-")
            ax.text(j, i, shown, ha="center", va="center", fontsize=6, color="black" if bright > 0.5 else "white")
    ax.set_xticks(
        range(values.shape[1]), [plain_name(name) for name in values.columns], rotation=50, ha="right", rotation_mode="anchor"
    )
    ax.set_yticks(range(values.shape[0]), [plain_name(name) for name in values.index])
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax


def ranking(frame: pd.DataFrame, ax: Axes, unit: str = "Elo points") -> Axes:
    """Strengths with their intervals, strongest on top (columns agent, elo, low, high)."""
    places = np.arange(len(frame))[::-1]
    ends = np.abs(np.stack([frame["elo"] - frame["low"], frame["high"] - frame["elo"]])).astype(float)
    ax.axvline(0, color=LIGHT, linewidth=0.8, zorder=0)
    ax.errorbar(
        frame["elo"], places, xerr=np.nan_to_num(ends), fmt="o", color=PALETTE[0], ecolor=PALETTE[0], elinewidth=1.4, capsize=2
    )
    span = float(frame["elo"].max() - frame["elo"].min()) or 1.0
    for place, value in zip(places, frame["elo"]):
        ax.annotate(
            f"{value:+.0f}".replace("-", MINUS), (value, place), (0, 4), textcoords="offset points", ha="center", fontsize=6
        )
    ax.set_yticks(places, [plain_name(name) for name in frame["agent"]])
    ax.set_ylim(-0.6, len(frame) - 0.3)
    ax.set_xlim(frame["elo"].min() - 0.12 * span, frame["elo"].max() + 0.12 * span)
    ax.set_xlabel(f"strength ({unit}, mean 0), 95 % interval")
    return ax


def curves(frame: pd.DataFrame, measure: str, ax: Axes, reference: float | None = None, legend: bool = True) -> Axes:
    """One line per agent over the swept value, with its 95 % band (columns agent, value, MEASURE, MEASURE_low, MEASURE_high)."""
    if reference is not None:
        ax.axhline(reference, color=GREY, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    for number, (agent, line) in enumerate(frame.groupby("agent", sort=False)):
        colour, marker = PALETTE[number % len(PALETTE)], MARKERS[number % len(MARKERS)]
        ax.fill_between(line["value"], line[f"{measure}_low"], line[f"{measure}_high"], color=colour, alpha=0.2, linewidth=0)
        ax.plot(line["value"], line[measure], color=colour, marker=marker, label=plain_name(str(agent)), zorder=3)
    if legend:
        ax.legend(handlelength=1.8, borderaxespad=0.2)
    ax.margins(x=0.03)
    return ax


def dda_bars(frame: pd.DataFrame, ax: Axes, measure: str = "signed_win_difference", label: str = "") -> Axes:
    """How far from even, per opponent, signed: bars with intervals (columns opponent, MEASURE, MEASURE_low, MEASURE_high)."""
    places = np.arange(len(frame))[::-1]
    values = frame[measure].to_numpy(float)
    colours = [PALETTE[0] if value < 0 else PALETTE[1] for value in values]
    ax.barh(places, values, color=colours, height=0.66)
    ends = np.abs(np.stack([values - frame[f"{measure}_low"], frame[f"{measure}_high"] - values])).astype(float)
    ax.errorbar(values, places, xerr=ends, fmt="none", ecolor="black", elinewidth=0.8, capsize=1.5)
    ax.axvline(0, color="black", linewidth=0.7)
    ax.set_yticks(places, [plain_name(str(name)) for name in frame["opponent"]])
    ax.set_ylim(-0.6, len(frame) - 0.4)
    if label:
        ax.set_xlabel(label)
    return ax


def gaps(frame: pd.DataFrame, ax: Axes) -> Axes:
    """Each agent's gap in percent (columns agent, gap, gap_low, gap_high, noise, published_gap), first row on top.

    The grey bar reaches as far as chance alone would take a gap; a diamond marks the printed one.
    """
    places = np.arange(len(frame))[::-1]
    _dots(frame, "gap", ax, places)
    ax.barh(places, frame["noise"], height=0.62, color=LIGHT, label="noise", zorder=1)
    printed = frame["published_gap"].notna().to_numpy()
    if printed.any():
        ax.plot(
            frame["published_gap"][printed], places[printed] - 0.3, "D", markersize=3, markerfacecolor="white", color=PALETTE[1],
            label="printed", zorder=4,
        )  # fmt: skip
    ax.set_xlim(0, 1.03 * max(10.0, float(np.nanmax(frame[["gap", "gap_high", "noise", "published_gap"]].to_numpy(float)))))
    ax.set_yticks(places, [plain_name(str(name)) for name in frame["agent"]])
    ax.set_xlabel("gap (%)")
    return ax


def distances(frame: pd.DataFrame, ax: Axes) -> Axes:
    """Each agent's mean absolute score difference (columns agent, distance, distance_low, distance_high), first row on top."""
    places = np.arange(len(frame))[::-1]
    _dots(frame, "distance", ax, places)
    ax.set_xlim(0, 1.06 * float(np.nanmax(frame[["distance", "distance_high"]].to_numpy(float))) or 1.0)
    ax.set_yticks(places, [plain_name(str(name)) for name in frame["agent"]])
    ax.set_xlabel("mean absolute score\ndifference (points)")
    return ax


def _dots(frame: pd.DataFrame, measure: str, ax: Axes, places: np.ndarray) -> None:
    """A dot with its interval for each row."""
    values = frame[measure].to_numpy(float)
    ends = np.abs(np.stack([values - frame[f"{measure}_low"], frame[f"{measure}_high"] - values])).astype(float)
    for place in places:
        ax.axhline(place, color=LIGHT, linewidth=0.5, zorder=0)
    ax.errorbar(
        values, places, xerr=np.nan_to_num(ends), fmt="o", color=PALETTE[0], elinewidth=1.2, capsize=2, label="ours, 95 %", zorder=3
    )
    ax.set_ylim(-0.65, len(frame) - 0.4)
    ax.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))


def ridges(counts: np.ndarray, centres: np.ndarray, labels: Sequence[str], ax: Axes) -> Axes:
    """Score differences, one distribution above the other, each with its median and middle half; dashed: even."""
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    cumulative = shares.cumsum(axis=1)
    tallest = shares.max() or 1.0
    seen = np.flatnonzero((cumulative > 0.002).any(axis=0) & (cumulative < 0.998).any(axis=0))
    first, last = (seen[0], seen[-1]) if len(seen) else (0, len(centres) - 1)
    inside = slice(max(0, first - 1), last + 2)
    ax.axvline(0, color=GREY, linewidth=0.8, linestyle=(0, (4, 3)), zorder=2.5)  # before the distributions, behind their dots
    for number, share in enumerate(shares):
        base = len(labels) - 1 - number
        colour = PALETTE[number % 2 * 5]
        height = base + 0.92 * share[inside] / tallest
        ax.fill_between(centres[inside], base, height, step="mid", color=colour, linewidth=0, zorder=2)
        quarter, half, three = (centres[int(np.searchsorted(cumulative[number], q))] for q in (0.25, 0.5, 0.75))
        ax.plot([quarter, three], [base - 0.06] * 2, color="black", linewidth=1.3, solid_capstyle="butt", zorder=3)
        ax.plot([half], [base - 0.06], marker="o", markersize=2.6, color="black", zorder=4)
    ax.set_yticks(range(len(labels)), [plain_name(label) for label in labels][::-1])
    ax.set_ylim(-0.3, len(labels))
    ax.set_xlim(min(centres[first] - 1, -1), max(centres[last] + 1, 1))
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel("score difference (points)")
    return ax


def against_published(frame: pd.DataFrame, ax: Axes, unit: str) -> Axes:
    """Published across, measured up, both with their 95 % intervals; on the line they are equal."""
    low = float(min(frame["published"].min(), frame["low"].min()))
    high = float(max(frame["published"].max(), frame["high"].max()))
    pad = 0.04 * (high - low or 1.0)
    ax.plot([low - pad, high + pad], [low - pad, high + pad], color=GREY, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    for inside, colour, marker, name in ((True, PALETTE[0], "o", "within"), (False, PALETTE[1], "D", "outside")):
        part = frame[frame["within"] == inside]
        if len(part):
            up = np.abs(np.stack([part["measured"] - part["low"], part["high"] - part["measured"]])).astype(float)
            across = 1.96 * part["published_error"].to_numpy(float)
            ax.errorbar(
                part["published"], part["measured"], yerr=up, xerr=across, fmt=marker, markersize=2.6, color=colour, elinewidth=0.6,
                label=f"{name} ({len(part)})", zorder=3,
            )  # fmt: skip
    ax.set_xlim(low - pad, high + pad)
    ax.set_ylim(low - pad, high + pad)
    ax.set_aspect("equal")
    ax.set_xlabel(f"published ({unit})")
    ax.set_ylabel(f"measured ({unit})")
    ax.legend(loc="upper left", handlelength=1.0)
    return ax


def over_turns(frame: pd.DataFrame, measure: str, ax: Axes, label: str, logarithmic: bool = False) -> Axes:
    """A search statistic by turn: median, and middle half of up to four agents (columns agent, turn, MEASURE, _low, _high)."""
    bands = frame["agent"].nunique() <= 4  # more of them would hide one another
    for number, (agent, line) in enumerate(frame.groupby("agent", sort=False)):
        colour, marker = PALETTE[number % len(PALETTE)], MARKERS[number % len(MARKERS)]
        if bands:
            ax.fill_between(line["turn"], line[f"{measure}_low"], line[f"{measure}_high"], color=colour, alpha=0.18, linewidth=0)
        ax.plot(line["turn"], line[measure], color=colour, marker=marker, markersize=2.4, markevery=3, label=plain_name(str(agent)))
    if logarithmic:
        ax.set_yscale("log")
        ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.yaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_minor_formatter(NullFormatter())
    ax.set_ylabel(label)
    return ax


def plain_name(text: str) -> str:
    """An agent's name for a reader of print: no underscores, fields in brackets."""
    name, colon, fields = text.partition(":")
    name = name.replace("_", " ")
    for short in ("cmcts", "ismcts", "rosas", "posas"):
        name = name.replace(short, short.upper())
    if not colon:
        return name
    for long, brief in (("posas_threshold", "$I_h$"), ("momentum", "$m$"), ("iterations", "it."), ("cp", "$C_p$")):
        fields = fields.replace(f"{long}=", f"{brief}=")
    return f"{name} ({fields.replace(',', ', ').replace('_', ' ')})"
