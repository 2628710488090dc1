"""The published numbers, by our names of the agents, with the number of games that stand behind them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

FOLDER = Path(__file__).parent / "published"

AGENT_OF_CODE = {
    128: "random",
    256: "greedy",
    1024: "base",
    2048: "random_smart",
    3072: "random_base",
    4096: "villain",
    5120: "hoarder",
    6144: "hoarder_ticket",
    7168: "pile",
    8192: "pile_ticket_hater",
}
HEURISTICS = tuple(AGENT_OF_CODE.values())
FIGURES = {
    "12.1": "warwick_fig12_1_winrates_all_games",
    "12.2": "warwick_fig12_2_winrates_draws_removed",
    "12.3": "warwick_fig12_3_average_scores",
}
GAMES = {  # games behind one printed number
    "warwick round robin": 200_000,  # each side starts 100,000
    "warwick final": 1_000,  # 500 from either side
    "leiden": 100,
    "gatech": 200,
}
DDA_MEASURES = {  # printed column -> our column of analysis.dda
    "win_pct": "win",
    "draw_pct": "draw",
    "win_pct_difference": "win_difference",
    "average_score_difference": "score_difference",
}

DdaKey = tuple[str, float, float, float]  # agent, POSAS threshold (0 unless POSAS), momentum, target


@cache
def load(name: str) -> pd.DataFrame:
    """One published table, by the name of its file."""
    return pd.read_csv(FOLDER / f"{name}.csv")


@cache
def load_text(name: str) -> pd.DataFrame:
    """One published table with every digit as printed."""
    return pd.read_csv(FOLDER / f"{name}.csv", dtype=str, keep_default_na=False)


def matrix(figure: str) -> pd.DataFrame:
    """Figure 12.1, 12.2 or 12.3: row agent against column agent."""
    table = load(FIGURES[figure])
    names = [AGENT_OF_CODE[code] for code in dict.fromkeys(table["row_agent"])]
    values = table.pivot(index="row_agent", columns="column_agent", values="value")
    values.index = pd.Index([AGENT_OF_CODE[code] for code in values.index])
    values.columns = pd.Index([AGENT_OF_CODE[code] for code in values.columns])
    return values.loc[names, names]


def draws() -> pd.DataFrame:
    """Percent of games drawn: what two opposite cells of figure 12.1 leave."""
    wins = matrix("12.1")
    return 100 - wins - wins.T


def row_means(values: pd.DataFrame) -> pd.Series:
    """Each agent's mean over all its opponents, itself among them; highest first, as figure 12.4 ranks."""
    return values.mean(axis=1).sort_values(ascending=False, kind="stable")


def dda_key(row: pd.Series) -> DdaKey:
    """The agent that a row of the final tables is about."""
    name = f"{row['algorithm'].lower()}_{row['dda_variant'].lower()}"
    threshold, momentum, target = (float(np.nan_to_num(row[c])) for c in ("posas_threshold", "momentum", "target_score"))
    return name, threshold, momentum, target


def dda_tables() -> dict[str, pd.DataFrame]:
    """Appendix C and its excerpts, and the swap agents: `agent` as printed, `key`, `opponent` by our name, the measures."""
    result = {}
    for title, name in (
        ("Appendix C", "warwick_appendix_c_dda_results"),
        ("Figure 12.8", "warwick_fig12_8_ismcts_posas5_m01"),
        ("Figure 12.9", "warwick_fig12_9_swap_agents"),
        ("Figure 12.10", "warwick_fig12_10_cmcts_rosas_target3"),
    ):
        table = load(name).copy()
        table["key"] = [dda_key(row) for _, row in table.iterrows()]
        table["opponent"] = [_opponent(row["opponent_code"], row["opponent"]) for _, row in table.iterrows()]
        result[title] = table
    return result


def _opponent(code: float, printed: str) -> str:
    if np.isfinite(code):
        return AGENT_OF_CODE[int(code)]
    if "->" in printed:
        return " -> ".join(AGENT_OF_CODE[int(part)] for part in printed.split("->"))
    return printed  # Average


def binomial_error(percent: float, games: float) -> float:
    """Sampling error, in percent, of a printed percentage."""
    share = np.clip(percent / 100, 0, 1)
    return float(100 * np.sqrt(share * (1 - share) / games))
