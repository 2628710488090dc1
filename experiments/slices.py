"""Slices: `part=3/8` plays the deals with deal mod 8 = 2, anywhere, in a folder of its own under the run: parts/3-of-8."""

from math import gcd
from pathlib import Path

from experiments.lease import holder
from experiments.manifest import read_manifest
from experiments.reading import parse_part
from experiments.refusal import Refusal

PARTS = "parts"


def slice_folder(run: Path, part: str) -> Path:
    """Where a slice of a run is written."""
    k, n = parse_part(part)
    return run / PARTS / f"{k}-of-{n}"


def slice_folders(run: Path) -> dict[str, Path]:
    """The slices that lie in a run folder, by their text k/n."""
    found = {}
    for folder in sorted((run / PARTS).glob("*-of-*")):
        k, _, n = folder.name.partition("-of-")
        if k.isdecimal() and n.isdecimal() and folder.is_dir():
            found[f"{k}/{n}"] = folder
    return found


def overlap(a: str, b: str) -> bool:
    """Whether two slices share a deal: their remainders agree modulo the common divisor."""
    (i, n), (j, m) = parse_part(a), parse_part(b)
    return (i - j) % gcd(n, m) == 0


def refuse_conflicts(run: Path, part: str | None) -> None:
    """A slice conflicts with another one that shares deals; the whole run conflicts with every slice not yet merged."""
    for other, folder in slice_folders(run).items():
        if other == part or (part is not None and not overlap(part, other)):
            continue
        alive = holder(folder)
        if alive:
            raise Refusal(f"slice {other} of {run} shares deals and is being written by process {alive['pid']} on {alive['host']}")
        if read_manifest(folder).live:
            what = f"slice {part} shares deals with slice {other}" if part else f"slice {other} is not merged yet"
            raise Refusal(f"{run}: {what}; join first: python -m experiments.merge {run}")
    if part is not None:
        alive = holder(run)
        if alive:
            raise Refusal(f"{run} is being written as a whole by process {alive['pid']} on {alive['host']}")
