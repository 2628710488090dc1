"""Batches on Ray: a cluster started here (`local`) or one that is there already (`ray`). Workers may come and go.

Lost work is reported, not retried by Ray itself: the driver decides. One batch is one task on one CPU.
"""

import logging
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.executor import Outcome
from experiments.refusal import Refusal
from experiments.worker import GameFailure, Task, play, warm

QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DEDUP_LOGS": "0",
    "RAY_SCHEDULER_EVENTS": "0",
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
}
STORE_BYTES = 120 * 1024 * 1024
ASK_AGAIN = 1.0  # seconds


class RayExecutor:
    """Plays batches as Ray tasks."""

    def __init__(self, cluster: Any):
        for name, value in QUIET.items():
            os.environ.setdefault(name, value)
        import ray

        self._ray = ray
        self._folder: str | None = None
        options: dict[str, Any] = dict(
            logging_level=logging.CRITICAL, log_to_driver=False, configure_logging=True, include_dashboard=None
        )
        if cluster.kind == "local":
            place = cluster.temp_dir or tempfile.gettempdir()
            _remove_left_behind(Path(place))
            self._folder = tempfile.mkdtemp(prefix=f"lab-{os.getpid()}-", dir=place)
            count = cluster.workers or len(os.sched_getaffinity(0))
            options |= dict(address="local", num_cpus=count, include_dashboard=False)
            options |= dict(object_store_memory=STORE_BYTES, _temp_dir=self._folder)
        else:
            options["address"] = reachable(cluster.address)
        try:
            ray.init(**options)
        except Exception as error:  # Ray raises many kinds, all of them mean that there is no cluster
            self._remove_folder()
            where = "here" if cluster.kind == "local" else f"at {cluster.address}"
            raise Refusal(
                f"cluster={cluster.kind}: Ray could not be reached {where}: {' '.join(str(error).split())[:200]}"
            ) from None
        self._limit = cluster.workers if cluster.kind == "ray" else None
        self._play = ray.remote(num_cpus=1, max_retries=0)(play)
        self._warm = ray.remote(num_cpus=1, max_retries=2)(warm)
        self._running: dict[Any, Any] = {}
        self._found, self._asked = 1, float("-inf")

    @property
    def workers(self) -> int:
        """CPUs of the cluster now."""
        now = time.monotonic()
        if now - self._asked > ASK_AGAIN:  # workers come and go, but not within a second
            self._found, self._asked = int(self._ray.cluster_resources().get("CPU", 1)), now
        found = self._found
        return max(1, min(found, self._limit) if self._limit else found)

    def warm(self, adapter: str, identities: Sequence[Any]) -> float:
        """Compile in one worker; the others find it in the cache."""
        try:
            return self._ray.get(self._warm.remote(adapter, list(identities)))
        except self._ray.exceptions.RayTaskError as error:
            raise Refusal(f"the agents could not be compiled: {' '.join(str(error.cause).split())}") from None

    def submit(self, key: Any, task: Task) -> None:
        """Start a task."""
        self._running[self._play.remote(task)] = key

    def collect(self, timeout: float) -> list[Outcome]:
        """What has arrived."""
        if not self._running:
            return []
        refs = list(self._running)
        ready, _ = self._ray.wait(refs, num_returns=1, timeout=timeout)
        if ready:
            more, _ = self._ray.wait(refs, num_returns=len(refs), timeout=0)
            ready = more or ready
        return [self._outcome(ref) for ref in ready]

    def _outcome(self, ref: Any) -> Outcome:
        key = self._running.pop(ref)
        errors = self._ray.exceptions
        try:
            return Outcome(key, played=self._ray.get(ref))
        except errors.RayTaskError as error:
            cause = error.cause
            return Outcome(key, broken=str(cause) if isinstance(cause, GameFailure) else f"{type(cause).__name__}: {cause}")
        except errors.RayError as error:
            return Outcome(key, lost=type(error).__name__)

    def close(self) -> None:
        """Leave the cluster; one that was started here ends."""
        self._running.clear()
        self._ray.shutdown()
        self._remove_folder()

    def _remove_folder(self) -> None:
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)


def _remove_left_behind(place: Path) -> None:
    """Remove the folders of drivers that were killed."""
    for folder in place.glob("lab-*-*"):
        pid = folder.name.split("-")[1]
        if pid.isdecimal() and folder.stat().st_uid == os.getuid() and not Path(f"/proc/{pid}").exists():
            shutil.rmtree(folder, ignore_errors=True)


def reachable(address: str | None) -> str:
    """An address at which something listens: Ray itself would try for a minute."""
    if not address or address == "auto":
        return "auto"
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise Refusal(f"cluster.address={address}: it must be HOST:PORT, or auto")
    try:
        socket.create_connection((host.removeprefix("ray://").strip("[]"), int(port)), timeout=5).close()
    except OSError as error:
        raise Refusal(f"cluster.address={address}: nothing answers there ({error.strerror or error}); is Ray running?") from None
    return address
