"""What a node does without a cluster: ports, CPUs, rooms, the command that starts Ray, and the end of all its processes."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from slurm.cluster import candidate_ports, cpus_here, free_port, own_address, ray_command
from slurm.room import Room, clear_abandoned
from slurm.settings import SlurmError

PROJECT = Path(__file__).parents[1]


@pytest.mark.parametrize("low, high", [(20000, 29999), (2000, 2060), (5000, 5121)])
def test_a_job_tries_every_port_once(low, high):
    for job in (1, 7, 123456789):
        assert sorted(candidate_ports(job, low, high)) == list(range(low, high + 1))


def test_neighbouring_jobs_start_at_different_ports():
    firsts = [next(candidate_ports(job, 20000, 29999)) for job in range(5000, 6000)]
    assert len(set(firsts)) == 1000


def test_a_taken_port_is_passed_over():
    with socket.socket() as taken:
        taken.bind(("", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert free_port(port, port, port + 40) != port  # job p starts at p modulo the span
        with pytest.raises(SlurmError, match="is free"):
            low = port - port % 2
            with socket.socket() as other:
                other.bind(("", low + 1 if port == low else low))
                free_port(0, low, low + 1)


def test_an_address_of_this_machine():
    with socket.socket() as listener:
        listener.bind((own_address(), 0))
    with pytest.raises(SlurmError, match=r"slurm.interface=ib7: .* has no such network; it has .*lo"):
        own_address("ib7")
    assert own_address("lo") == "127.0.0.1"
    assert own_address(towards="127.0.0.1") == "127.0.0.1"


def test_cpus_are_those_that_slurm_gave(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)))
    for name in ("SLURM_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE"):
        monkeypatch.delenv(name, raising=False)
    assert cpus_here() == 16
    monkeypatch.setenv("SLURM_CPUS_ON_NODE", "8")
    assert cpus_here() == 8
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", "3")
    assert cpus_here() == 3


def test_the_head_leaves_a_cpu_to_the_driver_where_there_are_many():
    def cpus(head, count):
        return next(word for word in ray_command(head, "10.0.0.1:20001", "10.0.0.1", Path("/r"), count) if "num-cpus" in word)

    assert [cpus(True, count) for count in (1, 3, 4, 64)] == ["--num-cpus=1", "--num-cpus=3", "--num-cpus=3", "--num-cpus=63"]
    assert cpus(False, 64) == "--num-cpus=64"


def test_only_the_heads_port_is_fixed():
    head = ray_command(True, "10.0.0.1:20001", "10.0.0.1", Path("/tmp/ttr-5-0"), 2)
    worker = ray_command(False, "10.0.0.1:20001", "10.0.0.2", Path("/tmp/ttr-5-1"), 2)
    assert {"--head", "--port=20001", "--include-dashboard=false", "--temp-dir=/tmp/ttr-5-0"} <= set(head)
    assert {"--address=10.0.0.1:20001", "--node-ip-address=10.0.0.2", "--temp-dir=/tmp/ttr-5-1"} <= set(worker)
    fixed = [word for word in head + worker if "-port=" in word and not word.endswith("=0") and "client-server" not in word]
    assert fixed == ["--port=20001"]


def test_a_room_is_its_owners_alone_and_goes_with_all_in_it(tmp_path):
    room = Room(tmp_path, "17", "0")
    assert room.path == tmp_path / "ttr-17-0" and room.path.stat().st_mode & 0o777 == 0o700
    (room.path / "below").mkdir()
    (room.path / "below" / "file").touch()
    room.remove()
    assert list(tmp_path.iterdir()) == []


def test_rooms_of_killed_jobs_are_cleared_and_those_in_use_are_not(tmp_path):
    kept = Room(tmp_path, "1", "0")
    killed = subprocess.Popen(
        [sys.executable, "-c", f"from slurm.room import *; room = Room(Path({str(tmp_path)!r}), '2', '0'); input()"],
        stdin=subprocess.PIPE,
        cwd=PROJECT,
    )
    while not (tmp_path / "ttr-2-0" / "lock").exists():
        time.sleep(0.01)
    time.sleep(0.2)
    assert clear_abandoned(tmp_path) == []
    killed.kill()
    killed.communicate()
    (tmp_path / "ttr-user-file").touch()
    assert clear_abandoned(tmp_path) == [tmp_path / "ttr-2-0"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ttr-1-0", "ttr-user-file"]
    kept.remove()


ORPHANS = """
import ctypes, subprocess, time, os
from slurm.cluster import TAKE_ORPHANS, end_descendants
ctypes.CDLL(None).prctl(TAKE_ORPHANS, 1, 0, 0, 0)
subprocess.run(["bash", "-c", "setsid sleep 987 & (trap '' TERM; setsid sleep 988) & disown -a"])
time.sleep(0.3)
from slurm import cluster
cluster.GRACE = 0.5
print(len(cluster.descendants(os.getpid())))
end_descendants()
print(len(cluster.descendants(os.getpid())))
"""


def test_orphans_and_the_deaf_are_ended_too():
    done = subprocess.run([sys.executable, "-c", ORPHANS], cwd=PROJECT, capture_output=True, text=True, check=True, timeout=30)
    before, after = map(int, done.stdout.split())
    assert before >= 2 and after == 0
