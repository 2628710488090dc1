"""Rankings, tests and correlations against statsmodels, scipy and known truths."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_linear_model import GLM

from analysis.correlations import Moments, pearson
from analysis.estimate import ratio
from analysis.ranking import ELO, Table, davidson, rank, tables_of, tables_of_matrix
from analysis.rates import Cell, cells, seat_rates
from analysis.sums import Seating
from analysis.tests import chi_square, correct, pairwise_tests, seat_balance
from tests.games_by_chance import batch_of, rows_of, sums_of

NAMES = ("a", "b", "c", "d")
TRUE = np.array([0.9, 0.2, -0.3, -0.8])


def chance(i: int, j: int) -> float:
    """Bradley-Terry's win probability of the true strengths."""
    return 1 / (1 + np.exp(TRUE[j] - TRUE[i]))


def round_robin(deals: int, seed: int = 0, luck: float = 0.0):
    """All pairings of NAMES by their true strengths."""
    tables = []
    for i in range(4):
        for j in range(i + 1, 4):
            seating = Seating(f"{i}{j}", (NAMES[i], NAMES[j]))
            tables.append((seating, rows_of(seating, deals, chance(i, j), 0.0, seed=seed + 10 * i + j, luck=luck)))
    return cells(sums_of(*tables))


def test_strengths_are_statsmodels_logit():
    rng = np.random.default_rng(1)
    points = pd.DataFrame(np.full((4, 4), 50.0), NAMES, NAMES)
    design, share = [], []
    for i in range(4):
        for j in range(i + 1, 4):
            p = float(np.clip(chance(i, j) + rng.normal(0, 0.05), 0.05, 0.95))
            points.iloc[i, j], points.iloc[j, i] = 100 * p, 100 * (1 - p)
            design.append(np.eye(4)[i] - np.eye(4)[j])
            share.append(p)
    known = GLM(np.array(share), np.array(design)[:, :3], family=Binomial(), freq_weights=np.full(6, 1e9)).fit().params
    known = np.append(known, 0) - np.append(known, 0).mean()
    found = rank(tables_of_matrix(points, games=1e9))
    ours = dict(zip(found.agents, [e.value for e in found.strengths]))
    assert [ours[name] for name in NAMES] == pytest.approx(known, abs=1e-5)
    assert found.misfit["misfit"].abs().max() > 0.5


def test_strength_intervals_cover_the_truth():
    inside = 0
    for seed in range(60):
        found = rank(tables_of(round_robin(200, seed=1000 * seed)))
        by_name = dict(zip(found.agents, found.strengths))
        for name, true in zip(NAMES, TRUE):
            low, high = by_name[name].interval()
            inside += low <= true <= high
    assert 0.91 <= inside / 240 <= 0.985


def test_shared_luck_widens_the_intervals_as_a_bootstrap_over_deals_does():
    made = []
    rng = np.random.default_rng(3)
    frames = {}
    fate = rng.random(300)  # one number per deal decides part of every game: all matchups share it
    for i in range(4):
        for j in range(i + 1, 4):
            seating = Seating(f"{i}{j}", (NAMES[i], NAMES[j]))
            u = np.where(rng.random(300) < 0.6, fate, rng.random(300))
            frame = rows_of(seating, 300, 0.5, 0.0, seed=1)
            first = np.tile(u < chance(i, j), 2)
            frame["winner"] = pd.array(np.where(first, 0, 1) ^ frame["rotation"].to_numpy(), dtype="Int8")
            frames[seating.id] = (seating, frame)
    found = rank(tables_of(cells(sums_of(*frames.values()))))
    for _ in range(120):
        picks = rng.integers(0, 300, 300)
        tables = []
        for seating, frame in frames.values():
            by_deal = (frame["winner"].to_numpy(int) == frame["rotation"].to_numpy()).reshape(2, 300).mean(axis=0)
            p = by_deal[picks].mean()
            tables.append(Table(seating.agents, np.array([p, 1 - p]), 600))
        fit = rank(tables)
        made.append([fit.strengths[fit.agents.index(name)].value for name in NAMES])
    boot = np.std(made, axis=0)
    ours = [found.strengths[found.agents.index(name)].error for name in NAMES]
    assert ours == pytest.approx(boot, rel=0.25)


def test_an_agent_that_always_wins_stays_finite_and_first():
    found = rank([Table(("a", "b"), np.array([1.0, 0.0]), 100), Table(("b", "c"), np.array([0.5, 0.5]), 100)])
    assert found.agents[0] == "a"
    assert 2 < found.strengths[0].value - found.strengths[1].value < 8
    assert found.frame()["elo"].iloc[0] == pytest.approx(ELO * found.strengths[0].value)


def test_many_player_tables_give_the_choice_model():
    t = np.array([1.0, 0.0, -1.0, 0.0])
    p = np.exp(t) / np.exp(t).sum()
    found = rank([Table(("a", "b", "c", "b"), p, 1e9)])
    ours = dict(zip(found.agents, [e.value for e in found.strengths]))
    assert ours["a"] - ours["b"] == pytest.approx(1, abs=1e-5) and ours["b"] - ours["c"] == pytest.approx(1, abs=1e-5)


def test_davidson_recovers_strengths_and_draws():
    strength, nu = np.array([0.5, 0.0, -0.5]), 0.6
    wins, draws = np.zeros((3, 3)), np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            if i != j:
                a, b = np.exp(strength[i]), np.exp(strength[j])
                total = a + b + nu * np.sqrt(a * b)
                wins[i, j], draws[i, j] = 1000 * a / total, 1000 * nu * np.sqrt(a * b) / total
    found, level = davidson(wins, draws)
    assert found == pytest.approx(strength, abs=1e-4) and level == pytest.approx(nu, abs=1e-4)


def test_pairwise_tests_are_corrected_together():
    frame = pairwise_tests(round_robin(300))
    assert len(frame) == 6
    assert correct([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])  # Holm by hand
    assert correct([0.01, float("nan")])[0] == pytest.approx(0.01)
    assert (frame["p_corrected"] >= frame["p"]).all()
    assert frame.set_index(["agent", "opponent"]).loc[("a", "d"), "p_corrected"] < 1e-6


def test_pairwise_test_keeps_its_level_when_the_twins_are_equal():
    rng, games, none = np.random.default_rng(8), np.full(60, 2.0), ratio(np.zeros(60), np.full(60, 2.0))
    wins = [ratio(2.0 * (rng.random(60) < 0.5), games) for _ in range(1000)]
    found = pairwise_tests([Cell(str(i), "a", ("b",), 120, win, none, none, none) for i, win in enumerate(wins)])
    assert len(found) == 1000 and 0.03 <= (found["p"] < 0.05).mean() <= 0.075


def test_seat_balance_by_scipy_and_by_clusters():
    assert chi_square([286, 714], [250, 750]) == pytest.approx(tuple(stats.chisquare([286, 714], [250, 750])))
    seating = Seating("m", ("a", "b"))
    even = sums_of((seating, rows_of(seating, 2000, 0.5, 0.1, seed=1)))
    tilted = sums_of((seating, rows_of(seating, 2000, 0.5, 0.1, seed=1, luck=0.1)))
    assert seat_balance(seat_rates(even), 4000).clustered_p_value > 0.01
    found = seat_balance(seat_rates(tilted), 4000)
    assert found.clustered_p_value < 1e-4 and found.p_value < 1e-4
    assert sum(found.counts) < 4000


def test_correlations_against_scipy():
    rng = np.random.default_rng(9)
    n = 800
    frame = pd.DataFrame(dict(deal=np.arange(n), winner=pd.array([0] * n, dtype="Int8")))
    for seat in range(2):
        frame[f"x_{seat}"] = rng.normal(size=n)
        frame[f"y_{seat}"] = 0.5 * frame[f"x_{seat}"] + rng.normal(size=n)
    moments = Moments(["x", "y", "win"], players=2)
    for start in (0, 300):
        moments.add(batch_of(frame.iloc[start : 300 if start == 0 else n]))
    x, y = np.concatenate([frame["x_0"], frame["x_1"]]), np.concatenate([frame["y_0"], frame["y_1"]])
    known = pearson(x, y)
    ours = moments.correlation("x", "y")
    assert ours.r == pytest.approx(known.r) and ours.points == 1600
    assert ours.interval.half_width == pytest.approx(known.interval.half_width, rel=0.3)
    assert moments.frame("win")["pair"].tolist() == ["x - win", "y - win"]
