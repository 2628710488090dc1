"""Inside a job: a Ray cluster over its nodes, started by hand, that ends with the job.

python -m slurm.cluster address     # on the first node: where the head will listen
python -m slurm.cluster node        # on every node, by srun: compile, join, stay until told to end
python -m slurm.cluster wait        # on the first node: until the nodes have joined

`ray stop` is never used: it would end the Ray of every job that this user has on the node.
"""

import argparse
import ctypes
import fcntl
import importlib.util
import logging
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType

from slurm.room import Room
from slurm.settings import SlurmError, port_range

OBJECT_STORE = 200_000_000  # bytes; rows of a batch are small, and Ray would take 30 % of a node that others use too
DRIVER_NEEDS_A_CPU = 4  # from so many CPUs on, the first node leaves one to the driver
STRIDE = 61  # from a taken port to the next candidate: two jobs in a row do not chase each other
TAKE_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER of prctl(2)
LONGEST_PATH = 43  # of Ray's folder: 107 bytes are a socket's limit
HEAD_LOST = 30.0  # seconds that the script has to end a node that lost the head
GRACE = 5.0  # seconds that Ray's processes have to end by themselves
ENDING = (signal.SIGUSR1, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)  # the first is the script's, through srun


class Ended(BaseException):
    """What a signal to end becomes."""


def candidate_ports(job: int, low: int, high: int) -> Iterator[int]:
    """The ports a job tries, each once: where it starts depends on its number."""
    span = high - low + 1
    stride = next(step for step in range(STRIDE, STRIDE + span) if _coprime(step, span))
    for k in range(span):
        yield low + (job + k * stride) % span


def _coprime(a: int, b: int) -> bool:
    while b:
        a, b = b, a % b
    return a == 1


def free_port(job: int, low: int, high: int) -> int:
    """The job's first port that nobody on this node uses."""
    for port in candidate_ports(job, low, high):
        with socket.socket() as probe:
            try:
                probe.bind(("", port))
            except OSError:
                continue
            return port
    raise SlurmError(f"no port from {low} to {high} is free on {socket.gethostname()}; widen slurm.ports")


def own_address(interface: str | None = None, towards: str | None = None) -> str:
    """This node's address: of the interface named, of the way to the head, of its own name, or of the way out."""
    if interface:
        return _interface_address(interface)
    if not towards:
        try:
            address = socket.gethostbyname(socket.gethostname())
            if not address.startswith("127."):
                return address
        except OSError:
            pass
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:  # nothing is sent: the system picks the way and its address
        try:
            probe.connect((towards or "192.0.2.1", 9))
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"


def _interface_address(name: str) -> str:
    get_address = 0x8915  # SIOCGIFADDR
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            answer = fcntl.ioctl(probe.fileno(), get_address, struct.pack("256s", name.encode()[:15]))
        except OSError:
            names = ", ".join(each for _, each in socket.if_nameindex())
            raise SlurmError(f"slurm.interface={name}: {socket.gethostname()} has no such network; it has {names}") from None
    return socket.inet_ntoa(answer[20:24])


def cpus_here() -> int:
    """The CPUs that SLURM gave this task: Ray would take all there are."""
    limits = [len(os.sched_getaffinity(0))]
    for name in ("SLURM_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE"):
        if os.environ.get(name, "").isdigit():
            limits.append(int(os.environ[name]))
    return max(1, min(limits))


def ray_command(head: bool, address: str, own: str, room: Path, cpus: int) -> list[str]:
    """The `ray start` of a node: only the head's port is fixed, all others are free ones that the system picks."""
    if head and cpus >= DRIVER_NEEDS_A_CPU:
        cpus -= 1
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--disable-usage-stats"]
    command += [f"--node-ip-address={own}", f"--num-cpus={cpus}", "--num-gpus=0", f"--object-store-memory={OBJECT_STORE}"]
    command += [f"--{name}-port=0" for name in ("object-manager", "node-manager", "min-worker", "max-worker")]
    command += [f"--{name}-port=0" for name in ("runtime-env-agent", "dashboard-agent-listen", "metrics-export")]
    command.append(f"--temp-dir={room}")
    if not head:
        return [*command, f"--address={address}"]
    port = int(address.rpartition(":")[2])
    command += ["--head", f"--port={port}", "--include-dashboard=false"]
    if importlib.util.find_spec("grpc"):  # then Ray opens a second door, at a fixed port unless told otherwise
        command.append(f"--ray-client-server-port={free_port(port + 1, 1024, 32767)}")
    return command


def seed_cache(cache: Path) -> bool:
    """Copies what the submitting machine has compiled for these sources: of use where the CPU is the same, ignored where not."""
    from ttr.compile_cache import cache_folder

    source = cache_folder()
    target = cache / "ttr-compiled" / source.name
    if not source.is_dir() or target.exists():
        return False
    try:
        shutil.copytree(source, target)
    except (OSError, shutil.Error):
        return False  # it is being filled at this moment: compile here then
    return True


def descendants(pid: int) -> list[int]:
    """All processes below one, children first."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError):
                continue
            parents.setdefault(parent, []).append(int(entry.name))
    found: list[int] = []
    front = [pid]
    while front:
        front = [child for parent in front for child in parents.get(parent, [])]
        found += front
    return found


def end_descendants() -> None:
    """Ends every process below this one: asked first, forced after a moment; orphans come back to this process."""
    for signal_number, seconds in ((signal.SIGTERM, GRACE), (signal.SIGKILL, GRACE)):
        for pid in descendants(os.getpid()):
            try:
                os.kill(pid, signal_number)
            except ProcessLookupError:
                continue
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            _reap()
            if not descendants(os.getpid()):
                return
            time.sleep(0.05)


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def keep_node(tmp: str, cache: str | None, interface: str | None, agents: Sequence[str]) -> int:
    """One node of the cluster: its room, its compiled code, its part of Ray; all of it gone when this returns."""
    address = os.environ["TTR_RAY_ADDRESS"]
    job, number = os.environ["SLURM_JOB_ID"], os.environ["SLURM_NODEID"]
    name = os.environ.get("SLURMD_NODENAME", socket.gethostname())
    head = number == "0"
    ctypes.CDLL(None).prctl(TAKE_ORPHANS, 1, 0, 0, 0)
    for each in ENDING:
        signal.signal(each, _end)
    room = Room(Path(os.path.expandvars(tmp)), job, number)
    try:
        place = Path(os.path.expandvars(cache)) if cache else room.path / "cache"
        seed_cache(place)
        environment = os.environ | {"TTR_CACHE_DIR": str(place), "RAY_memory_monitor_refresh_ms": "0"}
        subprocess.run([sys.executable, "-m", "ttr.warm", *agents], env=environment, check=True, stdout=subprocess.DEVNULL)
        host, _, port = address.rpartition(":")
        if not head:
            _wait_for_port(host, int(port))
        own = host if head else own_address(interface, towards=host)
        inner = room.path / "r"  # Ray opens its folder to all users; the room around it stays closed
        if len(str(inner)) > LONGEST_PATH:
            raise SlurmError(
                f"{inner}: {len(str(inner))} characters, Ray's sockets need a path of at most {LONGEST_PATH}; set slurm.tmp"
            )
        with open(room.path / "start.log", "w") as out:
            ray = subprocess.Popen(ray_command(head, address, own, inner, cpus_here()), env=environment, stdout=out, stderr=out)
        code = ray.wait()
        print(f"{name}: Ray ended with code {code}: {_last_lines(room.path)}", file=sys.stderr)
        if not head:
            queue_again(job, name)
        return 1
    except Ended:
        return 0
    except subprocess.CalledProcessError as error:
        print(f"{name}: the engine did not compile ({error})", file=sys.stderr)
        return 1
    finally:
        for each in ENDING:
            signal.signal(each, signal.SIG_IGN)
        end_descendants()
        room.remove()


def queue_again(job: str, name: str) -> None:
    """A node that lost the head: if the script still lives it ends this one in a moment, else its node is dead and so is the job.

    SLURM keeps a job that can do without a node (--no-kill) even when that node is the first one, where the script ran.
    """
    time.sleep(HEAD_LOST)
    print(f"{name}: the first node is lost, the job queues itself again", file=sys.stderr, flush=True)
    if shutil.which("scontrol"):
        subprocess.run(["scontrol", "requeue", job], check=False)
        time.sleep(HEAD_LOST)  # SLURM ends this process meanwhile


def _end(number: int, frame: FrameType | None) -> None:
    raise Ended


def _wait_for_port(host: str, port: int) -> None:
    """Until somebody listens there; the job's own end is the limit."""
    while True:
        try:
            socket.create_connection((host, port), timeout=5).close()
            return
        except OSError:
            time.sleep(0.5)


def _last_lines(room: Path) -> str:
    """What Ray's own logs say last, as one line."""
    logs = [room / "start.log", *room.glob("r/session_*/logs/gcs_server.err"), *room.glob("r/session_*/logs/raylet.err")]
    lines = [line.strip() for log in logs if log.is_file() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return " | ".join(lines[-3:]) or "it said nothing"


def wait_for_nodes(seconds: float) -> int:
    """Until all nodes have joined; after the seconds given, with those that did, as long as the head is one of them."""
    import ray

    address, wanted = os.environ["TTR_RAY_ADDRESS"], int(os.environ["SLURM_JOB_NUM_NODES"])
    host, _, port = address.rpartition(":")
    end = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection((host, int(port)), timeout=5).close()
            break
        except OSError:
            if time.monotonic() > end:
                print(f"the head at {address} did not answer within {seconds:.0f} s", file=sys.stderr)
                return 1
            time.sleep(0.3)
    ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    try:
        while True:
            alive = [node for node in ray.nodes() if node["Alive"]]
            if len(alive) >= wanted or time.monotonic() > end:
                break
            time.sleep(0.3)
        cpus = sum(node["Resources"].get("CPU", 0) for node in alive)
    finally:
        ray.shutdown()
    missing = f"; {wanted - len(alive)} did not come within {seconds:.0f} s" if len(alive) < wanted else ""
    print(f"Ray runs on {len(alive)} of {wanted} nodes with {cpus:.0f} CPUs{missing}", flush=True)
    return 0


def wait_for_writer(folder: Path, seconds: float = 90) -> None:
    """A driver that was killed on another node is thought alive for a minute: its successor waits, not to be refused."""
    from experiments.lease import holder

    end = time.monotonic() + seconds
    while (lease := holder(folder)) and lease["host"] != socket.gethostname() and time.monotonic() < end:
        time.sleep(1)


def main(argv: Sequence[str] | None = None) -> int:
    """One of the three commands of a job's script."""
    parser = argparse.ArgumentParser(prog="python -m slurm.cluster", description="The Ray cluster inside a SLURM job.")
    commands = parser.add_subparsers(dest="command", required=True)
    address = commands.add_parser("address", help="print where the head will listen")
    address.add_argument("--ports", default="20000-29999", metavar="LOW-HIGH")
    address.add_argument("--interface", metavar="NAME")
    node = commands.add_parser("node", help="be one node of the cluster")
    node.add_argument("--tmp", default="/tmp", metavar="FOLDER")
    node.add_argument("--cache", metavar="FOLDER", help="for compiled code that is kept between jobs")
    node.add_argument("--interface", metavar="NAME")
    node.add_argument("agents", nargs="*", metavar="AGENT")
    wait = commands.add_parser("wait", help="wait until the nodes have joined")
    wait.add_argument("--seconds", type=float, default=300)
    wait.add_argument("--folder", type=Path, metavar="FOLDER", help="of the results, until its last writer is gone too")
    arguments = parser.parse_args(argv)
    try:
        if arguments.command == "address":
            low, high = port_range(arguments.ports) or (20000, 29999)
            print(f"{own_address(arguments.interface)}:{free_port(int(os.environ['SLURM_JOB_ID']), low, high)}")
            return 0
        if arguments.command == "node":
            return keep_node(arguments.tmp, arguments.cache, arguments.interface, arguments.agents)
        if arguments.folder:
            wait_for_writer(arguments.folder)
        return wait_for_nodes(arguments.seconds)
    except (SlurmError, OSError) as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
