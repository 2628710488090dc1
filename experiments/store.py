"""The store: writes the rows of one run folder (or one slice) so that nothing is ever half there, and knows what is missing.

Rows gather for a moment and become a shard by rename; then a manifest line counts it. A shard without its line, left by a killed
writer, does not count and is removed; a shard that no longer matches its line is set aside and its deals are missing again.
"""

import errno
import os
import socket
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from experiments.deal_set import DealSet
from experiments.game import load_game, row_schema
from experiments.lease import Lease
from experiments.manifest import append_line, cut_torn_end, read_manifest
from experiments.reading import slice_deals
from experiments.refusal import Failure, Refusal
from experiments.run_file import FILE, read_run, write_run
from experiments.shard import deals_of, problem_of, write_shard

GATHER_SECONDS, GATHER_ROWS = 2.0, 50_000
ASIDE = "aside"
FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True)
class Segment:
    """Deals of a matchup that are missing in the same datasets, for the same reason."""

    matchup: str
    deals: DealSet
    datasets: tuple[str, ...]
    reason: str


@contextmanager
def opening(folder: Path) -> Iterator[None]:
    """A folder that cannot be written to is refused; a full disk is a failure."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise _disk_failure(error, folder) from None
        raise Refusal(f"{error.filename or folder} cannot be written: {error.strerror or error}") from None


class Store:
    """The writer of a run folder; holds its lease until it is closed."""

    def __init__(self, folder: Path, data: Mapping[str, Any], engine: str, elsewhere: Sequence[Path] = ()):
        """Opens or creates; `data` is run.json as planned; rows in the folders `elsewhere` count as stored."""
        self.folder, self.engine, self.elsewhere = folder, engine, elsewhere
        self.game = load_game(data["game"])
        self.problems: list[str] = []  # shards set aside at opening, for a person
        with opening(folder):
            self.lease = Lease(folder)
            try:
                self._open(data)
            except BaseException:
                self.lease.release()
                raise

    def _open(self, data: Mapping[str, Any]) -> None:
        self.was_new = not (self.folder / FILE).exists()
        self.before = data["deals"]  # deals that were planned before this opening
        merged = dict(data)
        if not self.was_new:
            there = read_run(self.folder)
            if there["identity"] != data["identity"] or there.get("slice") != data.get("slice"):
                raise Refusal(f"{self.folder} holds another configuration (identity {there['identity'][:12]}); nothing was changed")
            self.before = there["deals"]
            merged |= {"deals": max(there["deals"], data["deals"]), "created": there["created"]}
        self.data = merged
        self.manifest = read_manifest(self.folder)
        cut_torn_end(self.folder, self.manifest)
        if self.was_new or there != merged:
            write_run(self.folder, merged)
        self._remove_orphans()
        self._set_damaged_aside()
        self._gathered: dict[tuple[str, str], list[pa.Table]] = {}
        self._rows, self._since, self._count = 0, time.monotonic(), 0

    def _remove_orphans(self) -> None:
        """Remove what a killed writer left: unfinished files, and shards that no line counts."""
        for path in [*self.folder.glob("*/*.parquet"), *self.folder.glob("*/.*.tmp"), *self.folder.glob(".*.tmp")]:
            name = path.relative_to(self.folder).as_posix()
            if name not in self.manifest.live and not name.startswith(ASIDE + "/"):
                path.unlink()

    def _set_damaged_aside(self) -> None:
        for line in list(self.manifest.live.values()):
            problem = problem_of(self.folder, line)
            if problem:
                self.set_aside(line["shard"], problem)
                self.problems.append(f"{line['shard']}: {problem}; set aside, its {line['rows']:,} rows are played again")

    def set_aside(self, name: str, why: str) -> None:
        """From now on a shard does not count; its file, if any, is kept under aside/."""
        self._append({"aside": name, "why": why})
        path = self.folder / name
        if path.exists():
            kept = self.folder / ASIDE / name.replace("/", "-")
            kept.parent.mkdir(exist_ok=True)
            os.replace(path, kept)

    def force(self) -> None:
        """Set all shards aside, so that everything is played again."""
        for name in list(self.manifest.live):
            self.set_aside(name, "forced")

    def coverage(self, dataset: str) -> dict[str, DealSet]:
        """The stored deals of each matchup, here and elsewhere."""
        found = self.manifest.coverage(dataset)
        for folder in self.elsewhere:
            for matchup, deals in read_manifest(folder).coverage(dataset).items():
                found[matchup] = found[matchup] | deals if matchup in found else deals
        return found

    def missing(self, datasets: Sequence[str]) -> list[Segment]:
        """What is still to be played, matchup by matchup."""
        wanted = slice_deals(self.data["deals"], self.data.get("slice"))
        covered = {dataset: self.coverage(dataset) for dataset in datasets}
        damaged, forced = self.manifest.damaged_deals(), self.manifest.forced_deals()
        segments: list[Segment] = []
        for m in self.data["matchups"]:
            gaps = {dataset: wanted - covered[dataset].get(m["id"], DealSet()) for dataset in datasets}
            left = DealSet()
            for gap in gaps.values():
                left = left | gap
            for mask in range(1, 2 ** len(datasets)) if left else ():
                lacking = tuple(dataset for i, dataset in enumerate(datasets) if mask >> i & 1)
                piece = left
                for dataset, gap in gaps.items():
                    piece = piece & gap if dataset in lacking else piece - gap
                for reason, deals in self._by_reason(piece, damaged.get(m["id"]), forced.get(m["id"])):
                    if deals:
                        segments.append(Segment(m["id"], deals, lacking, reason))
        return segments

    def _by_reason(self, deals: DealSet, damaged: DealSet | None, forced: DealSet | None) -> list[tuple[str, DealSet]]:
        known = []
        for reason, some in (("forced", forced), ("damaged", damaged)):
            if some:
                known.append((reason, deals & some))
                deals = deals - some
        old = deals.below(self.before) if self.before < self.data["deals"] else deals
        return [*known, ("new", old), ("extended", deals - old)]

    def add(self, matchup: str, tables: Mapping[str, pa.Table], reason: str) -> None:
        """Take the rows of a finished batch; they are stored at the next flush."""
        for dataset, table in tables.items():
            names = pa.DictionaryArray.from_arrays(pa.nulls(len(table), pa.int8()).fill_null(0), pa.array([matchup]))
            whole = table.add_column(0, "matchup", names.cast(pa.string()))
            if whole.schema != row_schema(self.game, dataset):
                raise TypeError(f"rows of {dataset} do not have the columns that the game promises")
            self._gathered.setdefault((dataset, reason), []).append(whole)
            self._rows += len(table)
        if self._rows >= GATHER_ROWS or time.monotonic() - self._since >= GATHER_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Store what has gathered."""
        for dataset, reason in list(self._gathered):
            tables = self._gathered.pop((dataset, reason))
            tables.sort(key=lambda table: [table.column(key)[0].as_py() for key in ("matchup", "deal")] if len(table) else [])
            table = pa.concat_tables(tables)
            self.write(dataset, [table], deals_of(table), self.engine, reason)
        self._rows, self._since = 0, time.monotonic()

    def write(self, dataset: str, groups: Iterable[pa.Table], deals: Mapping[str, Any], engine: str, reason: str) -> int:
        """Write one shard and count it; returns its number of rows."""
        line = self.write_uncounted(dataset, groups, deals, engine, reason)
        try:
            self._append(line)
        except BaseException:
            (self.folder / line["shard"]).unlink(missing_ok=True)
            raise
        return int(line["rows"])

    def write_uncounted(
        self, dataset: str, groups: Iterable[pa.Table], deals: Mapping[str, Any], engine: str, reason: str
    ) -> dict[str, Any]:
        """Write one shard; returns the manifest line that is to count it."""
        name = f"{dataset}/{self.lease.number:05d}-{self._count:06d}.parquet"
        self._count += 1
        facts = {"engine": engine, "run": self.data["identity"], "schema": str(self.data["schema"])}
        schema = row_schema(self.game, dataset).with_metadata(facts)
        try:
            written = write_shard(self.folder / name, groups, schema, self.lease.check)
        except OSError as error:
            raise _disk_failure(error, self.folder) from None
        return {
            "shard": name,
            "dataset": dataset,
            "deals": dict(deals),
            **written,
            "engine": engine,
            "reason": reason,
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "host": socket.gethostname(),
        }

    def note(self, line: dict[str, Any]) -> None:
        """Write down a fact about the run."""
        self._append(line)

    def replace(self, lines: Sequence[dict[str, Any]], replaced: Sequence[str]) -> None:
        """Count new shards instead of old ones, all at once, and remove the old."""
        self._append({"compacted": list(lines), "replaces": list(replaced)})
        for name in replaced:
            (self.folder / name).unlink(missing_ok=True)

    def _append(self, line: dict[str, Any]) -> None:
        self.lease.check()
        try:
            append_line(self.folder, line)
        except OSError as error:
            raise _disk_failure(error, self.folder) from None
        self.manifest.take(line)

    def close(self) -> None:
        """Give the folder free; what has gathered and was not flushed is dropped."""
        self.lease.release()


def _disk_failure(error: OSError, folder: Path) -> Refusal:
    """What a failed write means to a person."""
    if error.errno in FULL:
        return Failure(
            f"the disk is full: {folder} could not take more rows; everything stored before is whole. "
            "Make room, and give the same command again"
        )
    return Failure(f"{error.filename or folder} could not be written: {error.strerror or error}; everything stored before is whole")
