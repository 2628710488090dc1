"""Reading stored results: the one way in for analysis and for every command that looks at a run.

run = open_run("results/round_robin-3f2a91c0d4e5")
run.info["seed"], run.info["study"]            # run.json
run.matchups                                   # DataFrame, one row a matchup, indexed by its id
run.completeness                               # {"games": stored, "expected": planned, "fraction": ...}
for batch in run.batches(["matchup", "deal", "rotation", "winner"]): ...   # record batches, bounded memory
frame = run.games(["matchup", "deal", "score_0"])                          # all rows as a DataFrame
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from experiments.deal_set import DealSet
from experiments.game import load_game, row_schema
from experiments.manifest import Manifest, read_manifest
from experiments.matchup import Matchup
from experiments.refusal import Refusal
from experiments.run_file import matchups_of, read_run
from experiments.shard import read_rows, readable, sorted_rows

if TYPE_CHECKING:
    import pandas as pd  # slow to import, and not needed by every command

ROWS_AT_ONCE = 65_536


@dataclass(frozen=True)
class Run:
    """A run folder as it was when it was opened. Games of unmerged slices are not part of it."""

    path: Path
    info: Mapping[str, Any]
    manifest: Manifest

    @cached_property
    def game(self) -> ModuleType:
        """The adapter of the game."""
        return load_game(self.info["game"])

    @cached_property
    def planned(self) -> list[Matchup]:
        """The matchups with setups and seats, ready to be played again."""
        return matchups_of(self.info)

    @cached_property
    def matchups(self) -> "pd.DataFrame":
        """One row a matchup, indexed by id: agents (list of texts by entry), entry_0.. (the texts), map, rules, players, rotations,
        agent and opponent (entries by role, or missing), one column for each swept field, and games stored and expected."""
        import pandas as pd

        stored, wanted = self.stored_games, self.wanted_deals
        rows = []
        for m in self.info["matchups"]:
            labels = m["labels"]
            row = {
                "matchup": m["id"],
                "agents": labels["agents"],
                **{f"entry_{e}": text for e, text in enumerate(labels["agents"])},
                "map": labels["map"],
                "rules": labels["rules"],
                "players": labels["players"],
                "rotations": m["rotations"],
                "agent": labels["role"]["agent"] if labels["role"] else None,
                "opponent": labels["role"]["opponent"] if labels["role"] else None,
                **labels["sweep"],
                "games": stored[m["id"]],
                "expected": len(wanted) * m["rotations"],
            }
            rows.append(row)
        return pd.DataFrame(rows).set_index("matchup")

    @cached_property
    def wanted_deals(self) -> DealSet:
        """The deals that every matchup is to be played on: all, or those of the slice."""
        return slice_deals(self.info["deals"], self.info.get("slice"))

    def coverage(self, dataset: str = "games") -> dict[str, DealSet]:
        """The stored deals of each matchup."""
        return self.manifest.coverage(dataset)

    @cached_property
    def stored_games(self) -> dict[str, int]:
        """Games stored of each matchup, of those wanted."""
        coverage, wanted = self.coverage(), self.wanted_deals
        return {m["id"]: len(coverage.get(m["id"], DealSet()) & wanted) * m["rotations"] for m in self.info["matchups"]}

    @property
    def completeness(self) -> dict[str, Any]:
        """Games stored, games expected, and their ratio."""
        stored = sum(self.stored_games.values())
        expected = len(self.wanted_deals) * sum(m["rotations"] for m in self.info["matchups"])
        return {"games": stored, "expected": expected, "fraction": stored / expected if expected else 1.0}

    def schema(self, dataset: str = "games") -> pa.Schema:
        """The columns of a dataset."""
        return row_schema(self.game, dataset)

    def batches(self, columns: Sequence[str] | None = None, dataset: str = "games") -> Iterator[pa.RecordBatch]:
        """All rows in no particular order, only the columns asked for, a bounded number of rows at a time."""
        chosen = self._chosen(columns, dataset)
        for line in self.manifest.shards(dataset):
            with readable(self.path, line["shard"]), pq.ParquetFile(self.path / line["shard"]) as file:
                yield from file.iter_batches(batch_size=ROWS_AT_ONCE, columns=chosen)

    def games(self, columns: Sequence[str] | None = None, dataset: str = "games") -> "pd.DataFrame":
        """All rows of a dataset as a DataFrame, sorted by matchup, deal and rotation where these columns are asked for."""
        chosen = self._chosen(columns, dataset)
        batches = list(self.batches(chosen, dataset))
        schema = pa.schema([self.schema(dataset).field(name) for name in chosen])
        frame = pa.Table.from_batches(batches, schema).to_pandas()
        keys = [key for key in ("matchup", "deal", "rotation", "number") if key in chosen]
        return frame.sort_values(keys, ignore_index=True) if keys else frame

    def rows(self, matchup: str, dataset: str = "games", columns: Sequence[str] | None = None) -> pa.Table:
        """The rows of one matchup, sorted by their keys."""
        schema = self.schema(dataset)
        keys = [key for key in ("matchup", "deal", "rotation", "number") if key in schema.names]
        wanted = None if columns is None else list(dict.fromkeys([*keys, *columns]))
        table = read_rows(self.path, self.manifest.shards(dataset), matchup, wanted)
        return sorted_rows(table) if table.num_columns else schema.empty_table()

    def _chosen(self, columns: Sequence[str] | None, dataset: str) -> list[str]:
        names = self.schema(dataset).names
        for name in columns or []:
            if name not in names:
                raise Refusal(f"rows of {dataset} have no column '{name}'; the columns are {', '.join(names)}")
        return list(columns) if columns is not None else names


def open_run(path: str | Path) -> Run:
    """A run folder, opened for reading; raises Refusal, in one line, for what is no run."""
    folder = Path(path)
    return Run(folder, read_run(folder), read_manifest(folder))


def slice_deals(deals: int, part: str | None) -> DealSet:
    """The deals 0..deals-1, or of slice "k/n" those with deal mod n = k-1."""
    k, n = parse_part(part) if part else (1, 1)
    return DealSet.of([[k - 1, deals, n]])


def parse_part(part: str) -> tuple[int, int]:
    """k and n of a slice "k/n"."""
    k, _, n = str(part).partition("/")
    if not (k.isdecimal() and n.isdecimal() and 1 <= int(k) <= int(n) <= 100_000):
        raise Refusal(f"part={part}: it must be k/n with 1 <= k <= n, e.g. part=3/8")
    return int(k), int(n)
