"""Balance in reports: known answers from a run written by hand, regret kept beside a run, and what happens to a damaged file."""

# ruff: noqa: F401, F811  (fixtures are imported)

import re
import shutil

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from analysis import report
from analysis.balance import averages_frame, balance_frame, balances
from analysis.estimate import magnitude_interval
from analysis.gallery import balance_pictures
from analysis.regret import Watch
from analysis.regret_file import FILE, GAME, MEASURED, Regret, keep_regret, kept_regret
from analysis.result_tables import tables_of_run
from analysis.summary import summarise
from experiments import list as list_command
from experiments import status, verify
from experiments.game import load_game, row_schema
from experiments.manifest import append_line
from experiments.reading import open_run
from experiments.refusal import Refusal
from experiments.run_file import write_run
from experiments.shard import write_shard
from tests.stored_runs import crowd, final, results, robin, swept


def written(folder, tables, setup="yang"):
    """A run written by hand: [(agents, entry of the judged one or None, {(deal, rotation): unfloored scores by turn position})]."""
    schema = row_schema(load_game("ttr.adapter"), "games")
    matchups, agents, rows = [], {}, []
    for number, (names, entry, games) in enumerate(tables):
        role = None if entry is None else {"agent": entry, "opponent": 1 - min(entry, 1), "opponents": []}
        labels = dict(agents=list(names), map=setup, rules="warwick", players=len(names), sweep={}, role=role)
        matchups.append(dict(id=f"{number:016x}", setup="s", seats=list(names), rotations=len(names), labels=labels))
        for name in names:
            agent, _, dda = name.partition("_")
            agents[name] = dict(text=name, identity=dict(agent=agent) | (dict(dda=dda) if agent == "cmcts" else {}))
        for (deal, rotation), scores in games.items():
            best = max(scores)
            winner = scores.index(best) if scores.count(best) == 1 else None
            row = dict(matchup=f"{number:016x}", deal=deal, rotation=rotation, winner=winner)
            row |= {f"unfloored_{s}": score for s, score in enumerate(scores)}
            rows.append(row | {f"score_{s}": max(0.0, score) for s, score in enumerate(scores)})
    info = dict(schema=1, identity="7" * 64, kind="run", study=None, game="ttr.adapter", seed=1, deals=4, slice=None, created="")
    write_run(folder, info | dict(sweep={"grid": {}}, config={}, setups={"s": {}}, agents=agents, matchups=matchups))
    played = pa.Table.from_pylist(rows, schema=schema)
    facts = write_shard(folder / "games" / "0.parquet", [played], schema, lambda: None)
    deals = {name: [[0, 4, 1]] for name in played.column("matchup").unique().to_pylist()}
    append_line(folder, dict(shard="games/0.parquet", dataset="games", deals=deals, engine="none", reason="new", time="", **facts))
    return folder


def games_of(leads, own=0.0):
    """Games of entry 1 in a table of two with these leads: a list for each deal, by rotation; in rotation 1 it moves first."""
    found = {}
    for deal, pair in enumerate(leads):
        for rotation, lead in enumerate(pair):
            scores = [own - lead, own]
            found[deal, rotation] = scores if rotation == 0 else scores[::-1]
    return found


LEADS = [(2.0, 1.0), (-2.0, -10.0), (0.0, 4.0), (-3.0, 7.0)]  # 4 won, 3 lost, 1 drawn


@pytest.fixture
def by_hand(tmp_path):
    """An agent against two opponents, with scores below zero; a third matchup has no games yet."""
    mixed, lost = games_of(LEADS, own=-5.0), games_of([(-1.0, -2.0)] * 4)
    tables = [(("random", "cmcts_rosas"), 1, mixed), (("base", "cmcts_rosas"), 1, lost), (("greedy", "cmcts_rosas"), 1, {})]
    return written(tmp_path / "run", tables)


def test_known_answers(by_hand):
    given = balances(summarise(by_hand))
    frame = balance_frame(given).set_index("opponent")
    mixed = frame.loc["random"]
    assert list(frame.index) == ["random", "base"] and mixed.games == 8  # the matchup without games is left out
    assert (mixed.gap, mixed.draws, mixed.close) == (12.5, 12.5, 62.5)
    assert (mixed.difference, mixed.distance) == (-0.125, 3.625)
    influence = np.array([2, -2, 1, 0]) / 8 - 0.125 * 2 / 8  # what each deal adds to the signed gap
    error = np.sqrt(influence @ influence * 4 / 3)
    assert mixed.noise == pytest.approx(100 * error * np.sqrt(2 / np.pi)) and error == pytest.approx(0.42696, abs=1e-5)
    assert (mixed.gap_low, mixed.gap_high) == pytest.approx(100 * np.clip(magnitude_interval(given[0].signed_gap), 0, 1))
    assert mixed.close_low < 62.5 < mixed.close_high <= 100
    assert mixed.published_gap == 8.4 and frame.loc["base"].gap == 100 and frame.loc["base"].noise == 0
    mean = averages_frame(given).iloc[0]
    assert (mean.opponents, mean.games, mean.gap, mean.close, mean.distance) == (2, 16, 56.25, 81.25, 2.5625)
    assert np.isnan(mean.published_gap)  # the printed mean is over ten opponents


def test_many_players_are_measured_against_the_best_opponent(tmp_path):
    """Three at a table; the judged agent is entry 1: in rotation r it sits at turn position (1 - r) mod 3."""
    games = {(0, 0): [3.0, 5.0, 9.0], (0, 1): [5.0, 1.0, 0.0], (0, 2): [7.0, 0.0, 7.0]}
    games |= {(1, 0): [2.0, 4.0, 1.0], (1, 1): [4.0, 4.0, 9.0], (1, 2): [0.0, 1.0, 20.0]}
    run = written(tmp_path / "run", [(("base", "cmcts_rosas", "base"), 1, games)], setup="usa")
    row = balance_frame(balances(summarise(run))).iloc[0]
    assert row.opponent == "base + base" and row.difference == pytest.approx(np.mean([-4, 4, 0, 2, -5, 19]))
    assert row.distance == pytest.approx(34 / 6) and row.close == pytest.approx(100 / 3) and row.gap == pytest.approx(100 / 6)
    (table,) = (t for t in tables_of_run(summarise(run)) if t.name == "balance_averages")
    assert "anybody else" in table.note and len(table.frame) == 1


def test_an_agent_that_meets_itself_is_even(tmp_path):
    games = {(deal, 0): [4.0, 10.0] for deal in range(4)}
    row = balance_frame(balances(summarise(written(tmp_path / "run", [(("base", "base"), 1, games)])))).iloc[0]
    assert (row.gap, row.difference, row.distance, row.close) == (0, 0, 6, 0)


def test_maps_stand_apart(tmp_path):
    runs = [written(tmp_path / name, [(("base", "cmcts_rosas"), 1, games_of(LEADS))], setup=name) for name in ("yang", "usa")]
    given = [b for run in runs for b in balances(summarise(run))]
    assert averages_frame(given)["map"].tolist() == ["usa", "yang"]
    printed = balance_frame(given).set_index("map")["published_gap"]
    assert printed["yang"] > 0 and np.isnan(printed["usa"])


def test_report_shows_tables_and_figure(final, tmp_path):
    made = report.make_report([final])
    text = made.page()
    tables = {table.name: table for _, table in made.tables}
    means, each = tables["balance_averages"], tables["balance"]
    assert means.frame["gap"].is_monotonic_increasing and len(means.frame) == 2 and len(each.frame) == 4
    assert 'id="table-balance_averages"' in text and 'id="table-balance"' in text
    assert "points_lost" not in [column.key for column in each.columns] and "map" not in [column.key for column in each.columns]
    assert each.frame["published_gap"].notna().all() and "printed gap" in text
    block = re.search(r'id="table-balance">(.*?)</table>', text, re.S)[1]
    for link in re.findall(r'href="#(games-[^"]+)"', block):
        assert f'id="{link}"' in text
    assert block.count('href="#games-') == 4
    (picture,) = (picture for _, picture in made.pictures if picture.name == "balance")
    assert "smallest first" in picture.alt and "noise" in picture.alt and "chance alone" in picture.caption
    assert picture.save(tmp_path, ("pdf",))[0].stat().st_size > 1000
    saved = pd.read_csv(means.save(tmp_path)[0])
    assert {"gap", "gap_low", "gap_high", "noise", "distance", "close_high", "draws", "published_gap"} <= set(saved.columns)


def test_only_judged_agents_have_it(robin, swept, crowd):
    for run in (robin, swept, crowd):
        summary = summarise(run)
        assert not [table.name for table in tables_of_run(summary) if table.name.startswith("balance")]
    assert not list(balance_pictures(summarise(robin)))


def regret_of(run, matchups=None):
    """Made-up regret of a run: two deals of each matchup, 10 decisions a game that lose 1.5 points in the mean."""
    chosen = matchups or [m["id"] for m in run.info["matchups"]]
    rows = [(m, deal, rotation, 10, 10 + 10 * deal + 1 / 3 - 1 / 3, 2) for m in chosen for deal in (0, 1) for rotation in (0, 1)]
    return Regret(2000, pd.DataFrame(rows, columns=[*GAME, *MEASURED]))


@pytest.fixture
def copied(final, tmp_path):
    """A run whose folder a test may write to."""
    return open_run(shutil.copytree(final, tmp_path / final.name))


def told(run):
    """The balance tables of a run by name."""
    return {table.name: table for table in tables_of_run(summarise(run.path)) if table.name.startswith("balance")}


def test_regret_is_kept_and_shown(copied, capsys):
    assert kept_regret(copied) is None
    before = verify.main([str(copied.path)]), capsys.readouterr().out
    regret = regret_of(copied)
    keep_regret(copied, regret)
    again = kept_regret(copied)
    assert again.iterations == 2000 and again.games.equals(regret.games)
    row = told(copied)["balance_averages"].frame.iloc[0]
    assert row.points_lost == pytest.approx(1.5) and row.grave == pytest.approx(20) and row.decisions == 80
    assert row.points_lost_low < 1.5 < row.points_lost_high
    note = told(copied)["balance"].note
    assert "2,000 iterations" in note and "160 decisions in 16 games" in note
    assert "decisions" in [column.key for column in told(copied)["balance"].columns]
    assert (verify.main([str(copied.path)]), capsys.readouterr().out) == before  # nothing else minds the file
    assert status.main([str(copied.path)]) == list_command.main([str(copied.path.parent)]) == 0


def test_regret_of_some_opponents_gives_no_mean(copied):
    keep_regret(copied, regret_of(copied, [copied.info["matchups"][0]["id"]]))
    tables = told(copied)
    assert tables["balance"].frame["points_lost"].notna().sum() == 1
    assert tables["balance_averages"].frame["points_lost"].isna().all()
    assert "40 decisions in 4 games" in tables["balance"].note


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        pytest.param(lambda text: "", "damaged", id="empty"),
        pytest.param(lambda text: text.splitlines()[0] + "\n", "damaged", id="no rows"),
        pytest.param(lambda text: text[: len(text) // 2].rpartition(",")[0], "damaged", id="cut off"),
        pytest.param(lambda text: "\0\1\2" * 100, "damaged", id="no text"),
        pytest.param(lambda text: text.replace("decisions", "choices"), "damaged", id="another release"),
        pytest.param(lambda text: text.replace(",10,", ",ten,"), "damaged", id="words"),
        pytest.param(lambda text: text.replace(",10,", ",inf,"), "damaged", id="endless"),
        pytest.param(lambda text: text.replace(",10,", ",1,"), "damaged", id="more grave decisions than decisions"),
        pytest.param(lambda text: text + text.splitlines()[-1] + "\n", "damaged", id="a game twice"),
        pytest.param(lambda text: re.sub(r"(?m)^[0-9a-f]{16},", "0" * 16 + ",", text), "another run's", id="another run"),
    ],
)
def test_a_damaged_file_is_left_out_with_a_note(copied, spoil, why):
    path = keep_regret(copied, regret_of(copied))
    path.write_text(spoil(path.read_text()))
    with pytest.raises(Refusal, match=why):
        kept_regret(copied)
    table = told(copied)["balance_averages"]
    assert "regret.csv is left out" in table.note and "points_lost" not in [column.key for column in table.columns]


def test_an_older_file_stays_where_a_new_one_cannot_be_written(copied, monkeypatch):
    keep_regret(copied, regret_of(copied))
    full = OSError(28, "No space left on device")
    monkeypatch.setattr(pd.DataFrame, "to_csv", lambda *_, **__: (_ for _ in ()).throw(full))
    with pytest.raises(OSError, match="No space"):
        keep_regret(copied, regret_of(copied, [copied.info["matchups"][0]["id"]]))
    monkeypatch.undo()
    assert len(kept_regret(copied).games) == 16 and not list(copied.path.glob(".*.tmp")) and (copied.path / FILE).exists()


def test_progress_is_one_line_on_a_terminal_and_rare_elsewhere(monkeypatch, capsys):
    quiet = Watch(3)
    for _ in range(3):
        quiet.count()
    quiet.close()
    assert capsys.readouterr().err == ""  # over before the first line was due
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    shown = Watch(3)
    for _ in range(3):
        shown.count()
    shown.close()
    lines = capsys.readouterr().err
    assert "judged 0 of 3 games" in lines and "judged 3 of 3 games" in lines and "\n" not in lines
