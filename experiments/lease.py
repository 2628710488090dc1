"""One writer to a folder, by a lease: lease.json says who writes, and the writer looks again before every rename.

A lease is stale at once when its process is gone from this host, and after 60 s without a sign of life on another host. Every new
writer takes a higher number, so that one who was thought dead and comes back sees that it has been superseded.
"""

import fcntl
import json
import os
import socket
import threading
import time
import uuid
from pathlib import Path
from typing import Any

from experiments.refusal import Failure, Refusal

FILE, LOCK = "lease.json", ".lease.lock"
FACTS = {"host", "pid", "start", "number", "heartbeat"}
SIGN_OF_LIFE, STALE = 10.0, 60.0  # seconds


class Superseded(Failure):
    """Another writer has taken over."""


def process_start(pid: int) -> int | None:
    """When a process of this host started, in clock ticks since boot; None when it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()  # the name before it may contain anything
    return None if fields[0] in "ZX" else int(fields[19])


def read_lease(folder: Path) -> dict[str, Any] | None:
    """The lease of a folder, if there is one that can be read."""
    try:
        lease = json.loads((folder / FILE).read_text())
    except (OSError, ValueError):
        return None
    return lease if isinstance(lease, dict) and lease.keys() >= FACTS else None


def holder(folder: Path) -> dict[str, Any] | None:
    """The lease of a writer that is alive, or None."""
    lease = read_lease(folder)
    if lease is None or lease.get("released"):
        return None
    if lease["host"] == socket.gethostname() and lease.get("boot") == _boot():
        return lease if process_start(lease["pid"]) == lease["start"] else None
    return lease if time.time() - lease["heartbeat"] < STALE else None


def _boot() -> str:
    """Which start of the machine this is; containers of one host share it, with other process numbers."""
    try:
        namespace = os.readlink("/proc/self/ns/pid")
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip() + " " + namespace
    except OSError:
        return ""


class Lease:
    """A writer's own lease, kept alive in the background until it is released."""

    def __init__(self, folder: Path):
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        with open(folder / LOCK, "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            other = holder(folder)
            if other:
                job = f", job {other['job']}" if other.get("job") else ""
                raise Refusal(
                    f"{folder} is being written by process {other['pid']} on {other['host']}{job}; "
                    "wait for it, or stop it and give this command again"
                )
            last = read_lease(folder)
            self.data = {
                "host": socket.gethostname(),
                "boot": _boot(),
                "pid": os.getpid(),
                "start": process_start(os.getpid()),
                "job": os.environ.get("SLURM_JOB_ID"),
                "number": (last["number"] if last else 0) + 1,
                "token": uuid.uuid4().hex,
                "heartbeat": time.time(),
            }
            self._write()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep_alive, name="lease", daemon=True)
        self._thread.start()

    @property
    def number(self) -> int:
        """Rises with every writer of the folder."""
        return int(str(self.data["number"]))

    def check(self) -> None:
        """Raise Superseded unless the lease is still ours."""
        lease = read_lease(self.folder)
        if lease is None or lease.get("token") != self.data["token"]:
            by = f"process {lease['pid']} on {lease['host']}" if lease else "someone who removed the lease"
            raise Superseded(f"{self.folder} was taken over by {by}; this driver stops, what it had stored stays")

    def release(self) -> None:
        """Give the folder free; the number stays, so that the next one is higher."""
        self._stop.set()
        self._thread.join()
        lease = read_lease(self.folder)
        if lease and lease.get("token") == self.data["token"]:
            self.data["released"] = True
            try:
                self._write()
            except OSError:
                pass  # a full disk: the process is gone in a moment, which frees the lease as well

    def _write(self) -> None:
        unfinished = self.folder / f".{FILE}.{self.data['token']}"
        try:
            unfinished.write_text(json.dumps(self.data))
            os.replace(unfinished, self.folder / FILE)
        except OSError:
            unfinished.unlink(missing_ok=True)
            raise

    def _keep_alive(self) -> None:
        while not self._stop.wait(SIGN_OF_LIFE):
            lease = read_lease(self.folder)
            if lease and lease.get("token") != self.data["token"]:
                return
            self.data["heartbeat"] = time.time()
            try:
                self._write()
            except OSError:
                pass  # a full disk is reported by the next shard
