"""Finished runs are laid out anew: at most 100 files of about 64 MB, sorted, and counted all at once.

Rows pass through in pieces, so that memory does not grow with the run. Small matchups share a row group: each group has a
description of every column, which would be larger than a few hundred rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from experiments.deal_set import DealSet, as_ranges
from experiments.shard import read_rows, sorted_rows
from experiments.store import Store

FILE_BYTES, MOST_FILES, FEW_FILES = 64 * 1024 * 1024, 100, 4
PIECE_ROWS = 200_000


@dataclass(frozen=True)
class Piece:
    """Neighbouring deals of one matchup, few enough to hold in memory."""

    matchup: str
    deals: DealSet
    rows: float


def compact(store: Store) -> int:
    """Compact every dataset that lies in many files; returns how many files were saved."""
    saved = 0
    for dataset in store.manifest.datasets():
        for engine in store.manifest.engines():
            lines = [line for line in store.manifest.shards(dataset) if line["engine"] == engine]
            total = sum(line["bytes"] for line in lines)
            size = max(FILE_BYTES, total // (MOST_FILES // 2))
            if len(lines) <= max(FEW_FILES, 2 * total // size):
                continue
            made = [_write(store, dataset, engine, lines, group) for group in _files(lines, total, size)]
            store.replace(made, [line["shard"] for line in lines])
            saved += len(lines) - len(made)
    return saved


def _pieces(lines: list[dict[str, Any]]) -> Iterator[Piece]:
    ranges: dict[str, list[Any]] = {}
    for line in lines:
        for matchup, deals in line["deals"].items():
            ranges.setdefault(matchup, []).extend(deals)
    sets = {matchup: DealSet.of(ranges[matchup]) for matchup in sorted(ranges)}
    rows_a_deal = sum(line["rows"] for line in lines) / max(1, sum(len(deals) for deals in sets.values()))
    step = max(1, int(PIECE_ROWS / max(1.0, rows_a_deal)))
    for matchup, deals in sets.items():
        numbers = deals.deals()
        for start in range(0, len(numbers), step):
            some = DealSet.of(as_ranges(numbers[start : start + step]))
            yield Piece(matchup, some, len(some) * rows_a_deal)


def _files(lines: list[dict[str, Any]], total: int, size: int) -> Iterator[list[Piece]]:
    """Pieces, in order, in groups that fill a file."""
    per_row = total / max(1, sum(line["rows"] for line in lines))
    group: list[Piece] = []
    for piece in _pieces(lines):
        if group and (sum(p.rows for p in group) + piece.rows) * per_row > size:
            yield group
            group = []
        group.append(piece)
    if group:
        yield group


def _write(store: Store, dataset: str, engine: str, lines: list[dict[str, Any]], group: list[Piece]) -> dict[str, Any]:
    deals: dict[str, Any] = {}
    for piece in group:
        deals.setdefault(piece.matchup, []).extend(as_ranges(piece.deals.deals()))

    def tables() -> Iterator[pa.Table]:
        held: list[pa.Table] = []
        for piece in group:
            span = (int(piece.deals.starts[0]), int(piece.deals.stops[-1]))
            held.append(sorted_rows(read_rows(store.folder, lines, piece.matchup, span=span)))
            if sum(len(table) for table in held) >= PIECE_ROWS // 4:
                yield pa.concat_tables(held)
                held = []
        if held:
            yield pa.concat_tables(held)

    return store.write_uncounted(dataset, tables(), deals, engine, "compacted")
