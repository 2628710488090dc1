"""The driver: hands out the missing batches of a plan, a bounded number at a time, and stores what comes back.

Lost workers are tried again, broken games are not; Ctrl-C and a deadline end a run between batches, with everything stored.
"""

import json
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.batches import Batch, BatchSource, Calibration
from experiments.compaction import compact
from experiments.config import Settings
from experiments.engine_check import check_engine, engine_facts
from experiments.executor import Executor, make_executor, require_cluster
from experiments.game import load_game
from experiments.matchup import Matchup
from experiments.plan import Plan
from experiments.progress import Progress
from experiments.reading import Run, open_run, slice_deals
from experiments.refusal import LATER, Failure, Refusal
from experiments.run_file import FILE, read_run, run_data, write_run
from experiments.slices import refuse_conflicts, slice_folder
from experiments.store import Segment, Store, opening
from experiments.worker import Played, Task

IN_FLIGHT = 3  # tasks for each worker: one playing, one waiting, one coming back
MARGIN = 5.0  # seconds kept free before a deadline
PATIENCE = 2.0  # seconds without a word


@dataclass(frozen=True)
class Result:
    """How a run ended."""

    folder: Path
    exit_code: int
    message: str
    games: int  # played now
    peak_mb: float = 0.0


def run_folder(plan: Plan, settings: Settings) -> Path:
    """The folder of a plan: the newest of several that were started fresh, or a new one beside them."""
    first = Path(settings.results_dir) / plan.folder_name
    beside = [p for p in first.parent.glob(first.name + "-*") if p.name.removeprefix(first.name + "-").isdecimal()]
    newest = max([first, *beside], key=lambda p: int(p.name.removeprefix(first.name).strip("-") or 1))
    if not settings.fresh or not (newest / FILE).exists():
        return newest
    return first.with_name(f"{first.name}-{int(newest.name.removeprefix(first.name).strip('-') or 1) + 1}")


def drive(plan: Plan, config: dict[str, Any], settings: Settings) -> Result:
    """Play everything that is missing of a plan."""
    require_cluster(settings.cluster)
    folder = run_folder(plan, settings)
    with opening(folder):
        store = open_store(folder, plan, config, settings)
    try:
        with _signals() as interrupted:
            return _Drive(plan, settings, folder, store, interrupted).run()
    finally:
        store.close()


def open_store(folder: Path, plan: Plan, config: dict[str, Any], settings: Settings) -> Store:
    """The store of a plan, or of the slice that is asked for."""
    if (folder / FILE).exists() and read_run(folder)["identity"] != plan.identity:
        raise Refusal(f"{folder} holds another configuration; nothing was changed")
    engine = load_game(plan.spec.game).engine_identity()
    refuse_conflicts(folder, settings.part)
    if not settings.part:
        return Store(folder, run_data(plan, config), engine)
    whole = run_data(plan, config)
    if not (folder / FILE).exists() or read_run(folder)["deals"] < whole["deals"]:
        write_run(folder, whole)
    return Store(slice_folder(folder, settings.part), run_data(plan, config, settings.part), engine, [folder])


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Ctrl-C and SIGTERM are noted, and looked at between batches; a second Ctrl-C interrupts at once."""
    seen: list[int] = []

    def note(number: int, _frame: Any) -> None:
        if seen:
            raise KeyboardInterrupt
        seen.append(number)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield seen
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _told_if_slow(progress: Progress, text: str) -> Iterator[None]:
    """Say what is being done, if it takes longer than a person waits without wondering."""
    timer = threading.Timer(PATIENCE, progress.say, [text])
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class _Drive:
    """One call of the driver."""

    def __init__(self, plan: Plan, settings: Settings, folder: Path, store: Store, interrupted: list[int]):
        self.plan, self.settings, self.folder, self.store = plan, settings, folder, store
        self.interrupted = interrupted
        self.matchups: dict[str, Matchup] = {matchup.id: matchup for matchup in plan.matchups}
        self.blobs = {name: json.dumps(matchup.data()).encode() for name, matchup in self.matchups.items()}
        self.calibration = Calibration(settings.batch_seconds, settings.batch)
        self.failing = 0  # lost batches in a row
        self.slowest = 0.0  # wall seconds of a batch
        self.started: dict[int, float] = {}

    def run(self) -> Result:
        """Play all that is missing; the run is as complete as it can be when this returns."""
        if self.settings.force:
            self.store.force()
        segments = self.store.missing(self.settings.datasets)
        run = open_run(self.store.folder)
        deals = slice_deals(self.store.data["deals"], self.store.data.get("slice"))
        rotations = {name: matchup.rotations for name, matchup in self.matchups.items()}
        expected = len(deals) * sum(rotations.values())
        source = BatchSource(segments, rotations, self.calibration)
        stored = expected - sum(len(s.deals) * rotations[s.matchup] for s in segments if "games" in s.datasets)
        progress = Progress(self.matchups, expected, stored, self.settings.part, self.settings.display)
        try:
            for problem in self.store.problems:
                progress.say(problem)
            if self.plan.spec.deals < self.store.data["deals"]:
                progress.say(f"this run was planned with {self.store.data['deals']:,} deals before, and all of them are played")
            if not segments:
                self._compact(progress)
                return self._result(progress, 0, f"complete: all {expected:,} games were there already")
            return self._play(run, segments, source, progress)
        finally:
            progress.close()

    def _play(self, run: Run, segments: list[Segment], source: BatchSource, progress: Progress) -> Result:
        executor = make_executor(self.settings.cluster)
        try:
            note = check_engine(run, self.matchups, self.store.engine, executor)
            if note:
                self.store.note(note | engine_facts(Path(__file__).parent))
                progress.say(f"the engine has changed; {note['checked']} stored games were played again and are the same")
            progress.count_stored(run)
            with _told_if_slow(progress, "compiling the engine and the agents: once for each version, about a minute"):
                seconds = executor.warm(self.plan.spec.game, self._identities(segments))
            if seconds > PATIENCE:
                progress.say(f"compiled in {seconds:.0f} s; later starts find it in the cache")
            progress.start_clock()
            try:
                return self._loop(executor, source, progress)
            finally:
                self.store.flush()
        finally:
            executor.close()

    def _identities(self, segments: list[Segment]) -> list[Any]:
        """One agent of every name that is to play: what must be compiled."""
        found = {}
        for name in dict.fromkeys(segment.matchup for segment in segments):
            for seat in self.matchups[name].seats:
                found[seat["text"].partition(":")[0] if "first" not in seat["identity"] else seat["text"]] = seat["identity"]
        return list(found.values())

    def _loop(self, executor: Executor, source: BatchSource, progress: Progress) -> Result:
        flying = handed_out = 0
        late = False
        while True:
            late = late or self._late()
            while not self.interrupted and not late and flying < IN_FLIGHT * executor.workers:
                batch = source.next()
                if batch is None:
                    break
                task = self._task(batch)
                self.started[handed_out] = time.monotonic()
                executor.submit((handed_out, batch), task)
                handed_out += 1
                flying += 1
            if self.interrupted or not flying:
                break
            for outcome in executor.collect(0.2):
                flying -= 1
                number, batch = outcome.key
                wall = time.monotonic() - self.started.pop(number)
                if outcome.played:
                    self.failing = 0
                    self.slowest = max(self.slowest, wall)
                    self._take(batch, outcome.played, progress)
                elif outcome.lost:
                    self._count_loss(batch, outcome.lost, progress)
                    source.give_back(batch)
                else:
                    raise Failure(f"the run ends, everything stored stays: {outcome.broken}")
            progress.tick()
        return self._ended(source, progress, late)

    def _task(self, batch: Batch) -> Task:
        return Task(self.blobs[batch.matchup], self.plan.spec.seed, batch.deals, batch.datasets, self.settings.on_error)

    def _take(self, batch: Batch, played: Played, progress: Progress) -> None:
        self.calibration.learn(batch.matchup, len(batch.deals), played.seconds)
        self.store.add(batch.matchup, {name: played.tables[name] for name in batch.datasets}, batch.reason)
        if "games" in batch.datasets:
            progress.add(batch.matchup, played.tables["games"], played.peak_mb)

    def _count_loss(self, batch: Batch, why: str, progress: Progress) -> None:
        progress.lost += 1
        self.failing += 1
        if self.failing >= self.settings.max_fails:
            raise Failure(
                f"{self.failing} batches in a row were lost with their workers ({why}); the run ends, everything stored stays"
            )
        if batch.losses >= self.settings.max_retries:
            game = f"{batch.matchup}, deals {batch.deals[0]} to {batch.deals[-1]}"
            raise Failure(f"{self.matchups[batch.matchup].title} ({game}) was lost {batch.losses + 1} times ({why}); the run ends")

    def _late(self) -> bool:
        stop_at = self.settings.stop_at
        return stop_at is not None and time.time() + 2 * self.slowest + MARGIN > stop_at

    def _ended(self, source: BatchSource, progress: Progress, late: bool) -> Result:
        self.store.flush()
        if self.interrupted:
            code = 130 if self.interrupted[0] == signal.SIGINT else 143
            return self._result(progress, code, f"stopped: {progress.line()}; the same command continues")
        if late and source.next() is not None:
            return self._result(progress, LATER, f"stopped before the deadline: {progress.line()}; the same command continues")
        self._compact(progress)
        lost = f", {progress.lost} batches lost with their workers and played again" if progress.lost else ""
        return self._result(progress, 0, f"complete: {progress.expected:,} games, {progress.played:,} of them played now{lost}")

    def _compact(self, progress: Progress) -> None:
        if self.settings.compact:
            try:
                compact(self.store)
            except Failure as failure:  # all rows are stored; only their layout is not the final one
                progress.say(f"not compacted: {failure}")

    def _result(self, progress: Progress, code: int, message: str) -> Result:
        return Result(self.store.folder, code, message, progress.played, progress.peak_mb)
