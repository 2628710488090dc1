"""The sbatch scripts, whole: any change of them is seen here. `python -m tests.test_slurm_script` writes them anew."""

import subprocess
from pathlib import Path

import pytest

from slurm.script import Work, job_script, merge_script
from slurm.settings import load_settings

GOLDEN = Path(__file__).parent / "slurm" / "golden"
WORK = Work(
    name="sweep-0123456789ab",
    module="experiments.sweep",
    arguments=("+sweep=posas", "scale=paper", "sweep.grid.agent.momentum=[0,0.1]", "results_dir=/data/my results"),
    folder="/home/ada/lab",
    run="/data/my results/sweep-0123456789ab",
    jobs="/data/my results/sweep-0123456789ab/slurm",
    agents=("cmcts_posas", "base"),
)


def scripts() -> dict[str, str]:
    """One script of each kind."""
    site = dict(
        partition="compute", account="games", qos="long", constraint="avx2&ib", mem="16G", cpus="16", time="08:00:00", nodes="4",
        mail="ada@example.org", directives="[--reservation=may, --nice=100]",
        setup="[module load python/3.11, source env/bin/activate]",
        python="python", tmp="$TMPDIR", cache="/local/ada", interface="ib0",
    )  # fmt: skip
    return {
        "whole_nodes.sh": job_script(load_settings(None, {"nodes": "2", "python": "python"}), WORK),
        "everything_set.sh": job_script(load_settings(None, site), WORK),
        "array.sh": job_script(load_settings(None, {"nodes": "8", "cpus": "1", "array": "true", "python": "python"}), WORK),
        "merge.sh": merge_script(
            load_settings(None, {"nodes": "8", "mem": "4G", "array": "true", "python": "python"}),
            Work("merge", "experiments.merge", ("/data/my results/sweep-0123456789ab",), WORK.folder, WORK.run, WORK.jobs),
            slices=8,
        ),
    }


@pytest.mark.parametrize("name", scripts())
def test_a_script_is_as_it_was(name):
    assert scripts()[name] == (GOLDEN / name).read_text(), "python -m tests.test_slurm_script writes the new text"


@pytest.mark.parametrize("name", scripts())
def test_bash_can_read_it(name):
    done = subprocess.run(["bash", "-n"], input=scripts()[name], text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_words_of_the_command_line_reach_the_driver_as_they_were_typed():
    nasty = ("a=b c", "x=$HOME", "y='q'", 'z="w"', "s=[1,2]", "t=`id`", "u={k: v}")
    work = Work("n", "experiments.sweep", nasty, "/", "/run", "/jobs")
    text = job_script(load_settings(None, {"python": "printf '%s\\n'", "nodes": "1"}), work)
    line = next(line for line in text.splitlines() if "experiments.sweep" in line)
    shown = subprocess.run(
        ["bash", "-c", f"stop_at=5; {line.removesuffix(' &')}"], text=True, capture_output=True, check=True
    ).stdout
    assert shown.splitlines() == ["-m", "experiments.sweep", *nasty, "batch_seconds=5", "cluster=ray", "stop_at=5"]


@pytest.mark.parametrize("own", ["batch=3", "batch_seconds=20"])
def test_the_length_of_batches_is_the_users_where_given(own):
    text = job_script(load_settings(), Work("n", "experiments.sweep", (own,), "/", "/run", "/jobs"))
    assert f" {own} cluster=ray" in text and text.count("batch") == 1


def test_every_start_of_ray_has_the_token():
    text = scripts()["whole_nodes.sh"]
    token = text.index("export RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH=$token")
    assert token < text.index("srun ") and token < text.index("slurm.cluster wait") and token < text.index("experiments.sweep +")


if __name__ == "__main__":
    for file, script in scripts().items():
        (GOLDEN / file).write_text(script)
