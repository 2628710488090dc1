"""The jobs of a run: RUN/slurm holds, for each, its record (17.json), its script (17.sh) and its log (17.log, or 17_3.log).

The files of one job share its number; nobody else needs to know their names.
"""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from slurm.settings import SlurmError

FOLDER = "slurm"
PLAYS, MERGES = "plays", "merges"


@dataclass(frozen=True)
class Job:
    """A job as it was queued."""

    job: str
    kind: str  # plays, or merges
    command: list[str]
    nodes: int
    slices: int  # 0 for one job over all nodes
    queued: str  # when


def jobs_folder(run: Path) -> Path:
    """Where the files of a run's jobs lie."""
    return run / FOLDER


def make_folder(run: Path) -> Path:
    """The folder for a run's jobs, made if need be; refuses where it cannot be written."""
    folder = jobs_folder(run)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise SlurmError(f"results cannot be written to {run}: {error.strerror}; choose another folder with results_dir=") from None
    return folder


def keep(run: Path, job: Job, script: str) -> None:
    """Writes a job's record and script."""
    folder = jobs_folder(run)
    (folder / f"{job.job}.sh").write_text(script)
    unfinished = folder / f".{job.job}.json"
    unfinished.write_text(json.dumps(asdict(job), indent=1) + "\n")
    unfinished.replace(folder / f"{job.job}.json")


def jobs_of(run: Path) -> list[Job]:
    """The jobs of a run, the oldest first."""
    if not run.is_dir():
        raise SlurmError(f"{run}: there is no such run; python -m experiments.list shows those there are")
    found = [Job(**json.loads(path.read_text())) for path in jobs_folder(run).glob("*.json")]
    return sorted(found, key=lambda job: int(job.job))


def log_files(run: Path, job: Job) -> list[Path]:
    """The logs of a job, as far as they exist; an array has one for each slice."""
    folder = jobs_folder(run)
    slices = [folder / f"{job.job}_{k}.log" for k in range(1, job.slices + 1)]
    return [path for path in slices if path.exists()] or [folder / f"{job.job}.log"]
