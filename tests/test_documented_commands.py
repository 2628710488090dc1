"""Every command in README.md and docs/*.md works as it stands there.

How to write a command in a document:

- In a ```console block, a line `$ command` is a command; lines without `$` are its output and not read. A backslash continues it.
- A ```bash block is a script, run as a whole; use it to write files.
- The blocks of one document are run in order in one temporary folder, which has the project's `examples`, so that a later
  command may use what an earlier one wrote. Each has SECONDS, so keep them small.
- A comment at the end whose first word is in HELP_ONLY (`# minutes`, `# interactive`, `# cluster`) says why a command is not run
  here: then its module must exist and answer `--help`.
- `# refused` says that the command must end with exit code 2 and one line on stderr.
- `make TARGET` is not run; the target must be in the Makefile.
- Wherever a text, indented or inline, says `python -m MODULE`, the module must exist. Placeholders (RUN, FILE) go there.
"""

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
DOCUMENTS = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]
HELP_ONLY = ("minutes", "hours", "cluster", "interactive")
SECONDS = 300  # wall clock of one command, compiling included


class Undocumentable(AssertionError):
    """A command that does not do what the document says."""


def blocks(text):
    """The console and bash blocks of a document, as (kind, content)."""
    return re.findall(r"^```(console|bash)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def commands(text):
    """All commands of a document in order, each as one script; a bash block is one."""
    found = []
    for kind, content in blocks(text):
        if kind == "bash":
            found.append(content)
        else:
            joined = re.sub(r"\\\n\s*(?:>\s*)?", "", content)
            found += [line[2:] for line in joined.splitlines() if line.startswith("$ ")]
    return found


def marker(command):
    """The first word of the comment at the end of a command, or nothing."""
    match = re.search(r"\s#\s*(\w+)[^\n]*\Z", command.rstrip())
    return match[1] if match else ""


@cache
def module_exists(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def run(command, folder):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(PROJECT)}
    shell = ["bash", "-e", "-o", "pipefail", "-c", command]
    return subprocess.run(
        shell, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=False
    )


@cache
def help_problem(module):
    """What is wrong with `python -m MODULE --help`, or nothing."""
    shown = run(f"python -m {shlex.quote(module)} --help", PROJECT)
    if shown.returncode == 0 and "usage" in shown.stdout.lower():
        return ""
    return f"exit code {shown.returncode}: {shown.stderr.strip()[-300:]}"


def check_help(command):
    match = re.search(r"python -m ([\w.]+)", command)
    if not match:
        raise Undocumentable(f"only `python -m` commands can be marked as not run: {command}")
    if problem := help_problem(match[1]):
        raise Undocumentable(f"{command}: --help: {problem}")


def check(command, folder):
    """Run one command as its marker says; raises Undocumentable."""
    if target := re.fullmatch(r"make ([\w-]+)\s*(#.*)?", command.strip()):
        if not re.search(rf"^{re.escape(target[1])}:", (PROJECT / "Makefile").read_text(), re.MULTILINE):
            raise Undocumentable(f"the Makefile has no target for: {command}")
    elif marker(command) in HELP_ONLY:
        check_help(command)
    else:
        wanted = 2 if marker(command) == "refused" else 0
        shown = run(command, folder)
        if shown.returncode != wanted:
            raise Undocumentable(
                f"{command}\nexit code {shown.returncode}, not {wanted}\n{shown.stdout[-500:]}\n{shown.stderr[-1500:]}"
            )
        if wanted == 2 and shown.stderr.strip().count("\n"):
            raise Undocumentable(f"{command}\nmore than one line on stderr\n{shown.stderr[-1500:]}")


def check_modules(text):
    for name in sorted(set(re.findall(r"python -m ([a-z_]\w*(?:\.[a-z_]\w*)*)", text))):
        if not module_exists(name):
            raise Undocumentable(f"python -m {name}: there is no such module")


def check_document(text, folder):
    check_modules(text)
    (folder / "examples").symlink_to(PROJECT / "examples")
    for command in commands(text):
        check(command, folder)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_commands_of_a_document(path, tmp_path):
    check_document(path.read_text(encoding="utf-8"), tmp_path)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_of_a_document_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        if not re.match(r"https?:|mailto:", target):
            assert (path.parent / target).exists(), f"{path.name} links to {target}, which does not exist"


def test_the_readme_opens_with_demo_and_test():
    first = commands((PROJECT / "README.md").read_text(encoding="utf-8"))[:2]
    assert [command.split("#")[0].strip() for command in first] == ["make demo", "make test"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("```console\n$ python -m ttr.nothing\n```\n", id="no such module"),
        pytest.param("```console\n$ python -m ttr.nothing  # minutes\n```\n", id="no such module, marked"),
        pytest.param("Then type `python -m ttr.nothing FILE`.", id="no such module, inline"),
        pytest.param("```console\n$ python -m ttr.maps paint usa\n```\n", id="no such subcommand"),
        pytest.param("```console\n$ python -m ttr.cards  # minutes\n```\n", id="a module that is no command"),
        pytest.param("```console\n$ make coffee\n```\n", id="no such target"),
        pytest.param("```console\n$ python -m ttr.maps check mini  # refused\n```\n", id="accepted against expectation"),
        pytest.param("```console\n$ sleep 1  # minutes\n```\n", id="marked, but nothing to ask for help"),
        pytest.param("```bash\ncat nothing.txt\necho done\n```\n", id="a failing line in a script"),
    ],
)
def test_a_wrong_document_is_noticed(text, tmp_path):
    with pytest.raises(Undocumentable):
        check_document(text, tmp_path)


def test_a_right_document_passes(tmp_path):
    text = (
        "```bash\nmkdir mine\necho hello > mine/a.txt\n```\n```console\n$ cat mine/a.txt\nhello\n$ python -m ttr.maps \\\n"
        "    list\n$ python -m ttr.maps check yank  # refused\n$ python -m ttr.play  # interactive\n$ make test\n```\n"
    )
    assert len(commands(text)) == 6
    check_document(text, tmp_path)
