"""Rates, pairs, DDA measures and statistics against plain pandas and hand-worked games."""

import numpy as np
import pandas as pd
import pytest

from analysis.dda import dda_frame, win_difference
from analysis.estimate import ratio
from analysis.pairs import difference, differences_frame
from analysis.rates import averages, cells, first_move, matrix, rates_frame, seat_rates, statistics_frame
from analysis.sums import COARSE_BLOCKS, Seating, Sums, add_up
from tests.games_by_chance import batch_of, rows_of, sums_of

AB = Seating("m1", ("a", "b"))
AC = Seating("m2", ("a", "c"))
AA = Seating("m3", ("a", "a"))


def hand_games() -> pd.DataFrame:
    """Two deals, both rotations: a wins twice, draws once, loses once."""
    return pd.DataFrame(
        dict(
            matchup="m1",
            deal=[0, 0, 1, 1],
            rotation=[0, 1, 0, 1],
            forfeit=None,
            winner=pd.array([0, 1, None, 0], dtype="Int8"),
            score_0=[10.0, 5.0, 7.0, 9.0],
            score_1=[4.0, 8.0, 7.0, 3.0],
        )
    )


def test_rates_by_hand():
    a, b = cells(sums_of((AB, hand_games())))
    assert (a.agent, b.agent, a.games) == ("a", "b", 4)
    assert a.win.value == 0.5 and a.draw.value == 0.25 and a.loss.value == pytest.approx(0.25)
    assert b.win.value == 0.25 and b.loss.value == pytest.approx(0.5)
    assert a.decided.value == pytest.approx(2 / 3)
    assert a.points.value == pytest.approx(0.625)
    assert a.score.value == pytest.approx((10 + 8 + 7 + 3) / 4)
    assert a.difference.value == pytest.approx((6 + 3 + 0 - 6) / 4)
    # deal means of a's wins are 1 and 0: variance (0.25 + 0.25) / 1 / 2
    assert a.win.variance == pytest.approx(0.25)
    assert win_difference(a).value == pytest.approx(0.25) and win_difference(b).value == pytest.approx(-0.25)


def test_self_play_counts_both_copies():
    games = pd.DataFrame(
        dict(matchup="m3", deal=[0, 1, 2, 3], rotation=0, forfeit=None, score_0=[3.0, 1, 2, 5], score_1=[1.0, 3, 2, 9])
    )
    games["winner"] = pd.array([0, 0, None, 1], dtype="Int8")
    sums = sums_of((AA, games))
    (a,) = cells(sums)
    assert a.win.value == pytest.approx(0.375) and a.difference.value == 0 and a.score.value == pytest.approx(26 / 8)
    assert [seat.value for seat in seat_rates(sums)] == [0.5, 0.25]
    assert first_move(sums).value == 0.25


def test_sums_do_not_depend_on_batches_or_order():
    frame = rows_of(AB, 500, 0.5, 0.1, seed=1)
    whole = sums_of((AB, frame), statistics=("routes_0", "routes_1", "turns"))
    shuffled = frame.sample(frac=1, random_state=3)
    parts = add_up(
        (batch_of(shuffled.iloc[i : i + 77]) for i in range(0, len(frame), 77)), [AB], 500, ("routes_0", "routes_1", "turns")
    )
    for name in whole.fine:
        np.testing.assert_array_equal(whole.fine[name], parts.fine[name])
    for name in whole.coarse:
        np.testing.assert_allclose(whole.coarse[name], parts.coarse[name])
    np.testing.assert_array_equal(whole.differences, parts.differences)
    mean = frame["score_0"].mean()
    assert whole.fine["score_0"].sum() / len(frame) == pytest.approx(mean, rel=1e-6)


def test_shared_blocks_keep_value_and_nearly_the_width():
    frame = rows_of(AB, 5000, 0.4, 0.1, seed=2, luck=0.3)
    fine = cells(sums_of((AB, frame)))[0]
    small = Sums([AB], 5000, cells=1000)
    small.add(batch_of(frame))
    coarse = cells(small)[0]
    assert small.blocks == 500
    assert coarse.win.value == pytest.approx(fine.win.value)
    assert coarse.win.error == pytest.approx(fine.win.error, rel=0.1)
    assert coarse.win.deals == 5000


def test_average_over_opponents_clusters_across_matchups():
    first, second = rows_of(AB, 400, 0.6, 0.0, seed=3, luck=0.5), rows_of(AC, 400, 0.6, 0.0, seed=4, luck=0.5)
    given = cells(sums_of((AB, first), (AC, second)))
    mean = averages(given)["a"]["win"]
    per_deal = []
    for frame in (first, second):
        wins = frame["winner"].eq(frame["rotation"].map({0: 0, 1: 1})).astype(float)  # entry 0 sits at position -r mod 2
        per_deal.append(wins.groupby(frame["deal"]).mean())
    both = (per_deal[0] + per_deal[1]) / 2
    assert mean.value == pytest.approx(both.mean())
    assert mean.error == pytest.approx(both.std(ddof=1) / np.sqrt(400))
    assert averages(given, over_self=False)["b"]["win"].value == pytest.approx(1 - per_deal[0].mean())


def test_frames_and_matrix():
    frame = rates_frame(cells(sums_of((AB, hand_games()))))
    assert frame.loc[0, "win"] == 50 and frame.loc[0, "win_low"] >= 0 and frame.loc[0, "win_high"] <= 100
    table = matrix(cells(sums_of((AB, hand_games()))))
    assert table.loc["a", "b"] == 50 and table.loc["b", "a"] == 25 and np.isnan(table.loc["a", "a"])


def test_statistics_follow_the_agent_through_rotations():
    frame = rows_of(AB, 300, 0.5, 0.0, seed=5)
    sums = sums_of((AB, frame), statistics=("routes_0", "routes_1", "turns", "lead_changes"))
    table = statistics_frame(sums).set_index(["agent", "statistic"])
    a = np.where(frame["rotation"] == 0, frame["routes_0"], frame["routes_1"]).mean()
    assert table.loc[("a", "routes"), "mean"] == pytest.approx(a)
    assert table.loc[("", "turns"), "mean"] == pytest.approx(frame["turns"].mean())
    assert table.loc[("", "margin"), "mean"] == pytest.approx((frame["score_0"] - frame["score_1"]).abs().mean())


def test_pairing_pays_on_shared_deals():
    rng = np.random.default_rng(7)
    luck = rng.random(1000) < 0.5
    strong, weak = (luck | (rng.random(1000) < 0.2)).astype(float), (luck & (rng.random(1000) < 0.9)).astype(float)
    ones = np.ones(1000)
    d = difference(ratio(strong, ones), ratio(weak, ones))
    assert d.value == pytest.approx(strong.mean() - weak.mean())
    assert d.paired.half_width < 0.7 * d.unpaired.half_width
    assert d.gain > 2
    table = differences_frame([("0", ratio(weak, ones)), ("1", ratio(strong, ones))])
    assert table.loc[0, "difference"] == pytest.approx(d.value) and table.loc[0, "deals_saved"] == pytest.approx(d.gain)


def test_dda_rows_print_absolute_and_signed():
    first, second = rows_of(AB, 200, 0.2, 0.1, seed=8), rows_of(AC, 200, 0.8, 0.1, seed=9)
    given = [c for c in cells(sums_of((AB, first), (AC, second))) if c.agent == "a"]
    frame = dda_frame(given).set_index("opponent")
    for opponent in ("b", "c"):
        row = frame.loc[opponent]
        assert row["win_difference"] == pytest.approx(abs(2 * row["win"] + row["draw"] - 100))
    mean = frame.loc["Average"]
    assert mean["win_difference"] == pytest.approx((frame.loc["b", "win_difference"] + frame.loc["c", "win_difference"]) / 2)
    assert abs(mean["signed_win_difference"]) < mean["win_difference"]


def test_many_players():
    seating = Seating("t", ("x", "y", "y"))
    rng = np.random.default_rng(1)
    rows = []
    for deal in range(60):
        for rotation in range(3):
            scores = rng.integers(0, 40, 3).astype(float)
            best = np.flatnonzero(scores == scores.max())
            winner = int(best[0]) if len(best) == 1 else None
            rows.append(
                dict(matchup="t", deal=deal, rotation=rotation, winner=winner, **{f"score_{s}": scores[s] for s in range(3)})
            )
    frame = pd.DataFrame(rows).astype({"winner": "Int8"})
    sums = sums_of((seating, frame))
    x, y = cells(sums)
    position = (0 - frame["rotation"]) % 3
    assert x.win.value == pytest.approx((frame["winner"] == position).fillna(False).mean())
    assert x.win.value + 2 * y.win.value + x.draw.value == pytest.approx(1)
    assert x.opponent == "y + y" and y.opponent == "x + y"
    assert x.points.value + 2 * y.points.value == pytest.approx(1)
    top = np.sort(frame[["score_0", "score_1", "score_2"]].to_numpy(), axis=1)
    assert sums.coarse["margin"].sum() / len(frame) == pytest.approx((top[:, 2] - top[:, 1]).mean())
    assert sum(seat.value for seat in seat_rates(sums)) == pytest.approx(1 - x.draw.value)
    assert sums.coarse["games"].shape == (1, 3, COARSE_BLOCKS)
