"""Measuring: CPU time, the best of several runs, beside a reference kernel timed in the same run.

Machines lose wall clock to their neighbours, so nothing here looks at a clock on the wall.
"""

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.bench.goals import AT_LEAST, AT_MOST
from ttr.jit import jitted
from ttr.stream import GOLD, mix


@jitted
def reference_kernel(n):
    """A chain of hash steps that no compiler can shorten: the machine's yardstick."""
    word = np.uint64(1)
    for _ in range(n):
        word = mix(word + GOLD)
    return word


def best_cpu_seconds(work: Callable[[], Any], runs: int = 7) -> float:
    """Least CPU time of several runs."""
    best = float("inf")
    for _ in range(runs):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def reference_step() -> float:
    """CPU seconds of one step of the reference kernel."""
    reference_kernel(10)
    return best_cpu_seconds(lambda: reference_kernel(10_000_000)) / 10_000_000


def process_seconds(command: Sequence[str], cache: str) -> float:
    """CPU seconds of a command, from its start to its end, with its compiled code in a folder of its own."""
    environment = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "TTR_OWN_CACHE")}
    before = os.times()
    subprocess.run(command, check=True, env=environment | {"TTR_CACHE_DIR": cache}, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def row(name: str, value: float, unit: str) -> dict[str, Any]:
    """One row of bench.json, held against its goal if it has one."""
    must, ambition = AT_LEAST.get(name) or AT_MOST.get(name) or (None, None)
    met = None if must is None else (value <= must if name in AT_MOST else value >= must)
    return dict(name=name, value=round(value, 4), unit=unit, must=must, ambition=ambition, met=met)
