"""Measured beside published: both numbers, the difference, and three separate verdicts with the likely cause of a miss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from analysis import published
from analysis.dda import AVERAGE, average_row, dda_row
from analysis.estimate import Estimate, Interval, average
from analysis.rates import Cell
from analysis.sums import Seating

ORDERING, WITHIN = 0.9, 0.9  # a verdict passes from here on
ERROR = {"win": 3.0, "score": 1.0}  # points of win rate, points of score
FITTED = (
    "The study does not print the small map's tickets nor several choices of its heuristics. Both were fitted to figures 12.1 and "
    "12.3, so agreement there is partly by construction; appendix C and the sweeps were not used."
)
CAUSES = {
    "heuristics": "the heuristics' unstated choices and the small map's tickets are fitted readings, not the study's own",
    "search": "the study does not state its Cp in the final tests",
    "sample": "our interval is narrower than such differences in rules; the order of the agents is kept",
    "swap": "the study does not state when its swap agents change strategy",
}


@dataclass(frozen=True)
class Verdict:
    """One of the three judgements of a table."""

    name: str
    passed: bool
    text: str
    cause: str = ""


@dataclass(frozen=True)
class Comparison:
    """A published table and ours: one row per number that exists on both sides."""

    title: str
    source: str
    unit: str  # "win": percent; "score": points
    frame: pd.DataFrame  # agent, opponent, matchup, published, published_error, measured, low, high, difference, within
    causes: tuple[str, ...] = ()  # keys of CAUSES, or sentences of their own
    fitted: str = ""

    def verdicts(self) -> list[Verdict]:
        """Ordering, error and interval, each on its own."""
        f = self.frame
        n, unit = len(f), "points of win rate" if self.unit == "win" else "points of score"
        why = "; ".join(CAUSES.get(cause, cause) for cause in self.causes)
        rho = self.rank_correlation()
        error = float(f["difference"].abs().mean())
        inside = int(f["within"].sum())
        worst = f.loc[f["difference"].abs().idxmax()]
        ordered = bool(np.isfinite(rho) and rho >= ORDERING)
        return [
            Verdict(
                "ordering", ordered, f"rank correlation {rho:.3f} over {n} values (passes from {ORDERING})", "" if ordered else why
            ),
            Verdict(
                "error",
                error <= ERROR[self.unit],
                f"mean absolute error {error:.2f} {unit} (passes up to {ERROR[self.unit]:g}); worst {worst['difference']:+.2f}, "
                f"{worst['agent']} against {worst['opponent']}",
                "" if error <= ERROR[self.unit] else why,
            ),
            Verdict(
                "interval",
                inside >= WITHIN * n,
                f"{inside} of {n} published values within our 95 % interval widened by their sampling error "
                f"(passes from {WITHIN:.0%})",
                "" if inside >= WITHIN * n else why,
            ),
        ]

    def rank_correlation(self) -> float:
        """Spearman's, published against measured; not defined for fewer than three values or constant ones."""
        f = self.frame
        if len(f) < 3 or f["published"].nunique() < 2 or f["measured"].nunique() < 2:
            return float("nan")
        return float(stats.spearmanr(f["published"], f["measured"]).statistic)


def line(
    agent: str, opponent: str, matchup: str, printed: float, printed_error: float, measured: float, ends: Interval
) -> dict[str, Any]:
    """One row of a comparison. Within: both errors together, in quadrature, cover the difference at 95 %."""
    reach_low = np.hypot(measured - ends.low, 1.96 * printed_error)
    reach_high = np.hypot(ends.high - measured, 1.96 * printed_error)
    within = measured - reach_low - 1e-9 <= printed <= measured + reach_high + 1e-9
    return dict(
        agent=agent,
        opponent=opponent,
        matchup=matchup,
        published=printed,
        published_error=printed_error,
        measured=measured,
        low=ends.low,
        high=ends.high,
        difference=measured - printed,
        within=bool(within),
    )


def scaled_error(estimate: Estimate, games: int, published_games: int) -> float:
    """The publication's sampling error of a mean, from the spread we measured."""
    return estimate.error * float(np.sqrt(games / published_games)) if games else float("nan")


def round_robin(seatings: Sequence[Seating], cells: Sequence[Cell]) -> list[Comparison]:
    """Figures 12.1, 12.2, 12.3 and the ranking of 12.4, where at least three of the ten heuristics met on the study's map."""
    chosen = {s.id: s for s in seatings if on_small_map(s)}
    ours = {
        (configured_name(seating, c.agent), configured_name(seating, c.opponents[0])): c
        for c in cells
        if (seating := chosen.get(c.matchup)) is not None and len(c.opponents) == 1
    }
    ours = {pair: c for pair, c in ours.items() if pair[0] in published.HEURISTICS and pair[1] in published.HEURISTICS}
    if len({pair[0] for pair in ours}) < 3:
        return []
    games = published.GAMES["warwick round robin"]
    wins, decided, scores = (published.matrix(figure) for figure in ("12.1", "12.2", "12.3"))
    rows: dict[str, list[dict[str, Any]]] = {"12.1": [], "12.2": [], "12.3": []}
    for (a, b), c in ours.items():
        for figure, printed, estimate in (("12.1", wins.loc[a, b], c.win), ("12.2", decided.loc[a, b], c.decided)):
            low, high = estimate.rate_interval()
            error = published.binomial_error(printed, games)
            rows[figure].append(line(a, b, c.matchup, printed, error, 100 * estimate.value, Interval(100 * low, 100 * high)))
        error = scaled_error(c.score, c.games, games)
        rows["12.3"].append(line(a, b, c.matchup, scores.loc[a, b], error, c.score.value, c.score.interval()))
    titles = {
        "12.1": ("Win rates over all games", "win"),
        "12.2": ("Win rates with draws removed", "win"),
        "12.3": ("Average scores", "score"),
    }
    result = []
    for figure, (title, unit) in titles.items():
        comparison = Comparison(title, f"Figure {figure}", unit, pd.DataFrame(rows[figure]), ("heuristics", "sample"), FITTED)
        result.append(comparison)
    if len(ours) == len(published.HEURISTICS) ** 2:
        result.append(_mean_rates(ours, wins, games))
    return result


def _mean_rates(ours: dict[tuple[str, str], Cell], wins: pd.DataFrame, games: int) -> Comparison:
    """The ranking: mean win rate over all ten opponents."""
    rows = []
    for agent, printed in published.row_means(wins).items():
        name = str(agent)
        cells = [ours[(name, other)] for other in published.HEURISTICS]
        mean = average([cell.win for cell in cells])
        low, high = mean.rate_interval()
        error = published.binomial_error(printed, games * len(cells))
        rows.append(line(name, "all ten", "", float(printed), error, 100 * mean.value, Interval(100 * low, 100 * high)))
    return Comparison("Ranking by mean win rate", "Figure 12.4", "win", pd.DataFrame(rows), ("heuristics", "sample"), FITTED)


def on_small_map(seating: Seating) -> bool:
    """Whether the table is the study's: two players on its small map."""
    return seating.players == 2 and seating.labels.get("map") in (None, "yang")


def configured_name(seating: Seating, text: str) -> str:
    """The agent's configured name, whatever else its text says; swaps by both halves."""
    if seating.identities:
        identity = seating.identities[seating.agents.index(text)]
        if "first" in identity and "second" in identity:
            return f"{identity['first'].get('agent')} -> {identity['second'].get('agent')}"
        return str(identity.get("agent", text))
    return text.partition(":")[0]


def dda_key_of(seating: Seating, text: str) -> published.DdaKey | None:
    """The published agent that this one would be, if it is a difficulty-adjusting search."""
    if not seating.identities:
        return None
    identity = seating.identities[seating.agents.index(text)]
    algorithm = str(identity.get("agent", "")).partition("_")[0]
    variant = identity.get("dda", "none")
    if algorithm not in ("cmcts", "ismcts") or variant in ("none", None):
        return None
    threshold = float(identity.get("posas_threshold", 0)) if "posas" in variant else 0.0
    return f"{algorithm}_{variant}", threshold, float(identity.get("momentum", 0)), float(identity.get("target", 0))


def final_tables(seatings: Sequence[Seating], cells: Sequence[Cell]) -> list[Comparison]:
    """Appendix C and figures 12.8 to 12.10, each of the four printed measures a comparison of its own."""
    chosen = {s.id: s for s in seatings if on_small_map(s)}
    groups: dict[tuple[published.DdaKey, str], Cell] = {}
    for c in cells:
        seating = chosen.get(c.matchup)
        key = dda_key_of(seating, c.agent) if seating else None
        if seating and key and len(c.opponents) == 1:
            groups[(key, configured_name(seating, c.opponents[0]))] = c
    result = []
    budgets = {chosen[c.matchup].identities[chosen[c.matchup].agents.index(c.agent)].get("iterations") for c in groups.values()}
    ours = ", ".join(f"{budget:,}" for budget in sorted(b for b in budgets if b))
    scale = (f"our searches had {ours} iterations a move, the study's 30,000",) if ours and ours != "30,000" else ()
    for title, table in published.dda_tables().items():
        signed = title == "Figure 12.9"
        result += _final_table(title, table, groups, signed, scale)
    return result


MEASURE_TITLES = {
    "win_pct": ("win %", "win"),
    "draw_pct": ("draw %", "win"),
    "win_pct_difference": ("win % difference", "win"),
    "average_score_difference": ("average score difference", "score"),
}


def _final_table(
    title: str, table: pd.DataFrame, groups: dict[tuple[published.DdaKey, str], Cell], signed: bool, scale: tuple[str, ...]
) -> list[Comparison]:
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in published.DDA_MEASURES}
    for agent, block in table.groupby("agent", sort=False):
        own = [groups[pair] for pair in zip(block["key"], block["opponent"]) if pair in groups]
        for _, printed in block.iterrows():
            if printed["opponent"] == AVERAGE:
                if len(own) != len(block) - 1 or signed:
                    continue
                measured, cell = average_row(own), None
            elif (printed["key"], printed["opponent"]) in groups:
                cell = groups[(printed["key"], printed["opponent"])]
                measured = dda_row(cell)
            else:
                continue
            for column, name in published.DDA_MEASURES.items():
                rows[column].append(_final_line(str(agent), printed, column, name, measured, cell, signed))
    causes = (*scale, "swap") if signed else (*scale, "search", "heuristics")
    result = []
    for column, (what, unit) in MEASURE_TITLES.items():
        if rows[column]:
            frame = pd.DataFrame(rows[column])
            result.append(Comparison(f"{title}: {what}", title, unit, frame, causes))
    return result


def _final_line(
    agent: str, printed: pd.Series, column: str, name: str, measured: dict[str, Any], cell: Cell | None, signed: bool
) -> dict[str, Any]:
    games = published.GAMES["warwick final"]
    value, low, high = (float(measured[key]) for key in (name, f"{name}_low", f"{name}_high"))
    if signed and name in ("win_difference", "score_difference"):
        sign = np.sign(float(measured[f"signed_{name}"])) or 1.0
        value, low, high = sign * value, *sorted((sign * low, sign * high))
    rows = 10 if cell is None else 1
    if name == "score_difference":
        spread = (high - low) / 2 / 1.96
        error = spread * float(np.sqrt(float(measured["games"]) / (games * rows)))
    elif name == "win_difference":
        win, draw = float(printed["win_pct"]) / 100, float(printed["draw_pct"]) / 100
        variance = 4 * win * (1 - win) + draw * (1 - draw) - 4 * win * draw  # of 2 win + draw in one game
        error = float(100 * np.sqrt(max(variance, 0.0) / (games * rows)))
    else:
        error = published.binomial_error(float(printed[column]), games * rows)
    matchup = "" if cell is None else cell.matchup
    return line(agent, printed["opponent"], matchup, float(printed[column]), error, value, Interval(low, high))


def comparisons(seatings: Sequence[Seating], cells: Sequence[Cell]) -> list[Comparison]:
    """Everything published that these games have a counterpart of."""
    return round_robin(seatings, cells) + final_tables(seatings, cells)
