"""Rows depend on configuration and seed alone: batches, interruptions, extensions, slices, damage and other engines."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments import engine_check
from experiments.audit import audit
from experiments.command import experiment
from experiments.lease import Lease
from experiments.manifest import read_manifest
from experiments.merge import main as merge
from experiments.reading import open_run
from experiments.status import status
from experiments.verify import main as verify

ROOT = Path(__file__).parent.parent
GAMES = ["agents=[base,greedy,random]", "cluster=serial", "display=none"]


def play(folder: Path, *more: str) -> int:
    return experiment("round_robin", [*GAMES, f"results_dir={folder}", *more])


def run_in(folder: Path) -> Path:
    (run,) = folder.glob("round_robin-*")
    return run


def content(folder: Path) -> str:
    found = audit(open_run(run_in(folder)))
    assert found.complete, found
    return found.hashes["games"]


def refused(capsys, *fragments: str) -> None:
    error = capsys.readouterr().err
    assert error.count("\n") == 1, error
    for fragment in fragments:
        assert fragment in error


@pytest.fixture(scope="module")
def hundred(tmp_path_factory) -> str:
    """The hash of a run of 100 deals, played in one go."""
    folder = tmp_path_factory.mktemp("hundred")
    assert play(folder, "deals=100") == 0
    return content(folder)


@pytest.mark.parametrize("size", [1, 7, 64])
def test_batch_sizes_do_not_matter(hundred, tmp_path, size):
    assert play(tmp_path, "deals=100", f"batch={size}") == 0
    assert content(tmp_path) == hundred


def test_a_run_extended_equals_a_fresh_one(hundred, tmp_path):
    assert play(tmp_path, "deals=50") == 0
    before = {line["shard"] for line in read_manifest(run_in(tmp_path)).live.values()}
    assert play(tmp_path, "deals=100") == 0
    lines = read_manifest(run_in(tmp_path)).live.values()
    added = [line for line in lines if line["shard"] not in before]
    assert added and all(line["reason"] == "extended" for line in added)
    assert all(start >= 50 for line in added for ranges in line["deals"].values() for start, _, _ in ranges)
    assert content(tmp_path) == hundred
    assert play(tmp_path, "deals=30") == 0  # fewer deals take nothing away
    assert content(tmp_path) == hundred


IMPATIENT = "import sys, experiments.store as s; s.GATHER_SECONDS = 0; from experiments.round_robin import main; sys.exit(main())"


def test_interrupted_three_times_and_resumed(tmp_path):
    slow = ["agents=[cmcts:iterations=1000,random]", "deals=24", "cluster=serial", "batch=1", "display=plain", "compact=false"]
    assert experiment("round_robin", [*slow, f"results_dir={tmp_path / 'whole'}"]) == 0
    folder = tmp_path / "cut"
    command = [sys.executable, "-c", IMPATIENT, *slow, f"results_dir={folder}"]  # every batch is stored at once

    def lines() -> int:
        return sum(path.read_text().count("\n") for path in folder.glob("*/manifest.jsonl"))

    for _ in range(3):
        before = lines()
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
            while lines() < before + 3 and process.poll() is None:
                time.sleep(0.005)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        assert process.returncode == 130, (out, err)
        assert "the same command continues" in out and "Traceback" not in err
        assert out.splitlines()[-1] == str(run_in(folder))
    assert not audit(open_run(run_in(folder))).complete
    assert experiment("round_robin", [*slow, f"results_dir={folder}"]) == 0
    assert content(folder) == content(tmp_path / "whole")


def test_slices_one_of_them_killed_join_to_the_whole(hundred, tmp_path, capsys):
    for part in ("1/4", "2/4", "4/4"):
        assert play(tmp_path, "deals=100", f"part={part}") == 0
    command = [
        sys.executable,
        "-m",
        "experiments.round_robin",
        *GAMES,
        f"results_dir={tmp_path}",
        "deals=100",
        "part=3/4",
        "batch=1",
    ]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    script = (  # a slice that dies by SIGKILL right after its second shard was renamed, before it is counted
        "import os, signal, sys, experiments.store as s\n"
        "s.GATHER_SECONDS = 0\n"
        "count = [0]\n"
        "append = s.append_line\n"
        "def dying(folder, line):\n"
        "    count[0] += 1\n"
        "    if count[0] == 2: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    append(folder, line)\n"
        "s.append_line = dying\n"
        "from experiments.round_robin import main\n"
        "main(sys.argv[1:])\n"
    )
    killed = subprocess.run([sys.executable, "-c", script, *command[3:]], cwd=ROOT, env=environment, capture_output=True)
    assert killed.returncode == -signal.SIGKILL
    third = run_in(tmp_path) / "parts" / "3-of-4"
    assert len(list((third / "games").glob("*.parquet"))) == 2 and len(read_manifest(third).live) == 1
    capsys.readouterr()
    assert play(tmp_path, "deals=100") == 2  # the whole run while slices wait
    refused(capsys, "not merged yet")
    assert play(tmp_path, "deals=100", "part=1/2") == 2
    refused(capsys, "shares deals")
    assert play(tmp_path, "deals=100", "part=3/4") == 0
    state = status(open_run(run_in(tmp_path)))
    assert state["games"] == 0 and sum(one["games"] for one in state["slices"].values()) == state["expected"]
    assert merge([str(run_in(tmp_path))]) == 0
    assert content(tmp_path) == hundred
    assert not (run_in(tmp_path) / "parts").exists()


def test_merging_the_same_rows_twice_collapses_and_other_rows_are_an_error(hundred, tmp_path, capsys):
    assert play(tmp_path / "a", "deals=100") == 0
    assert play(tmp_path / "b", "deals=40") == 0
    a, b = run_in(tmp_path / "a"), run_in(tmp_path / "b")
    capsys.readouterr()
    assert merge([str(b), str(a)]) == 0
    taken = open_run(a).completeness["games"] * 60 // 100
    assert f"{a}: {taken:,} rows taken" in capsys.readouterr().out
    assert content(tmp_path / "b") == hundred
    change_a_score(b)
    capsys.readouterr()
    assert merge([str(b), str(a)]) == 2
    refused(capsys, "disagree on game", "score_0")


def change_a_score(run: Path) -> None:
    """Another score in one stored game, with a manifest that agrees: as another engine would have written it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from experiments.shard import file_hash

    lines = [json.loads(text) for text in (run / "manifest.jsonl").read_text().splitlines()]
    line = next(iter(read_manifest(run).live.values()))
    table = pq.read_table(run / line["shard"], partitioning=None)
    scores = table.column("score_0").to_pylist()
    scores[0] += 1
    at = table.column_names.index("score_0")
    pq.write_table(table.set_column(at, "score_0", pa.array(scores, pa.float32())), run / line["shard"])
    facts = {"bytes": (run / line["shard"]).stat().st_size, "sha256": file_hash(run / line["shard"])}
    for known in lines:
        for one in [known, *known.get("compacted", [])]:
            if one.get("shard") == line["shard"]:
                one.update(facts)
    (run / "manifest.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.mark.parametrize("harm", ["truncated", "flipped", "gone"])
def test_a_damaged_shard_is_named_set_aside_and_played_again(hundred, tmp_path, capsys, harm):
    assert play(tmp_path, "deals=100", "compact=false") == 0
    run = run_in(tmp_path)
    name = next(iter(read_manifest(run).live))
    data = bytearray((run / name).read_bytes())
    if harm == "truncated":
        (run / name).write_bytes(data[: len(data) // 2])
    elif harm == "flipped":
        data[len(data) // 2] ^= 0x10
        (run / name).write_bytes(data)
    else:
        (run / name).unlink()
    capsys.readouterr()
    assert verify([str(run)]) == 1
    out = capsys.readouterr().out
    assert f"damaged: {name}" in out and out.splitlines()[-1].startswith("hash: ")
    assert experiment("round_robin", [*GAMES[:2], f"results_dir={tmp_path}", "deals=100", "display=plain"]) == 0
    assert f"{name}: " in capsys.readouterr().out
    manifest = read_manifest(run)
    assert [line["aside"] for line in manifest.aside] == [name]
    assert any(line["reason"] == "damaged" for line in manifest.live.values())
    assert content(tmp_path) == hundred
    assert (run / "aside").exists() == (harm != "gone")


def test_forced_games_are_played_again(hundred, tmp_path):
    assert play(tmp_path, "deals=100") == 0
    assert play(tmp_path, "deals=100", "force=true", "compact=false") == 0
    assert {line["reason"] for line in read_manifest(run_in(tmp_path)).live.values()} == {"forced"}
    assert content(tmp_path) == hundred


def test_optional_datasets_can_be_added_later_and_are_the_same(tmp_path):
    assert play(tmp_path / "later", "deals=12") == 0
    assert play(tmp_path / "later", "deals=20", "moves=true") == 0
    assert play(tmp_path / "later", "deals=20", "moves=true", "decisions=true", "batch=3") == 0
    assert play(tmp_path / "at_once", "deals=20", "moves=true", "decisions=true") == 0
    hashes = [audit(open_run(run_in(tmp_path / name))).hashes for name in ("later", "at_once")]
    assert hashes[0] == hashes[1] and set(hashes[0]) == {"games", "decisions", "moves"}


def test_a_second_driver_is_refused_and_a_dead_ones_lease_does_not_block(tmp_path, capsys):
    assert play(tmp_path, "deals=5") == 0
    run = run_in(tmp_path)
    lease = Lease(run)
    capsys.readouterr()
    assert play(tmp_path, "deals=6") == 2
    refused(capsys, str(os.getpid()), os.uname().nodename)
    lease.release()
    sleeper = subprocess.Popen([sys.executable, "-c", "pass"])
    sleeper.wait()
    left = lease.data | {"pid": sleeper.pid, "start": 1, "released": False}
    (run / "lease.json").write_text(json.dumps(left))
    assert play(tmp_path, "deals=6") == 0
    assert json.loads((run / "lease.json").read_text())["number"] > left["number"]


def test_a_superseded_writer_stops_before_it_renames(tmp_path, monkeypatch, capsys):
    from experiments import store

    opened = store.Store._open

    def overtaken(self, data):
        opened(self, data)
        other = json.loads((self.folder / "lease.json").read_text())
        (self.folder / "lease.json").write_text(json.dumps(other | {"token": "another", "number": other["number"] + 1, "pid": 7}))

    monkeypatch.setattr(store.Store, "_open", overtaken)
    assert play(tmp_path, "deals=5") == 1
    refused(capsys, "taken over by process 7")
    assert not list(run_in(tmp_path).glob("games/*"))


def test_a_deadline_stops_the_run_in_time(tmp_path, capsys):
    assert play(tmp_path, "deals=5", f"stop_at={time.time() + 1}") == 75
    assert "the same command continues" in capsys.readouterr().out
    assert play(tmp_path, "deals=5", f"stop_at={time.time() + 3600}") == 0


def test_a_full_disk_ends_the_run_and_leaves_no_half_written_shard(tmp_path, capsys):
    disk = tmp_path / "disk"
    disk.mkdir()
    if (
        os.geteuid()
        or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "lab-test", disk], capture_output=True).returncode
    ):
        pytest.skip("a small disk cannot be mounted here")
    try:
        assert play(disk, "deals=3000", "batch=100", "compact=false") == 1
        refused(capsys, "the disk is full", str(disk))
        run = run_in(disk)
        live = read_manifest(run).live
        files = {path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file() and path.parent.name == "games"}
        assert files == set(live)
        found = audit(open_run(run))
        assert not found.damaged and not found.problems and found.missing
        moved = tmp_path / "roomy"
        shutil.copytree(disk, moved)
    finally:
        subprocess.run(["umount", disk], check=True)
    assert play(moved, "deals=3000") == 0
    assert audit(open_run(run_in(moved))).complete


@pytest.fixture(scope="module")
def engines(tmp_path_factory) -> dict[str, Path]:
    """Copies of the engine: one with a comment more, one that counts a turn too many."""
    copies = {}
    for name, file, old, new in (
        ("comment", "score.py", '"""', '# another comment\n"""'),
        ("constant", "game.py", "row.turns = s.turn", "row.turns = s.turn + 1"),
    ):
        root = tmp_path_factory.mktemp(name)
        for package in ("ttr", "conf", "experiments"):
            shutil.copytree(ROOT / package, root / package, ignore=shutil.ignore_patterns("__pycache__"))
        path = root / "ttr" / file
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))
        copies[name] = root
    return copies


def test_a_changed_comment_goes_on_and_a_changed_constant_is_refused(engines, tmp_path):
    small = ["agents=[greedy,random]", "cluster=serial", "display=plain", f"results_dir={tmp_path}"]

    def with_engine(name: str, *more: str) -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", "experiments.round_robin", *small, *more]
        environment = {key: value for key, value in os.environ.items() if key not in ("NUMBA_CACHE_DIR", "TTR_OWN_CACHE")}
        return subprocess.run(command, cwd=engines[name], env=environment, capture_output=True, text=True)

    assert experiment("round_robin", [*small, "deals=10"]) == 0
    run = run_in(tmp_path)
    before = (run / "manifest.jsonl").read_bytes()
    changed = with_engine("constant", "deals=12")
    assert changed.returncode == 2 and changed.stderr.count("\n") == 1, changed.stderr
    matchup = open_run(run).planned
    assert any(f"game {m.id}/0/0" in changed.stderr for m in matchup) and "turns was" in changed.stderr
    assert (run / "manifest.jsonl").read_bytes() == before
    gone_on = with_engine("comment", "deals=12")
    assert gone_on.returncode == 0, gone_on.stderr
    assert "played again and are the same" in gone_on.stdout
    state = status(open_run(run))
    assert state["several_engines"] and state["complete"]
    fresh = with_engine("constant", "deals=12", "fresh=true")
    assert fresh.returncode == 0 and fresh.stdout.splitlines()[-1] == f"{run}-2"


def test_the_deals_of_an_engine_check_are_deal_0_and_eight_others(tmp_path):
    assert play(tmp_path, "deals=100") == 0
    chosen = engine_check.chosen_deals(open_run(run_in(tmp_path)))
    assert all(deals[0] == 0 and 8 <= len(deals) <= 9 for deals in chosen.values()) and len(chosen) == 6


def test_an_edited_ticket_is_another_run(tmp_path):
    board = tmp_path / "yang"
    shutil.copytree(ROOT / "ttr" / "boards" / "yang", board)
    small = ["agents=[greedy,random]", "cluster=serial", "display=none", "deals=2"]
    assert experiment("round_robin", [*small, f"results_dir={tmp_path / 'named'}"]) == 0
    assert experiment("round_robin", [*small, f"results_dir={tmp_path / 'copied'}", f"map={board}"]) == 0
    assert run_in(tmp_path / "named").name == run_in(tmp_path / "copied").name  # the content counts, not the name
    tickets = (board / "tickets.csv").read_text().splitlines()
    column = tickets[0].split(",").index("points")
    fields = tickets[1].split(",")
    fields[column] = str(int(fields[column]) + 1)
    (board / "tickets.csv").write_text("\n".join([tickets[0], ",".join(fields), *tickets[2:]]) + "\n")
    assert experiment("round_robin", [*small, f"results_dir={tmp_path / 'edited'}", f"map={board}"]) == 0
    assert run_in(tmp_path / "edited").name != run_in(tmp_path / "named").name
