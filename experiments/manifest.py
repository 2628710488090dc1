"""The manifest of a run: manifest.jsonl, append only, one JSON object a line; what is stored is what its lines add up to.

    {"shard": name, "dataset", "deals": {matchup: [[start, stop, step], ...]}, "rows", "bytes", "sha256", "engine", "reason", ...}
    {"aside": name, "why": ...}                     a shard that no longer counts
    {"compacted": [shard lines], "replaces": [names]}   all at once
    {"note": "engine", "engine": ..., "checked": n}     a changed engine, found to play the same

A last line without its end (a writer that was killed) does not count, and the next writer cuts it off.
"""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.deal_set import DealSet
from experiments.refusal import Refusal

FILE = "manifest.jsonl"
FACTS = {"dataset", "deals", "rows", "bytes", "sha256", "engine", "reason", "time"}  # that every line of a shard has


@dataclass
class Manifest:
    """What the lines of a manifest add up to."""

    live: dict[str, dict[str, Any]] = field(default_factory=dict)  # shard name -> its line
    aside: list[dict[str, Any]] = field(default_factory=list)  # lines of shards set aside, with "why"
    notes: list[dict[str, Any]] = field(default_factory=list)
    sound_bytes: int = 0  # where the last whole line ends

    def take(self, line: dict[str, Any]) -> None:
        """Count one line."""
        if "shard" in line:
            self._count(line)
        elif "aside" in line:
            gone = self.live.pop(line["aside"], None)
            self.aside.append((gone or {}) | line)
        elif "compacted" in line:
            for name in line["replaces"]:
                self.live.pop(name, None)
            for shard in line["compacted"]:
                self._count(shard)
        else:
            self.notes.append(line)

    def _count(self, line: dict[str, Any]) -> None:
        if not line.keys() >= FACTS or not isinstance(line["deals"], dict):
            raise ValueError("facts about the shard are missing")
        self.live[line["shard"]] = line

    def shards(self, dataset: str) -> list[dict[str, Any]]:
        """The live shards of a dataset."""
        return [line for line in self.live.values() if line["dataset"] == dataset]

    def datasets(self) -> list[str]:
        """The datasets that have rows, games first."""
        return sorted({line["dataset"] for line in self.live.values()}, key=lambda name: (name != "games", name))

    def engines(self) -> list[str]:
        """The engines that have played what is stored, in the order they first appear."""
        return list(dict.fromkeys(line["engine"] for line in self.live.values()))

    def coverage(self, dataset: str = "games") -> dict[str, DealSet]:
        """The stored deals of each matchup."""
        return _deals_by_matchup(self.shards(dataset))

    def damaged_deals(self) -> dict[str, DealSet]:
        """Deals of each matchup that were stored once, in shards set aside."""
        return _deals_by_matchup([line for line in self.aside if "deals" in line and line.get("why") != "forced"])

    def forced_deals(self) -> dict[str, DealSet]:
        """Deals of each matchup set aside to be played again."""
        return _deals_by_matchup([line for line in self.aside if "deals" in line and line.get("why") == "forced"])


def _deals_by_matchup(lines: Iterable[dict[str, Any]]) -> dict[str, DealSet]:
    ranges: dict[str, list[Any]] = {}
    for line in lines:
        for matchup, deals in line["deals"].items():
            ranges.setdefault(matchup, []).extend(deals)
    return {matchup: DealSet.of(deals) for matchup, deals in ranges.items()}


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a run folder; empty where there is none."""
    manifest = Manifest()
    try:
        data = (folder / FILE).read_bytes()
    except FileNotFoundError:
        return manifest
    except OSError as error:
        raise Refusal(f"{folder / FILE} cannot be read: {error.strerror}") from None
    whole = data.rfind(b"\n") + 1
    for number, text in enumerate(data[:whole].splitlines(), start=1):
        try:
            manifest.take(json.loads(text))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise Refusal(f"{folder / FILE}, line {number}: this is no line of a manifest; nothing was changed") from None
    manifest.sound_bytes = whole
    return manifest


def append_line(folder: Path, line: dict[str, Any]) -> None:
    """Add a line for good: it is on disk, whole, or not there at all."""
    path = folder / FILE
    with open(path, "ab") as file:
        start = file.tell()
        try:
            file.write((json.dumps(line, separators=(",", ":")) + "\n").encode())
            file.flush()
            os.fsync(file.fileno())
        except OSError:
            os.truncate(path, start)
            raise


def cut_torn_end(folder: Path, manifest: Manifest) -> None:
    """Cut off a last line that a killed writer left without its end."""
    path = folder / FILE
    if path.exists() and path.stat().st_size > manifest.sound_bytes:
        os.truncate(path, manifest.sound_bytes)
