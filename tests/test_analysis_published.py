"""The published numbers through our own code: ranking, averages, contradictions; and the verdicts of a comparison."""

import numpy as np
import pandas as pd
import pytest

from analysis import published
from analysis.counterparts import Comparison, comparisons, line
from analysis.dda import AVERAGE
from analysis.estimate import Interval
from analysis.inconsistencies import findings, signed_win_differences
from analysis.published import AGENT_OF_CODE, HEURISTICS
from analysis.ranking import rank, tables_of_matrix
from analysis.rates import Cell, cells, matrix
from analysis.sums import Seating
from analysis.sweep import Point, points
from analysis.sweep_claims import check_claims
from tests.games_by_chance import rows_of, sums_of

ORDER = [5120, 1024, 2048, 7168, 8192, 6144, 3072, 4096, 256, 128]


def test_published_matrix_gives_the_published_ranking_and_averages():
    means = published.row_means(published.matrix("12.1"))
    assert list(means.index) == [AGENT_OF_CODE[code] for code in ORDER]
    assert means["hoarder"] == pytest.approx(68.413) and means["pile"] == means["pile_ticket_hater"]
    ranking = rank(tables_of_matrix(published.matrix("12.1") + published.draws() / 2, games=200_000))
    assert ranking.agents == [AGENT_OF_CODE[code] for code in ORDER]
    worst = ranking.misfit.loc[ranking.misfit["misfit"].abs().idxmax()]
    assert {worst["agent"], worst["opponent"]} == {"greedy", "hoarder_ticket"}
    assert 12 < abs(worst["misfit"]) < 15
    for table in published.dda_tables().values():
        for _, block in table.groupby("agent", sort=False):
            rows, mean = block[block["opponent"] != AVERAGE], block[block["opponent"] == AVERAGE].iloc[0]
            for column in published.DDA_MEASURES:
                assert rows[column].mean() == pytest.approx(mean[column], abs=0.0051)


def test_every_checkable_contradiction_is_found():
    found = {(f.report, f.number) for f in findings()}
    assert {("warwick", n) for n in range(1, 9)} <= found
    assert {("leiden", n) for n in (2, 3, 4, 5)} <= found
    assert {("gatech", n) for n in (1, 2, 3, 4, 6)} <= found
    assert {("orebro", n) for n in (1, 2, 3, 4)} <= found
    assert {("charles", n) for n in (1, 3)} <= found
    told = {f.what: f.computed for f in findings()}
    assert told["Figure 12.8, score difference without the random agent"] == "1.364"
    assert told["A4 LongRoutePlayer Number of Turns in Lead: upper limit"] == "20.68"
    assert len(findings()) < 40  # and nothing that is sound is accused


def test_signed_differences_are_those_that_the_absolute_ones_hide():
    expected = [-48.99, -28.19, -55.32, -22.13, -31.31, -14.88, 17.38, 3.11]
    assert signed_win_differences().tolist() == pytest.approx(expected, abs=0.0051)


def test_numbers_are_carried_over_as_printed():
    table = published.load_text("gatech_win_rates")
    assert table.loc[table["experiment"] == "B2", "win_rate"].tolist() == ["0.6350", "0.3650"]
    assert len(published.load("warwick_appendix_c_dda_results")) == 88


def made_round_robin(shift: float = 0.0) -> tuple[list[Seating], list[Cell]]:
    """Games drawn from the published matrix itself, all ten heuristics, 300 deals."""
    wins, draws = published.matrix("12.1"), published.draws()
    tables = []
    for i, a in enumerate(HEURISTICS):
        for b in HEURISTICS[i:]:
            seating = Seating(f"{a}-{b}", (a, b), {"map": "yang"})
            win = min(0.98, wins.loc[a, b] / 100 + (shift if a != b else 0))
            frame = rows_of(seating, 300, win, draws.loc[a, b] / 100, seed=i)
            tables.append((seating, frame[["matchup", "deal", "rotation", "winner", "score_0", "score_1"]]))
    return [seating for seating, _ in tables], cells(sums_of(*tables))


def test_games_drawn_from_the_published_rates_pass_every_verdict():
    seatings, given = made_round_robin()
    found = {c.source: c for c in comparisons(seatings, given)}
    assert set(found) == {"Figure 12.1", "Figure 12.2", "Figure 12.3", "Figure 12.4"}
    for source in ("Figure 12.1", "Figure 12.4"):
        assert all(v.passed and not v.cause for v in found[source].verdicts()), found[source].verdicts()
    assert len(found["Figure 12.1"].frame) == 100
    assert 0.9 <= found["Figure 12.1"].frame["within"].mean() <= 1
    assert not any(v.passed for v in found["Figure 12.3"].verdicts())  # the made-up scores are not theirs
    assert all(v.cause for v in found["Figure 12.3"].verdicts())
    assert matrix(given).shape == (10, 10)


def test_shifted_rates_fail_error_and_interval_and_name_a_cause():
    seatings, given = made_round_robin(shift=0.15)
    verdicts = {v.name: v for v in comparisons(seatings, given)[0].verdicts()}
    assert not verdicts["error"].passed and not verdicts["interval"].passed
    assert "fitted" in verdicts["error"].cause


def test_within_is_both_errors_together():
    row = line("a", "b", "", printed=53.0, printed_error=1.0, measured=50.0, ends=Interval(48.0, 52.0))
    assert not row["within"] and row["difference"] == -3  # hypot(2, 1.96) is 2.8
    assert line("a", "b", "", 52.7, 1.0, 50.0, Interval(48.0, 52.0))["within"]
    flat = Comparison("t", "s", "win", pd.DataFrame([row, row]))
    assert np.isnan(flat.rank_correlation()) and not flat.verdicts()[0].passed


def search_identity(name: str, **fields: float) -> dict:
    """All fields of a search agent that a counterpart is found by."""
    return {"agent": name, "dda": name.partition("_")[2] or "none", "posas_threshold": 5, "momentum": 0, "target": 0} | fields


def test_final_tables_are_found_by_the_agents_fields():
    printed = published.dda_tables()["Appendix C"]
    block = printed[printed["agent"] == "CMCTS ROSAS (target=3)"]
    tables = []
    for _, row in block[block["opponent"] != AVERAGE].iterrows():
        identity = search_identity("cmcts_rosas", target=3.0)
        text = "cmcts_rosas:target=3"
        opponent = row["opponent"]
        seating = Seating(f"m-{opponent}", (text, opponent), {"map": "yang"}, (identity, {"agent": opponent}))
        tables.append((seating, rows_of(seating, 2000, row["win_pct"] / 100, row["draw_pct"] / 100, seed=len(tables))))
    found = {c.title: c for c in comparisons([s for s, _ in tables], cells(sums_of(*tables)))}
    assert len(found["Appendix C: win %"].frame) == len(found["Figure 12.10: win %"].frame) == 11
    assert all(v.passed for v in found["Figure 12.10: win %"].verdicts())
    assert all(v.passed for v in found["Figure 12.10: win % difference"].verdicts()[1:])
    assert "Figure 12.8: win %" not in found


def test_swap_opponents_are_compared_with_their_sign():
    first, second = {"agent": "random"}, {"agent": "base"}
    swap = {"agent": "swap", "first": first, "second": second, "round": 5}
    seating = Seating(
        "m", ("ismcts_posas:momentum=0.1", "swap:..."), {"map": "yang"}, (search_identity("ismcts_posas", momentum=0.1), swap)
    )
    found = comparisons([seating], cells(sums_of((seating, rows_of(seating, 300, 0.2, 0.05, seed=1)))))
    signed = next(c for c in found if c.title == "Figure 12.9: win % difference").frame.iloc[0]
    assert signed["published"] == -0.9 and -70 < signed["measured"] < -40
    assert signed["low"] < signed["measured"] < signed["high"]


def sweep_points(name: str, rates: dict[float, float], field: str = "posas_threshold") -> list[Point]:
    """A made-up sweep of one agent against one opponent."""
    tables = []
    for value, rate in rates.items():
        text = f"{name}:{field}={value:g},iterations=100"
        labels = {"agents": [text, "base"], "sweep": {f"agent.{field}": value}, "role": {"agent": 0}, "map": "yang"}
        seating = Seating(f"{name}{value}", (text, "base"), labels)
        tables.append((seating, rows_of(seating, 800, rate, 0.02, seed=int(10 * value))))
    sums = sums_of(*tables)
    return points(sums.seatings, cells(sums))


def test_sweep_claims_are_judged_by_what_was_measured():
    falling = sweep_points("cmcts_posas", {0: 0.5, 5: 0.35, 10: 0.2}) + sweep_points("ismcts_posas", {0: 0.45, 5: 0.4, 10: 0.3})
    told = {c.id: c for c in check_claims(falling)}
    assert set(told) == {"W7", "W8"}
    assert told["W7"].verdict == told["W8"].verdict == "agrees"
    rising = sweep_points("cmcts_posas", {0: 0.2, 5: 0.35, 10: 0.48})
    told = {c.id: c for c in check_claims(rising)}
    assert told["W7"].verdict == told["W8"].verdict == "disagrees" and told["W7"].cause
    momentum = sweep_points("ismcts_rosas", {0: 0.4, 0.5: 0.45, 1: 0.5}, "momentum")
    assert check_claims(momentum)[0].id == "W13" and check_claims(momentum)[0].verdict == "agrees"
    cp = sweep_points("cmcts", {1: 0.7, 3: 0.75, 7: 0.74}, "cp") + sweep_points("ismcts", {1: 0.5, 3: 0.51, 4: 0.56}, "cp")
    told = {c.id: c for c in check_claims(cp)}
    assert told["W2"].verdict == "agrees" and told["W5"].verdict == "agrees" and {"W3", "W4", "W10"} <= set(told)


def test_sweep_lines_are_named_without_what_is_swept_or_shared():
    given = sweep_points("cmcts_posas", {0: 0.5, 5: 0.35})
    assert {p.line for p in given} == {"cmcts_posas"} and [p.value for p in given] == [0, 5]
