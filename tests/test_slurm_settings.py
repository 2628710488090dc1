"""What a job's settings may be, and the one line that says what is wrong with them."""

import pytest
import yaml

from slurm.settings import CONF, NAMES, SlurmError, load_settings, port_range, seconds_of


def test_the_defaults_name_every_setting_once_and_in_order():
    assert list(yaml.safe_load((CONF / "default.yaml").read_text())) == NAMES
    settings = load_settings()
    assert (settings.nodes, settings.cpus, settings.time, settings.array) == (1, None, "01:00:00", False)


@pytest.mark.parametrize(
    "text, seconds",
    [
        ("90", 5400),
        ("90:30", 5430),
        ("08:00:00", 28800),
        ("2-12", 216000),
        ("2-12:30", 217800),
        ("1-00:00:05", 86405),
        ("soon", None),
        ("1:2:3:4", None),
        ("-5", None),
        ("", None),
    ],
)
def test_times_as_slurm_reads_them(text, seconds):
    assert seconds_of(text) == seconds


def test_a_site_file_lies_between_the_defaults_and_the_command_line(tmp_path):
    site = tmp_path / "site.yaml"
    site.write_text("partition: compute\ntime: 08:00:00\nsetup: [module load python, source env/bin/activate]\nmem: 16G\n")
    settings = load_settings(str(site), {"mem": "32G", "nodes": "4", "directives": "[--reservation=x, --nice]", "array": "true"})
    assert settings.time == "08:00:00"  # not the number that YAML makes of it
    assert (settings.partition, settings.mem, settings.nodes, settings.array) == ("compute", "32G", 4, True)
    assert settings.setup == ("module load python", "source env/bin/activate")
    assert settings.directives == ("--reservation=x", "--nice")


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"nodes": "0"}, "slurm.nodes=0: it must be a whole number from 1 to 10,000"),
        ({"nodes": "four"}, "slurm.nodes=four: it must be a whole number from 1 to 10,000"),
        ({"nodes": "null"}, "slurm.nodes must have a value, conf/slurm/default.yaml shows one"),
        ({"cpus": "-1"}, "slurm.cpus=-1: it must be a whole number from 1 to 4,096"),
        ({"time": "soon"}, "slurm.time=soon: write minutes, H:M:S or D-H:M:S, as 90, 08:00:00 or 2-12:00:00"),
        ({"time": "1"}, "slurm.time=1 is 60 s, of which slurm.reserve keeps 120 s: nothing would be played"),
        ({"mem": "much"}, "slurm.mem=much: write a number and K, M, G or T, as 16G"),
        ({"partition": "a b"}, "slurm.partition=a b: it must be one word, without blanks or quotes"),
        ({"partition": "x;rm"}, "slurm.partition=x;rm: it must be one word, without blanks or quotes"),
        ({"ports": "20000"}, "slurm.ports=20000: write LOW-HIGH within 1024-65535, as 20000-29999"),
        ({"tmp": "scratch"}, "slurm.tmp=scratch: it must be a whole path on the nodes, as /tmp or $TMPDIR"),
        ({"tmp": "/a/long/way/to/the/scratch"}, "slurm.tmp=/a/long/way/to/the/scratch: 26 characters, at most 20 leave room"),
        ({"array": "yes"}, "slurm.array=yes: it must be true or false"),
        ({"directives": "reservation=x"}, "slurm.directives: 'reservation=x' is not an sbatch option; write --name=value"),
        ({"directives": "--output=x"}, "slurm.directives: --output is set by slurm.submit itself"),
        ({"node": "3"}, "slurm has no setting 'node' (did you mean nodes?); there are: nodes, cpus"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(changes, message):
    with pytest.raises(SlurmError) as raised:
        load_settings(None, changes)
    assert str(raised.value).startswith(message) and "\n" not in str(raised.value)


def test_a_site_file_that_is_none(tmp_path):
    with pytest.raises(SlurmError, match=r"slurm=defalt: there is no such file, and .* has default \(did you mean default\?\)"):
        load_settings("defalt")
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("partition: [\n")
    with pytest.raises(SlurmError, match="cannot be read as YAML"):
        load_settings(str(wrong))
    wrong.write_text("partitoin: x\n")
    with pytest.raises(SlurmError, match=r"no setting 'partitoin' \(did you mean partition\?\)"):
        load_settings(str(wrong))


def test_port_ranges():
    assert port_range("20000-29999") == (20000, 29999)
    assert port_range("80-90") is None and port_range("3000-2000") is None and port_range("x") is None
