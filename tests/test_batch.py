"""Batches: rows do not depend on the batch, the log tells every move, time is measured and kept apart."""

import numpy as np
import pytest

from ttr.agents.registry import parse_agent
from ttr.batch import Table, deals_and_rotations
from ttr.board import load_board
from ttr.clock import seconds_per_tick
from ttr.game import CONTENT
from ttr.record import play_and_record
from ttr.rules import resolve_rules
from ttr.tables import compile_game


def table(name, preset, agents):
    board = load_board(name)
    rules = resolve_rules(board, preset, len(agents))
    return board, rules, Table(compile_game(board, rules), [parse_agent(text) for text in agents])


SEATINGS = [("yang", "warwick", ["greedy", "random"]), ("usa", "official", ["greedy"] * 3)]


@pytest.mark.parametrize(("name", "preset", "agents"), SEATINGS)
def test_a_row_does_not_depend_on_its_batch(name, preset, agents):
    _, _, seated = table(name, preset, agents)
    deals, rotations = deals_and_rotations(3, 20, len(agents))
    whole = seated.play(deals, rotations, seed=5)
    backwards = np.concatenate([seated.play(deals[[i]], rotations[[i]], seed=5) for i in reversed(range(len(deals)))])[::-1]
    assert np.array_equal(whole[CONTENT], backwards[CONTENT])
    assert len(np.unique(whole["unfloored"], axis=0)) > len(whole) // 2


def test_the_log_is_the_record():
    """Every logged code is the recorded move, and logging changes no row."""
    board, rules, seated = table("yang", "warwick", ["greedy", "random"])
    deals, rotations = deals_and_rotations(0, 5, 1)
    rows, log = seated.play_logged(deals, rotations, seed=9)
    assert np.array_equal(rows[CONTENT], seated.play(deals, rotations, seed=9)[CONTENT])
    for i, deal in enumerate(deals):
        record = play_and_record(board, rules, ["greedy", "random"], 9, int(deal))
        entries = log[log["row"] == i]
        assert entries["code"].tolist() == [line["code"] for line in record[1:-1]]
        assert entries["seat"].tolist() == [line["player"] for line in record[1:-1]]
        assert entries["turn"].tolist() == [line["turn"] for line in record[1:-1]]
        assert entries["number"].tolist() == list(range(rows[i]["decisions"]))
        assert (entries["actions"] >= 1).all()


def test_time_is_measured():
    _, _, seated = table("yang", "warwick", ["greedy", "random"])
    rows, log = seated.play_logged(*deals_and_rotations(0, 3, 2), seed=1)
    assert (rows["ticks"][:, :2] > 0).all() and (rows["ticks"][:, 2:] == 0).all()
    assert rows["ticks"].sum() == log["ticks"].sum()
    assert 0 < rows["ticks"].sum() * seconds_per_tick() < 60
