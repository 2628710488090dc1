"""The conformance test names what is wrong with an agent, each fault by the check that is there for it."""

from pathlib import Path

import pytest

import ttr.conformance
from ttr.agents.registry import SWAP, agent_names, make_agent
from ttr.board import load_board
from ttr.conformance import Conformance, main
from ttr.rules import resolve_rules

HEAD = "import random as r, time\nimport numpy as np\nfrom ttr.moves import Move\n"
BROKEN = {
    "illegal": ("return Move('claim', 4, route=0, colour='red')", ["legal moves", "any position"]),
    "nothing": ("pass", ["legal moves", "any position"]),
    "raises": ("return moves[len(moves)]", ["no exceptions", "any position"]),
    "clock": ("return moves[time.perf_counter_ns() // 1000 % len(moves)]", ["deterministic"]),
    "global_random": ("return r.choice(moves)", ["deterministic", "own stream"]),
    "seeded_random": ("r.seed(7); return r.choice(moves)", ["own stream"]),
    "numpy_random": ("np.random.seed(7); return moves[np.random.randint(len(moves))]", ["own stream"]),
    "global_memory": ("MET.append(1); return moves[len(MET) % len(moves)]", ["no memory"]),
    "writes_tables": ("view._setting.game.tables['points'][1] += 2; return random.choice(moves)", ["changes nothing"]),
    "writes_board": ("object.__setattr__(view.board, 'title', 'mine'); return random.choice(moves)", ["changes nothing"]),
    "no_tickets": (
        "assert view.phase != 'choose'; return random.choice([m for m in moves if m.kind != 'tickets'])",
        ["any position"],
    ),
    "endless": ("while True: pass", ["no exceptions", "any position"]),
    "good": ("return random.choice(moves)", []),
}
SET_ORDER = "return sorted(moves, key=lambda m: list({c.name for c in view.board.cities}).index(view.routes[m.route].a))[0]"


@pytest.fixture
def agent_file(tmp_path):
    path = tmp_path / "broken.py"
    texts = [f"def {name}(view, moves, random):\n    {body}\n" for name, (body, _) in BROKEN.items()]
    path.write_text(HEAD + "MET = []\n" + "\n".join([*texts, f"def set_order(view, moves, random):\n    {SET_ORDER}\n"]))
    return path


def findings(text, limit=100.0):
    """All findings on the small map, those of other processes apart."""
    board = load_board("mini")
    conformance = Conformance(text, [(board, resolve_rules(board, "warwick", 2))], games=3, seed=1, limit=limit)
    return {finding.check: finding for finding in conformance.run()}


@pytest.mark.parametrize("name", BROKEN)
def test_each_fault_is_found_by_its_check(agent_file, name, monkeypatch):
    monkeypatch.setattr(ttr.conformance, "HASH_SEEDS", ())
    monkeypatch.setattr(ttr.conformance, "PATIENCE", 2.0)
    found = findings(f"{agent_file}:{name}")
    failed = [check for check, finding in found.items() if finding.verdict == "FAIL"]
    assert failed == BROKEN[name][1], found
    assert all("\n" not in finding.text for finding in found.values())
    if name == "endless":
        assert "TimeoutError: no decision within 2 s" in found["no exceptions"].text
    if name == "raises":
        assert "broken.py, line" in found["no exceptions"].text and "move 1: " in found["no exceptions"].text
    if name == "good":
        assert "choose initial 3" in found["any position"].text and "choose" in found["any position"].text.split(", ")[1]


def test_the_order_of_sets_is_found_in_other_processes(agent_file):
    """Within a process the order of a set of texts never changes, so only another process shows it."""
    found = findings(f"{agent_file}:set_order")
    assert [check for check, finding in found.items() if finding.verdict == "FAIL"] == ["other processes"]
    assert "sort it first" in found["other processes"].text


def test_slowness_is_a_warning(agent_file, monkeypatch):
    monkeypatch.setattr(ttr.conformance, "HASH_SEEDS", ())
    found = findings(f"{agent_file}:good", limit=0.0001)
    assert found["speed"].verdict == "warn" and "more than 0.0001" in found["speed"].text


@pytest.mark.parametrize("text", ["greedy", "random", "swap:first=random,second=greedy,round=3"])
def test_agents_of_the_project_conform(text, monkeypatch):
    monkeypatch.setattr(ttr.conformance, "HASH_SEEDS", ())
    assert all(finding.verdict == "ok" for finding in findings(text).values())


def test_the_command(agent_file, capsys, monkeypatch):
    monkeypatch.chdir(agent_file.parent)
    assert main(["broken.py:good", "--map", "mini", "--games", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 11 and all(line.startswith("ok") for line in lines[:-1])
    assert lines[-1] == "It conforms. Next: python -m ttr.match broken.py:good greedy --games 1000"
    monkeypatch.setattr(ttr.conformance, "HASH_SEEDS", ())
    assert main(["broken.py:illegal", "--map", "mini", "--games", "1"]) == 1
    shown = capsys.readouterr().out
    assert "FAIL  legal moves" in shown and shown.endswith("2 of 10 checks failed.\n")


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["broken.py:goood"], 1, "FAIL  constructible     broken.py has no 'goood' (did you mean good?)"),
        (["nowhere.py:good"], 2, "agent 'nowhere.py:good': cannot read nowhere.py: No such file or directory"),
        (["gredy"], 2, "unknown agent 'gredy' (did you mean greedy?)"),
        (["greedy", "--map", "ussa"], 2, "unknown map 'ussa' (did you mean usa?)"),
        (["greedy", "--map", "mini", "--players", "6"], 2, "players=6: it must be a whole number from 2 to 5"),
        (["greedy", "--games", "0"], 2, "--games 0: at least one game must be played"),
    ],
)
def test_wrong_names(agent_file, arguments, code, told, capsys, monkeypatch):
    monkeypatch.chdir(agent_file.parent)
    assert main(arguments) == code
    shown = capsys.readouterr()
    assert (shown.out if code == 1 else shown.err).startswith(told)


@pytest.mark.full
@pytest.mark.parametrize("name", [name for name in agent_names() if name != SWAP])
def test_every_agent_of_the_project_conforms(name, monkeypatch):
    monkeypatch.setattr(ttr.conformance, "HASH_SEEDS", ())
    found = findings(f"{name}:iterations=20" if "iterations" in make_agent(name).fields else name)
    assert [finding for finding in found.values() if finding.verdict == "FAIL"] == []


def test_the_documented_functions_stand_in_the_example():
    """What docs/agents.md shows of the example is in it, word by word."""
    project = Path(__file__).parents[1]
    example = (project / "examples" / "my_agents.py").read_text()
    shown = (project / "docs" / "agents.md").read_text().split("```python\n")[1].split("```")[0]
    assert shown.startswith("def hasty") and shown in example
