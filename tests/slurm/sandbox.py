"""A real SLURM on one machine: munged, slurmctld and one slurmd for each node, all state in one folder.

python -m tests.slurm.sandbox start FOLDER     # prints the line that points a shell at it
python -m tests.slurm.sandbox stop FOLDER

Every process of the sandbox, daemon or job, carries SLURM_CONF=FOLDER/slurm.conf in its environment: that is how they are found
again. Needs root and the Debian packages slurmctld, slurmd, slurm-client, munge (tests/debian.sh slurm).
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scontrol", "scancel", "sinfo")
NODES = 3
CPUS = 2

CONF = """\
ClusterName=sandbox
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={controller_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket,cred_expire=5
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
ReturnToService=2
SlurmctldPidFile={folder}/run/slurmctld.pid
SlurmdPidFile={folder}/run/slurmd.%n.pid
SlurmdSpoolDir={folder}/spool/%n
StateSaveLocation={folder}/state
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd.%n.log
SlurmctldTimeout=30
SlurmdTimeout=10
InactiveLimit=0
MinJobAge=3600
KillWait=15
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,requeue_delay=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
JobRequeue=1
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
{nodes}
PartitionName=test Nodes=node[1-{count}] Default=YES MaxTime=01:00:00 State=UP
PartitionName=closed Nodes=node1 MaxTime=01:00:00 State=DOWN
"""


def why_not() -> str | None:
    """The reason why no SLURM can be started here, or None."""
    missing = [program for program in PROGRAMS if not program_path(program)]
    if missing:
        return f"SLURM is not installed here ({', '.join(missing)} missing): run tests/debian.sh slurm as root"
    if os.geteuid() != 0:
        return "a SLURM of several nodes on one machine needs root"
    return None


def program_path(name: str) -> str | None:
    """Where a program is; daemons stand in sbin, which is not on every PATH."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def free_ports(count: int) -> list[int]:
    """Ports that nobody uses now."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def wait_until(fact: Callable[[], object], seconds: float, what: str, pause: float = 0.1) -> None:
    """Waits for a fact, and raises TimeoutError with its name if it does not come true."""
    end = time.monotonic() + seconds
    while not fact():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds:.0f} s for {what}")
        time.sleep(pause)


class Sandbox:
    """One SLURM in one folder."""

    def __init__(self, folder: Path, nodes: int = NODES, cpus: int = CPUS):
        self.folder = folder.resolve()
        self.names = [f"node{number + 1}" for number in range(nodes)]
        self.cpus = cpus
        self.conf = self.folder / "slurm.conf"
        self.environment = os.environ | {"SLURM_CONF": str(self.conf), "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}

    def start(self) -> "Sandbox":
        """Writes the configuration, starts every daemon and waits until all nodes are idle."""
        for name in ("state", "log", "run", "spool", "munge"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        controller_port, *node_ports = free_ports(1 + len(self.names))
        nodes = "\n".join(
            f"NodeName={name} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} CPUs={self.cpus} RealMemory=4000"
            for name, port in zip(self.names, node_ports)
        )
        self.conf.write_text(CONF.format(folder=self.folder, controller_port=controller_port, nodes=nodes, count=len(self.names)))
        self._start_munge()
        self.run("slurmctld")
        for name in self.names:
            (self.folder / "spool" / name).mkdir(exist_ok=True)
            self.start_node(name)
        try:
            wait_until(lambda: self.idle_nodes() == len(self.names), 30, "the nodes to be idle")
        except TimeoutError:
            log = (self.folder / "log" / "slurmctld.log").read_text()[-2000:]
            self.stop()
            raise RuntimeError(f"SLURM did not start:\n{log}") from None
        return self

    def _start_munge(self) -> None:
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(1024))
        place = self.folder / "munge"
        # munged refuses a socket below a folder that others may write, as /tmp is, unless forced
        self.run(
            *("munged", "--force", f"--key-file={key}", f"--socket={place}/socket", f"--seed-file={place}/seed"),
            *(f"--pid-file={self.folder}/run/munged.pid", f"--log-file={self.folder}/log/munged.log"),
        )

    def start_node(self, name: str) -> None:
        """Starts the daemon of one node."""
        self.run("slurmd", "-N", name)

    def kill_node(self, name: str) -> None:
        """A node loses power: its daemon and all it runs die at once, without a word."""
        daemon = int((self.folder / "run" / f"slurmd.{name}.pid").read_text())
        os.kill(daemon, signal.SIGKILL)
        tasks = self.processes(f"SLURMD_NODENAME={name}")
        steps = {pid for pid in map(parent_of, tasks) if command_of(pid).startswith("slurmstepd")}
        victims = [*steps, *tasks]
        for number in (signal.SIGSTOP, signal.SIGKILL):  # all at once: none has time to tell of another's death
            for pid in victims:
                send(pid, number)

    def revive_node(self, name: str) -> None:
        """The node comes back."""
        self.start_node(name)
        wait_until(
            lambda: self.run("sinfo", "-h", "-n", name, "-p", "test", "-o", "%t").strip() == "idle", 60, f"{name} to come back"
        )

    def run(self, *command: str, timeout: float = 60, check: bool = True) -> str:
        """A program in the sandbox's environment; its standard output."""
        program = program_path(command[0]) or command[0]
        done = subprocess.run(
            [program, *command[1:]],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        if check and done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
        return done.stdout

    def idle_nodes(self) -> int:
        """How many nodes are idle."""
        counts = self.run("sinfo", "-h", "-p", "test", "-t", "idle", "-o", "%D", check=False).split()
        return sum(map(int, counts))

    def processes(self, mark: str = "") -> list[int]:
        """Every living process of the sandbox whose environment holds the mark, daemons included."""
        own = f"SLURM_CONF={self.conf}".encode()
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                variables = (entry / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if own in variables and (not mark or mark.encode() in variables):
                found.append(int(entry.name))
        return found

    def stop(self) -> list[int]:
        """Cancels every job, ends every daemon; returns processes that would not go (killed then)."""
        self.run("scancel", "--user=root", check=False)
        try:
            wait_until(lambda: not self.run("squeue", "-h", check=False).strip(), 40, "the queue to be empty", 0.3)
        except (TimeoutError, subprocess.TimeoutExpired):
            pass
        for name in [*(f"slurmd.{node}" for node in self.names), "slurmctld", "munged"]:
            try:
                pid = int((self.folder / "run" / f"{name}.pid").read_text())
                os.kill(pid, signal.SIGTERM)
            except (OSError, ValueError):
                continue
        try:
            wait_until(lambda: not self.processes(), 15, "the daemons to end")
        except TimeoutError:
            pass
        left = self.processes()
        for pid in left:
            send(pid, signal.SIGKILL)
        return left


def send(pid: int, number: signal.Signals) -> None:
    """A signal, if the process is still there."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def command_of(pid: int) -> str:
    """A process's command line, as ps shows it."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def parent_of(pid: int) -> int:
    """A process's parent; 0 if it is gone."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def main() -> int:
    """Starts or stops a sandbox by hand."""
    reason = why_not()
    if len(sys.argv) != 3 or sys.argv[1] not in ("start", "stop"):
        print(__doc__)
        return 2
    if reason:
        print(reason, file=sys.stderr)
        return 2
    sandbox = Sandbox(Path(sys.argv[2]))
    if sys.argv[1] == "stop":
        sandbox.stop()
        return 0
    sandbox.start()
    print(f"export SLURM_CONF={sandbox.conf}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
