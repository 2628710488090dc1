"""A run in the queue, followed to its end: the state of its jobs and the games played so far, a line whenever they change."""

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from experiments.reading import open_run
from experiments.refusal import Refusal
from experiments.status import status
from slurm import queue
from slurm.jobs import Job, log_files
from slurm.queue import JobState

PAUSE = 5.0  # seconds between two looks
FORGOTTEN = 60.0  # seconds that a job may be unknown before it counts as lost: accounting lags behind


def progress(run: Path) -> dict[str, Any] | None:
    """The state of a run, games of its slices counted in; None before its first start."""
    try:
        data = status(open_run(run))
    except Refusal:
        return None
    played = data["games"] + sum(one["games"] for one in data["slices"].values())
    return data | {"played": min(played, data["expected"])}


def state_line(state: JobState) -> str:
    """A job's state for a person."""
    parts = [f"job {state.job}: {state.state}"]
    if state.state == "PENDING" and state.reason:
        parts.append(f"({state.reason})")
    if state.nodes:
        parts.append(f"on {state.nodes}")
    if state.restarts:
        parts.append(f"start {state.restarts + 1}")
    if state.state == "RUNNING" and state.end not in ("", "Unknown", "N/A"):
        parts.append(f"until {state.end.replace('T', ' ')}")
    if state.over and state.code:
        parts.append(f"exit code {state.code}")
    return " ".join(parts)


def follow(run: Path, jobs: Sequence[Job], say: Callable[[str], None] = print, pause: float = PAUSE) -> int:
    """Says what changes until all jobs are over; returns 0, or the worst exit code. Ctrl-C stops the following only."""
    said: dict[str, str] = {}
    last_fraction = -1.0
    unknown_since: float | None = None
    try:
        while True:
            found = queue.states([job.job for job in jobs])
            flat = [state for states in found.values() for state in states]
            for state in flat:
                line = state_line(state)
                if said.get(state.job) != line:
                    said[state.job] = line
                    say(line)
            data = progress(run)
            if data and (data["played"] - last_fraction * data["expected"] >= 0.02 * data["expected"]):
                last_fraction = data["played"] / max(1, data["expected"])
                say(f"{data['played']:,} of {data['expected']:,} games ({last_fraction:.0%})")
            if all(found.values()) and all(state.over for state in flat):
                break
            if not all(found.values()):
                unknown_since = unknown_since or time.monotonic()
                if time.monotonic() - unknown_since > FORGOTTEN:
                    say("SLURM does not know the job any more; python -m experiments.status shows what was played")
                    return 1
            sys.stdout.flush()
            time.sleep(pause)
    except KeyboardInterrupt:
        say(f"the jobs go on; python -m slurm.status {run} shows how far")
        return 130
    code = max((state.code or 0 for state in flat), default=1)
    if code:
        for log in (path for job in jobs for path in log_files(run, job)):
            lines = log.read_text(errors="replace").splitlines() if log.exists() else []
            say("\n".join([f"{log} ends with:", *lines[-5:]]))
    return code
