"""Is a run whole? Every shard as it was written, every expected game there exactly once, and the hash of its content.

Rows are read matchup by matchup, so that memory does not grow with the run.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from experiments.content_hash import ContentHash
from experiments.reading import Run
from experiments.shard import problem_of


@dataclass
class Audit:
    """What was found."""

    damaged: dict[str, str] = field(default_factory=dict)  # shard -> what is wrong
    problems: list[str] = field(default_factory=list)  # games missing, doubled, or not expected
    missing: int = 0
    games: int = 0
    hashes: dict[str, str] = field(default_factory=dict)  # dataset -> hash of its content

    @property
    def complete(self) -> bool:
        """Whether nothing is wrong."""
        return not self.damaged and not self.problems and not self.missing


def audit(run: Run) -> Audit:
    """Look at everything in a run."""
    found = Audit()
    for line in run.manifest.live.values():
        problem = problem_of(run.path, line)
        if problem:
            found.damaged[line["shard"]] = problem
    sound = [line for line in run.manifest.live.values() if line["shard"] not in found.damaged]
    readable = Run(run.path, run.info, type(run.manifest)({line["shard"]: line for line in sound}))
    expected = run.wanted_deals.deals()
    for dataset in run.manifest.datasets() or ["games"]:
        content = ContentHash(run.schema(dataset), run.game.MEASUREMENTS)
        for m in sorted(run.planned, key=lambda m: m.id):
            table = readable.rows(m.id, dataset, content.columns)
            content.update(table)
            keys = [np.asarray(table.column(name).combine_chunks()) for name in ("deal", "rotation")]
            if dataset == "games":
                found.games += len(table)
                found.missing += _check_games(found, m.id, m.title, expected, m.rotations, *keys)
            else:
                games = len(np.unique(keys[0] * m.rotations + keys[1]))
                if games != len(expected) * m.rotations:
                    found.problems.append(f"{dataset} of {m.id} ({m.title}): {games:,} games of {len(expected) * m.rotations:,}")
        found.hashes[dataset] = content.hexdigest()
    return found


def _check_games(
    found: Audit, name: str, title: str, expected: np.ndarray, rotations: int, deals: np.ndarray, turns: np.ndarray
) -> int:
    """Compare the games of a matchup with those expected; returns how many are missing."""
    numbers = deals * rotations + np.minimum(turns, rotations - 1)
    kept, times = np.unique(numbers, return_counts=True)
    wanted = (np.repeat(expected, rotations) * rotations + np.tile(np.arange(rotations), len(expected))).astype(np.int64)
    doubled = kept[times > 1]
    strange = np.union1d(np.setdiff1d(kept, wanted), numbers[turns >= rotations])
    for label, games in (("stored more than once", doubled), ("not expected", strange)):
        if len(games):
            first = f"{name}/{games[0] // rotations}/{games[0] % rotations}"
            found.problems.append(f"{name} ({title}): {len(games):,} games are {label}, the first is {first}")
    return len(np.setdiff1d(wanted, kept))


def missing_games(run: Run) -> Iterator[str]:
    """What is missing, by the manifest, for a person."""
    coverage, wanted = run.coverage(), run.wanted_deals
    for m in run.planned:
        gap = wanted - coverage[m.id] if m.id in coverage else wanted
        if gap:
            yield f"{m.id} ({m.title}): {len(gap) * m.rotations:,} games, from deal {gap.starts[0]} on"
