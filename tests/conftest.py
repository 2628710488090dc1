"""Before the tests are spread over several processes, everything is compiled once: filling one cache twice at a time is slow.

Processes that the tests start can be interrupted even where the tests run in the background of a shell, which ignores interrupts.
"""

import signal
import subprocess
import sys
from pathlib import Path

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config):
    controls_workers = not hasattr(config, "workerinput") and config.getoption("numprocesses", None)
    if controls_workers:
        subprocess.run([sys.executable, "-m", "ttr.warm"], cwd=Path(__file__).parent.parent, check=True)
