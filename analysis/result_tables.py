"""The tables of a run: which there are depends on what was played, not on what the run is called."""

from __future__ import annotations

import pandas as pd

from analysis.balance import averages_frame, balance_frame, balances
from analysis.closeness import CLOSE
from analysis.counterparts import Comparison
from analysis.dda import AVERAGE, dda_frame
from analysis.estimate import deals_needed
from analysis.ranking import Ranking, rank, tables_of
from analysis.rates import averages, first_move, matrix, rates_frame, seat_rates, statistics_frame
from analysis.regret_file import GRAVE, Regret, kept_regret
from analysis.summary import Summary
from analysis.sweep import curves, paired_steps
from analysis.sweep_claims import check_claims
from analysis.tables import Column, ResultTable, p_column
from analysis.tests import pairwise_tests, seat_balance
from experiments.refusal import Refusal

STATISTIC_NAMES = {
    "score": "score (points)",
    "unfloored": "score before the floor at 0",
    "route_points": "points for routes",
    "tickets_gained": "ticket points gained",
    "tickets_lost": "ticket points lost",
    "ticket_bonus": "bonus per ticket",
    "longest_bonus": "longest-route bonus",
    "most_tickets_bonus": "most-tickets bonus",
    "tickets_kept": "tickets kept",
    "tickets_completed": "tickets completed",
    "routes": "routes claimed",
    "cars_placed": "cars placed",
    "cars_left": "cars left",
    "cards_left": "cards left",
    "longest_route": "longest route (cars)",
    "longest_single": "longest single route (cars)",
    "turns": "turns",
    "turns_led": "turns in the lead",
    "rank": "rank",
    "seconds": "thinking time (s)",
}


def anchor(matchup: str) -> str:
    """Where a matchup's games are on the page."""
    return f"games-{matchup}"


def _game_links(frame: pd.DataFrame, key: str) -> dict[tuple[int, str], str]:
    return {(number, key): anchor(matchup) for number, matchup in enumerate(frame["matchup"]) if matchup}


def rates_table(summary: Summary) -> ResultTable:
    """Every agent at every table."""
    frame = rates_frame(summary.cells)
    columns = [Column("agent", "agent"), Column("opponent", "against"), Column("games", "games")]
    columns += [Column(name, f"{name} %", 1, True) for name in ("win", "draw", "loss")]
    columns += [Column("decided", "win % of decided", 1, True), Column("score", "score", 2, True)]
    columns.append(Column("difference", "score difference", 2, True, True))
    note = "95 % intervals, clustered by deal. Score difference: own score less the mean of the others'."
    return ResultTable("rates", "Results of every table", frame, columns, note, _game_links(frame, "win"))


def matrix_table(summary: Summary, measure: str = "win") -> ResultTable | None:
    """Row agent against column agent, if the run has such a square."""
    if not summary.two_players or summary.agent_cells:
        return None
    scale, decimals = (1.0, 2) if measure in ("score", "difference") else (100.0, 1)
    values = matrix(summary.cells, measure, scale)
    if len(values) < 3:
        return None
    titles = {
        "win": "Win rates over all games (%)",
        "decided": "Win rates with draws removed (%)",
        "score": "Average scores (points)",
    }
    frame = values.reset_index(names="agent")
    columns = [Column("agent", "row against column")] + [Column(name, name, decimals) for name in values.columns]
    places = {(c.agent, c.opponents[0]): c.matchup for c in summary.cells}
    links = {
        (number, name): anchor(places[(row, name)])
        for number, row in enumerate(values.index)
        for name in values.columns
        if (row, name) in places
    }
    return ResultTable(f"matrix_{measure}", titles.get(measure, measure), frame, columns, "", links)


def average_table(summary: Summary) -> ResultTable:
    """Each agent over all its tables."""
    rows = []
    for agent, means in averages(summary.cells).items():
        row: dict[str, object] = dict(agent=agent, tables=sum(c.agent == agent for c in summary.cells))
        for name in ("win", "draw", "decided"):
            low, high = means[name].rate_interval()
            row |= {name: 100 * means[name].value, f"{name}_low": 100 * low, f"{name}_high": 100 * high}
        for name in ("score", "difference"):
            low, high = means[name].interval()
            row |= {name: means[name].value, f"{name}_low": low, f"{name}_high": high}
        more = deals_needed(means["win"], 0.005)
        row["deals_for_half_a_point"] = more
        rows.append(row)
    frame = pd.DataFrame(rows).sort_values("win", ascending=False, ignore_index=True)
    columns = [
        Column("agent", "agent"),
        Column("tables", "tables"),
        Column("win", "win %", 2, True),
        Column("draw", "draw %", 2, True),
    ]
    columns += [Column("decided", "win % of decided", 2, True), Column("score", "score", 2, True)]
    columns += [
        Column("difference", "score difference", 2, True, True),
        Column("deals_for_half_a_point", "deals for ±0.5 % of wins"),
    ]
    note = "Every table counts the same, self-play included. All tables share the deals, so a deal is one cluster of them all."
    return ResultTable("averages", "Each agent over all its tables", frame, columns, note)


def ranking_of(summary: Summary) -> Ranking | None:
    """Strengths, where agents meet agents."""
    tables = tables_of(summary.cells)
    if summary.agent_cells or len({agent for table in tables for agent in table.agents}) < 3:
        return None
    return rank(tables)


def ranking_table(ranking: Ranking) -> ResultTable:
    """Strength with interval and the worst misfit."""
    columns = [Column("place", "place"), Column("agent", "agent"), Column("elo", "Elo points", 1, True, True, ends=("low", "high"))]
    columns.append(Column("worst_misfit", "worst misfit of a cell (% points)", 1, signed=True))
    note = "Bradley-Terry, draws as half a win, mean 0. Misfit: observed less expected share of points; one number cannot say more."
    return ResultTable("ranking", "Ranking", ranking.frame(), columns, note)


def tests_table(summary: Summary) -> ResultTable | None:
    """Which tables show a difference."""
    frame = pairwise_tests(summary.cells)
    if len(frame) < 2:
        return None
    columns = [
        Column("agent", "agent"),
        Column("opponent", "against"),
        Column("win_difference", "win % difference", 2, signed=True),
    ]
    columns += [p_column("p", "p"), p_column("p_corrected", "p corrected (Holm)")]
    note = f"Student's test on deals; corrected for {len(frame)} comparisons."
    return ResultTable("tests", "Is one side better?", frame, columns, note, _game_links(frame, "win_difference"))


def seats_table(summary: Summary) -> ResultTable:
    """What the turn position is worth over the whole run."""
    rows = []
    sizes = sorted({s.players for s in summary.seatings})
    for n in sizes:
        places = [i for i, s in enumerate(summary.seatings) if s.players == n]
        seats = seat_rates(summary.sums, places)
        games = int(summary.sums.fine["games"][places].sum(dtype=float))
        if not games:
            continue
        balance = seat_balance(seats, games)
        edge = first_move(summary.sums, places)
        low_edge, high_edge = edge.interval()
        for seat, estimate in enumerate(seats):
            low, high = estimate.rate_interval()
            row = dict(
                players=n,
                seat=seat + 1,
                wins=balance.counts[seat],
                win=100 * estimate.value,
                win_low=100 * low,
                win_high=100 * high,
            )
            row |= dict(chi_square=balance.chi_square, p=balance.p_value, p_clustered=balance.clustered_p_value)
            row |= dict(edge=100 * edge.value, edge_low=100 * low_edge, edge_high=100 * high_edge)
            rows.append(row)
    columns = [
        Column("players", "players"),
        Column("seat", "turn position"),
        Column("wins", "wins"),
        Column("win", "win %", 2, True),
    ]
    columns += [Column("chi_square", "chi-square", 2), p_column("p", "p"), p_column("p_clustered", "p clustered by deal")]
    columns.append(Column("edge", "first less last (% points)", 2, True, True))
    return ResultTable("seats", "What moving first is worth", pd.DataFrame(rows), columns)


def statistics_table(summary: Summary) -> ResultTable:
    """How the agents play: means of the recorded statistics over all their tables."""
    long = statistics_frame(summary.sums)
    own = long[long["agent"] != ""]
    wide = own.groupby(["agent", "statistic"], sort=False)["mean"].mean().unstack("statistic").reset_index()
    shown = [name for name in STATISTIC_NAMES if name in wide.columns and wide[name].abs().max() > 0]
    columns = [Column("agent", "agent")] + [Column(name, STATISTIC_NAMES[name], 3 if name == "seconds" else 2) for name in shown]
    return ResultTable("statistics", "How they play: means per game", wide, columns, "Every table counts the same.")


def games_table(summary: Summary) -> ResultTable:
    """Length, margin and lead changes of each table's games."""
    long = statistics_frame(summary.sums)
    whole = long[long["agent"] == ""]
    names = {"turns": "turns", "decisions": "decisions", "lead_changes": "lead changes", "margin": "margin of the winner (points)"}
    rows = []
    for matchup, group in whole.groupby("matchup", sort=False):
        row: dict[str, object] = dict(matchup=matchup, table=group["table"].iloc[0])
        for _, line in group.iterrows():
            row |= {
                line["statistic"]: line["mean"],
                f"{line['statistic']}_low": line["low"],
                f"{line['statistic']}_high": line["high"],
            }
        rows.append(row)
    frame = pd.DataFrame(rows)
    columns = [Column("table", "table")] + [Column(k, v, 2, True) for k, v in names.items() if k in frame.columns]
    return ResultTable("games", "Length, lead and margin of the games", frame, columns, "", _game_links(frame, "table"))


def correlations_table(summary: Summary) -> ResultTable:
    """What goes with a high score."""
    frame = summary.moments.frame("score")
    columns = [
        Column("pair", "pair"),
        Column("r", "r", 3, True, True, ends=("low", "high")),
        p_column("p", "p"),
        Column("points", "points"),
    ]
    told = f"{summary.moments.used} {'deals' if summary.info['deals'] <= summary.moments.groups else 'groups of deals'}"
    note = f"One point per player and game of the whole run; intervals by a jackknife over {told}."
    return ResultTable("correlations", "What goes with a high score", frame, columns, note)


def dda_table(summary: Summary) -> ResultTable | None:
    """How near to even each judged agent keeps the game."""
    if not summary.agent_cells or summary.points:
        return None
    frame = dda_frame(summary.agent_cells)
    columns = [
        Column("agent", "agent"),
        Column("opponent", "against"),
        Column("win", "win %", 1, True),
        Column("draw", "draw %", 1, True),
    ]
    columns += [Column("win_difference", "win % difference", 1, True), Column("score_difference", "score difference", 2, True)]
    columns += [
        Column("signed_win_difference", "signed", 1, signed=True),
        Column("signed_score_difference", "signed score", 2, signed=True),
    ]
    note = "Win % difference: own win % less the opponent's, absolute as the study prints it, and signed."
    return ResultTable("dda", "Difficulty adjustment, per opponent and averaged", frame, columns, note, _game_links(frame, "win"))


def dda_averages_table(summary: Summary) -> ResultTable | None:
    """The averages of the difficulty-adjustment table alone."""
    whole = dda_table(summary)
    if whole is None:
        return None
    frame = whole.frame[whole.frame["opponent"] == AVERAGE].reset_index(drop=True)
    return ResultTable("dda_averages", "Difficulty adjustment, mean over opponents", frame, whole.columns, whole.note)


def balance_tables(summary: Summary) -> list[ResultTable]:
    """The gap of each judged agent beside what a small gap alone would hide: means over opponents, and each opponent."""
    if summary.points:
        return []
    try:
        regret = kept_regret(summary.run)
        told = _regret_note(summary, regret)
    except Refusal as refusal:
        regret, told = None, f"{refusal}."
    given = balances(summary, regret)
    if not given:
        return []
    means, each = averages_frame(given), balance_frame(given)
    middle = [Column("gap", "gap, win % less loss %", 1, True), Column("noise", "noise of the gap", 1)]
    printed = [Column("published_gap", "printed gap", 1)] if each["published_gap"].notna().any() else []
    middle += printed
    middle += [Column("difference", "mean difference", 2, True, True), Column("distance", "mean absolute difference", 2, True)]
    middle += [Column("close", f"within {CLOSE} points %", 1, True), Column("draws", "draws %", 1, True)]
    if regret:
        middle += [Column("points_lost", "points lost per decision", 2, True)]
        middle += [Column("grave", f"decisions losing more than {GRAVE} %", 1, True)]
    first = [Column("map", "map")] if each["map"].nunique() > 1 else []
    first.append(Column("agent", "agent"))
    note = (
        "A small gap alone would also come from a coin between full strength and losing on purpose. Noise: the gap that chance "
        "alone gives equals whose games vary like these, at this number of games. Differences: own score less the best opponent's, "
        "before the floor at 0. "
    )
    note += "" if summary.two_players else "A loss is a game that anybody else wins. "
    note += "Printed: Warwick report, searches of 30,000 iterations. " if printed else ""
    over = "The gap's interval takes the sign against each opponent as known. "
    averaged = [*first, Column("opponents", "opponents"), *middle]
    single = [*first, Column("opponent", "against"), Column("games", "games"), *middle]
    single += [Column("decisions", "decisions judged")] if regret else []
    links = _game_links(each, "gap")
    return [
        ResultTable("balance_averages", "Balance, mean over opponents", means, averaged, note + over + told),
        ResultTable("balance", "Balance, per opponent", each, single, note + told, links),
    ]


def _regret_note(summary: Summary, regret: Regret | None) -> str:
    if regret:
        matchups = regret.games["matchup"].nunique()
        return (
            f"Points lost: judged by an independent full-strength search of {regret.iterations:,} iterations, over "
            f"{regret.decisions:,} decisions in {len(regret.games):,} games, the first of each of {matchups:,} matchups."
        )
    if "moves" in summary.run.manifest.datasets():
        return f"Points lost per decision are not judged yet: `python -m analysis.regret {summary.path}`."
    return ""


def sweep_table(summary: Summary) -> ResultTable | None:
    """The points of a sweep."""
    if not summary.points:
        return None
    frame = curves(summary.points)
    columns = [Column("agent", "agent"), Column("value", summary.points[0].field, 2), Column("opponents", "opponents")]
    columns += [Column("games", "games"), Column("win", "win %", 1, True), Column("draw", "draw %", 1, True)]
    columns += [Column("score", "score", 2, True), Column("difference", "score difference", 2, True, True)]
    return ResultTable(
        "sweep", "The sweep, mean over opponents", frame, columns, "95 % intervals, clustered by deal over all opponents."
    )


def paired_table(summary: Summary) -> ResultTable | None:
    """Each point of a sweep against the first of its line, on the same deals."""
    frame = paired_steps(summary.points)
    if frame.empty:
        return None
    columns = [Column("agent", "agent"), Column("point", summary.points[0].field), Column("against", "against")]
    columns += [Column("difference", "win % difference", 2, True, True, ends=("low", "high")), Column("half_width", "± paired", 2)]
    columns += [
        Column("unpaired_half_width", "± unpaired", 2),
        Column("deals_saved", "deals saved (times)", 2),
        p_column("p", "p"),
    ]
    note = "Same deals at both points. Deals saved: how many times as many deals an unpaired comparison needs for the same width."
    return ResultTable("paired", "Differences along the sweep, paired by deal", frame, columns, note)


def claims_table(summary: Summary) -> ResultTable | None:
    """The study's prose about its sweeps."""
    checked = check_claims(summary.points)
    if not checked:
        return None
    columns = [
        Column("id", "claim"),
        Column("where", "where"),
        Column("claim", "the study says"),
        Column("own_tables", "its own tables"),
    ]
    columns += [Column("measured", "measured"), Column("verdict", "verdict"), Column("cause", "likely cause")]
    note = "agrees or disagrees: the 95 % interval decides; open: it does not."
    return ResultTable("claims", "Claims about this sweep", pd.DataFrame([c._asdict() for c in checked]), columns, note)


def comparison_table(comparison: Comparison, number: int) -> ResultTable:
    """Published and measured, cell by cell."""
    decimals = 1 if comparison.unit == "win" else 2
    columns = [Column("agent", "agent"), Column("opponent", "against"), Column("published", "published", decimals + 1)]
    columns += [Column("measured", "measured", decimals, True, ends=("low", "high"))]
    columns += [Column("difference", "difference", decimals, signed=True), Column("within", "within")]
    links = _game_links(comparison.frame, "measured")
    name = f"published_{number}"
    return ResultTable(name, f"{comparison.title} ({comparison.source})", comparison.frame, columns, comparison.fitted, links)


def tables_of_run(summary: Summary) -> list[ResultTable]:
    """Every table that this run has something for, the most telling first."""
    balance = balance_tables(summary)
    found: list[ResultTable | None] = [
        *balance[:1],
        dda_averages_table(summary),
        sweep_table(summary),
        claims_table(summary),
        paired_table(summary),
    ]
    found += [matrix_table(summary, measure) for measure in ("win", "decided", "score")]
    if not summary.points and not summary.agent_cells:
        found.append(average_table(summary))
    ranking = ranking_of(summary)
    found += [ranking_table(ranking) if ranking else None, *balance[1:], dda_table(summary), rates_table(summary)]
    found += [
        tests_table(summary),
        seats_table(summary),
        games_table(summary),
        statistics_table(summary),
        correlations_table(summary),
    ]
    return [table for table in found if table is not None and len(table.frame)]
