"""The store's parts: sets of deals, manifests, leases, hashes, compaction, lazy plans, and quick answers about many shards."""

import json
import os
import socket
import subprocess
import sys
import time
import tracemalloc
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments import compaction
from experiments.audit import audit
from experiments.batches import Batch, BatchSource, Calibration
from experiments.command import experiment
from experiments.content_hash import ContentHash, canonical, digest
from experiments.deal_set import DealSet, as_ranges
from experiments.lease import STALE, Lease, Superseded, holder
from experiments.manifest import append_line, read_manifest
from experiments.reading import open_run, slice_deals
from experiments.refusal import Refusal
from experiments.slices import overlap
from experiments.status import status
from experiments.store import Segment

ranges = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 20), st.integers(1, 5)), max_size=6).map(
    lambda found: [[start, start + length, step] for start, length, step in found]
)


def plain(found) -> set[int]:
    return {deal for start, stop, step in found for deal in range(start, stop, step)}


@given(ranges, ranges)
@settings(max_examples=200, deadline=None)
def test_sets_of_deals_are_sets(a, b):
    first, second = DealSet.of(a), DealSet.of(b)
    assert set(first.deals().tolist()) == plain(a) and len(first) == len(plain(a))
    for made, wanted in (
        (first | second, plain(a) | plain(b)),
        (first & second, plain(a) & plain(b)),
        (first - second, plain(a) - plain(b)),
    ):
        assert made.deals().tolist() == sorted(wanted)
        assert bool(made) == bool(wanted)
    assert all((deal in first) == (deal in plain(a)) for deal in range(70))
    assert DealSet.of(as_ranges(first.deals())) == first
    assert np.concatenate([*first.chunks(), np.zeros(0, np.int64)]).tolist() == sorted(plain(a))
    gap = next(deal for deal in range(99) if deal not in plain(a))
    assert first.prefix() == gap
    assert first.below(10).deals().tolist() == sorted(deal for deal in plain(a) if deal < 10)


def test_a_slice_is_one_range_and_slices_share_deals_as_computed():
    assert as_ranges(slice_deals(1000, "3/8").deals()) == [[2, 995, 8]]
    for n in range(1, 7):
        for m in range(1, 7):
            for i in range(1, n + 1):
                for j in range(1, m + 1):
                    shared = set(range(i - 1, 60, n)) & set(range(j - 1, 60, m))
                    assert overlap(f"{i}/{n}", f"{j}/{m}") == bool(shared)
    for wrong in ("0/4", "5/4", "x", "1", "1/0", "-1/4", "1/4/2"):
        with pytest.raises(Refusal):
            slice_deals(10, wrong)


def test_a_plan_of_a_million_batches_is_never_listed():
    segments = [Segment(f"m{i}", DealSet.of([[0, 100_000, 1]]), ("games",), "new") for i in range(20)]
    tracemalloc.start()
    source = BatchSource(segments, {s.matchup: 2 for s in segments}, Calibration(2.0, fixed=1))
    firsts = [source.next() for _ in range(40)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert source.games_left == 20 * 100_000 * 2 - 40 * 2 and peak < 1_000_000
    assert [batch.matchup for batch in firsts if batch] == [f"m{i}" for i in range(20)] * 2
    lost = firsts[3]
    assert isinstance(lost, Batch)
    source.give_back(lost)
    again = source.next()
    assert again and again.losses == 1 and again.deals.tolist() == lost.deals.tolist()


def test_batches_hold_every_missing_deal_once_whatever_their_size():
    wanted = DealSet.of([[0, 1000, 3], [500, 700, 1]])
    calibration = Calibration(1.0)
    source = BatchSource([Segment("m", wanted, ("games",), "new")], {"m": 2}, calibration)
    seen = []
    sizes = []
    while (batch := source.next()) is not None:
        seen += batch.deals.tolist()
        sizes.append(len(batch.deals))
        calibration.learn("m", len(batch.deals), 0.01 * len(batch.deals))
    assert sorted(seen) == wanted.deals().tolist() and len(set(seen)) == len(seen)
    assert sizes[0] == 1 and max(sizes) == 100 and all(b <= 8 * a for a, b in pairwise(sizes))


def table(matchups, deals, scores, seconds) -> pa.Table:
    columns = {"matchup": matchups, "deal": pa.array(deals, pa.int64()), "score": pa.array(scores, pa.float32())}
    return pa.table(columns | {"seconds": pa.array(seconds, pa.float32())})


def hash_of(*tables: pa.Table) -> str:
    content = ContentHash(tables[0].schema, {"seconds"})
    for one in tables:
        content.update(one)
    return content.hexdigest()


def test_the_hash_is_of_the_content_alone():
    whole = table(["a", "a", "a"], [0, 1, 2], [1.5, None, 3], [1, 2, 3])
    chunked = pa.concat_tables([whole.slice(0, 1), whole.slice(1)])
    encoded = whole.set_column(0, "matchup", whole.column("matchup").dictionary_encode())
    slower = whole.set_column(3, "seconds", pa.array([9, 9, 9], pa.float32()))
    assert len({hash_of(one) for one in (whole, chunked, slower)}) == 1
    assert [hash_of(encoded.cast(whole.schema))] == [hash_of(whole)]
    others = [
        table(["a", "a", "b"], [0, 1, 2], [1.5, None, 3], [1, 2, 3]),
        table(["a", "a", "a"], [0, 1, 3], [1.5, None, 3], [1, 2, 3]),
        table(["a", "a", "a"], [0, 1, 2], [1.5, 0, 3], [1, 2, 3]),  # zero is not null
        table(["a", "a", "a"], [0, 2, 1], [1.5, None, 3], [1, 2, 3]),
        whole.set_column(1, "deal", pa.array([0, 1, 2], pa.int32())),
        whole.rename_columns(["matchup", "deal", "points", "seconds"]),
    ]
    assert len({hash_of(one) for one in [whole, *others]}) == 1 + len(others)
    texts = [pa.table({"x": ["ab", "c"], "seconds": [0, 0]}), pa.table({"x": ["a", "bc"], "seconds": [0, 0]})]
    assert hash_of(texts[0]) != hash_of(texts[1])


def test_equal_data_have_equal_digests():
    assert canonical({"b": 1, "a": [1, "ü"]}) == '{"a":[1,"ü"],"b":1}'
    assert digest({"b": 1, "a": 2}) == digest({"a": 2, "b": 1}) != digest({"a": 2, "b": 2})
    with pytest.raises(ValueError):
        canonical({"a": float("nan")})


def test_a_torn_last_line_does_not_count(tmp_path):
    facts = {"engine": "e", "rows": 5, "bytes": 9, "sha256": "f", "reason": "new", "time": "2026"}
    line = {"shard": "games/1.parquet", "dataset": "games", "deals": {"m": [[0, 5, 1]]}} | facts
    append_line(tmp_path, line)
    with open(tmp_path / "manifest.jsonl", "a") as file:
        file.write('{"shard": "games/2.par')
    manifest = read_manifest(tmp_path)
    assert list(manifest.live) == ["games/1.parquet"] and len(manifest.coverage()["m"]) == 5
    (tmp_path / "manifest.jsonl").write_text("nonsense\n")
    with pytest.raises(Refusal, match="line 1"):
        read_manifest(tmp_path)


def test_a_lease_elsewhere_is_stale_after_a_minute_of_silence(tmp_path):
    lease = Lease(tmp_path)
    lease.check()
    assert holder(tmp_path) and lease.number == 1
    with pytest.raises(Refusal, match=str(os.getpid())):
        Lease(tmp_path)
    path = tmp_path / "lease.json"
    elsewhere = lease.data | {"host": "another-host", "heartbeat": time.time() - STALE / 2}
    path.write_text(json.dumps(elsewhere))
    assert holder(tmp_path)
    with pytest.raises(Refusal, match="another-host"):
        Lease(tmp_path)
    path.write_text(json.dumps(elsewhere | {"heartbeat": time.time() - STALE - 1}))
    assert holder(tmp_path) is None
    second = Lease(tmp_path)
    assert second.number == 2
    with pytest.raises(Superseded, match=socket.gethostname()):
        lease.check() if lease.data["token"] != second.data["token"] else None
    second.release()
    assert holder(tmp_path) is None
    lease.release()
    assert json.loads(path.read_text())["number"] == 2


def test_a_process_number_used_again_is_not_the_old_writer(tmp_path):
    lease = Lease(tmp_path)
    lease.release()
    (tmp_path / "lease.json").write_text(json.dumps(lease.data | {"start": 1, "released": False}))
    assert holder(tmp_path) is None


def test_compaction_keeps_the_content_in_few_files(tmp_path, monkeypatch):
    words = ["agents=[greedy,random]", "cluster=serial", "display=none", "deals=20", "batch=1", f"results_dir={tmp_path}"]
    monkeypatch.setattr("experiments.store.GATHER_SECONDS", 0)
    monkeypatch.setattr(compaction, "PIECE_ROWS", 32)
    assert experiment("round_robin", [*words, "compact=false"]) == 0
    (folder,) = tmp_path.iterdir()
    before = audit(open_run(folder))
    assert len(open_run(folder).manifest.live) == 60 and before.complete
    monkeypatch.setattr(compaction, "FILE_BYTES", 1_000_000)
    assert experiment("round_robin", words) == 0
    run = open_run(folder)
    assert len(run.manifest.live) < 15 and len(list(folder.glob("games/*"))) == len(run.manifest.live)
    after = audit(run)
    assert after.complete and after.hashes == before.hashes
    assert {name: len(deals) for name, deals in run.coverage().items()} == {m.id: 20 for m in run.planned}


def test_ten_thousand_shards_answer_within_a_second(tmp_path):
    words = ["agents=[greedy,random]", "cluster=serial", "display=none", "deals=2", f"results_dir={tmp_path}"]
    assert experiment("round_robin", words) == 0
    (folder,) = tmp_path.iterdir()
    data = json.loads((folder / "run.json").read_text())
    names = [m["id"] for m in data["matchups"]]
    (folder / "run.json").write_text(json.dumps(data | {"deals": 10_000 * 8}))
    with open(folder / "manifest.jsonl", "w") as file:
        for i in range(10_000):
            (folder / "games" / f"x{i}.parquet").touch()
            deals = {name: [[8 * i, 8 * i + 8, 1]] for name in names}
            line = {"shard": f"games/x{i}.parquet", "dataset": "games", "deals": deals, "rows": 40, "bytes": 0, "sha256": "0" * 64}
            file.write(json.dumps(line | {"engine": "e", "reason": "new", "time": "2024", "host": "h"}) + "\n")
    start = time.process_time()
    state = status(open_run(folder))
    assert time.process_time() - start < 1.0
    assert state["complete"] and state["shards"] == 10_000
    command = [sys.executable, "-m", "experiments.status", str(folder), "--json"]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(answer.stdout)["expected"] == state["expected"]


def test_the_serial_driver_does_not_import_ray(tmp_path):
    script = (
        "import sys; from experiments.round_robin import main;"
        f"code = main(['agents=[greedy]', 'cluster=serial', 'display=none', 'deals=1', 'results_dir={tmp_path}']);"
        "assert code == 0 and 'ray' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
