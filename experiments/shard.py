"""One shard: a Parquet file that appears whole under its name or not at all, and tells when it is damaged."""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from experiments.deal_set import as_ranges
from experiments.game import sort_keys
from experiments.refusal import Refusal


def write_shard(path: Path, groups: Iterable[pa.Table], schema: pa.Schema, allowed: Callable[[], None]) -> dict[str, Any]:
    """Write tables, a row group each, under a temporary name; ask whether it is still allowed; rename.

    Returns what a manifest line says of the file: rows, bytes, sha256. On any error nothing is left behind.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.tmp")
    rows = 0
    try:
        with open(unfinished, "wb") as file:
            with pq.ParquetWriter(file, schema, compression="zstd") as writer:
                for table in groups:
                    writer.write_table(table.replace_schema_metadata(schema.metadata))
                    rows += len(table)
            file.flush()
            os.fsync(file.fileno())
        facts = {"rows": rows, "bytes": unfinished.stat().st_size, "sha256": file_hash(unfinished)}
        allowed()
        os.replace(unfinished, path)
        sync_folder(path.parent)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    return facts


def sync_folder(folder: Path) -> None:
    """Make a rename in a folder last."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def file_hash(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sorted_rows(table: pa.Table) -> pa.Table:
    """Rows in the order of their keys."""
    return table.sort_by(sort_keys(table.schema))


def deals_of(table: pa.Table) -> dict[str, list[list[int]]]:
    """The deals of each matchup in a table, as ranges."""
    keys = table.select(["matchup", "deal"])
    found = {}
    for matchup in pc.unique(keys.column("matchup")).to_pylist():
        deals = keys.filter(pc.equal(keys.column("matchup"), matchup)).column("deal")
        found[matchup] = as_ranges(np.unique(np.asarray(deals.combine_chunks())))
    return found


def problem_of(folder: Path, line: dict[str, Any], whole: bool = True) -> str | None:
    """What is wrong with a stored shard, or None; with whole=False only its presence and size are looked at."""
    path = folder / line["shard"]
    try:
        size = path.stat().st_size
    except OSError:
        return "missing"
    if size != line["bytes"]:
        return f"{size} bytes instead of {line['bytes']}"
    if whole and file_hash(path) != line["sha256"]:
        return "its bytes have changed"
    return None


@contextmanager
def readable(folder: Path, name: str) -> Iterator[None]:
    """A shard that cannot be read is refused in one line."""
    try:
        yield
    except FileNotFoundError:
        raise Refusal(
            f"{folder / name} is not there: either the run is being laid out in fewer files just now, then try again in a moment; "
            "or the shard is lost, then the command of the run plays it again"
        ) from None
    except (pa.ArrowException, OSError) as error:
        why = " ".join(str(error).split())[:160]
        raise Refusal(
            f"{folder / name} cannot be read ({why}); `python -m experiments.verify {folder}` looks at all shards, "
            "and the command of the run plays damaged ones again"
        ) from None


def read_rows(
    folder: Path,
    lines: Sequence[dict[str, Any]],
    matchup: str | None = None,
    columns: Sequence[str] | None = None,
    span: tuple[int, int] | None = None,
) -> pa.Table:
    """The rows of some shards (of one matchup; of the deals start..stop-1), unsorted."""
    chosen = list(columns) if columns is not None else None
    tables = []
    for line in lines:
        if matchup is not None and matchup not in line["deals"]:
            continue
        where: list[tuple[str, str, Any]] = []
        if matchup is not None and len(line["deals"]) > 1:
            where.append(("matchup", "==", matchup))
        if span is not None:
            ranges = line["deals"].values() if matchup is None else [line["deals"][matchup]]
            if not any(start < span[1] and stop > span[0] for some in ranges for start, stop, _ in some):
                continue
            where += [("deal", ">=", span[0]), ("deal", "<", span[1])]
        with readable(folder, line["shard"]):
            tables.append(pq.read_table(folder / line["shard"], columns=chosen, filters=where or None, partitioning=None))
    return pa.concat_tables(tables).replace_schema_metadata() if tables else pa.table({})
