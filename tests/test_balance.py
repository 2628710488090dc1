"""Measures of balance are those counted by hand; regret is small for a strong search and large for a random player."""

import numpy as np
import pytest

from analysis.balance import averages_frame, balance_frame, balances, differences, forecast_frame, judged, published_gaps
from analysis.balance import main as balance_main
from analysis.dda import AVERAGE
from analysis.regret import judge_run, regret_frame
from analysis.regret import main as regret_main
from analysis.regret_file import kept_regret
from analysis.summary import summarise
from experiments.command import experiment
from experiments.reading import open_run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small run: a search and a random player against two opponents."""
    results = tmp_path_factory.mktemp("results")
    words = ["agents=['cmcts:iterations=200',random]", "opponents=[greedy,base]", "deals=6", "seed=3", "cluster=serial"]
    assert experiment("run", [*words, "moves=true", "decisions=true", f"results_dir={results}", "display=none"]) == 0
    return next(path for path in results.iterdir() if path.is_dir())


def test_measures_by_hand(folder):
    run = open_run(folder)
    given = balances(summarise(folder))
    frame, means = balance_frame(given).set_index(["agent", "opponent"]), averages_frame(given).set_index("agent")
    assert len(frame) == 4 and len(means) == 2 and means["gap"].is_monotonic_increasing
    for matchup, entry, _ in judged(run):
        agent, opponent = matchup.seats[entry]["text"], matchup.seats[1 - entry]["text"]
        rows = run.rows(matchup.id).to_pylist()
        own = [
            row[f"unfloored_{(entry - row['rotation']) % 2}"] - row[f"unfloored_{(entry - row['rotation'] + 1) % 2}"]
            for row in rows
        ]
        wins = [row["winner"] == (entry - row["rotation"]) % 2 for row in rows]
        losses = [row["winner"] == (entry - row["rotation"] + 1) % 2 for row in rows]
        told = frame.loc[(agent, opponent)]
        assert told.games == len(rows) == 12
        assert told.gap == pytest.approx(100 * abs(np.mean(wins) - np.mean(losses)))
        assert told.draws == pytest.approx(100 * (1 - np.mean(wins) - np.mean(losses)))
        assert told.difference == pytest.approx(np.mean(own)) and told.distance == pytest.approx(np.mean(np.abs(own)))
        assert told.close == pytest.approx(100 * np.mean(np.abs(own) <= 3))
        assert differences(run, matchup, entry)["difference"].tolist() == own
    for agent in ("random", "cmcts:iterations=200"):
        both = frame.loc[agent]
        assert np.isnan(means.loc[agent, "published_gap"])  # two opponents are not the ten
        for name in ("gap", "noise", "difference", "distance", "close", "draws"):
            assert means.loc[agent, name] == pytest.approx(both[name].mean())


def test_noise_is_the_mean_gap_of_equals():
    """Over many samples of a fair game, the gap averages what `noise` says of each."""
    from analysis.balance import Balance
    from analysis.estimate import ratio

    random = np.random.default_rng(5)
    gaps, noises = [], []
    for _ in range(300):
        each = random.choice([-1, 1], (100, 2)).sum(axis=1)
        signed = ratio(each, np.full(100, 2))
        gaps.append(abs(signed.value))
        noises.append(Balance("", "", "", "", 200, *[signed] * 5).noise)
    assert np.mean(gaps) == pytest.approx(np.mean(noises), rel=0.12)


def test_regret_tells_strong_from_random(folder):
    run = open_run(folder)
    found = judge_run(run, 4, 300)
    frame = regret_frame(run, found).set_index(["agent", "opponent"])
    strong, weak = (frame.loc[(agent, AVERAGE)] for agent in ("cmcts:iterations=200", "random"))
    assert 0 <= strong.points_lost < 0.5 * weak.points_lost
    assert strong.points_lost_low <= strong.points_lost <= strong.points_lost_high
    assert strong.grave < weak.grave
    assert found.games.equals(judge_run(run, 4, 300).games)


def test_regret_is_the_same_with_any_number_of_workers(folder):
    run = open_run(folder)
    assert judge_run(run, 1, 50, workers=2).games.equals(judge_run(run, 1, 50, workers=1).games)


def test_forecasts_are_the_logged_means(folder):
    frame = forecast_frame(open_run(folder))
    assert set(frame["agent"]) == {"cmcts:iterations=200"} and set(frame["opponent"]) == {"greedy", "base"}
    assert frame["part 4"].abs().max() < 20


def test_published_gaps():
    gaps = published_gaps()
    assert gaps["cmcts_rosas", "random", 0.0, 0.0, 0.0] == 8.4
    assert gaps["cmcts_posas", "Average", 5.0, 0.0, 0.0] == 34.61
    assert gaps["cmcts_rosas", "random", 0.0, 0.0, 3.0] == 57.6
    assert gaps["ismcts_posas", "random -> base", 5.0, 0.1, 0.0] == 0.9
    assert gaps["ismcts_posas", "Average", 5.0, 0.1, 0.0] != 38.53333333  # the mean over swap agents is of signed differences


def test_commands(folder, tmp_path, capsys):
    assert balance_main([str(folder), "--csv", str(tmp_path / "b.csv")]) == 0
    assert "Average" in capsys.readouterr().out and (tmp_path / "b.csv").exists()
    assert balance_main([str(folder), "--average"]) == 0
    told = capsys.readouterr().out
    assert "random" in told and "greedy" not in told and max(len(line.rstrip()) for line in told.splitlines()) <= 80
    assert balance_main([str(tmp_path)]) == 2
    assert regret_main([str(folder), "--games", "0"]) == 2
    assert capsys.readouterr().err.count("\n") == 2
    words = ["--games", "1", "--iterations", "50", "--workers", "1", "--csv", str(tmp_path / "r.csv")]
    assert regret_main([str(folder), *words]) == 0
    told = capsys.readouterr()
    assert "50 iterations" in told.out and str(folder / "regret.csv") in told.out and (tmp_path / "r.csv").exists()
    assert kept_regret(open_run(folder)).iterations == 50
