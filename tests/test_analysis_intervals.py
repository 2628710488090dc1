"""Intervals hold the truth as often as they say, and are no wider than they must be."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.regression.linear_model import OLS

from analysis.estimate import Estimate, average, deals_needed, deals_needed_for_rate, magnitude_interval, ratio

TWINS = ("independent", "equal", "opposite")


def twin_wins(rate: float, twins: str, deals: int, runs: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Both games of each deal, won at the given rate."""
    u = rng.random((runs, deals))
    a = u < rate
    if twins == "independent":
        return a, rng.random((runs, deals)) < rate
    return (a, a) if twins == "equal" else (a, u > 1 - rate)


def least_half_width(rate: float, twins: str, deals: int) -> float:
    """Half-width of the ideal interval, from the true variance of a deal's mean."""
    both = {"independent": rate**2, "equal": rate, "opposite": max(0.0, 2 * rate - 1)}[twins]
    variance = (rate + both) / 2 - rate**2
    return 1.96 * np.sqrt(variance / deals)


@pytest.mark.parametrize("twins", TWINS)
@pytest.mark.parametrize("rate", [0.1, 0.3, 0.45, 0.5, 0.7, 0.9])
def test_rate_intervals_cover_at_200_deals(rate, twins):
    rng = np.random.default_rng(round(1000 * rate) + TWINS.index(twins))
    a, b = twin_wins(rate, twins, 200, 6000, rng)
    counts = np.full(200, 2.0)
    inside, widths = 0, []
    for x, y in zip(a, b):
        low, high = ratio(x.astype(float) + y, counts).rate_interval()
        inside += low <= rate <= high
        widths.append((high - low) / 2)
    coverage = inside / len(a)
    if twins == "opposite" and rate == 0.5:  # every deal splits: nothing is left to chance
        assert coverage == 1 and np.mean(widths) < 0.008
        return
    assert 0.935 <= coverage <= 0.98
    assert np.mean(widths) < 1.06 * least_half_width(rate, twins, 200)


def test_the_interval_of_a_mean_over_tables_covers_and_is_not_wide():
    rng, inside, widths = np.random.default_rng(11), 0, []
    ones = np.ones(50)
    for _ in range(3000):
        luck = rng.random(50)  # shared by all tables of a deal
        tables = [ratio((0.5 * luck + 0.5 * rng.random(50) < 0.3).astype(float), ones) for _ in range(5)]
        low, high = average(tables).rate_interval()
        inside += low <= 0.18 <= high  # chance that the mean of two uniform numbers is below 0.3
        widths.append((average(tables).interval().half_width, (high - low) / 2))
    plain, ours = np.mean(widths, axis=0)
    assert 0.93 <= inside / 3000 <= 0.975 and ours < 1.1 * plain


def test_taking_games_as_independent_would_miss():
    rng = np.random.default_rng(5)
    a, _ = twin_wins(0.5, "equal", 200, 1000, rng)
    naive = np.abs(a.mean(axis=1) - 0.5) <= 1.96 * np.sqrt(0.25 / 400)
    assert naive.mean() < 0.87


def test_rate_interval_at_the_ends_stays_inside():
    for won in (0.0, 2.0):
        low, high = ratio(np.full(300, won), np.full(300, 2.0)).rate_interval()
        assert 0 <= low < high <= 1
        assert high - low < 0.02
    assert ratio(np.zeros(0), np.zeros(0)).rate_interval() == (0.0, 1.0)


def test_variance_is_statsmodels_cluster_robust():
    rng = np.random.default_rng(1)
    counts = rng.integers(1, 5, 80).astype(float)
    groups = np.repeat(np.arange(80), counts.astype(int))
    x = rng.normal(size=80)[groups] + rng.normal(size=len(groups))
    fit = OLS(x, np.ones(len(x))).fit(cov_type="cluster", cov_kwds={"groups": groups, "df_correction": True})
    ours = ratio(np.bincount(groups, x), counts)
    assert ours.value == pytest.approx(fit.params[0])
    # statsmodels also multiplies by (N - 1) / (N - K), which is one for a mean
    assert ours.error == pytest.approx(fit.bse[0])


def test_independent_games_give_students_interval():
    x = np.random.default_rng(2).normal(3, 2, 40)
    ours = ratio(x, np.ones(40)).interval()
    assert ours == pytest.approx(stats.t.interval(0.95, 39, x.mean(), stats.sem(x)))
    assert ratio(x, np.ones(40)).p_value(3.0) == pytest.approx(stats.ttest_1samp(x, 3.0).pvalue)


def test_paired_difference_is_the_paired_t_test():
    rng = np.random.default_rng(3)
    luck = rng.normal(size=60)
    a, b = luck + rng.normal(0.3, 0.2, 60), luck + rng.normal(0, 0.2, 60)
    ours = ratio(a, np.ones(60)) - ratio(b, np.ones(60))
    known = stats.ttest_rel(a, b)
    assert ours.p_value() == pytest.approx(known.pvalue)
    assert ours.interval() == pytest.approx(tuple(known.confidence_interval()))


def test_ratio_of_estimates_by_the_delta_method_against_bootstrap():
    rng = np.random.default_rng(4)
    win, draw = rng.random(2000) < 0.4, rng.random(2000) < 0.3
    win &= ~draw
    ones = np.ones(2000)
    decided = ratio(win.astype(float), ones) / (ratio(draw.astype(float), ones) * -1.0 + 1.0)
    picks = rng.integers(0, 2000, (1500, 2000))
    boot = win[picks].mean(axis=1) / (1 - draw[picks].mean(axis=1))
    assert decided.value == pytest.approx(win.sum() / (~draw).sum())
    assert decided.error == pytest.approx(boot.std(), rel=0.06)


def test_average_and_absolute_value_by_hand():
    a = ratio(np.array([1.0, 3.0]), np.ones(2))
    b = ratio(np.array([-5.0, -1.0]), np.ones(2))
    assert average([a, b]).value == pytest.approx(-0.5)
    assert average([a, abs(b)], [3, 1]).value == pytest.approx((3 * 2 + 3) / 4)
    assert abs(b).value == 3 and abs(b).error == b.error
    unsure = Estimate(0.1, np.array([0.5, -0.5]), 2, 2)
    assert magnitude_interval(unsure)[0] == 0


def test_deals_needed_reach_the_wanted_width():
    assert deals_needed_for_rate(0.5, 0.01, rotations=1) == 9604
    assert deals_needed_for_rate(0.5, 0.01, rotations=2, correlation=1.0) == 9604
    assert deals_needed_for_rate(0.5, 0.01, rotations=2) == 4802
    rng = np.random.default_rng(6)
    pilot = ratio(rng.random(400) < 0.3, np.ones(400))
    n = deals_needed(pilot, 0.02)
    assert ratio(rng.random(n) < 0.3, np.ones(n)).interval().half_width == pytest.approx(0.02, rel=0.08)
