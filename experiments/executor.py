"""Where batches are played: an executor takes tasks and gives back outcomes in any order. The serial one needs no Ray."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from experiments.worker import GameFailure, Played, Task, play, warm


@dataclass(frozen=True)
class Outcome:
    """A task that came back: played, lost with its worker (to be tried again), or broken (never to be tried again)."""

    key: Any
    played: Played | None = None
    lost: str | None = None
    broken: str | None = None


class Executor(Protocol):
    """What a driver needs of a cluster."""

    @property
    def workers(self) -> int:
        """How many batches can be played at once, now."""

    def warm(self, adapter: str, identities: Sequence[Any]) -> float:
        """Compile once, before fanning out."""

    def submit(self, key: Any, task: Task) -> None:
        """Start a task; `key` comes back with its outcome."""

    def collect(self, timeout: float) -> list[Outcome]:
        """Outcomes that have arrived, waiting for the first one up to `timeout` seconds."""

    def close(self) -> None:
        """Stop all that is still running."""


class SerialExecutor:
    """Plays in this very process, one task at a time."""

    def __init__(self) -> None:
        self._tasks: deque[tuple[Any, Task]] = deque()

    @property
    def workers(self) -> int:
        """One: itself."""
        return 1

    def warm(self, adapter: str, identities: Sequence[Any]) -> float:
        """Compile here."""
        return warm(adapter, list(identities))

    def submit(self, key: Any, task: Task) -> None:
        """Queue a task."""
        self._tasks.append((key, task))

    def collect(self, timeout: float) -> list[Outcome]:
        """Play the next task."""
        if not self._tasks:
            return []
        key, task = self._tasks.popleft()
        try:
            return [Outcome(key, played=play(task))]
        except GameFailure as failure:
            return [Outcome(key, broken=str(failure))]

    def close(self) -> None:
        """Forget what is queued."""
        self._tasks.clear()


def require_cluster(cluster: Any) -> None:
    """Refuses a cluster that does not answer, before anything is written for it."""
    if cluster.kind == "ray":
        from experiments.ray_cluster import reachable

        reachable(cluster.address)


def make_executor(cluster: Any) -> Executor:
    """The executor that a cluster configuration asks for."""
    if cluster.kind == "serial":
        return SerialExecutor()
    from experiments.ray_cluster import RayExecutor  # Ray takes a second to import and is not needed by the serial one

    return RayExecutor(cluster)
