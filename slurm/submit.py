"""Queue an experiment on a SLURM cluster: the same words as for experiments, and how to queue them.

usage: python -m slurm.submit experiments.sweep +sweep=posas scale=paper slurm.nodes=4 slurm.time=08:00:00 slurm.partition=compute

  dry_run=true          print the plan with its cost and the script, queue nothing
  wait=true             follow the progress to the end; the exit code is the job's
  slurm.NAME=VALUE      how the job is queued: {names}
  slurm=SITE.yaml       a file with such values, for all jobs of a site
  slurm.array=true      slices as a job array of slurm.nodes jobs of a node each, joined at the end

conf/slurm/default.yaml explains every setting; docs/slurm.md leads through a first job.
"""

import os
import shlex
import shutil
import sys
import textwrap
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from slurm import queue
from slurm.experiment import Experiment, understand
from slurm.follow import follow
from slurm.jobs import MERGES, PLAYS, Job, jobs_folder, jobs_of, keep, make_folder
from slurm.script import Work, job_script, merge_script
from slurm.settings import NAMES, Settings, SlurmError, load_settings


@dataclass
class Words:
    """A command line, sorted by whom its words are for."""

    module: str = ""
    site: str | None = None
    changes: dict[str, str] = field(default_factory=dict)
    dry_run: bool = False
    wait: bool = False
    rest: list[str] = field(default_factory=list)


def sort_words(words: Sequence[str]) -> Words:
    """Which words are SLURM's, which are this command's, and which go to the experiment as they are."""
    sorted_words = Words()
    for word in words:
        name, sign, value = word.partition("=")
        if not sorted_words.module and not sign:
            sorted_words.module = word
        elif sign and name == "slurm":
            sorted_words.site = value
        elif sign and name.startswith("slurm."):
            sorted_words.changes[name.removeprefix("slurm.")] = value
        elif sign and name in ("dry_run", "wait"):
            if value.lower() not in ("true", "false"):
                raise SlurmError(f"{word}: it must be true or false")
            setattr(sorted_words, name, value.lower() == "true")
        else:
            sorted_words.rest.append(word)
    if not sorted_words.module:
        raise SlurmError("name an experiment, e.g. python -m slurm.submit experiments.sweep +sweep=posas; --help shows more")
    return sorted_words


def scripts(settings: Settings, experiment: Experiment) -> tuple[str, str | None]:
    """The script that plays, and for an array the one that joins."""
    run, folder = experiment.run, os.getcwd()
    place = str(jobs_folder(run))
    work = Work(run.name, experiment.module, experiment.words, folder, str(run), place, experiment.agents)
    if not settings.array:
        return job_script(settings, work), None
    merging = Work(f"merge-{run.name}", "experiments.merge", (str(run),), folder, str(run), place)
    return job_script(settings, work), merge_script(settings, merging, settings.nodes)


def show(settings: Settings, experiment: Experiment) -> None:
    """The plan with its cost, and the scripts; nothing is queued."""
    from experiments.dry_run import show_plan
    from experiments.progress import duration

    expected = show_plan(experiment.plan, experiment.settings)
    cpus = settings.cpus * settings.nodes if settings.cpus else None
    what = f"{settings.nodes} slices of one node each" if settings.array else f"one job on {settings.nodes} nodes"
    where = f", {cpus} CPUs in all: about {duration(expected.seconds / cpus)}" if cpus else " (all CPUs of each)"
    print(f"queue: {what}{where}, in stays of at most {settings.time}")
    for script in scripts(settings, experiment):
        if script:
            print(f"\n{script}", end="")
    if not shutil.which("sbatch"):
        print("there is no SLURM here to check this with (sbatch was not found)", file=sys.stderr)


def check(settings: Settings, experiment: Experiment, script: str) -> Path:
    """Everything that can be known before queueing: SLURM, the partition, the folder, the script, other jobs of the run."""
    queue.require_slurm(shlex.join(["python", "-m", experiment.module, *experiment.words]))
    queue.check_partition(settings)
    run = experiment.run
    make_folder(run)
    known = [job.job for job in jobs_of(run)]
    for job, states in queue.states(known).items():
        for state in states:
            if not state.over:
                raise SlurmError(f"job {job} plays this run already ({state.state}); python -m slurm.cancel {_short(run)} ends it")
    queue.test_script(script)
    return run


def submit(settings: Settings, experiment: Experiment, words: Sequence[str]) -> tuple[Path, list[Job]]:
    """Checks and queues; returns the run folder and its new jobs."""
    script, merging = scripts(settings, experiment)
    run = check(settings, experiment, script)
    now = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    slices = settings.nodes if settings.array else 0
    jobs = [Job(queue.submit(script), PLAYS, list(words), settings.nodes, slices, now)]
    keep(run, jobs[0], script)
    if merging:
        jobs.append(Job(queue.submit(merging, after=jobs[0].job), MERGES, list(words), 1, 0, now))
        keep(run, jobs[1], merging)
    return run, jobs


def told(run: Path, jobs: Sequence[Job], settings: Settings) -> list[str]:
    """What was queued, and how to follow it."""
    plays, *merges = jobs
    folder, shown = _short(jobs_folder(run)), _short(run)
    log = f"{folder}/{plays.job}_K.log, K = 1 to {plays.slices}" if plays.slices else f"{folder}/{plays.job}.log"
    what = f"{plays.slices} slices" if plays.slices else f"{plays.nodes} node{'s' if plays.nodes > 1 else ''}"
    lines = [f"job {plays.job}: {what}, in stays of at most {settings.time}"]
    lines += [f"job {merge.job}: joins the slices when all are complete" for merge in merges]
    return [
        *lines,
        f"run: {shown}",
        f"log: {log}",
        f"to follow it: python -m slurm.status {shown}",
        f"to end it: python -m slurm.cancel {shown}",
    ]


def _short(path: Path) -> str:
    """A path from here, if it lies below."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def main(argv: Sequence[str] | None = None) -> int:
    """Queues, shows or follows; 2 with one line on stderr if that cannot be."""
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or {"-h", "--help"} & set(words):
        print((__doc__ or "").format(names=textwrap.fill(", ".join(NAMES), 54, subsequent_indent=" " * 24)), end="")
        return 0 if words else 2
    try:
        asked = sort_words(words)
        settings = load_settings(asked.site, asked.changes)
        experiment = understand(asked.module, asked.rest)
        if asked.dry_run:
            show(settings, experiment)
            return 0
        run, jobs = submit(settings, experiment, words)
        print("\n".join(told(run, jobs, settings)), flush=True)
        return follow(run, jobs) if asked.wait else 0
    except SlurmError as error:
        print(f"slurm.submit: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
