"""Joining what was played in several places: slices of a run, or copies of it. Equal rows collapse, unequal ones are an error."""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from experiments.compaction import compact
from experiments.deal_set import DealSet, as_ranges
from experiments.engine_check import first_difference
from experiments.lease import holder
from experiments.reading import Run, open_run
from experiments.refusal import Refusal
from experiments.run_file import FILE
from experiments.shard import problem_of, read_rows, sorted_rows
from experiments.slices import slice_folders
from experiments.store import Store

DEALS_AT_ONCE = 50_000


def merge(target: Path, others: Sequence[Path]) -> list[str]:
    """Take the rows of the target's own slices and of other folders into the target; returns what is to be said."""
    own = [folder for folder in slice_folders(target).values() if (folder / FILE).exists()]  # the others have not begun
    sources = [open_run(folder) for folder in [*own, *others]]
    if not sources:
        raise Refusal(f"{target} has no slices; name the folders to be joined: python -m experiments.merge {target} FOLDER ...")
    planned = (open_run(target) if (target / FILE).exists() else sources[0]).info
    for source in sources:
        if source.info["identity"] != planned["identity"]:
            raise Refusal(f"{source.path} is a run of another configuration than {target}; nothing was changed")
        alive = holder(source.path)
        if alive:
            raise Refusal(f"{source.path} is being written by process {alive['pid']} on {alive['host']}; nothing was changed")
    deals = max(source.info["deals"] for source in sources)
    data = {**planned, "slice": None, "deals": max(planned["deals"], deals)}
    said: list[str] = []
    store = Store(target, data, "")
    try:
        for source in sources:
            sound = _take(store, source, said)
            if sound and source.path in own:
                shutil.rmtree(source.path)
        parts = target / "parts"
        if parts.is_dir() and not any(parts.iterdir()):
            parts.rmdir()
        if not store.missing(store.manifest.datasets() or ["games"]):
            compact(store)
    finally:
        store.close()
    done = open_run(target).completeness
    said.append(f"{done['games']:,} of {done['expected']:,} games are there")
    return said


def _take(store: Store, source: Run, said: list[str]) -> bool:
    """Take all sound shards of a source; returns whether all were sound."""
    sound = True
    taken = 0
    for line in source.manifest.live.values():
        problem = problem_of(source.path, line)
        if problem:
            sound = False
            said.append(f"{source.path / line['shard']}: {problem}; left out, its slice has to be played again")
            continue
        taken += _take_shard(store, source, line)
    said.append(f"{source.path}: {taken:,} rows taken")
    return sound


def _take_shard(store: Store, source: Run, line: dict[str, Any]) -> int:
    """Take those rows of a shard that are not there yet, and compare the others; returns how many were taken."""
    covered = store.manifest.coverage(line["dataset"])
    new: dict[str, DealSet] = {}
    for matchup, ranges in line["deals"].items():
        deals = DealSet.of(ranges)
        there = deals & covered.get(matchup, DealSet())
        new[matchup] = deals - there
        for some in there.chunks():
            _compare(store, source, line, matchup, some)
    new = {matchup: deals for matchup, deals in new.items() if deals}
    if not new:
        return 0

    def groups() -> Iterator[pa.Table]:
        for matchup, deals in new.items():
            numbers = deals.deals()
            for start in range(0, len(numbers), DEALS_AT_ONCE):
                yield _rows(source.path, [line], matchup, numbers[start : start + DEALS_AT_ONCE])

    ranges_of = {matchup: as_ranges(deals.deals()) for matchup, deals in new.items()}
    return store.write(line["dataset"], groups(), ranges_of, line["engine"], "merged")


def _rows(folder: Path, lines: Sequence[dict[str, Any]], matchup: str, deals: np.ndarray) -> pa.Table:
    table = read_rows(folder, lines, matchup, span=(int(deals[0]), int(deals[-1]) + 1))
    return sorted_rows(table.filter(pc.is_in(table.column("deal"), pa.array(deals))))


def _compare(store: Store, source: Run, line: dict[str, Any], matchup: str, deals: np.ndarray) -> None:
    mine = _rows(store.folder, store.manifest.shards(line["dataset"]), matchup, deals)
    theirs = _rows(source.path, [line], matchup, deals)
    difference = first_difference(mine, theirs, source.game.MEASUREMENTS)
    if difference:
        i, columns = difference
        row = mine.slice(i, 1).to_pylist()[0]
        raise Refusal(
            f"{source.path} and {store.folder} disagree on game {matchup}/{row['deal']}/{row['rotation']} "
            f"in {', '.join(columns[:6])}; they were played by different engines or are damaged. What was joined before stays"
        )
