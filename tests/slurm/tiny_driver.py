"""A driver of one screen, to try a job without experiments: squares of 0..count-1 by Ray tasks, each kept in a file.

python -m tests.slurm.tiny_driver folder=F count=40 seconds=0.5 cluster=ray stop_at=UNIXTIME|null [fail=MESSAGE]
"""

import os
import sys
import time
from pathlib import Path

import ray


@ray.remote
def square(number: int, seconds: float) -> tuple[int, int, str]:
    """The square, after some seconds, and the node it was found on."""
    time.sleep(seconds)
    return number, number * number, os.environ.get("SLURMD_NODENAME", "")


def main() -> int:
    """Hands out what no file has yet; 75 if the time is over before the end."""
    options = dict(argument.split("=", 1) for argument in sys.argv[1:])
    folder = Path(options["folder"])
    folder.mkdir(parents=True, exist_ok=True)
    if "fail" in options:
        print(options["fail"], file=sys.stderr)
        return 3
    stop_at = float("inf") if options["stop_at"] == "null" else float(options["stop_at"])
    left = [number for number in range(int(options["count"])) if not (folder / str(number)).exists()]
    ray.init(address=os.environ["RAY_ADDRESS"], log_to_driver=False, logging_level="error")
    running: list[ray.ObjectRef] = []
    while running or (left and time.time() < stop_at):
        while left and len(running) < 2 * ray.cluster_resources().get("CPU", 1) and time.time() < stop_at:
            running.append(square.remote(left.pop(), float(options["seconds"])))
        done, running = ray.wait(running, timeout=1)
        for number, value, node in ray.get(done):
            (folder / str(number)).write_text(f"{value} {node}")
    return 75 if left else 0


if __name__ == "__main__":
    sys.exit(main())
