"""Results on Ray are those of the serial driver, bit for bit, whoever dies in between. Real clusters, real kills."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments.audit import audit
from experiments.command import experiment
from experiments.reading import open_run

GAMES = ["agents=[cmcts:iterations=3000]", "opponents=[random,greedy]", "deals=24", "display=none"]
ENVIRONMENT = os.environ | {"PYTHONWARNINGS": "default"}


def words(folder: Path, *more: str) -> list[str]:
    return [*GAMES, f"results_dir={folder}", *more]


def start(folder: Path, *more: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "experiments.sweep", *words(folder, *more)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)


def finish(process: subprocess.Popen) -> str:
    out, err = process.communicate(timeout=180)
    assert process.returncode == 0, err
    return out


def only_run(folder: Path) -> Path:
    (run,) = folder.glob("sweep-*")
    return run


def content(folder: Path) -> str:
    found = audit(open_run(only_run(folder)))
    assert found.complete
    return found.hashes["games"]


def wait_for(condition, seconds: float = 120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError("it did not happen in time")


def stored_batches(folder: Path) -> int:
    manifests = list(folder.glob("sweep-*/manifest.jsonl"))
    return manifests[0].read_text().count("\n") if manifests else 0


def descendants(pid: int) -> dict[int, str]:
    """Processes below one of ours, with their names."""
    parents, names = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                names[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                parents[int(entry.name)] = int(fields[1])
            except OSError:
                continue
    found = {pid}
    while True:
        more = {child for child, parent in parents.items() if parent in found} - found
        if not more:
            return {child: names[child] for child in found - {pid}}
        found |= more


def workers_playing(pid: int) -> list[int]:
    """Workers below one of our processes that are in the middle of a batch."""
    return [child for child, name in descendants(pid).items() if name.startswith("ray::play")]


@pytest.fixture(scope="module")
def serial(tmp_path_factory) -> str:
    """The hash that all of these runs must have."""
    folder = tmp_path_factory.mktemp("serial")
    assert experiment("sweep", words(folder, "cluster=serial")) == 0
    return content(folder)


def test_one_worker(serial, tmp_path):
    out = finish(start(tmp_path, "cluster.workers=1"))
    assert out.splitlines()[-1] == str(only_run(tmp_path))
    assert "python -m analysis.report" in out.splitlines()[-2]
    assert content(tmp_path) == serial


def test_two_workers_one_of_them_killed_in_mid_batch(serial, tmp_path):
    driver = start(tmp_path, "cluster.workers=2", "batch=2")
    playing = wait_for(lambda: workers_playing(driver.pid))
    os.kill(playing[0], signal.SIGKILL)
    assert "lost with their workers and played again" in finish(driver)
    assert content(tmp_path) == serial


def test_driver_killed_and_started_again(serial, tmp_path):
    driver = start(tmp_path, "cluster.workers=2", "batch=1")
    wait_for(lambda: stored_batches(tmp_path) >= 1 or driver.poll() is not None)
    below = descendants(driver.pid)
    with driver:
        driver.kill()
    assert not audit(open_run(only_run(tmp_path))).complete
    finish(start(tmp_path, "cluster=serial"))  # its lease does not block
    assert content(tmp_path) == serial
    wait_for(lambda: not [p for p in below if "raylet" in below[p] and Path(f"/proc/{p}/exe").exists()], 60)


def test_a_node_removed_in_mid_run(serial, tmp_path):
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        second = cluster.add_node(num_cpus=1)
        driver = start(tmp_path, "cluster=ray", f"cluster.address={cluster.address}", "batch=1")
        wait_for(lambda: len(workers_playing(os.getpid())) == 2)  # one on each node
        cluster.remove_node(second, allow_graceful=False)
        assert "lost with their workers and played again" in finish(driver)
    finally:
        cluster.shutdown()
    assert content(tmp_path) == serial


def test_an_address_where_nothing_answers_is_refused(tmp_path, capsys):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert experiment("sweep", words(tmp_path, "cluster=ray", f"cluster.address=127.0.0.1:{port}")) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and str(port) in error
    assert not list(tmp_path.iterdir())  # before the run folder is opened
