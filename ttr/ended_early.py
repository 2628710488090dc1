"""Ctrl-C, or output that nobody reads any more, ends a command without a traceback, also while its modules are imported."""

import os
import sys
from types import TracebackType


def end_quietly() -> None:
    """From now on, what ends this process early is told in one line or, if nobody reads it, not at all."""
    sys.excepthook = _tell


def _tell(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
    elif issubclass(kind, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is still to be flushed goes there
    else:
        sys.__excepthook__(kind, error, trace)
