"""Where the reports contradict themselves: each check recomputes a printed number from other printed numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from analysis import published

ROUNDING = 0.0051  # of two printed decimals


class Finding(NamedTuple):
    """One contradiction: the report, the number of the note that tells of it, what is printed, what follows from the rest."""

    report: str
    number: int
    what: str
    printed: str
    computed: str


def odd_tenths() -> list[Finding]:
    """500 games can only give percentages in steps of 0.2."""
    table = published.load("warwick_appendix_c_dda_results")
    values = table.loc[table["opponent"] != "Average", ["win_pct", "draw_pct"]].to_numpy()
    tenths = np.rint(values * 10).astype(int)
    odd = int((tenths % 2).sum())
    if not odd:
        return []
    return [Finding("warwick", 1, "Appendix C, 500 games", "500 games", f"{odd} of {values.size} values need 1000 games")]


def draws_removed() -> list[Finding]:
    """Figure 12.2 is 12.1 with draws removed, the opposite of the text."""
    wins, decided = published.matrix("12.1"), published.matrix("12.2")
    worst = float((100 * wins / (wins + wins.T) - decided).abs().to_numpy().max())
    if worst > 0.011:
        return []
    return [Finding("warwick", 2, "which figure leaves draws out", "12.1", f"12.2 (12.1 without draws is 12.2 within {worst:.3f})")]


def repeated_score_difference() -> list[Finding]:
    """The same score difference twice in one block, though win rates differ and the agents behave differently."""
    table = published.load("warwick_appendix_c_dda_results")
    found = []
    for agent, block in table[table["opponent"] != "Average"].groupby("agent", sort=False):
        for value, same in block.groupby("average_score_difference"):
            if len(same) > 1 and same["win_pct"].nunique() > 1:
                who = " and ".join(same["opponent"])
                found.append(Finding("warwick", 3, f"{agent}: score difference against {who}", f"{value} twice", "a copying slip"))
    return found


def mean_without_random() -> list[Finding]:
    """1.23 is the sum of nine rows divided by ten."""
    table = published.load("warwick_fig12_8_ismcts_posas5_m01")
    rest = table[(table["opponent_code"] != 128) & (table["opponent"] != "Average")]["average_score_difference"]
    if abs(rest.mean() - 1.23) < ROUNDING:
        return []
    return [Finding("warwick", 4, "Figure 12.8, score difference without the random agent", "1.23", f"{rest.mean():.3f}")]


def signed_averages() -> list[Finding]:
    """Figure 12.9 averages signed differences, every other table absolute ones."""
    table = published.load("warwick_fig12_9_swap_agents")
    rows = table[table["opponent"] != "Average"]
    found = []
    for column in ("win_pct_difference", "average_score_difference"):
        printed = float(table.loc[table["opponent"] == "Average", column].iloc[0])
        if abs(rows[column].mean() - printed) < ROUNDING and abs(rows[column].abs().mean() - printed) > ROUNDING:
            found.append(
                Finding("warwick", 5, f"Figure 12.9 {column}", f"{printed:.3f}", f"{rows[column].abs().mean():.3f} absolute")
            )
    return found


def signed_win_differences() -> pd.Series:
    """What the absolute differences of appendix C hide: each agent's mean signed win % difference."""
    table = published.load("warwick_appendix_c_dda_results")
    rows = table[table["opponent"] != "Average"]
    return (2 * rows["win_pct"] + rows["draw_pct"] - 100).groupby(rows["agent"], sort=False).mean()


def sweep_prose() -> list[Finding]:
    """Prose about the sweeps against the final table."""
    table = published.load("warwick_appendix_c_dda_results")
    mean = table[table["opponent"] == "Average"].set_index("agent")["win_pct"]
    found = []
    if mean["CMCTS POSAS (Ih=5)"] > mean["CMCTS ROSAS"]:
        told = f"{mean['CMCTS POSAS (Ih=5)']} at 5 against {mean['CMCTS ROSAS']} at 0"
        found.append(Finding("warwick", 6, "a higher threshold lowers the win rate of CMCTS", "lower", told))
    if abs(mean["CMCTS POSAS (Ih=5)"] - 50) < abs(mean["CMCTS ROSAS"] - 50):
        found.append(Finding("warwick", 6, "a threshold of 0 is nearest to even for CMCTS", "0", "5 is nearer"))
    if abs(mean["ISMCTS POSAS (Ih=5) (m=0.1)"] - 50) < abs(mean["ISMCTS POSAS (Ih=5)"] - 50):
        told = f"{mean['ISMCTS POSAS (Ih=5)']} to {mean['ISMCTS POSAS (Ih=5) (m=0.1)']}"
        found.append(Finding("warwick", 6, "momentum harms ISMCTS POSAS", "away from 50", told))
    if not any("CMCTS POSAS" in a and "ISMCTS" not in a and "m=" in a for a in mean.index):
        found.append(Finding("warwick", 7, "CMCTS with POSAS and momentum", "wins more often", "no table has it"))
    return found


def times() -> list[Finding]:
    """What information sets cost over cheating, per iteration and per game."""
    table = published.load("warwick_table12_5_mcts_times").set_index(["agent_code", "with_momentum"])
    pairs = [((16384, "no"), (131072, "no")), ((32768, "no"), (262144, "no")), ((32768, "yes"), (262144, "yes"))]
    pairs.append(((32770, "no"), (262146, "no")))
    each = [table.loc[b, "time_per_iteration_ns"] / table.loc[a, "time_per_iteration_ns"] - 1 for a, b in pairs]
    games = [table.loc[b, "average_game_time_s"] / table.loc[a, "average_game_time_s"] - 1 for a, b in pairs]
    found = []
    if round(100 * min(each)) != 11:
        found.append(Finding("warwick", 8, "least extra time of an ISMCTS iteration", "11%", f"{100 * min(each):.1f}%"))
    if int(np.argmax(games)) != 3:
        found.append(
            Finding(
                "warwick",
                8,
                "largest extra game time is with POSAS",
                "47%",
                f"plain {100 * games[0]:.1f}%, POSAS {100 * games[3]:.1f}%",
            )
        )
    copy = published.load("warwick_table12_4_copy_times").set_index("map").loc["YangEtAlMap", "copy_time_ns"]
    shares = 100 * copy / table["time_per_iteration_ns"]
    if shares.max() < 4.7:
        found.append(Finding("warwick", 8, "share of a state copy", "4.7 to 5.8%", f"{shares.min():.1f} to {shares.max():.1f}%"))
    return found


def leiden() -> list[Finding]:
    """More wins with fewer points, and win rates that do not add up to one."""
    found = []
    eleven = published.load("leiden_table11_without_hoardcards")
    for board, block in eleven.groupby("map", sort=False):
        by_player = block.set_index("player")
        if by_player.loc["MCTS", "win_rate"] > by_player.loc["RuleBased", "win_rate"] and (
            by_player.loc["MCTS", "points"] < by_player.loc["RuleBased", "points"]
        ):
            told = f"{by_player.loc['MCTS', 'win_rate']} with {by_player.loc['MCTS', 'points']} points"
            rival = f"RuleBased {by_player.loc['RuleBased', 'win_rate']} with {by_player.loc['RuleBased', 'points']}"
            found.append(Finding("leiden", 3, f"Table 11, {board}: MCTS", told, rival))
    for number, name in ((5, "leiden_table5_heuristics"), (6, "leiden_table6_two_heuristics")):
        total = published.load(name)["win_rate"].sum()
        if abs(total - 1) > ROUNDING:
            found.append(Finding("leiden", 4, f"Table {number}: sum of win rates", "1", f"{total:.2f}"))
    usa = published.load("leiden_table7_usa_base").set_index("player").loc["HoardCards", "points"]
    europe = published.load("leiden_table8_europe_germany").set_index(["map", "player"]).loc[("Europe", "HoardCards"), "points"]
    if abs(usa - europe - 10) > 1:
        found.append(Finding("leiden", 5, "HoardCards' loss of points in Europe", "almost 10", f"{usa - europe:.2f}"))
    human = published.load("leiden_table12_human")["points"] * 8
    if ((human - human.round()).abs() < 8 * ROUNDING).all():
        found.append(Finding("leiden", 2, "Table 12: number of games", "100", "8 (every mean is a multiple of an eighth)"))
    return found


def gatech() -> list[Finding]:
    """Intervals that do not lie around their mean, a sign, an order, and three experiments on the same games."""
    table = published.load("gatech_player_statistics")
    found = []
    for _, row in table.iterrows():
        lower, upper = row["mean"] - row["ci95_lower"], row["ci95_upper"] - row["mean"]
        if abs(lower - upper) > 0.035:
            mirrored = f"{row['mean'] + lower:.2f}"
            number = 2 if upper < 0 else 4
            where = f"{row['experiment']} {row['player']} {row['metric']}: upper limit"
            found.append(Finding("gatech", number, where, f"{row['ci95_upper']}", mirrored))
    players = published.load("gatech_experiments").set_index("experiment")["players"]
    for _, row in published.load("gatech_correlations").iterrows():
        reach = 1.96 / np.sqrt(200 * players[row["experiment"]] - 3)
        z = np.arctanh(row["correlation"])
        for column, end in (("ci95_lower", np.tanh(z - reach)), ("ci95_upper", np.tanh(z + reach))):
            if abs(row[column] - end) > 0.0175:
                found.append(Finding("gatech", 3, f"{row['experiment']} {row['pair']}: {column}", f"{row[column]}", f"{end:.2f}"))
    found += _reversed_gaps(table) + _same_games(table)
    return found


def _reversed_gaps(table: pd.DataFrame) -> list[Finding]:
    """The mean score by rank follows from the gaps and the mean of all: the last place must be what the worst player scores."""
    gaps = published.load("gatech_score_difference_per_rank")
    printed = gaps.loc[gaps["experiment"] == "B4", "average_score_difference"].to_numpy()
    scores = table[(table["experiment"] == "B4") & (table["metric"] == "Score")]["mean"].to_numpy()

    def last(three: np.ndarray) -> float:
        steps = np.concatenate([[0.0], np.cumsum(three)])  # below the first place
        return float(scores.mean() + steps.mean() - steps[-1])

    if abs(last(printed) - scores.min()) > 1 and abs(last(printed[::-1]) - scores.min()) < 0.05:
        return [
            Finding(
                "gatech",
                1,
                "B4 score gaps by rank",
                "first gap 73.06",
                f"last gap 73.06: the last place then scores {last(printed[::-1]):.2f}",
            )
        ]
    return []


def _same_games(table: pd.DataFrame) -> list[Finding]:
    play = ("Trains Played", "Turns Played", "Number of Routes Claimed", "Average Claimed Route Length", "Longest Route Length")
    means = {e: table[(table["experiment"] == e) & table["metric"].isin(play)]["mean"].to_numpy() for e in ("A1", "A3", "A4")}
    if all(len(m) and np.array_equal(means["A1"], m) for m in means.values()):
        return [Finding("gatech", 6, "A1, A3 and A4", "three experiments", "the same 200 games scored three ways")]
    return []


def orebro() -> list[Finding]:
    """Two tables of the same games, a hidden penalty, and changes relative to the later value."""
    found = []
    figures = published.load("orebro_fig5_1_to_5_8_results")
    summary = published.load("orebro_summary_5_1_1")
    for _, row in figures.iterrows():
        player = "DQN" if row["player"] == "DQNAgent" else "Random"
        same = summary[
            (summary["experience_games"] == row["experience_games"])
            & (summary["reward_type"] == row["reward_type"])
            & (summary["bonus"] == row["bonus"])
            & (summary["player"] == player)
        ]["avg_score"].iloc[0]
        if abs(same - row["avg_score"]) > 1e-6:
            found.append(
                Finding(
                    "orebro", 1, f"Figure {row['figure']} {player} average score", f"{row['avg_score']}", f"{same} in the summary"
                )
            )
    bonus = figures[figures["bonus"] == "Yes"]
    size = bonus["reward_type"].map({"Int": 20.0, "Float": 1.0})
    scaled = bonus["avg_score"] * bonus["reward_type"].map({"Int": 1.0, "Float": 0.01})
    lost = bonus["games_played"] - bonus["games_won"]
    with_penalty = size * (bonus["games_won"] - lost) / bonus["games_played"]
    without = size * bonus["games_won"] / bonus["games_played"]
    actual = bonus["avg_reward"] - scaled
    if (actual - with_penalty).abs().max() < 0.01 * size.max() and (actual - without).abs().max() > 0.01 * size.max():
        found.append(
            Finding("orebro", 2, "reward of a lost game", "none", "minus the bonus (reward less score fits wins less losses)")
        )
    ties = figures.groupby("figure")[["games_won"]].sum()["games_won"]
    if (ties < 250).any():
        names = ", ".join(str(f) for f in ties.index[ties < 250])
        found.append(Finding("orebro", 3, "ties are left out", "yes", f"percentages are of 250 games (one tie in figures {names})"))
    development = published.load_text("orebro_performance_development_6_1")
    rows = development[(development["reward_type"] == "Int") & (development["bonus"] == "No")]["avg_reward"].tolist()
    early, late, change = float(rows[0]), float(rows[1]), float(rows[2])
    if abs(100 * (late - early) / late - change) < 0.06:
        found.append(
            Finding("orebro", 4, "growth of the reward, integer without bonus", f"{change}%", f"{100 * (late / early - 1):.1f}%")
        )
    return found


def charles() -> list[Finding]:
    """Sums over positions, and chi-squares recomputed."""
    found = []
    total = published.load("charles_table5_5_heuristic_vs_maxn").set_index("ai")["wins"]
    by_position = published.load("charles_table5_6_wins_by_position").groupby("ai")["wins"].sum()
    for ai in total.index:
        if by_position[ai] != total[ai]:
            found.append(
                Finding("charles", 1, f"{ai} wins in experiment 4", f"{by_position[ai]} by position", f"{total[ai]} in all")
            )
    for _, row in published.load("charles_chi_square").iterrows():
        rest, expected = row["games"] - row["observed"], row["games"] - row["expected"]
        value = stats.chisquare([row["observed"], rest], [row["expected"], expected]).statistic
        decimals = len(str(row["chi_square_as_printed"]).partition(".")[2])
        if abs(value - row["chi_square_as_printed"]) > 0.6 * 10.0**-decimals and decimals > 1:
            what = f"experiment {row['experiment']}, {row['test']}: chi-square"
            found.append(Finding("charles", 3, what, f"{row['chi_square_as_printed']}", f"{value:.3f}"))
    return found


CHECKS: tuple[Callable[[], list[Finding]], ...] = (
    odd_tenths,
    draws_removed,
    repeated_score_difference,
    mean_without_random,
    signed_averages,
    sweep_prose,
    times,
    leiden,
    gatech,
    orebro,
    charles,
)


def findings() -> list[Finding]:
    """Every contradiction that the printed numbers show by themselves."""
    return [finding for check in CHECKS for finding in check()]
