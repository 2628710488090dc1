"""Ten million stored games, summarised: CPU time and memory of one process."""

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from experiments.manifest import append_line
from experiments.run_file import write_run
from experiments.shard import write_shard
from tests.bench.measure import row

GAMES, MATCHUPS, SHARDS = 10_000_000, 50, 40
SUMMARISE = "import sys; from analysis.summary import summarise; s = summarise(sys.argv[1]); assert s.sums.rows == {}; len(s.cells)"


def stored_games(folder: Path, games: int = GAMES) -> Path:
    """A run folder of made-up two-player rows in the real schema and store."""
    from experiments.game import load_game, row_schema

    schema = row_schema(load_game("ttr.adapter"), "games")
    deals = games // MATCHUPS // 2
    names = [f"{number:016x}" for number in range(MATCHUPS)]
    labels = [dict(agents=[f"a{n}", "b"], map="yang", rules="warwick", players=2, sweep={}, role=None) for n in range(MATCHUPS)]
    matchups = [dict(id=i, setup="s", seats=[f"a{n}", "b"], rotations=2, labels=labels[n]) for n, i in enumerate(names)]
    agents = {name: dict(text=name, identity=dict(agent=name)) for name in [*(f"a{n}" for n in range(MATCHUPS)), "b"]}
    info = dict(schema=1, identity="0" * 64, kind="round_robin", study=None, game="ttr.adapter", seed=1, deals=deals, slice=None)
    write_run(folder, info | dict(created="", sweep={"grid": {}}, config={}, setups={"s": {}}, agents=agents, matchups=matchups))
    rng = np.random.default_rng(1)
    size = games // SHARDS
    per_matchup = games // MATCHUPS
    for shard in range(SHARDS):
        number = np.arange(shard * size, (shard + 1) * size)
        columns: dict[str, Any] = {
            "matchup": pa.DictionaryArray.from_arrays(pa.array((number // per_matchup).astype(np.int32)), names).cast(pa.string()),
            "deal": pa.array(number % per_matchup // 2),
            "rotation": pa.array((number % 2).astype(np.int8)),
            "winner": pa.array(rng.integers(0, 2, size).astype(np.int8), mask=rng.random(size) < 0.05),
            "forfeit": pa.nulls(size, pa.int8()),
        }
        for field in schema:
            if field.name in columns:
                continue
            seat = field.name[-1] if field.name[-2] == "_" and field.name[-1].isdigit() else ""
            if seat in ("2", "3", "4"):
                columns[field.name] = pa.nulls(size, field.type)
            elif pa.types.is_string(field.type):
                columns[field.name] = pa.array(["a"]).take(pa.array(np.zeros(size, np.int8)))
            else:
                columns[field.name] = pa.array(rng.integers(0, 30, size).astype(field.type.to_pandas_dtype()))
        table = pa.Table.from_arrays([columns[name].cast(schema.field(name).type) for name in schema.names], schema=schema)
        name = f"games/{shard:04}.parquet"
        facts = write_shard(folder / name, [table], schema, lambda: None)
        own = {names[m]: [[0, deals, 1]] for m in np.unique(number // per_matchup)}
        append_line(folder, dict(shard=name, dataset="games", deals=own, engine="made up", reason="new", time="", **facts))
    return folder


def rows(step: float) -> list[dict[str, Any]]:
    """Seconds and memory of summarising GAMES rows."""
    with tempfile.TemporaryDirectory() as folder:
        run = stored_games(Path(folder) / "run")
        before = os.times()
        subprocess.run([sys.executable, "-c", SUMMARISE.format(GAMES), str(run)], check=True)
        after = os.times()
        seconds = after.children_user + after.children_system - before.children_user - before.children_system
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
    return [row("summary_s_per_10m_games", seconds, "s"), row("summary_gb_per_10m_games", memory, "GB")]


if __name__ == "__main__":
    print(json.dumps(rows(1.0), indent=1))
