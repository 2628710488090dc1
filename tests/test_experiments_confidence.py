"""The live intervals: they may be watched, and are wrong at some look in at most 5 % of runs."""

import numpy as np
import pytest
from scipy.special import comb

from experiments.confidence import Tally, deal_means, interval, log_evidence

RUNS, DEALS, LOOKS = 1500, 1000, 100


def simulated(kind: str, mean: float, rng: np.random.Generator) -> np.ndarray:
    """Per-deal means of two games: the twins of a deal agree always, never, or are independent; or are fractions with draws."""
    first, second = (1.0 * (rng.random((RUNS, DEALS)) < mean) for _ in range(2))
    if kind == "equal twins":
        return first
    if kind == "independent twins":
        return (first + second) / 2
    if kind == "opposite twins":
        return (first + second * (1 - first)) / 2
    return rng.choice([0, 0.25, 0.5, 1], (RUNS, DEALS), p=[0.4, 0.2, 0.2, 0.2])


@pytest.mark.parametrize("kind", ["equal twins", "independent twins", "opposite twins", "draws"])
@pytest.mark.parametrize("mean", [0.5, 0.9])
def test_wrong_at_some_look_in_at_most_five_percent(kind, mean):
    values = simulated(kind, mean, np.random.default_rng(20240))
    truth = {"equal twins": mean, "independent twins": mean, "opposite twins": (mean + mean * (1 - mean)) / 2, "draws": 0.35}[kind]
    sums = values.cumsum(axis=1)
    looks = np.unique(np.geomspace(5, DEALS, LOOKS).astype(int))
    excluded = np.zeros(RUNS, bool)
    for n in looks:
        # the interval excludes the truth exactly when the evidence against it has passed 1/alpha
        evidence = np.array([log_evidence(truth, total, n) for total in sums[:, n - 1]])
        excluded |= evidence > np.log(20)
    assert excluded.mean() <= 0.05
    if kind == "equal twins":
        assert excluded.mean() > 0.002  # it is no interval that is simply always wide


def test_a_fixed_interval_watched_as_often_is_wrong_far_more_often():
    """Why the live display needs another kind of interval."""
    values = simulated("equal twins", 0.5, np.random.default_rng(7))
    sums = values.cumsum(axis=1)
    looks = np.unique(np.geomspace(20, DEALS, LOOKS).astype(int))
    rates = sums[:, looks - 1] / looks
    wrong = (np.abs(rates - 0.5) > 1.96 * np.sqrt(rates * (1 - rates) / looks)).any(axis=1)
    assert wrong.mean() > 0.2


def test_the_interval_holds_the_means_with_little_evidence_against_them():
    for total, n in [(0, 1), (3, 10), (500.25, 1000), (1000, 1000), (0, 50)]:
        low, high = interval(total, n)
        assert 0 <= low <= total / n <= high <= 1
        for inside in np.linspace(low + 1e-9, high - 1e-9, 7):
            assert log_evidence(inside, total, n) <= np.log(20) + 1e-6
        for outside in (low - 1e-3, high + 1e-3):
            if 0 < outside < 1:
                assert log_evidence(outside, total, n) > np.log(20)


def test_evidence_is_the_mixture_over_all_rates():
    """For whole numbers the mixture of Bernoulli likelihoods is 1 / ((n + 1) C(n, s)), divided by the likelihood at m."""
    for n, s, m in [(1, 1, 0.3), (7, 2, 0.5), (20, 17, 0.9)]:
        expected = -np.log((n + 1) * comb(n, s)) - s * np.log(m) - (n - s) * np.log(1 - m)
        assert log_evidence(m, s, n) == pytest.approx(expected)


def test_a_fair_bet_never_gains():
    """For any law on [0, 1] with mean m the expected factor is at most 1, exactly 1 on {0, 1}."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        p, x = rng.uniform(0.02, 0.98), rng.random(6)
        weights = rng.dirichlet(np.ones(6))
        m = float(weights @ x)
        assert weights @ ((p / m) ** x * ((1 - p) / (1 - m)) ** (1 - x)) <= 1 + 1e-12


def test_the_tally_counts_the_finished_prefix_only():
    tally = Tally(step=4, first=2)
    deals = 2 + 4 * np.arange(10)
    tally.add(deals[4:6], np.array([1.0, 1.0]))
    assert (tally.deals, tally.total) == (0, 0.0)
    tally.add(deals[0:2], np.array([0.5, 0.0]))
    assert (tally.deals, tally.total) == (2, 0.5)
    tally.add(np.concatenate([deals[2:4], deals[7:9]]), np.array([1.0, 0.5, 1.0, 1.0]))
    assert (tally.deals, tally.total) == (6, 4.0)
    tally.add(deals[6:7], np.array([0.0]))
    assert (tally.deals, tally.total, tally.waiting) == (9, 6.0, [])


def test_results_of_an_entry_by_deal():
    deals = np.array([0, 0, 1, 1, 2, 2])
    rotations = np.array([0, 1, 0, 1, 0, 1])
    winners = np.array([0, 1, 1, -1, 1, 0])  # turn positions; entry 0 sits at position 0, then at position 1
    found, means = deal_means(deals, rotations, winners, 0, 2)
    assert found.tolist() == [0, 1, 2] and means.tolist() == [1.0, 0.25, 0.0]
    assert deal_means(deals, rotations, winners, 1, 2)[1].tolist() == [0.0, 0.75, 1.0]
