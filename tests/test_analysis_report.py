"""Reports of real runs: whole, partial, swept, for many players; and one clear line for what cannot be read."""

# ruff: noqa: F401, F811  (fixtures are imported)

import json
import re
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from analysis import balance, compare, figures, plots, regret, report
from analysis.gallery import pictures
from analysis.rates import cells
from analysis.result_tables import correlations_table, tables_of_run
from analysis.summary import seatings_of, summarise
from analysis.sums import add_up
from analysis.tables import Column, ResultTable, p_column
from experiments import round_robin
from experiments.reading import open_run
from tests.stored_runs import crowd, final, play, results, robin, swept


def copy_of(run, folder):
    """A run that a test may spoil."""
    return shutil.copytree(run, folder / run.name)


def test_a_summary_is_what_pandas_says_of_the_rows(robin):
    summary = summarise(robin)
    frame = open_run(robin).games()
    assert summary.sums.rows == len(frame) == 60 * (4 + 2 * 6)
    for cell in summary.cells:
        rows = frame[frame["matchup"] == cell.matchup]
        own = [(rows[f"agent_{s}"] == cell.agent) for s in range(2)]
        if cell.opponents == (cell.agent,):
            assert cell.win.value == pytest.approx((rows["winner"].notna()).mean() / 2)
            continue
        won = sum(((rows["winner"] == s) & own[s]).sum() for s in range(2))
        score = sum(rows.loc[own[s], f"score_{s}"].sum() for s in range(2))
        assert cell.win.value == pytest.approx(won / len(rows))
        assert cell.score.value == pytest.approx(score / len(rows), rel=1e-6)
        deal_means = (
            rows.assign(won=sum(((rows["winner"] == s) & own[s]).astype(float) for s in range(2))).groupby("deal")["won"].mean()
        )
        assert cell.win.error == pytest.approx(deal_means.std(ddof=1) / len(deal_means) ** 0.5)


def test_round_robin_report_has_everything(robin, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert report.main([str(robin), "-o", str(page), "--files", str(tmp_path / "files")]) == 0
    told = capsys.readouterr().out
    assert str(page) in told and "Win rates over all games: ordering" in told
    text = page.read_text()
    assert len(text.encode()) < 3_000_000
    assert not re.search(r"(src|href)=\"(?!data:|#)", text) and "@import" not in text
    images = re.findall(r"<img [^>]*>", text)
    assert len(images) >= 6 and all(re.search(r'alt="[^"]{20,}"', image) for image in images)
    for words in ("Figure 12.1", "Figure 12.3", "likely cause", "fitted", "Bradley-Terry", "clustered by deal", "seed"):
        assert words in text, words
    for link in set(re.findall(r'href="#(games-[^"]+)"', text)):
        assert f'id="{link}"' in text
    command = re.search(r"python -m (experiments\.replay \S+ \S+/0/0)", text)
    assert command
    played = subprocess.run([sys.executable, "-m", *command[1].split()], capture_output=True, text=True)
    assert played.returncode == 0, played.stderr
    for name in ("winrates", "ranking", "misfit", "differences_1", "published_1", "board"):
        for ending in ("pdf", "svg", "png"):
            assert (tmp_path / "files" / "figures" / f"{name}.{ending}").stat().st_size > 1000
    for name in ("matrix_win", "ranking", "rates", "averages", "seats", "correlations"):
        table = pd.read_csv(tmp_path / "files" / "tables" / f"{name}.csv")
        assert len(table)
        assert (tmp_path / "files" / "tables" / f"{name}.md").read_text().startswith("**")
        assert r"\bottomrule" in (tmp_path / "files" / "tables" / f"{name}.tex").read_text()


def test_figures_are_the_same_bytes_again(robin):
    first, second = (next(iter(pictures(summarise(robin)))) for _ in range(2))
    for ending in ("svg", "pdf", "png"):
        assert first.render(ending) == second.render(ending)


def test_sweep_report_shows_curves_claims_and_pairs(swept):
    summary = summarise(swept)
    names = [picture.name for picture in pictures(summary)]
    assert "sweep_posas_threshold" in names and "search" in names
    tables = {table.name: table for table in tables_of_run(summary)}
    assert tables["sweep"].frame["value"].tolist() == [0, 5, 10]
    assert set(tables["claims"].frame["id"]) == {"W7", "W8"}
    assert (tables["paired"].frame["against"] == "0").all()
    assert {"half_width", "unpaired_half_width"} <= set(tables["paired"].frame.columns)


def test_final_report_compares_with_appendix_c(final):
    made = report.make_report([final])
    text = made.page()
    titles = [comparison.title for _, comparison in made.compared]
    assert "Appendix C: win %" in titles and "Figure 12.10: win %" in titles
    assert "Difficulty adjustment" in text and "dda_1" in [picture.name for _, picture in made.pictures]


def test_four_players_and_several_runs_on_one_page(crowd, robin, tmp_path):
    page = tmp_path / "both.html"
    assert report.main([str(crowd), str(robin), "-o", str(page)]) == 0
    text = page.read_text()
    assert "Run 1: free for all" in text and "Run 2: round robin" in text
    summary = summarise(crowd)
    assert sum(cell.points.value for cell in summary.cells) == pytest.approx(1)
    assert [len(tables_of_run(summary)) > 4, len(summary.cells)] == [True, 4]


def test_partial_run_says_how_complete_it_is(robin, tmp_path, capsys):
    run = copy_of(robin, tmp_path)
    info = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(info | {"deals": 100}))
    assert report.main([str(run)]) == 0
    assert "60.0% complete" in capsys.readouterr().out
    assert "60.0% complete" in (run / "report.html").read_text()


def refused(capsys, *arguments: str) -> str:
    """The one line of a refusal."""
    assert report.main(list(arguments)) == 2
    told = capsys.readouterr()
    assert told.err.count("\n") == 1 and not told.out and told.err.startswith("analysis.report: ")
    return told.err


def test_what_cannot_be_read_is_one_clear_line(robin, tmp_path, capsys):
    assert "no such run folder" in refused(capsys, str(tmp_path / "nowhere"))
    (tmp_path / "empty").mkdir()
    assert "no run folder" in refused(capsys, str(tmp_path / "empty"))
    run = copy_of(robin, tmp_path / "a")
    (run / "manifest.jsonl").write_text("")
    assert "no games yet" in refused(capsys, str(run))
    run = copy_of(robin, tmp_path / "b")
    info = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(info | {"schema": 0}))
    assert "schema 0" in refused(capsys, str(run))
    run = copy_of(robin, tmp_path / "c")
    shard = run / open_run(run).manifest.shards("games")[0]["shard"]
    shard.write_bytes(shard.read_bytes()[:-100])
    assert "experiments.verify" in refused(capsys, str(run))
    run = copy_of(robin, tmp_path / "d")
    shard = run / open_run(run).manifest.shards("games")[0]["shard"]
    pq.write_table(pq.read_table(shard, partitioning=None).drop_columns(["winner"]), shard)
    assert "winner" in refused(capsys, str(run))


def test_the_path_that_cannot_be_written_is_named(robin, tmp_path, capsys):
    (tmp_path / "file").touch()
    files = str(tmp_path / "file")
    told = refused(capsys, str(robin), "-o", str(tmp_path / "page.html"), "--files", files)
    assert files in told and "page.html" not in told


@pytest.mark.parametrize(("end", "code"), [(BrokenPipeError, 0), (KeyboardInterrupt, 130)])
@pytest.mark.parametrize(
    ("module", "first"), [(report, "make_report"), (figures, "study_runs"), (balance, "summarise"), (regret, "open_run")]
)
def test_a_closed_pipe_and_ctrl_c_end_a_command_without_a_traceback(module, first, end, code, monkeypatch, capsys):
    def ended(*_):
        raise end

    monkeypatch.setattr("experiments.command._read_no_more", lambda: None)
    monkeypatch.setattr(module, first, ended)
    assert module.main([] if module is figures else ["somewhere"]) == code
    assert capsys.readouterr().err == ""


def test_a_damaged_run_is_left_out_of_the_figures(robin, swept, tmp_path, capsys):
    games, decisions = copy_of(robin, tmp_path / "a"), copy_of(swept, tmp_path / "b")
    for run, dataset in ((games, "games"), (decisions, "decisions")):
        shard = run / open_run(run).manifest.shards(dataset)[0]["shard"]
        shard.write_bytes(shard.read_bytes()[:-100])
    assert [summary.path for summary in figures._summaries([games, robin, decisions])] == [robin]
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 2 and all(line.startswith("left out: ") for line in told)


def test_few_deals_are_not_called_64_groups(robin, tmp_path):
    assert "jackknife over 60 deals." in correlations_table(summarise(robin)).note
    run = copy_of(robin, tmp_path)
    info = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(info | {"deals": 100}))
    assert "jackknife over 60 groups of deals." in correlations_table(summarise(run)).note


def test_p_values_are_never_shown_as_zero(tmp_path):
    frame = pd.DataFrame(dict(agent=["a:b=1,c=2"] * 4, p=[0.0, 3e-9, 0.0001, 0.03]))
    table = ResultTable("tests", "T", frame, [Column("agent", "agent"), p_column("p", "p")])
    assert [row[1] for row in table.rows()] == ["< 0.0001", "< 0.0001", "0.0001", "0.0300"]
    assert 'data-v="3e-09">&lt; 0.0001<' in table.html() and "$<$ 0.0001" in table.latex() and "3e-09" in table.csv()
    assert "a:<wbr>b=1,<wbr>c=2" in table.html()  # where a printed line may break


def test_score_differences_show_where_they_are_even():
    with plots.style():
        axes = plots.new_figure(2, 2)[1][0, 0]
    plots.ridges(np.array([[0, 5, 9, 4, 0]]), np.arange(-30, -25), ["base"], axes)
    even = next(line for line in axes.lines if list(line.get_xdata()) == [0, 0])
    assert even.get_linestyle() == "--" and even.get_zorder() > axes.collections[0].get_zorder()
    assert axes.get_xlim()[0] < 0 < axes.get_xlim()[1]


def test_compare_pairs_the_same_deals(robin, results, capsys, tmp_path):
    a = summarise(robin)
    same = compare.compare(a, a)
    assert (same["win_change"] == 0).all() and (same["win_change_high"] == 0).all()
    assert (same["win_unpaired"] > 0).any()
    other = play(round_robin, results, "agents=[random,greedy,base,hoarder]", "deals=60", "rules.cars=12")
    changed = compare.compare(a, summarise(other))
    assert len(changed) == len(a.cells)
    assert changed["score_change"].abs().max() > 0.5
    reseeded = play(round_robin, results, "agents=[random,greedy,base,hoarder]", "deals=20", "seed=3")
    b = summarise(reseeded)
    assert not compare.shared_deals(a, b)
    assert compare.main([str(robin), str(reseeded), "-o", str(tmp_path)]) == 0
    assert "not paired" in capsys.readouterr().out.replace("\n", " ")
    assert (tmp_path / "compare.tex").exists()


def test_figures_command_takes_the_largest_of_each_experiment(robin, swept, final, results, tmp_path, capsys):
    assert robin in figures.study_runs(results)
    assert figures.main(["--results", str(tmp_path), "-o", str(tmp_path / "out")]) == 2
    assert "no run with games" in capsys.readouterr().err
    assert figures.main(["--results", str(results), "-o", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "report.html").exists()
    assert list((tmp_path / "out").glob("sweep-*/figures/sweep_posas_threshold.pdf"))


def test_reading_in_batches_gives_the_cells(robin):
    run = open_run(robin)
    seatings = seatings_of(run)
    again = cells(add_up(run.batches(["matchup", "deal", "rotation", "forfeit", "winner", "score_0", "score_1"]), seatings, 60))
    assert [c.win.value for c in again] == [c.win.value for c in summarise(robin).cells]
