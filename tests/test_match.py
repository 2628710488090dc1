"""python -m ttr.match: what it prints is what the games say, with intervals that hold."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from ttr.agents.registry import parse_agent
from ttr.batch import Table, deals_and_rotations
from ttr.board import load_board
from ttr.match import Tally, main, mean_interval, rate_interval
from ttr.record import read_record
from ttr.replay import replay
from ttr.rules import resolve_rules
from ttr.tables import compile_game

PROJECT = Path(__file__).parents[1]
EXAMPLE = str(PROJECT / "examples" / "my_agents.py")


def result(capsys, *words):
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_numbers_are_those_of_the_rows(capsys):
    """Counted again, plainly, from the rows of the batch."""
    found = result(capsys, "greedy", "random", "random", "--map", "usa", "--games", "58", "--seed", "4", "--set", "cars=12")
    board = load_board("usa")
    g = compile_game(board, resolve_rules(board, "official", 3, {"cars": 12}))
    rows = Table(g, [parse_agent(name) for name in ("greedy", "random", "random")]).play(*deals_and_rotations(0, 20, 3), 4)
    wins, points, draws = [0, 0, 0], [0.0, 0.0, 0.0], 0
    for row in rows:
        for seat in range(3):
            entry = (seat + row["rotation"]) % 3
            wins[entry] += int(row["winner"] == seat)
            points[entry] += row["score"][seat] / 2
        draws += int(row["winner"] < 0)
    assert (found["agents"], found["games"], found["deals"]) == (["greedy", "random", "random"], 60, 20)
    assert found["win_rate"] == pytest.approx([w / 60 for w in wins])
    assert found["mean_score"] == pytest.approx([p / 60 for p in points])
    assert found["draw_rate"] == pytest.approx(draws / 60)
    assert sum(found["win_rate"]) + found["draw_rate"] == pytest.approx(1)
    assert found["forfeits"] == [0, 0, 0] and found["seconds"] > 0 and not found["interrupted"]
    again = found["command"].split()[3:]
    repeated = result(capsys, *again)
    assert all(repeated[key] == found[key] for key in found if key not in ("seconds", "games_per_second"))


def test_batches_do_not_matter(capsys, monkeypatch):
    whole = result(capsys, "greedy", "random", "--games", "300")
    monkeypatch.setattr("ttr.match.LARGEST_BATCH", 7)
    parts = result(capsys, "greedy", "random", "--games", "300")
    assert all(whole[key] == parts[key] for key in whole if key not in ("seconds", "games_per_second"))


def test_intervals_of_means_by_hand():
    values = np.array([1.0, 2.0, 4.0, 5.0])
    half = 3.182446305 * np.sqrt(10 / 3) / 2
    assert mean_interval(values) == pytest.approx([3 - half, 3 + half])
    assert mean_interval(values[:1]) is None and rate_interval(values[:1], 2) is None


def test_intervals_of_rates():
    """Independent games: the exact binomial one; games that only repeat their deal count once; nothing seen is not nothing."""
    games = np.repeat([0.0, 1.0], [400, 600])
    exact = stats.binomtest(600, 1000).proportion_ci(0.95, method="exact")
    assert rate_interval(games, 1) == pytest.approx([exact.low, exact.high], abs=2e-4)
    assert rate_interval(games, 2) == pytest.approx(rate_interval(games, 1), abs=2e-4)
    low, high = rate_interval(np.zeros(50), 1)
    assert low == 0 and high == pytest.approx(stats.binomtest(0, 50).proportion_ci(0.95).high, abs=1e-3)
    assert rate_interval(np.ones(50), 1) == pytest.approx([1 - high, 1])
    low, high = rate_interval(np.full(50, 0.5), 2)
    assert 0.3 < low < 0.5 < high < 0.7


@pytest.mark.parametrize(("deals", "spread"), [(25, 2.0), (100, 0.3), (100, 20.0)])
def test_intervals_of_rates_hold_for_games_that_share_deals(deals, spread):
    """True rate 0.8, both games of a deal alike to a degree: covered in about 95 of 100 samples."""
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(400):
        low, high = rate_interval(rng.binomial(2, rng.beta(0.8 * spread, 0.2 * spread, deals)) / 2, 2)
        covered += low <= 0.8 <= high
    assert 0.92 <= covered / 400 <= 0.99


def test_an_unfinished_deal_does_not_count():
    board = load_board("mini")
    table = Table(compile_game(board, resolve_rules(board, "warwick", 2)), [parse_agent("greedy"), parse_agent("random")])
    tally = Tally(2)
    assert tally.summary() == {"games": 0, "deals": 0}
    rows = table.play(*deals_and_rotations(0, 3, 2), 1)
    tally.add(rows[:1])
    assert tally.summary() == {"games": 0, "deals": 0}
    tally.add(rows[1:5])
    assert tally.summary()["games"] == 4 and tally.games == 5


def test_what_a_person_sees(capsys, tmp_path):
    record = tmp_path / "first.jsonl"
    assert main(["greedy", "greedy", "--games", "19", "--map", "mini", "--record", str(record)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("greedy against greedy: map mini, rules warwick, seed 1\n")
    for part in ("20 games: 10 deals, each in 2 seat orders", "games/s", "draws", "Equal agents are told apart"):
        assert part in shown
    assert "Again: python -m ttr.match greedy greedy --games 19 --map mini --rules warwick --seed 1\n" in shown
    assert replay(record).scores == read_record(record)[-1]


def test_names_are_shown_as_they_stand(capsys, tmp_path):
    (tmp_path / "my.py").write_text("def star(view, moves, random, x=0):\n    return moves[0]\n")
    assert main([f"{tmp_path}/my.py:star:x=1", "greedy", "--games", "2"]) == 0
    assert "my.py:star:x=1 against greedy" in capsys.readouterr().out  # no emoji called star


def test_the_example_beats_greedy(capsys):
    found = result(capsys, f"{EXAMPLE}:Planner", "greedy", "--games", "100")
    assert found["agents"] == ["my_agents.py:Planner", "greedy"]
    assert found["win_rate_interval"][0][0] > 0.6 > found["win_rate"][1]
    found = result(capsys, f"{EXAMPLE}:Planner:locomotive_worth=1", f"{EXAMPLE}:hasty", "greedy", "--games", "9", "--map", "usa")
    assert found["win_rate"][0] > 0.6


def test_an_agent_that_fails(capsys, tmp_path):
    path = tmp_path / "bad.py"
    path.write_text("def bad(view, moves, random):\n    assert view.turn < 4\n    return moves[0]\n")
    assert main([f"{path}:bad", "greedy", "--games", "10"]) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1
    assert shown.err.startswith("agent bad.py:bad failed at seed 1, deal 0, rotation 0, move 7: bad.py, line 2: AssertionError")
    found = result(capsys, f"{path}:bad", "greedy", "--games", "10", "--on-error", "forfeit")
    assert (found["forfeits"], found["win_rate"]) == ([10, 0], [0, 1])
    assert "--on-error forfeit" in found["command"]


WORST = """
class Mute(Exception):
    def __str__(self):
        raise RuntimeError
    __repr__ = __str__

def mute(view, moves, random):
    raise Mute()

def hidden(view, moves, random):
    return Mute()

def leaves(view, moves, random):
    raise GeneratorExit("early")

def endless(view, moves, random):
    raise ValueError("no " * 5000)

def talks(view, moves, random):
    print("hello")
    return moves[0]
"""


def test_the_worst_of_agents_are_told_in_one_short_line(capsys, tmp_path):
    path = tmp_path / "bad.py"
    path.write_text(WORST)
    for name, told in (
        ("mute", "line 8: Mute"),
        ("hidden", "it returned a Mute"),
        ("leaves", "GeneratorExit: early"),
        ("endless", "no no"),
    ):
        assert main([f"{path}:{name}", "greedy", "--games", "2"]) == 2
        shown = capsys.readouterr()
        assert shown.err.count("\n") == 1 and told in shown.err and len(shown.err) < 700
    assert result(capsys, f"{path}:talks", "greedy", "--games", "2")["games"] == 2  # one JSON object, nothing beside it


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["gredy", "random"], "unknown agent 'gredy' (did you mean greedy?)"),
        (["greedy"], "a match has 2 to 5 agents, there are 1: greedy"),
        (["greedy"] * 6, "a match has 2 to 5 agents, there are 6"),
        (["greedy", "random", "--games", "0"], "--games 0: at least one game must be played"),
        (["greedy", "random", "--seed", "-1"], "--seed -1: it must be a whole number from 0 on"),
        (["greedy", "random", "--map", "yan"], "unknown map 'yan' (did you mean yang?)"),
        (["greedy", "random", "--rules", "offical"], "no rules are called 'offical' (did you mean official?)"),
        (["greedy", "random", "--set", "car=3"], "rules have no field 'car' (did you mean cars?)"),
        (["greedy", "random", "--set", "cars=.inf"], "cars=inf: it must be a whole number from 1 to 60"),
        (["greedy", "random", "--set", "cars=.nan"], "cars=nan: it must be a whole number from 1 to 60"),
        (["greedy", "random", "--set", "cars=2001-99-99"], "'2001-99-99' is not a value for cars"),
        (["hoarder:share=0.5,share=0.7", "random"], "agent 'hoarder:share=0.5,share=0.7': share is given twice"),
        (["greedy", "random", "--set", "players=3"], "players=3, but 2 agents are named"),
        (["greedy", "random", "--record", "/nowhere/x.jsonl"], "cannot write /nowhere/x.jsonl: No such file or directory"),
    ],
)
def test_wrong_words(words, told, capsys):
    assert main(words) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.startswith(told) and shown.err.count("\n") == 1


def interrupted_match(seconds):
    """Exit code and output of an endless match that gets Ctrl-C after so many seconds."""
    words = [sys.executable, "-m", "ttr.match", "greedy", "random", "--games", "1000000000", "--json"]
    env = os.environ | {"PYTHONPATH": str(PROJECT)}
    with subprocess.Popen(words, cwd=PROJECT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        time.sleep(seconds)
        run.send_signal(signal.SIGINT)
        try:
            out, _ = run.communicate(timeout=60)
        finally:
            run.kill()
    return run.returncode, out


def test_ctrl_c_prints_what_was_played():
    """A match of hours, interrupted: the results so far at once, exit code 130."""
    for seconds in (3, 10, 30, 60):  # a busy machine may still be at the imports
        code, out = interrupted_match(seconds)
        if out:
            break
    found = json.loads(out)
    assert code == 130
    assert found["interrupted"] and found["games"] == 2 * found["deals"] > 0
