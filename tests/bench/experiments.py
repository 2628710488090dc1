"""Experiments: what the driver costs beside the bare engine, what a second worker costs, how fast tasks are fed, memory, status."""

import contextlib
import io
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from experiments.command import experiment
from experiments.config import Cluster, compose_config, spec_of
from experiments.executor import Executor
from experiments.matchup import Matchup
from experiments.plan import make_plan
from experiments.ray_cluster import RayExecutor
from experiments.reading import open_run
from experiments.status import status
from experiments.worker import Task
from tests.bench.measure import row
from ttr.adapter import play_batch

CASES = {  # games as people run them: agents, deals
    "search": ("agents=[cmcts_posas,ismcts_posas]", "opponents=[base]", 60),
    "heuristics": ("agents=[hoarder,pile]", "opponents=[base]", 10_000),
}
LONG_BATCHES, LONG_DEALS, SMALL_TASKS = 12, 40, 1500


def matchups_of(*words: str) -> list[Matchup]:
    """The matchups that words of a command line name."""
    return list(make_plan(spec_of(compose_config("sweep", list(words)))).matchups)


def driver_overhead(agents: str, opponents: str, deals: int) -> tuple[float, float]:
    """CPU seconds of the bare engine, and of the serial driver with store and live rates, on the same games."""
    found = []
    for _ in range(3):
        bare = 0.0
        for m in matchups_of(agents, opponents):
            games = np.repeat(np.arange(deals), m.rotations), np.tile(np.arange(m.rotations), deals)
            play_batch(m.setup, list(m.seats), 500, games[0][:2], games[1][:2])  # the table is made
            start = time.process_time()
            play_batch(m.setup, list(m.seats), 500, *games)
            bare += time.process_time() - start
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            start = time.process_time()
            words = [agents, opponents, f"deals={deals}", "cluster=serial", "display=none", f"results_dir={folder}"]
            assert experiment("sweep", words) == 0
            found.append((bare, time.process_time() - start))
    return min(found, key=lambda pair: pair[1] / pair[0])


def played(executor: Executor, tasks: list[Task]) -> tuple[float, float]:
    """CPU seconds that workers spent on tasks, and their largest memory in MB."""
    for i, task in enumerate(tasks):
        executor.submit(i, task)
    seconds, peak, left = 0.0, 0.0, len(tasks)
    while left:
        for outcome in executor.collect(1.0):
            assert outcome.played
            seconds += outcome.played.seconds
            peak = max(peak, outcome.played.peak_mb)
            left -= 1
    return seconds, peak


def fed(executor: Executor, task: Task, count: int) -> tuple[float, float]:
    """CPU seconds of this process for each small task, and by how many MB it grew."""
    before, start, flying, left = memory_mb(), time.process_time(), 0, count
    while left or flying:
        while left and flying < 6:
            executor.submit(left, task)
            left, flying = left - 1, flying + 1
        flying -= len(executor.collect(1.0))
    return (time.process_time() - start) / count, memory_mb() - before


def memory_mb() -> float:
    """What this process holds in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def many_shards(folder: Path) -> float:
    """CPU seconds of `status` on a run of 10,000 shards."""
    words = ["agents=[greedy]", "cluster=serial", "display=none", "deals=1", f"results_dir={folder}"]
    with contextlib.redirect_stdout(io.StringIO()):
        assert experiment("round_robin", words) == 0
    (run,) = folder.iterdir()
    (name,) = (m.id for m in open_run(run).planned)
    with open(run / "manifest.jsonl", "w") as file:
        for i in range(10_000):
            (run / "games" / f"x{i}.parquet").touch()
            line = {"shard": f"games/x{i}.parquet", "dataset": "games", "deals": {name: [[8 * i, 8 * i + 8, 1]]}, "rows": 8}
            more = {"bytes": 0, "sha256": "", "engine": "e", "reason": "new", "time": "", "host": ""}
            file.write(json.dumps(line | more) + "\n")
    start = time.process_time()
    assert status(open_run(run))["shards"] == 10_000
    return time.process_time() - start


def rows(step: float) -> list[dict[str, Any]]:
    """All rows."""
    result = []
    overheads = {}
    for name, case in CASES.items():
        bare, driven = driver_overhead(*case)
        overheads[name] = 100 * (driven / bare - 1)
        result.append(row(f"driver_overhead_percent/{name}", overheads[name], "% of the bare engine's CPU time"))
    result.append(row("driver_overhead_percent", overheads["search"], "%"))
    (search,) = matchups_of("agents=[cmcts_posas]", "opponents=[base]")
    (quick,) = matchups_of("agents=[greedy]", "opponents=[random]")
    blob, small = (json.dumps(m.data()).encode() for m in (search, quick))
    long = [Task(blob, 500, np.arange(i * LONG_DEALS, (i + 1) * LONG_DEALS), ("games",)) for i in range(LONG_BATCHES)]
    spent, peaks = {}, []
    for workers in (1, 2):
        executor = RayExecutor(Cluster("local", workers, None, None))
        try:
            executor.warm("ttr.adapter", [seat["identity"] for m in (search, quick) for seat in m.seats])
            played(executor, long[:2])
            spent[workers], peak = played(executor, long)
            peaks.append(peak)
            if workers == 2:
                task = Task(small, 1, np.arange(1), ("games",))
                fed(executor, task, 200)
                seconds, growth = fed(executor, task, SMALL_TASKS)
        finally:
            executor.close()
    result.append(row("two_workers_cpu_ratio", spent[2] / spent[1], "CPU s a game, to one worker"))
    result.append(row("tasks_fed_per_s", 1 / seconds, "small tasks per CPU second of the driver"))
    result.append(row("worker_peak_mb", max(peaks), "MB"))
    result.append(row("driver_growth_mb", growth, f"MB over {SMALL_TASKS} batches"))
    with tempfile.TemporaryDirectory() as folder:
        result.append(row("status_s_10000_shards", many_shards(Path(folder)), "s"))
    return result
