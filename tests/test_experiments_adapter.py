"""Batches are pure: a worker plays many matchups on many boards in any order, with one scratch, and rows do not notice."""

from itertools import product

import numpy as np
import pyarrow as pa

from ttr import adapter

SETUPS = [("yang", "warwick"), ("yang", {"preset": "warwick", "cars": 12}), ("mini", "warwick")]
AGENTS = ["ismcts_posas:iterations=60", "cmcts_true_posas:iterations=60", "hoarder", "villain"]


def test_rows_do_not_depend_on_what_the_worker_played_before():
    jobs = []
    for (board, rules), agent, opponent in product(SETUPS, AGENTS, ["base", "pile"]):
        seats = [adapter.resolve_agent(agent), adapter.resolve_agent(opponent)]
        jobs.append((adapter.resolve_setup(board, rules, 2), seats))
    found: list[dict[int, pa.Table]] = []
    for seed in range(3):
        rows = {}
        for i in np.random.default_rng(seed).permutation(len(jobs)).tolist():
            table = adapter.play_batch(*jobs[i], 500, np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))["games"]
            rows[i] = table.drop_columns([name for name in table.column_names if name in adapter.MEASUREMENTS])
        found.append(rows)
    assert all(found[0][i].equals(other[i]) for other in found[1:] for i in range(len(jobs)))


def test_a_batch_is_its_games_one_by_one():
    setup, seats = adapter.resolve_setup("yang", "warwick", 2), [adapter.resolve_agent(name) for name in ("base", "villain")]
    deals, rotations = np.repeat(np.arange(5), 2), np.tile([0, 1], 5)
    whole = adapter.play_batch(setup, seats, 3, deals, rotations, ("games", "decisions", "moves"))
    for name, table in whole.items():
        single = [adapter.play_batch(setup, seats, 3, deals[i : i + 1], rotations[i : i + 1], (name,))[name] for i in range(10)]
        content = [column for column in table.column_names if column not in adapter.MEASUREMENTS]
        assert pa.concat_tables(single).select(content).equals(table.select(content))
        assert table.schema == adapter.SCHEMAS[name]
