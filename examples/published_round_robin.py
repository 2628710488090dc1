"""Ten heuristic players, every pairing in both seat orders, beside the tables of the Warwick report (its figures 12.1 to 12.3).

    python -m examples.published_round_robin --games 20000         # games of each seat order
    python -m examples.published_round_robin --map yang:shortest   # other tickets

A win rate counts draws among the games; a mean score averages scores not below zero, while the unfloored score decides who wins.
"""

import argparse
import csv
from importlib.resources import files
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from ttr.agents.registry import parse_agent
from ttr.batch import Table, deals_and_rotations
from ttr.board import load_board
from ttr.rules import resolve_rules
from ttr.tables import compile_game

PUBLISHED = Path(str(files("analysis"))) / "published"
CODES = {
    "random": 128,
    "greedy": 256,
    "base": 1024,
    "random_smart": 2048,
    "random_base": 3072,
    "villain": 4096,
    "hoarder": 5120,
    "hoarder_ticket": 6144,
    "pile": 7168,
    "pile_ticket_hater": 8192,
}
NAMES = list(CODES)


def published(figure: str) -> np.ndarray:
    """A published matrix, rows and columns in the order of NAMES."""
    path = next(PUBLISHED.glob(f"warwick_{figure}_*.csv"))
    with path.open() as file:
        values = {(int(r["row_agent"]), int(r["column_agent"])): float(r["value"]) for r in csv.DictReader(file)}
    return np.array([[values[CODES[a], CODES[b]] for b in NAMES] for a in NAMES])


def round_robin(game, agents: list[str], games: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Win rates and draw rates in percent and mean scores in points of the row's agent against the column's, both seat orders."""
    size = len(agents)
    wins, draws, scores = (np.zeros((size, size)) for _ in range(3))
    for i, j in combinations_with_replacement(range(size), 2):
        rows = Table(game, [parse_agent(agents[i]), parse_agent(agents[j])]).play(*deals_and_rotations(0, games, 2), seed)
        seat_of_row = rows["rotation"] % 2  # in rotation 1 the first entry sits second
        for agent, opponent, seat in ((i, j, seat_of_row), (j, i, 1 - seat_of_row)):
            wins[agent, opponent] = 100 * (rows["winner"] == seat).mean()
            draws[agent, opponent] = 100 * (rows["winner"] < 0).mean()
            scores[agent, opponent] = (rows["score"][np.arange(len(rows)), seat] / 2).mean()
        if i == j:  # both seats are the same agent's
            wins[i, i] = (100 - draws[i, i]) / 2
            scores[i, i] = (rows["score"][:, :2] / 2).mean()
    return wins, draws, scores


def report(wins: np.ndarray, draws: np.ndarray, scores: np.ndarray) -> None:
    """Agreement with the published matrices, and the cells that differ most."""
    all_games, no_draws, points = (published(f"fig12_{n}") for n in (1, 2, 3))
    print(f"rank correlation of the mean win rates  {spearmanr(wins.mean(1), all_games.mean(1)).statistic:.3f}")
    without = 100 * wins / (100 - draws)
    for title, ours, theirs in (
        ("win rate, points", wins, all_games),
        ("win rate without draws, points", without, no_draws),
        ("mean score, points", scores, points),
    ):
        error = np.abs(ours - theirs)
        print(f"mean absolute error, {title:32s} {error.mean():.2f}   (worst {error.max():.1f})")
    published_draws = 100 - all_games - all_games.T
    print(f"mean absolute error, draw rate, points               {np.abs(draws - published_draws).mean():.2f}")
    error = np.abs(wins - all_games)
    print(f"win rates within 2 points: {(error <= 2).sum()} of {error.size}; within 5: {(error <= 5).sum()}")
    for title, ours, theirs in (("win rate", wins, all_games), ("mean score", scores, points)):
        print(f"\nworst cells, {title}: row against column, ours, published")
        for cell in np.argsort(-np.abs(ours - theirs), axis=None)[:8]:
            a, b = divmod(int(cell), len(NAMES))
            print(f"  {NAMES[a]:18s} {NAMES[b]:18s} {ours[a, b]:6.2f} {theirs[a, b]:6.2f}")


def show(title: str, matrix: np.ndarray) -> None:
    """A matrix as a table in Markdown."""
    print(f"\n| {title} | " + " | ".join(NAMES) + " | mean |\n|---" + "|---:" * (len(NAMES) + 1) + "|")
    for name, row in zip(NAMES, matrix):
        print(f"| {name} | " + " | ".join(f"{value:.1f}" for value in row) + f" | {row.mean():.1f} |")


def main() -> None:
    """Play, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=10_000, help="games of each pairing in each seat order")
    parser.add_argument("--map", default="yang", help="yang or yang:shortest")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--matrices", action="store_true", help="print the matrices too")
    given = parser.parse_args()
    board = load_board(given.map)
    game = compile_game(board, resolve_rules(board, "warwick", 2))
    wins, draws, scores = round_robin(game, NAMES, given.games, given.seed)
    print(f"{given.map}, warwick rules, {given.games:,} games of each pairing in each seat order, seed {given.seed}\n")
    report(wins, draws, scores)
    if given.matrices:
        show("win rate, %", wins)
        show("mean score", scores)


if __name__ == "__main__":
    main()
