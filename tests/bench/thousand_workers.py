"""The driver and a thousand workers: how busy it keeps them, by simulation.

The driver is the real one, with its planner, its store and its display; the workers are stand-ins. A task given to one of them
takes a virtual time: the length of a batch, with the jitter that games have. The clock is the driver's own CPU time, plus what
Ray takes for each task, plus the time in which the driver waits: as if it had a core to itself. What the stand-ins need to make
up their rows is taken off.
"""

import heapq
import json
import resource
import tempfile
import time
from collections import deque
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from omegaconf import OmegaConf

import experiments.driver
from experiments.config import compose_config, settings_of, spec_of
from experiments.driver import IN_FLIGHT
from experiments.executor import Outcome
from experiments.game import load_game
from experiments.plan import make_plan
from experiments.ray_cluster import RayExecutor
from experiments.worker import Played, Task, play
from tests.bench.measure import row

WORKERS = 1000
RAY_SECONDS = 0.003  # what Ray takes for a task, where it is not measured
JITTER = 0.3  # standard deviation of a task's length, as part of it
GAMES_PER_SECOND = 2.0  # of a worker: a search of 30,000 iterations on the small map
LENGTHS = (1.0, 2.0, 5.0, 10.0)  # seconds of a batch
ROUNDS = 8  # batches for every worker


class StandIns:
    """An executor of workers that only pass the time."""

    def __init__(self, workers: int, batch_seconds: float, ray_seconds: float):
        self.workers, self.batch_seconds, self.ray_seconds = workers, batch_seconds, ray_seconds
        self._random = np.random.default_rng(1)
        self._free = [0.0] * workers  # when each worker is free
        self._arrivals: list[tuple[float, int, Any, Task]] = []  # by time
        self._template: pa.Table | None = None
        self._start, self._aside, self._extra = time.process_time(), 0.0, 0.0
        self._count = 0
        self.spans: list[tuple[float, float]] = []  # of every task
        self.memory: deque[int] = deque()

    def now(self) -> float:
        """The virtual time."""
        return time.process_time() - self._start - self._aside + self._extra

    def warm(self, game: str, identities: Any) -> float:
        """Nothing is to be compiled."""
        return 0.0

    def submit(self, key: Any, task: Task) -> None:
        """The worker that is free first takes the task; it cannot start before now."""
        self._extra += self.ray_seconds
        begin = max(self.now(), heapq.heappop(self._free))
        length = self.batch_seconds * max(0.1, 1 + JITTER * self._random.standard_normal())
        heapq.heappush(self._free, begin + length)
        heapq.heappush(self._arrivals, (begin + length, self._count, key, task))
        self.spans.append((begin, begin + length))
        self._count += 1
        if self._count % self.workers == 0:
            self.memory.append(int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize())

    def collect(self, timeout: float) -> list[Outcome]:
        """What has arrived by now; if nothing has, the clock moves on to the next arrival."""
        if not self._arrivals:
            return []
        if self._arrivals[0][0] > self.now():
            self._extra += min(timeout, self._arrivals[0][0] - self.now())
        found = []
        now = self.now()
        while self._arrivals and self._arrivals[0][0] <= now:
            _, _, key, task = heapq.heappop(self._arrivals)
            before = time.process_time()
            found.append(Outcome(key, played=Played({"games": self._rows(task)}, self.batch_seconds, 100.0)))
            self._aside += time.process_time() - before
        return found

    def _rows(self, task: Task) -> pa.Table:
        """Rows of the right kind: the first game that was ever played, under every deal asked for."""
        if self._template is None:
            self._template = play(Task(task.matchup, task.seed, np.arange(1), ("games",))).tables["games"]
        deals = len(task.deals)
        table = self._template.take(np.tile(np.arange(len(self._template)), deals))
        column = pa.array(np.repeat(np.asarray(task.deals), len(self._template))).cast(table.schema.field("deal").type)
        return table.set_column(table.schema.get_field_index("deal"), "deal", column)

    def close(self) -> None:
        """All that is still flying is forgotten."""
        self._arrivals.clear()


def seconds_of_ray(flying: int = IN_FLIGHT * WORKERS) -> float:
    """CPU seconds of a driver for one task on a real Ray, with so many tasks handed out: submitting, waiting, taking back."""
    import ray

    config = compose_config("sweep", ["agents=[greedy]", "opponents=[random]", "deals=2"])
    matchup = json.dumps(make_plan(spec_of(config)).matchups[0].data()).encode()
    task = Task(matchup, 1, np.arange(2), ("games",))
    answer = play(task)
    executor = RayExecutor(settings_of(config).cluster)
    try:
        executor._play = ray.remote(num_cpus=1, max_retries=0)(lambda _: answer)
        executor.submit(-1, task)
        while not executor.collect(1.0):  # the first one waits for a worker to start
            pass
        start = time.process_time()
        for number in range(flying):
            executor.submit(number, task)
        done, sent = 0, flying
        while done < flying:
            found = len(executor.collect(0.2))
            done += found
            for _ in range(found):
                executor.submit(sent, task)
                sent += 1
        return (time.process_time() - start) / done
    finally:
        executor.close()


def simulate(
    batch_seconds: float, workers: int = WORKERS, rounds: int = ROUNDS, ray_seconds: float = RAY_SECONDS
) -> dict[str, float]:
    """How busy workers are between the first and the last quarter of a run, the driver's memory, and its time for a task."""
    batch = max(1, int(batch_seconds * GAMES_PER_SECOND / 2))
    matchups = 20
    deals = rounds * workers * batch // matchups
    with tempfile.TemporaryDirectory() as folder:
        words = ["agents=[base]", "opponents=[random]", f"sweep.grid.rules.cars={list(range(6, 6 + matchups))}", f"deals={deals}"]
        config = compose_config("sweep", [*words, f"batch={batch}", "display=none", "compact=false", f"results_dir={folder}"])
        plan, settings = make_plan(spec_of(config)), settings_of(config)
        load_game(plan.spec.game)
        stand_ins = StandIns(workers, batch_seconds, ray_seconds)
        clock = SimpleNamespace(monotonic=stand_ins.now, time=time.time, strftime=time.strftime, gmtime=time.gmtime)
        with (
            patch.object(experiments.driver, "make_executor", lambda cluster: stand_ins),
            patch("experiments.driver.time", clock),
            patch("experiments.store.time", clock),
            patch("experiments.progress.time", clock),
        ):
            data: Any = OmegaConf.to_container(config, resolve=True)
            result = experiments.driver.drive(plan, data, settings)
        assert result.exit_code == 0 and result.games == plan.games
    ends = sorted(end for _, end in stand_ins.spans)
    low, high = ends[len(ends) // 4], ends[3 * len(ends) // 4]
    busy = sum(max(0.0, min(end, high) - max(begin, low)) for begin, end in stand_ins.spans)
    memory = list(stand_ins.memory)
    return {
        "busy": 100 * busy / (workers * (high - low)),
        "growth_mb": (memory[-1] - memory[len(memory) // 2]) / 1e6,
        "tasks": len(ends),
    }


def rows(step: float) -> list[dict[str, Any]]:
    """Busy workers for several lengths of a batch, the shortest length that is enough, and what the driver's memory grows by."""
    ray_seconds = seconds_of_ray()
    found = {length: simulate(length, ray_seconds=ray_seconds) for length in LENGTHS}
    rows = [row(f"simulated_workers_busy_percent/batches of {length:g} s", one["busy"], "%") for length, one in found.items()]
    enough = [length for length, one in found.items() if one["busy"] >= 95]
    best = enough[0] if enough else LENGTHS[-1]
    return [
        *rows,
        row("ray_ms_per_task", 1000 * ray_seconds, "ms"),
        row("thousand_workers_busy_percent", found[best]["busy"], "%"),
        row("thousand_workers_batch_s", best, "s"),
        row("thousand_workers_memory_growth_mb", found[best]["growth_mb"], "MB"),
    ]
