"""Before the tests are spread over several processes, everything is compiled once: filling one cache twice at a time is slow."""

import subprocess
import sys
from pathlib import Path


def pytest_configure(config):
    controls_workers = not hasattr(config, "workerinput") and config.getoption("numprocesses", None)
    if controls_workers:
        subprocess.run([sys.executable, "-m", "ttr.warm"], cwd=Path(__file__).parent.parent, check=True)
