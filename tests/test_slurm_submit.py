"""Submitting, as far as no SLURM is needed: whose word is whose, what is refused, what SLURM's answers mean."""

import os
import stat

import pytest

from slurm import follow, queue
from slurm.cancel import main as cancel
from slurm.experiment import understand
from slurm.jobs import PLAYS, Job, jobs_of, keep, log_files, make_folder
from slurm.queue import JobState, parse_job
from slurm.settings import SlurmError, load_settings
from slurm.status import main as status
from slurm.submit import main, sort_words

SWEEP = ["experiments.sweep", "agents=[greedy]", "opponents=[random]", "deals=3"]


@pytest.fixture
def no_slurm(monkeypatch, tmp_path):
    """A machine without SLURM."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


@pytest.fixture
def answers(monkeypatch, tmp_path):
    """Commands of SLURM that answer what a test wants."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    def answer(command, text, code=0):
        path = folder / command
        path.write_text(f"#!/bin/sh\ncat <<'END'{' >&2' if code else ''}\n{text}\nEND\nexit {code}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    return answer


def test_words_are_sorted():
    words = sort_words(
        ["experiments.run", "my.yaml", "slurm.nodes=4", "deals=5", "slurm=site.yaml", "wait=true", "slurm.setup=a=b"]
    )
    assert (words.module, words.site, words.wait, words.dry_run) == ("experiments.run", "site.yaml", True, False)
    assert words.changes == {"nodes": "4", "setup": "a=b"}
    assert words.rest == ["my.yaml", "deals=5"]


@pytest.mark.parametrize(
    "words, line",
    [
        (["experiments.sweeep"], "'experiments.sweeep' cannot be queued (did you mean experiments.sweep?); experiments are: "),
        (["deals=3"], "name an experiment, e.g. python -m slurm.submit experiments.sweep"),
        ([*SWEEP, "wait=maybe"], "wait=maybe: it must be true or false"),
        ([*SWEEP, "slurm.nods=3"], "slurm has no setting 'nods' (did you mean nodes?)"),
        ([*SWEEP, "cluster=serial"], "cluster=serial cannot be given with slurm.submit"),
        ([*SWEEP, "cluster.workers=3"], "cluster.workers=3 cannot be given with slurm.submit"),
        ([*SWEEP, "part=1/2"], "part=1/2 cannot be given with slurm.submit: slurm.array=true makes slices"),
        ([*SWEEP, "stray"], "experiments.sweep: 'stray' is no setting; settings are name=value"),
        (["experiments.run"], "experiments.run: name your FILE.yaml"),
        (["experiments.reproduce"], "name a published table: study=NAME; there are: "),
        (["experiments.sweep", "agents=[gredy]", "opponents=[random]"], "experiments.sweep: "),
    ],
)
def test_what_cannot_be_queued_is_said_in_one_line(words, line, capsys):
    assert main(words) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.startswith(f"slurm.submit: {line}") and shown.err.count("\n") == 1


def test_help_names_every_setting(capsys):
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert "slurm.NAME=VALUE" in shown and "nodes, cpus, mem, time" in shown


def test_without_slurm_it_says_what_to_type_instead(no_slurm, capsys):
    assert main([*SWEEP, f"results_dir={no_slurm}"]) == 2
    instead = f"python -m experiments.sweep 'agents=[greedy]' 'opponents=[random]' deals=3 results_dir={no_slurm}"
    assert capsys.readouterr().err == (
        f"slurm.submit: there is no SLURM here (sbatch was not found); on a login node it is, and without SLURM: {instead}\n"
    )


def test_a_dry_run_needs_no_slurm(no_slurm, capsys):
    assert main([*SWEEP, f"results_dir={no_slurm / 'r'}", "slurm.nodes=2", "slurm.cpus=4", "slurm.array=true", "dry_run=true"]) == 0
    shown = capsys.readouterr()
    assert "queue: 2 slices of one node each, 8 CPUs in all: about" in shown.out
    assert "#SBATCH --array=1-2\n" in shown.out and "experiments.merge" in shown.out
    assert "no SLURM here" in shown.err and not (no_slurm / "r").exists()


def test_the_agents_of_a_plan_are_compiled_for():
    experiment = understand(
        "experiments.sweep", ["agents=['swap:first=greedy,second=pile,round=3']", "opponents=[villain]", "deals=3"]
    )
    assert experiment.agents == ("greedy", "pile", "random", "villain")
    assert experiment.run.is_absolute() and experiment.run.name.startswith("sweep-")


def test_a_partition_is_looked_at(answers):
    answers("sinfo", "long|up|2-00:00:00|20|long*\nshort|up|1:00:00|4|short\nshort|up|1:00:00|2|short\nold|down|infinite|9|old")
    queue.check_partition(load_settings(None, {"nodes": "20", "time": "1-23:00:00"}))
    queue.check_partition(load_settings(None, {"nodes": "6", "partition": "short"}))
    queue.check_partition(load_settings(None, {"nodes": "60", "partition": "short", "array": "true"}))  # slices take turns
    for changes, line in (
        ({"nodes": "7", "partition": "short"}, "slurm.nodes=7: partition short has 6"),
        (
            {"partition": "shot"},
            r"slurm.partition=shot: there is no such partition \(did you mean short\?\); there are: long, old, short",
        ),
        ({"partition": "old"}, "partition old is down: jobs there would not start"),
        ({"partition": "short", "time": "2:00:00"}, "slurm.time=2:00:00: partition short allows 1:00:00"),
    ):
        with pytest.raises(SlurmError, match=line):
            queue.check_partition(load_settings(None, changes))
    answers("sinfo", "long|up|2-00:00:00|20|long")
    with pytest.raises(SlurmError, match=r"this SLURM has no default partition; choose one with slurm.partition=NAME: long"):
        queue.check_partition(load_settings())


def test_a_complaint_of_slurm_is_one_line(answers):
    answers("sbatch", "sbatch: error: Batch job submission failed\nsbatch: error: Invalid account", code=1)
    with pytest.raises(SlurmError) as raised:
        queue.submit("#!/bin/bash\n")
    assert str(raised.value) == "sbatch: Batch job submission failed; Invalid account"


def test_a_job_as_scontrol_shows_it():
    running = parse_job(
        "JobId=17 JobName=x JobState=RUNNING Reason=None Restarts=2 ExitCode=0:0 EndTime=2026-01-02T03:04:05 NodeList=n[1-3]"
    )
    assert running == JobState("17", "RUNNING", "", "n[1-3]", None, 2, "2026-01-02T03:04:05") and not running.over
    slices = "JobId=21 ArrayJobId=20 ArrayTaskId=4-8 JobState=PENDING Reason=Resources Restarts=0 ExitCode=0:0 NodeList=(null)"
    assert (parse_job(slices).job, parse_job(slices).reason) == ("20_[4-8]", "Resources")
    one = parse_job(
        "JobId=21 ArrayJobId=20 ArrayTaskId=3 JobState=FAILED Reason=NonZeroExitCode Restarts=0 ExitCode=3:0 NodeList=n1"
    )
    assert (one.job, one.code, one.over) == ("20_3", 3, True)
    for state, exit_code, code in (
        ("COMPLETED", "0:0", 0),
        ("CANCELLED", "0:15", 143),
        ("TIMEOUT", "0:0", 1),
        ("FAILED", "1:0", 1),
    ):
        assert parse_job(f"JobId=9 JobState={state} ExitCode={exit_code}").code == code


def test_following_to_the_end_gives_the_jobs_exit_code(tmp_path, monkeypatch):
    shown = iter(
        [
            {"7": [JobState("7", "PENDING", "Priority", "", None, 0, "")]},
            {"7": [JobState("7", "PENDING", "Priority", "", None, 0, "")]},
            {"7": [JobState("7", "RUNNING", "", "n1", None, 1, "2026-01-02T03:04:05")]},
            {"7": [JobState("7", "FAILED", "", "n1", 3, 1, "")]},
        ]
    )
    monkeypatch.setattr(queue, "states", lambda jobs: next(shown))
    make_folder(tmp_path)
    (tmp_path / "slurm" / "7.log").write_text("one\ntwo\n")
    said: list[str] = []
    job = Job("7", PLAYS, [], 1, 0, "")
    assert follow.follow(tmp_path, [job], said.append, pause=0) == 3
    assert said[:3] == [
        "job 7: PENDING (Priority)",
        "job 7: RUNNING on n1 start 2 until 2026-01-02 03:04:05",
        "job 7: FAILED on n1 start 2 exit code 3",
    ]
    assert said[3].splitlines()[1:] == ["one", "two"]


def test_records_of_jobs(tmp_path, capsys):
    run = tmp_path / "sweep-1"
    assert status([str(run)]) == 2
    assert capsys.readouterr().err.startswith(f"slurm.status: {run}: there is no such run")
    make_folder(run)
    assert cancel([str(run)]) == 2
    assert capsys.readouterr().err.startswith(f"slurm.cancel: {run} was never queued here")
    for number in ("9", "10"):
        keep(run, Job(number, PLAYS, ["experiments.sweep"], 2, 3, "now"), "#!/bin/bash\n")
    assert [job.job for job in jobs_of(run)] == ["9", "10"]
    (run / "slurm" / "10_2.log").touch()
    assert [path.name for path in log_files(run, jobs_of(run)[1])] == ["10_2.log"]
    assert [path.name for path in log_files(run, jobs_of(run)[0])] == ["9.log"]


def test_results_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SlurmError, match=r"results cannot be written to .*/file/run: Not a directory; choose another folder"):
        make_folder(tmp_path / "file" / "run")
