"""End the jobs of a run, queued or running; what was played stays, and the same submission continues it.

python -m slurm.cancel RUN            RUN is the folder that slurm.submit names
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from slurm import queue
from slurm.jobs import jobs_of
from slurm.settings import SlurmError


def cancel(run: Path) -> list[str]:
    """Ends all jobs of a run that are not over; returns their numbers."""
    jobs = [job.job for job in jobs_of(run)]
    if not jobs:
        raise SlurmError(f"{run} was never queued here; an experiment that runs on this machine ends with Ctrl-C")
    queue.require_slurm(f"python -m experiments.status {run}")
    alive = [job for job, states in queue.states(jobs).items() if any(not state.over for state in states)]
    if alive:
        queue.cancel(alive)
    return alive


def main(argv: Sequence[str] | None = None) -> int:
    """Ends jobs; 2 with one line on stderr if there are none to know of."""
    parser = argparse.ArgumentParser(
        prog="python -m slurm.cancel", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", metavar="RUN", type=Path)
    arguments = parser.parse_args(argv)
    try:
        ended = cancel(arguments.run)
    except SlurmError as error:
        print(f"slurm.cancel: {error}", file=sys.stderr)
        return 2
    if ended:
        print(f"ended: job{'s' if len(ended) > 1 else ''} {', '.join(ended)}; submit again to continue")
    else:
        print(f"no job of {arguments.run} is queued or running")
    return 0


if __name__ == "__main__":
    sys.exit(main())
