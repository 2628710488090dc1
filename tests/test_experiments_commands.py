"""What looks at runs, and what a run does with agents that fail, folders it does not know, and games played again."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from analysis.compare import main as compare
from experiments.command import experiment
from experiments.export import main as export
from experiments.list import main as list_runs
from experiments.reading import open_run
from experiments.replay import main as replay
from experiments.status import main as status
from experiments.verify import main as verify
from ttr.replay import main as follow

SMALL = ["cluster=serial", "display=none", "deals=4"]
FAILING = """
def fails(view, moves, random):
    if random.below(6) == 0:
        raise RuntimeError("no idea")
    return moves[0]
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    assert experiment("round_robin", [*SMALL, "agents=[base,greedy]", "moves=true", f"results_dir={folder}"]) == 0
    (found,) = folder.iterdir()
    return found


def test_a_stored_game_is_replayed_from_its_row(run, tmp_path, capsys):
    matchup = next(m for m in open_run(run).planned if m.rotations == 2)
    record = tmp_path / "game.jsonl"
    assert replay([str(run), f"{matchup.id[:8]}/3/1", "--output", str(record)]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-1] == "as stored" and "turn" in out
    rows = open_run(run).rows(matchup.id).to_pylist()
    row = next(row for row in rows if (row["deal"], row["rotation"]) == (3, 1))
    last = json.loads(record.read_text().splitlines()[-1])
    assert [score["score"] for score in last["scores"]] == [row["score_0"], row["score_1"]]
    moves = [
        move["code"] for move in open_run(run).rows(matchup.id, "moves").to_pylist() if (move["deal"], move["rotation"]) == (3, 1)
    ]
    assert moves == [json.loads(line)["code"] for line in record.read_text().splitlines()[1:-1]]
    assert follow([str(record)]) == 0


@pytest.mark.parametrize("game", ["zzz/0/0", "0/0", "/0/0", "x"])
def test_a_game_that_is_not_there_is_refused(run, game, capsys):
    assert replay([str(run), game]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_commands_tell_what_there_is(run, tmp_path, capsys):
    assert status([str(run), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["complete"] and data["games"] == data["expected"] == 16 and data["writer"] is None
    assert list_runs([str(run.parent)]) == 0 and "round_robin" in capsys.readouterr().out
    assert export([str(run), "--csv", "--output", str(tmp_path)]) == 0
    lines = (tmp_path / "games.csv").read_text().splitlines()
    assert len(lines) == 17 and lines[0].startswith('"matchup","deal","rotation"')
    assert verify([str(run), "--replay", "50%"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[-1].startswith("hash: ") and any("played again" in line for line in out)


def test_analysis_reads_a_run_in_bounded_pieces(run):
    opened = open_run(run)
    frame = opened.games(["matchup", "deal", "rotation", "score_0"])
    assert len(frame) == 16 and frame["score_0"].notna().all()
    assert sum(len(batch) for batch in opened.batches(["winner"])) == 16
    assert set(opened.matchups.columns) >= {"agents", "entry_0", "entry_1", "map", "rules", "rotations", "games", "expected"}
    assert opened.completeness == {"games": 16, "expected": 16, "fraction": 1.0}


def test_a_dry_run_plays_nothing_for_keeps(tmp_path, capsys):
    words = ["agents=[base,greedy]", "deals=4", f"results_dir={tmp_path / 'none'}", "dry_run=true"]
    assert experiment("round_robin", words) == 0
    out = capsys.readouterr().out
    for part in ("3 matchups x 4 deals", "games: 16, of which 0 are there", "CPU-hours", "intervals", "files: 1"):
        assert part in out
    assert not (tmp_path / "none").exists()


def test_other_schemas_and_configurations_are_refused_and_nothing_is_lost(run, tmp_path, capsys):
    copy = tmp_path / run.name
    shutil.copytree(run, copy)
    data = json.loads((copy / "run.json").read_text())
    words = [*SMALL, "agents=[base,greedy]", f"results_dir={tmp_path}"]
    for change, told in (({"schema": 0}, "schema 0"), ({"identity": "f" * 64}, "another configuration")):
        (copy / "run.json").write_text(json.dumps(data | change))
        before = {path: path.read_bytes() for path in copy.rglob("*.parquet")}
        assert experiment("round_robin", words) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1 and told in error
        assert {path: path.read_bytes() for path in copy.rglob("*.parquet")} == before
    assert status([str(tmp_path / "nothing")]) == 2 and verify([str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 2


def _without(name):
    def change(data):
        del data[name]

    return change


@pytest.mark.parametrize(
    "change",
    [
        _without("matchups"),
        _without("config"),
        lambda data: data.update(deals="x"),
        lambda data: data["agents"].clear(),
        lambda data: data["matchups"][0].pop("rotations"),
    ],
)
def test_a_damaged_description_of_a_run_is_one_clear_line(run, change, tmp_path, capsys):
    copy = tmp_path / run.name
    shutil.copytree(run, copy)
    data = json.loads((copy / "run.json").read_text())
    change(data)
    (copy / "run.json").write_text(json.dumps(data))
    for command in (status, verify, replay, lambda words: export([*words, "--csv"])):
        assert command([str(copy)]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1 and "run.json is damaged" in error
    assert list_runs([str(tmp_path)]) == 0 and "damaged" in capsys.readouterr().out


def test_a_damaged_manifest_is_one_clear_line(run, tmp_path, capsys):
    copy = tmp_path / run.name
    shutil.copytree(run, copy)
    lines = (copy / "manifest.jsonl").read_text().splitlines()
    shard = json.loads(lines[0])
    for damaged in ({k: v for k, v in shard.items() if k != "bytes"}, shard | {"deals": [1]}):
        (copy / "manifest.jsonl").write_text("\n".join([json.dumps(damaged), *lines[1:]]) + "\n")
        assert status([str(copy)]) == 2
        assert "manifest.jsonl, line 1" in capsys.readouterr().err
    (copy / "manifest.jsonl").unlink()
    (copy / "manifest.jsonl").mkdir()
    assert status([str(copy)]) == 2 and capsys.readouterr().err.count("\n") == 1


def test_a_shard_that_cannot_be_read_is_named(run, tmp_path, capsys):
    copy, game = tmp_path / run.name, f"{open_run(run).planned[0].id}/0/0"
    shutil.copytree(run, copy)
    shards = sorted((copy / "games").iterdir())  # on a slow machine there are several
    for spoil in (lambda shard: shard.write_bytes(shard.read_bytes()[:1000]), Path.unlink):
        for shard in shards:
            spoil(shard)
        for words in ([str(copy), game], [str(copy), "--csv", "--output", str(tmp_path / "csv")]):
            assert (export if "--csv" in words else replay)(words) == 2
            error = capsys.readouterr().err
            assert error.count("\n") == 1 and any(str(shard) in error for shard in shards)
    assert not list((tmp_path / "csv").iterdir())


def test_a_lease_without_a_holder_does_not_count(run, tmp_path):
    copy = tmp_path / run.name
    shutil.copytree(run, copy)
    (copy / "lease.json").write_text('{"number": 3}')
    assert status([str(copy)]) == 0


def test_a_slice_that_was_killed_before_it_began_is_passed_over(run, tmp_path, capsys):
    copy = tmp_path / run.name
    shutil.copytree(run, copy)
    (copy / "parts" / "1-of-2").mkdir(parents=True)
    assert status([str(copy)]) == 0 and "slice 1" not in capsys.readouterr().out


def test_files_that_cannot_be_written_are_one_clear_line(run, tmp_path, capsys):
    (tmp_path / "file").touch()
    game = f"{open_run(run).planned[0].id}/0/0"
    assert export([str(run), "--csv", "--output", str(tmp_path / "file")]) == 1
    assert replay([str(run), game, "--output", str(tmp_path / "none" / "game.jsonl")]) == 2
    assert replay([str(run), "--output", str(tmp_path / "game.jsonl")]) == 2
    assert compare([str(run), str(run), "-o", str(tmp_path / "file")]) == 2
    assert capsys.readouterr().err.count("\n") == 4


def test_fewer_deals_than_planned_are_explained(run, tmp_path, capsys):
    words = ["cluster=serial", "agents=[base,greedy]", f"results_dir={tmp_path}"]
    assert experiment("round_robin", [*words, "deals=3"]) == 0 and "planned with" not in capsys.readouterr().out
    assert experiment("round_robin", [*words, "deals=2"]) == 0 and "planned with 3 deals" in capsys.readouterr().out


def test_output_that_nobody_reads_ends_a_run_in_one_line(tmp_path, capsys, monkeypatch):
    def closed(*_, **__):
        raise BrokenPipeError

    monkeypatch.setattr("experiments.command._read_no_more", lambda: None)
    monkeypatch.setattr("experiments.driver.Progress.say", closed)
    words = ["cluster=serial", "agents=[base,greedy]", f"results_dir={tmp_path}"]
    assert experiment("round_robin", [*words, "deals=2"]) == 0
    assert experiment("round_robin", [*words, "deals=1"]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_an_agent_that_plays_otherwise_is_not_called_a_changed_engine(tmp_path, capsys):
    (tmp_path / "mine.py").write_text(
        "calls = []\ndef mine(view, moves, random):\n    calls.append(1)\n    return moves[len(calls) // 9 % len(moves)]\n"
    )
    words = [*SMALL, f"agents=['{tmp_path}/mine.py:mine']", "opponents=[greedy]", f"results_dir={tmp_path / 'r'}"]
    assert experiment("sweep", words) == 0
    (folder,) = (tmp_path / "r").iterdir()
    capsys.readouterr()
    assert verify([str(folder), "--replay", "100%"]) == 1
    assert "not deterministic" in capsys.readouterr().out


@pytest.mark.parametrize("package", ["experiments", "analysis", "slurm"])
def test_ctrl_c_while_modules_are_imported_is_one_line(package):
    raised = f"import sys; sys.argv = ['-m']; import {package}; raise KeyboardInterrupt"
    shown = subprocess.run([sys.executable, "-c", raised], cwd=Path(__file__).parent.parent, capture_output=True, text=True)
    assert shown.returncode != 0 and shown.stderr == "interrupted\n"


def test_a_run_that_is_complete_says_so_to_a_closed_pipe_too(tmp_path, capsys, monkeypatch):
    def closed(*words, file=None, **_):
        if file is None:
            raise BrokenPipeError
        file.write(" ".join(words) + "\n")

    monkeypatch.setattr("experiments.command._read_no_more", lambda: None)
    monkeypatch.setattr("experiments.command.print", closed, raising=False)
    assert experiment("round_robin", [*SMALL, "agents=[base,greedy]", f"results_dir={tmp_path}"]) == 0
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "complete: 16 games" in error and "continues" not in error


def test_results_that_cannot_be_written_are_refused_input(tmp_path, capsys):
    (tmp_path / "file").touch()
    for part in ([], ["part=1/2"]):
        words = [*SMALL, "agents=[base,greedy]", f"results_dir={tmp_path / 'file' / 'results'}", *part]
        assert experiment("round_robin", words) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1 and str(tmp_path / "file") in error


def test_a_slice_says_how_many_games_are_its_own(tmp_path, capsys):
    words = ["cluster=serial", "display=plain", "agents=[base,greedy]", f"results_dir={tmp_path}", "deals=4", "part=1/3"]
    assert experiment("round_robin", words) == 0
    assert "slice 1/3, 8 of 16 games (3 matchups x 2 of 4 deals, " in capsys.readouterr().out.splitlines()[0]


def test_stored_games_of_an_incomplete_run_are_played_again_if_it_is_sound(run, tmp_path, capsys):
    copy = tmp_path / run.name
    shutil.copytree(run, copy)
    data = json.loads((copy / "run.json").read_text())
    (copy / "run.json").write_text(json.dumps(data | {"deals": 9}))
    for line in (copy / "manifest.jsonl").read_text().splitlines():
        if json.loads(line).get("dataset") == "moves":
            (copy / "manifest.jsonl").write_text((copy / "manifest.jsonl").read_text().replace(line + "\n", ""))
    assert verify([str(copy), "--replay", "100%"]) == 1
    out = capsys.readouterr().out
    assert "missing: 20 of 36 games" in out and "played again: 16 games, all the same" in out
    next((copy / "games").iterdir()).unlink()
    assert verify([str(copy), "--replay", "100%"]) == 1
    assert "nothing was played again" in capsys.readouterr().out


def test_a_list_of_runs_fits_80_columns(run, tmp_path, capsys):
    words = [*SMALL, "agents=[base,greedy]", "name=a_name_that_is_rather_long", f"results_dir={tmp_path}"]
    assert experiment("round_robin", words) == 0
    shutil.copytree(run, tmp_path / f"{run.name}-broken")
    (tmp_path / f"{run.name}-broken" / "run.json").write_text("{}")
    capsys.readouterr()
    assert list_runs([str(tmp_path)]) == 0
    *table, problem = capsys.readouterr().out.splitlines()
    assert table[0] == f"{tmp_path}/" and all(len(line) <= 80 for line in table[1:])
    assert table[2].startswith(run.name) and "16 100%" in table[2]
    assert problem.startswith("cannot be read: ") and problem.endswith("fresh=true")


def test_a_failing_agent_stops_the_run_or_forfeits_its_game(tmp_path, capsys):
    (tmp_path / "mine.py").write_text(FAILING)
    words = [*SMALL, f"agents=['{tmp_path}/mine.py:fails']", "opponents=[greedy]"]
    assert experiment("sweep", [*words, f"results_dir={tmp_path / 'stop'}"]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "no idea" in error and "deal" in error and "move" in error
    assert experiment("sweep", [*words, f"results_dir={tmp_path / 'forfeit'}", "on_error=forfeit"]) == 0
    (run,) = (tmp_path / "forfeit").iterdir()
    rows = open_run(run).games(["matchup", "deal", "rotation", "forfeit", "winner", "agent_0", "agent_1"])
    lost = rows[rows["forfeit"].notna()]
    assert len(lost) > 0 and (lost["forfeit"] != lost["winner"]).all()
    (tmp_path / "mine.py").unlink()  # its source is in the run
    assert verify([str(run), "--replay", "100%"]) == 0
