"""python -m ttr.analyse tells what a search thinks of a recorded position, and refuses what does not exist in one line."""

import json
from pathlib import Path

import pytest

from ttr.analyse import main, position_before
from ttr.record import read_record

RECORD = Path(__file__).parent / "golden" / "rules_warwick.jsonl"


def analysed(capsys, *arguments):
    """The analysis as data."""
    assert main([str(RECORD), "--json", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("agent", ["cmcts", "ismcts"])
def test_choices_follow_from_the_means(capsys, agent):
    data = analysed(capsys, "--move", "9", "--agent", f"{agent}:iterations=3000,posas_threshold=3,target=2")
    line = read_record(RECORD)[9]
    assert (data["move"], data["player"], data["played"]["code"]) == (9, line["player"], line["code"])
    actions = data["actions"]
    assert sum(a["visits"] for a in actions) == data["iterations"] == 3000
    assert [a["mean"] for a in actions] == sorted((a["mean"] for a in actions), reverse=True)
    picks = {dda: {p["code"] for p in found} for dda, found in data["choices"].items()}
    away = {a["code"]: abs(a["mean"] - 2) for a in actions}
    assert actions[0]["code"] in picks["none"]
    assert picks["rosas"] == {c for c in away if away[c] == min(away.values())}
    beyond = {c: max(0, away[c] - 3) for c in away}
    assert picks["posas"] == {c for c in beyond if beyond[c] == min(beyond.values())}
    assert picks["true_rosas"] and picks["true_posas"]


def test_momentum_and_the_final_choice(capsys):
    data = analysed(capsys, "--move", "9", "--agent", "cmcts:iterations=2000,momentum=0.5,final_choice=most_visits")
    actions = data["actions"]
    most = max(a["visits"] for a in actions)
    assert {p["code"] for p in data["choices"]["none"]} == {a["code"] for a in actions if a["visits"] == most}
    value = {a["code"]: abs(a["mean"]) + 0.5 * (data["mean"] - a["mean"]) for a in actions}
    (rosas,) = data["choices"]["rosas"]
    assert value[rosas["code"]] == pytest.approx(min(value.values()))


def test_the_same_seed_gives_the_same_analysis(capsys):
    first, again, other = (analysed(capsys, "--move", "9", "--agent", "ismcts:iterations=500", "--seed", n) for n in "112")
    assert first == again and first["actions"] != other["actions"]


def test_the_table_names_the_picks(capsys):
    assert main([str(RECORD), "--move", "9", "--agent", "cmcts:iterations=2000"]) == 0
    text = capsys.readouterr().out
    for word in ("2,000 iterations", "mean", "visits", "rosas", "the game", "true_posas"):
        assert word in text


def test_positions_are_those_before_the_move():
    lines = read_record(RECORD)
    for move in (1, 5, len(lines) - 2):
        position = position_before(RECORD, move)
        assert position.line == lines[move]
        assert (position.state["player"], position.state["turn"]) == (lines[move]["player"], lines[move]["turn"])


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((str(RECORD), "--move", "999"), "has no move 999; its moves are numbered 1 to"),
        ((str(RECORD), "--move", "0"), "has no move 0"),
        ((str(RECORD), "--move", "3", "--agent", "greedy"), "does not search; those that do are: cmcts"),
        ((str(RECORD), "--move", "3", "--agent", "cmct"), "did you mean cmcts"),
        ((str(RECORD), "--move", "3", "--seed", "-1"), "--seed is -1"),
        (("nowhere.jsonl", "--move", "3"), "nowhere.jsonl: No such file"),
        ((str(Path(__file__)), "--move", "3"), "line 1: this is no JSON object"),
    ],
)
def test_what_does_not_exist_gets_one_line(capsys, arguments, problem):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert problem in error and error.count("\n") == 1
