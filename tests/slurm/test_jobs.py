"""Jobs on a real SLURM of three nodes: the same rows as on a laptop, whatever happens to the job, and nothing left behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from slurm import queue
from slurm.jobs import jobs_folder
from tests.slurm.conftest import PATIENCE, PROJECT
from tests.slurm.sandbox import wait_until

pytestmark = pytest.mark.slurm

CLIENT = "import ray, sys; ray.init(address=sys.argv[1], log_to_driver=False); print('in', len(ray.nodes()))"


@pytest.mark.short
def test_three_nodes_are_idle(site):
    assert site.sandbox.idle_nodes() == 3


@pytest.mark.short
def test_a_sweep_over_three_nodes_has_the_serial_hash_and_leaves_nothing(site):
    run, [job] = site.submit(site.words("three", deals=30))
    [state] = site.wait(job)
    log = site.log(run, job)
    assert (state.state, state.code) == ("COMPLETED", 0), log
    assert "Ray runs on 3 of 3 nodes with 3 CPUs" in log
    assert site.hash(run) == site.serial_hash(deals=30)
    assert site.left_behind(job) == []
    assert sorted(path.name for path in jobs_folder(run).iterdir()) == [f"{job.job}.json", f"{job.job}.log", f"{job.job}.sh"]
    shown = site.python("slurm.status", str(run)).stdout
    assert "120 of 120 games (100.0%)" in shown and f"job {job.job}: COMPLETED" in shown


@pytest.mark.short
def test_a_killed_node_costs_no_game(site):
    run, [job] = site.submit(site.words("killed", deals=30), patience=0.05)
    site.wait_for_games(run, job)
    site.sandbox.kill_node("node3")
    [state] = site.wait(job)
    try:
        assert (state.state, state.code, state.restarts) == ("COMPLETED", 0, 0), site.log(run, job)
        assert site.hash(run) == site.serial_hash(deals=30)
    finally:
        site.sandbox.revive_node("node3")
    assert site.sandbox.processes(f"SLURM_JOB_ID={job.job}") == []


def test_the_first_node_killed_the_job_starts_again_elsewhere(site):
    run, [job] = site.submit(site.words("first", deals=30), patience=0.05, nodes=2)
    site.wait_for_games(run, job)
    site.sandbox.kill_node("node1")
    [state] = site.wait(job)
    site.sandbox.revive_node("node1")
    assert (state.state, state.code) == ("COMPLETED", 0) and state.restarts >= 1, site.log(run, job)
    assert site.hash(run) == site.serial_hash(deals=30)
    assert site.sandbox.processes(f"SLURM_JOB_ID={job.job}") == []


def test_cancelled_and_submitted_again_it_goes_on(site):
    words = site.words("again", deals=60)
    run, [job] = site.submit(words, patience=0.1)
    site.wait_for_games(run, job)
    twice = site.python("slurm.submit", *words)
    assert twice.returncode == 2 and f"job {job.job} plays this run already (RUNNING)" in twice.stderr
    done = site.python("slurm.cancel", str(run))
    assert (done.returncode, done.stdout) == (0, f"ended: job {job.job}; submit again to continue\n")
    [state] = site.wait(job)
    assert state.state == "CANCELLED"
    wait_until(lambda: not site.left_behind(job), 30, "all of the job to be gone")
    assert not (jobs_folder(run) / f"{job.job}.token").exists()
    assert site.python("slurm.cancel", str(run)).stdout == f"no job of {run} is queued or running\n"
    run_again, [again] = site.submit(words)
    assert run_again == run
    [state] = site.wait(again)
    assert state.state == "COMPLETED", site.log(run, again)
    played = int(site.log(run, again).partition("complete: 240 games, ")[2].partition(" ")[0])
    assert 0 < played < 240
    assert site.hash(run) == site.serial_hash(deals=60)


def test_at_the_end_of_its_time_it_queues_itself_again(site):
    run, [job] = site.submit(site.words("limit", deals=12), patience=0.1, time=1, reserve=15)
    [state] = site.wait(job)
    log = site.log(run, job)
    assert state.state == "COMPLETED" and state.restarts >= 1, log
    assert log.count("the time is nearly over and games are left") == state.restarts
    assert "stopped before the deadline" in log and "DUE TO TIME LIMIT" not in log
    assert site.hash(run) == site.serial_hash(deals=12)
    assert site.left_behind(job) == []


def test_two_jobs_on_the_same_nodes_and_strangers_at_the_door(site):
    one, [first] = site.submit(site.words("one", deals=20, seed=1), patience=0.2)
    two, [second] = site.submit(site.words("two", deals=20, seed=2), patience=0.2)
    site.wait_for_games(one, first)
    site.wait_for_games(two, second)
    assert site.state(first).nodes == site.state(second).nodes == "node[1-3]"

    addresses = [ray_address(site, job) for job in (first, second)]
    assert len(set(addresses)) == 2
    rooms = sorted(site.tmp.glob(f"ttr-{first.job}-*"))
    assert [room.stat().st_mode & 0o777 for room in rooms] == [0o700] * 3
    tokens = [jobs_folder(run) / f"{job.job}.token" for run, job in ((one, first), (two, second))]
    assert [token.stat().st_mode & 0o777 for token in tokens] == [0o600, 0o600]
    knocks = {
        "without a token": knock(addresses[0], RAY_AUTH_MODE="disabled"),
        "with another job's token": knock(addresses[0], RAY_AUTH_MODE="token", RAY_AUTH_TOKEN_PATH=str(tokens[1])),
        "with its own token": knock(addresses[0], RAY_AUTH_MODE="token", RAY_AUTH_TOKEN_PATH=str(tokens[0])),
    }
    answers = {how: client.communicate(timeout=PATIENCE)[0] for how, client in knocks.items()}
    assert site.state(first).state == "RUNNING"  # who did not come in was kept out
    assert ["in 3" in answer for answer in answers.values()] == [False, False, True], answers

    for state in site.wait(first, second):
        assert (state.state, state.restarts) == ("COMPLETED", 0)
    assert site.hash(one) == site.serial_hash(deals=20, seed=1)
    assert site.hash(two) == site.serial_hash(deals=20, seed=2)
    assert site.left_behind(first) == site.left_behind(second) == []


def test_a_job_array_gives_the_same_hash(site):
    run, [plays, merges] = site.submit(site.words("array", deals=40), nodes=4, array="true")
    states = site.wait(plays, merges)
    assert [state.state for state in states] == ["COMPLETED"] * 5, [path.read_text() for path in jobs_folder(run).glob("*.log")]
    assert sorted(state.job for state in states) == sorted([*(f"{plays.job}_{k}" for k in range(1, 5)), merges.job])
    assert site.hash(run) == site.serial_hash(deals=40)
    assert not any(site.left_behind(job) for job in (plays, merges))
    assert list(site.tmp.glob("ttr-*")) == []


def test_a_driver_that_fails_makes_a_failed_job_that_says_why(site):
    words = ["experiments.run", str(own_file(site.folder)), f"results_dir={site.folder / 'fails'}"]
    settings = ["slurm.nodes=1", "slurm.cpus=1", "slurm.time=5", f"slurm.tmp={site.tmp}"]
    done = site.python("slurm.submit", *words, *settings, "wait=true")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "I have lost my glasses" in done.stdout and "FAILED" in done.stdout
    [run] = (site.folder / "fails").iterdir()
    [log] = jobs_folder(run).glob("*.log")
    assert "I have lost my glasses" in log.read_text()
    job = log.stem
    assert site.sandbox.processes(f"SLURM_JOB_ID={job}") == [] and list(site.tmp.glob("ttr-*")) == []


def test_a_head_that_dies_ends_the_job(site):
    run, [job] = site.submit(site.words("head", deals=60), patience=0.2, nodes=1)
    site.wait_for_games(run, job)
    [gcs] = [pid for pid in site.sandbox.processes(f"SLURM_JOB_ID={job.job}") if "gcs_server" in executable(pid)]
    os.kill(gcs, signal.SIGKILL)
    [state] = site.wait(job)
    assert state.state == "FAILED" and state.code, site.log(run, job)
    assert "Ray" in site.log(run, job)
    assert site.left_behind(job) == []


@pytest.mark.parametrize(
    "words, line",
    [
        (["slurm.nodes=0"], "slurm.submit: slurm.nodes=0: it must be a whole number from 1 to 10,000"),
        (["slurm.nodes=9"], "slurm.submit: slurm.nodes=9: the default partition has 3"),
        (
            ["slurm.partition=tset"],
            "slurm.submit: slurm.partition=tset: there is no such partition (did you mean test?); there are: closed, test",
        ),
        (["slurm.partition=closed"], "slurm.submit: partition closed is down: jobs there would not start"),
        (["slurm.time=2-00:00:00"], "slurm.submit: slurm.time=2-00:00:00: the default partition allows 1:00:00"),
        (["slurm.constraint=gpu"], "slurm.submit: sbatch: "),
        (["slurm.cpus=64"], "slurm.submit: sbatch: "),
        (["results_dir=/proc/nobody"], "slurm.submit: results cannot be written to /proc/nobody/"),
        (["agents=[greddy]"], "slurm.submit: experiments.sweep: "),
        (["cluster=local"], "slurm.submit: cluster=local cannot be given with slurm.submit: the job brings its own cluster"),
        (["fresh=true"], "slurm.submit: fresh=true cannot be given with slurm.submit: each start of the job would begin again"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_queued(site, words, line):
    before = queue_length(site)
    usual = [word for word in site.words("bad", deals=5) if word.partition("=")[0] not in [w.partition("=")[0] for w in words]]
    done = site.python("slurm.submit", *usual, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(line) and done.stderr.count("\n") == 1
    assert queue_length(site) == before


def test_a_slurm_that_does_not_answer_is_said_in_one_line(site):
    done = site.python("slurm.submit", *site.words("bad", deals=5), SLURM_CONF="/nowhere/slurm.conf")
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("slurm.submit: SLURM does not answer (")
    assert "without it: python -m experiments.sweep" in done.stderr


def test_a_dry_run_shows_plan_and_script_and_queues_nothing(site):
    before = queue_length(site)
    done = site.python("slurm.submit", *site.words("dry", deals=5), "slurm.nodes=2", "slurm.cpus=8", "dry_run=true")
    assert done.returncode == 0, done.stderr
    assert "CPU-hours" in done.stdout and "one job on 2 nodes, 16 CPUs in all: about" in done.stdout
    assert "#SBATCH --nodes=2\n" in done.stdout and "experiments.sweep 'agents=[tests/slurm/agents.py:patient]'" in done.stdout
    assert queue_length(site) == before and not (site.folder / "dry").exists()


def ray_address(site, job):
    """Where a job's Ray listens, as its own processes know it."""
    found = set()
    for pid in site.sandbox.processes(f"SLURM_JOB_ID={job.job}"):
        for word in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
            if word.startswith(b"TTR_RAY_ADDRESS="):
                found.add(word.decode().partition("=")[2])
    [address] = found
    return address


def knock(address, **environment):
    """Somebody on the same machine who knows where a job's Ray listens, and tries for a minute."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    command = ["timeout", "-k", "5", "60", sys.executable, "-c", CLIENT, address]
    return subprocess.Popen(
        command, env=own | environment, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def own_file(folder):
    """An experiment of a user whose agent fails."""
    path = folder / "mine.yaml"
    path.write_text(f"agents: ['{PROJECT}/tests/slurm/agents.py:broken']\nopponents: [random]\ndeals: 2\n")
    return path


def executable(pid):
    """The program of a process."""
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return ""


def queue_length(site):
    """How many jobs SLURM knows, the finished ones too."""
    time.sleep(0.1)
    return site.sandbox.run("scontrol", "--oneliner", "show", "job", check=False).count("JobId=")


def test_jobs_that_slurm_never_knew_have_no_state(site):
    assert queue.states(["99999"]) == {"99999": []}
