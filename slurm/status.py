"""A run in the queue: the state of its jobs and its progress, together.

python -m slurm.status RUN            RUN is the folder that slurm.submit names
python -m slurm.status RUN --json     the same for programs
"""

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from experiments.status import told
from slurm import queue
from slurm.follow import progress, state_line
from slurm.jobs import jobs_of, log_files
from slurm.settings import SlurmError


def look(run: Path, as_json: bool) -> str:
    """What there is to say of a run and its jobs."""
    jobs = jobs_of(run)
    if not jobs:
        raise SlurmError(f"{run} was never queued here; python -m experiments.status {run} shows its progress")
    states = queue.states([job.job for job in jobs]) if shutil.which("scontrol") else {}
    data = progress(run)
    if as_json:
        shown = [asdict(job) | {"states": [asdict(state) for state in states.get(job.job, [])]} for job in jobs]
        return json.dumps({"run": str(run), "jobs": shown, "progress": data}, indent=1)
    lines = told(data) if data else [f"{run}: nothing is played yet"]
    for job in jobs:
        found = states.get(job.job, [])
        lines += [state_line(state) for state in found] or [f"job {job.job}: over, and forgotten by SLURM (queued {job.queued})"]
        if job is jobs[-1] or any(not state.over for state in found):
            lines += [f"  log: {path}" for path in log_files(run, job) if path.exists()]
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Shows a run; 2 with one line on stderr if there is none."""
    parser = argparse.ArgumentParser(
        prog="python -m slurm.status", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", metavar="RUN", type=Path)
    parser.add_argument("--json", action="store_true", help="as JSON, for programs")
    arguments = parser.parse_args(argv)
    try:
        print(look(arguments.run, arguments.json))
    except SlurmError as error:
        print(f"slurm.status: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
