"""One SLURM for all tests of a session, and what a person does with it."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from slurm import queue
from slurm.jobs import Job, jobs_folder, jobs_of
from slurm.queue import JobState
from tests.slurm.sandbox import Sandbox, wait_until, why_not

PROJECT = Path(__file__).parents[2]
AGENTS = "agents=[tests/slurm/agents.py:patient]"
PATIENCE = 900  # seconds until a job counts as stuck: other work on the machine slows it down


class Site:
    """A cluster, a folder for results, and the command line."""

    def __init__(self, sandbox: Sandbox, folder: Path):
        self.sandbox, self.folder = sandbox, folder
        self.tmp = folder / "t"  # the nodes' own disk

    def python(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """A command of the project, as typed in its folder."""
        return subprocess.run(
            [sys.executable, "-m", *words],
            cwd=PROJECT,
            env=self.sandbox.environment | environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )

    def words(self, name: str, deals: int, seed: int = 1) -> list[str]:
        """A sweep of two matchups whose games last as long as TEST_PATIENCE says."""
        sweep = ["experiments.sweep", AGENTS, "opponents=[random]", "sweep.grid.rules.cars=[10,12]", "batch=1"]
        return [*sweep, f"deals={deals}", f"seed={seed}", f"results_dir={self.folder / name}"]

    def submit(self, words: list[str], patience: float = 0.0, **settings: object) -> tuple[Path, list[Job]]:
        """slurm.submit with small nodes; the run folder and the new jobs."""
        chosen = {"nodes": 3, "cpus": 1, "time": "10", "tmp": self.tmp} | settings
        more = [f"slurm.{name}={value}" for name, value in chosen.items()]
        done = self.python("slurm.submit", *words, *more, TEST_PATIENCE=str(patience))
        assert done.returncode == 0, done.stderr
        run = Path(re.search(r"^run: (.*)$", done.stdout, re.MULTILINE).group(1))  # type: ignore[union-attr]
        numbers = re.findall(r"^job (\d+):", done.stdout, re.MULTILINE)
        return run, [job for job in jobs_of(run) if job.job in numbers]

    def serial_hash(self, deals: int, seed: int = 1) -> str:
        """The content hash of the same sweep on this machine, without Ray."""
        words = self.words(f"serial-{deals}", deals, seed)  # a run of more deals would stay one
        done = self.python(*words, "cluster=serial", "display=none")
        assert done.returncode == 0, done.stderr
        return self.hash(Path(done.stdout.splitlines()[-1]))

    def hash(self, run: Path) -> str:
        """What experiments.verify says of a run; it must be sound."""
        done = self.python("experiments.verify", str(run))
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.splitlines()[-1]

    def state(self, job: Job) -> JobState:
        """The job's state now."""
        return queue.states([job.job])[job.job][0]

    def wait(self, *jobs: Job) -> list[JobState]:
        """Until jobs are over; their states, one for each slice of an array."""

        def over() -> bool:
            return all(state.over for job in jobs for state in queue.states([job.job])[job.job])

        wait_until(over, PATIENCE, f"jobs {[job.job for job in jobs]} to be over", 0.5)
        return [state for job in jobs for state in queue.states([job.job])[job.job]]

    def wait_for_games(self, run: Path, job: Job) -> None:
        """Until some games are stored."""
        stored = lambda: any(run.glob("**/games/*.parquet")) or self.state(job).over  # noqa: E731
        wait_until(stored, PATIENCE, "the first games", 0.2)
        assert not self.state(job).over, self.log(run, job)

    def log(self, run: Path, job: Job) -> str:
        """A job's log."""
        return (jobs_folder(run) / f"{job.job}.log").read_text()

    def left_behind(self, job: Job) -> list[str]:
        """Processes and folders of a job that is over."""
        processes = [f"process {pid}" for pid in self.sandbox.processes(f"SLURM_JOB_ID={job.job}")]
        return processes + [str(path) for path in self.tmp.glob(f"*{job.job}-*")]


@pytest.fixture(scope="session")
def site():
    """A SLURM of three nodes, taken down at the end with nothing left."""
    reason = why_not()
    if reason:
        pytest.skip(reason)
    folder = Path(tempfile.mkdtemp(prefix="sl", dir="/tmp"))  # short: sockets lie below
    sandbox = Sandbox(folder / "slurm")
    before = os.environ.get("SLURM_CONF")
    try:
        sandbox.start()
    except RuntimeError as error:
        shutil.rmtree(folder, ignore_errors=True)
        pytest.skip(" ".join(str(error).split())[:300])
    os.environ["SLURM_CONF"] = str(sandbox.conf)
    try:
        subprocess.run([sys.executable, "-m", "ttr.warm", "random"], cwd=PROJECT, check=True, stdout=subprocess.DEVNULL)
        yield Site(sandbox, folder)
    finally:
        left = sandbox.stop()
        os.environ.pop("SLURM_CONF")
        if before is not None:
            os.environ["SLURM_CONF"] = before
        shutil.rmtree(folder, ignore_errors=True)
    assert left == []
