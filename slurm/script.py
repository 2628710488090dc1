"""The text of an sbatch script, from settings and a command alone: nothing is read, nothing is asked.

The script is what a user may read, keep and change: directives, a token, one srun that holds a Ray cluster over the nodes
(slurm.cluster), the driver beside it on the first node, and the end of both. It trusts no signal: the driver stops by the clock.
"""

import shlex
import sys
from dataclasses import dataclass

from slurm.settings import Settings

WORK_IS_LEFT = 75  # the exit code of a driver that stopped by the clock, with games still to play
BATCH_SECONDS = 5  # a batch of a job: long enough for one driver to feed a thousand workers (make bench)


@dataclass(frozen=True)
class Work:
    """What a job runs, and where."""

    name: str  # of the job, in the queue
    module: str  # experiments.sweep
    arguments: tuple[str, ...]  # as typed, without those for slurm
    folder: str  # where it was typed
    run: str  # the folder of its results
    jobs: str  # the folder of logs, tokens and records
    agents: tuple[str, ...] = ()  # to compile for, on each node; none means all


def job_script(settings: Settings, work: Work) -> str:
    """The script of the job that plays: one job over all nodes, or an array of slices on one node each."""
    slices = settings.nodes if settings.array else 0
    header = _header(settings, work, nodes=1 if slices else settings.nodes, log="%A_%a" if slices else "%j")
    if slices:
        header.append(f"--array=1-{slices}")
    header += ["--requeue", "--no-kill"]
    command = _command(settings, work.module, work.arguments)
    if not any(word.startswith(("batch=", "batch_seconds=")) for word in work.arguments):
        command += f" batch_seconds={BATCH_SECONDS}"
    if slices:
        command += f' "part=$SLURM_ARRAY_TASK_ID/{slices}"'
    text = BODY.format(
        python=_python(settings),
        agents="".join(f" {shlex.quote(agent)}" for agent in work.agents),
        command=command,
        jobs=shlex.quote(work.jobs),
        results=shlex.quote(work.run) + (f'/parts/"$SLURM_ARRAY_TASK_ID"-of-{slices}' if slices else ""),
        tmp=settings.tmp,
        cache=f'"{settings.cache}"' if settings.cache else '"$room/cache"',
        kept=f" --cache='{settings.cache}'" if settings.cache else "",
        ports=settings.ports,
        interface=f" --interface={settings.interface}" if settings.interface else "",
        cpus="" if settings.cpus is None else f" --cpus-per-task={settings.cpus}",
        startup=settings.startup,
        reserve=settings.reserve,
        requeues=settings.requeues,
        left=WORK_IS_LEFT,
    )
    return _top(settings, work, header) + text


def merge_script(settings: Settings, work: Work, slices: int) -> str:
    """The script of the job that joins the slices of an array, once all of them are complete."""
    header = _header(settings, work, nodes=1, log="%j", whole=False)
    return _top(settings, work, header) + f"echo 'Joining {slices} slices.'\n{_command(settings, work.module, work.arguments)}\n"


def _header(settings: Settings, work: Work, nodes: int, log: str, whole: bool = True) -> list[str]:
    """The options for sbatch, in a fixed order."""
    options = [f"--job-name={work.name}", f"--nodes={nodes}", "--ntasks-per-node=1"]
    if settings.cpus is not None or not whole:
        options.append(f"--cpus-per-task={settings.cpus if whole else 1}")
        options += [f"--mem={settings.mem}"] if settings.mem else []
    else:
        options += ["--exclusive", f"--mem={settings.mem or 0}"]
    options.append(f"--time={settings.time}")
    for name in ("partition", "account", "qos", "constraint"):
        value = getattr(settings, name)
        options += [f"--{name}={value}"] if value else []
    if settings.mail:
        options += [f"--mail-user={settings.mail}", f"--mail-type={settings.mail_events}"]
    options += [f"--output={work.jobs}/{log}.log", "--open-mode=append", *settings.directives]
    return options


def _top(settings: Settings, work: Work, header: list[str]) -> str:
    lines = ["#!/bin/bash", *(f"#SBATCH {option}" for option in header), "", "set -u", f"cd {shlex.quote(work.folder)} || exit 1"]
    return "\n".join([*lines, *settings.setup, "export PYTHONUNBUFFERED=1"]) + "\n"


def _python(settings: Settings) -> str:
    return settings.python or shlex.quote(sys.executable)


def _command(settings: Settings, module: str, arguments: tuple[str, ...]) -> str:
    return " ".join([_python(settings), "-m", module, *map(shlex.quote, arguments)])


BODY = r"""
this=${{SLURM_ARRAY_JOB_ID:+${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID}}
this=${{this:-$SLURM_JOB_ID}}
echo "$(date '+%F %T') job $this on $SLURM_JOB_NODELIST, start $((${{SLURM_RESTART_COUNT:-0}} + 1))"

# Whoever does not have this job's token cannot use its Ray cluster.
token={jobs}/$SLURM_JOB_ID.token
(umask 077; rm -f "$token"; od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >"$token") || exit 1
export RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH=$token
unset RAY_AUTH_TOKEN # it would come before the file

# The driver hands out no more work so many seconds before the end; a job without an end never stops by itself.
end=$(squeue --noheader --jobs="$this" --format=%e)
stop_at=$(date --date="$end" +%s 2>/dev/null) && stop_at=$((stop_at - {reserve})) || stop_at=null

room={tmp}/ttr-$SLURM_JOB_ID-0 # this node's; the others' end in their own number
driver= cluster=
stop() {{
  trap '' TERM INT HUP EXIT
  [ -z "$driver" ] || {{ kill -TERM "$driver" 2>/dev/null; wait "$driver"; }}
  [ -z "$cluster" ] || {{ kill -USR1 "$cluster" 2>/dev/null; wait "$cluster"; }} # srun passes USR1 on; TERM would kill at once
  rm -f "$token"
}}
trap 'stop; exit 143' TERM INT HUP
trap stop EXIT

export TTR_RAY_ADDRESS
TTR_RAY_ADDRESS=$({python} -m slurm.cluster address --ports={ports}{interface}) || exit 1
srun --nodes="$SLURM_JOB_NUM_NODES" --ntasks-per-node=1{cpus} --no-kill --kill-on-bad-exit=0 --wait=0 \
  {python} -m slurm.cluster node --tmp='{tmp}'{kept}{interface} --{agents} &
cluster=$!
{python} -m slurm.cluster wait --seconds={startup} --folder={results} &
driver=$!
wait -n $driver $cluster || {{ echo "The Ray cluster did not come up." >&2; exit 1; }}

export RAY_ADDRESS=$TTR_RAY_ADDRESS TTR_CACHE_DIR={cache}
{command} cluster=ray "stop_at=$stop_at" &
driver=$!
wait -n $driver $cluster
code=$?
if kill -0 $driver 2>/dev/null; then
  echo "The Ray cluster ended before the driver." >&2
  code=1
fi
stop
if [ $code -eq {left} ] && [ "${{SLURM_RESTART_COUNT:-0}}" -lt {requeues} ]; then
  echo "$(date '+%F %T') the time is nearly over and games are left: the job queues itself again"
  scontrol requeue "$this" && sleep 60 # SLURM ends this script meanwhile
fi
exit $code
"""
