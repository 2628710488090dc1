"""The ten heuristic players against each other, beside the matrices of the Warwick report."""

import numpy as np
from scipy.stats import spearmanr

from examples.published_round_robin import NAMES, published, round_robin
from ttr.board import load_board
from ttr.rules import resolve_rules
from ttr.tables import compile_game


def test_the_round_robin_is_like_the_published_one():
    """Ranking, win rates and scores; 1,000 games of each pairing in each seat order (docs/heuristics.md has the full figures)."""
    board = load_board("yang")
    wins, draws, scores = round_robin(compile_game(board, resolve_rules(board, "warwick", 2)), NAMES, 1000, seed=2)
    assert spearmanr(wins.mean(1), published("fig12_1").mean(1)).statistic >= 0.97
    assert np.abs(wins - published("fig12_1")).mean() <= 3
    assert np.abs(100 * wins / (100 - draws) - published("fig12_2")).mean() <= 3
    assert np.abs(scores - published("fig12_3")).mean() <= 0.9
    assert np.allclose(wins + wins.T + draws, 100)


def test_other_tickets_give_another_table():
    """The same with the map's other guess at the tickets: the order of the players is alike, the scores are not those published."""
    board = load_board("yang:shortest")
    wins, _, scores = round_robin(compile_game(board, resolve_rules(board, "warwick", 2)), NAMES, 300, seed=2)
    assert spearmanr(wins.mean(1), published("fig12_1").mean(1)).statistic >= 0.8
    assert np.abs(scores - published("fig12_3")).mean() > 0.9
