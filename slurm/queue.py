"""What is asked of SLURM, by its own commands: partitions, a test of a script, submission, states, cancelling."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from slurm.settings import Settings, SlurmError, closest, seconds_of

WAITING = ("PENDING", "REQUEUED", "REQUEUE_HOLD", "CONFIGURING", "SPECIAL_EXIT", "RESV_DEL_HOLD", "REQUEUE_FED")
AT_WORK = ("RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "RESIZING", "SIGNALING", "STAGE_OUT")
SECONDS = 60  # that a command of SLURM may take


@dataclass(frozen=True)
class JobState:
    """A job as SLURM sees it now; an array has one for each slice that has a state of its own."""

    job: str  # 17, or 17_3, or 17_[4-8] while slices wait
    state: str
    reason: str
    nodes: str
    code: int | None  # of the script, once it has ended
    restarts: int
    end: str

    @property
    def over(self) -> bool:
        """Whether the job will not run any more."""
        return self.state not in WAITING + AT_WORK


def require_slurm(instead: str) -> None:
    """SLURM must be here and answer; `instead` is what to type where it is not."""
    if not shutil.which("sbatch"):
        raise SlurmError(f"there is no SLURM here (sbatch was not found); on a login node it is, and without SLURM: {instead}")
    try:
        _run("sinfo", "--noheader", "--format=%R")
    except SlurmError as error:
        raise SlurmError(f"SLURM does not answer ({error}); without it: {instead}") from None


def check_partition(settings: Settings) -> None:
    """The partition exists, is up, has so many nodes and allows so much time."""
    found: dict[str, tuple[str, str, int]] = {}
    for line in _run("sinfo", "--noheader", "--format=%R|%a|%l|%D|%P").splitlines():
        name, up, limit, count, marked = line.split("|")
        nodes = int(count) + (found[name][2] if name in found else 0)  # one line for each limit and state of nodes
        found[name] = (up, limit, nodes)
        if settings.partition is None and marked.endswith("*"):
            found[""] = (up, limit, nodes)
    wanted = settings.partition or ""
    if wanted not in found:
        names = ", ".join(sorted(name for name in found if name))
        if not wanted:
            raise SlurmError(f"this SLURM has no default partition; choose one with slurm.partition=NAME: {names}")
        raise SlurmError(f"slurm.partition={wanted}: there is no such partition{closest(wanted, found)}; there are: {names}")
    up, limit, nodes = found[wanted]
    name = f"partition {wanted}" if wanted else "the default partition"
    if up != "up":
        raise SlurmError(f"{name} is {up}: jobs there would not start")
    if settings.nodes > nodes and not settings.array:
        raise SlurmError(f"slurm.nodes={settings.nodes}: {name} has {nodes}")
    most, asked = seconds_of(limit), seconds_of(settings.time)
    if most is not None and asked is not None and asked > most:
        raise SlurmError(f"slurm.time={settings.time}: {name} allows {limit}; what is unfinished then continues by requeue")


def test_script(script: str) -> None:
    """SLURM's own opinion of a script, before it is queued."""
    _run("sbatch", "--test-only", text=script)


def submit(script: str, after: str | None = None) -> str:
    """Queues a script; returns the job's number. With `after`, it starts once that job has succeeded."""
    options = [f"--dependency=afterok:{after}", "--kill-on-invalid-dep=yes"] if after else []
    return _run("sbatch", "--parsable", *options, text=script).strip().partition(";")[0]


def states(jobs: Sequence[str]) -> dict[str, list[JobState]]:
    """The states of jobs, by number; one that SLURM has forgotten and never accounted has none."""
    return {job: _shown(job) or _accounted(job) for job in jobs}


def cancel(jobs: Sequence[str]) -> None:
    """Takes jobs out of the queue, or ends them."""
    _run("scancel", *jobs)


def _shown(job: str) -> list[JobState]:
    try:
        text = _run("scontrol", "--oneliner", "show", "job", job)
    except SlurmError:
        return []
    return [parse_job(line) for line in text.splitlines() if line.startswith("JobId=")]


def parse_job(line: str) -> JobState:
    """A line of `scontrol --oneliner show job`."""

    def field(name: str) -> str:
        match = re.search(rf"(?:^|\s){name}=(\S*)", line)
        return match.group(1) if match else ""

    task = field("ArrayTaskId")
    job = f"{field('ArrayJobId')}_{task if task.isdigit() else f'[{task}]'}" if task else field("JobId")
    state = field("JobState")
    code, _, number = field("ExitCode").partition(":")
    value = int(code) if code.isdigit() and int(code) else 128 + int(number) if number.isdigit() and int(number) else 0
    empty = ("", "(null)", "None")
    return JobState(
        job=job,
        state=state,
        reason="" if field("Reason") in empty else field("Reason"),
        nodes="" if field("NodeList") in empty else field("NodeList"),
        code=None if state in WAITING + AT_WORK else value or (0 if state == "COMPLETED" else 1),
        restarts=int(field("Restarts") or 0),
        end=field("EndTime"),
    )


def _accounted(job: str) -> list[JobState]:
    """The site's records of a job that has left the queue, where the site keeps any."""
    try:
        text = _run(
            "sacct", "--noheader", "--parsable2", "--allocations", f"--jobs={job}", "--format=JobID,State,ExitCode,NodeList,End"
        )
    except SlurmError:
        return []
    found = []
    for line in text.splitlines():
        number, state, code, nodes, end = line.split("|")
        state = state.split()[0] if state else ""
        value = int(code.partition(":")[0] or 0)
        over = state not in WAITING + AT_WORK
        found.append(JobState(number, state, "", nodes, (value or int(state != "COMPLETED")) if over else None, 0, end))
    return found


def _run(*command: str, text: str | None = None) -> str:
    """A command's output; its complaint in one line if it fails."""
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=SECONDS, check=False)
    except FileNotFoundError:
        raise SlurmError(f"{command[0]} was not found") from None
    except subprocess.TimeoutExpired:
        raise SlurmError(f"{command[0]} did not answer within {SECONDS} s") from None
    if done.returncode:
        lines = [re.sub(r"^(\w+: )?(error|fatal): ", "", line).strip() for line in done.stderr.splitlines() if line.strip()]
        raise SlurmError(f"{command[0]}: {'; '.join(dict.fromkeys(lines)) or f'exit code {done.returncode}'}")
    return done.stdout
