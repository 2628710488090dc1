"""A job's room on a node: a folder on the node's own disk, for its owner alone, that goes when the job goes.

A lock is held in the room as long as its keeper lives. A room whose lock is free belongs to a job that was killed, or to a node
that lost power: the next job on that node clears it away.
"""

import fcntl
import os
import shutil
import stat
from pathlib import Path
from typing import IO

PREFIX = "ttr-"
ATTEMPTS = 20


class Room:
    """The folder TMP/ttr-JOB-NODE, made anew and locked."""

    def __init__(self, tmp: Path, job: str, node: str):
        tmp.mkdir(parents=True, exist_ok=True)
        clear_abandoned(tmp)
        self.path = tmp / f"{PREFIX}{job}-{node}"
        self.lock: IO[str] | None = None
        for _ in range(ATTEMPTS):  # another job that clears up may take a room away between its making and its locking
            try:
                self.path.mkdir(mode=0o700)
            except FileExistsError:
                raise FileExistsError(f"{self.path} is in use") from None
            self.lock = _lock(self.path)
            if self.lock is not None:
                return
        raise FileExistsError(f"{self.path} cannot be kept")

    def remove(self) -> None:
        """The room and all in it, as if it had never been."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self.lock:
            self.lock.close()


def clear_abandoned(tmp: Path) -> list[Path]:
    """Removes this user's rooms that nobody keeps any more; returns them."""
    cleared = []
    for path in sorted(tmp.glob(f"{PREFIX}*-*")):
        try:
            facts = path.lstat()
        except OSError:
            continue
        if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.getuid():
            continue
        lock = _lock(path)
        if lock is not None:
            shutil.rmtree(path, ignore_errors=True)
            lock.close()
            cleared.append(path)
    return cleared


def _lock(path: Path) -> IO[str] | None:
    """The room's lock, or None if somebody has it."""
    try:
        lock = open(path / "lock", "w")
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        return None
    return lock
