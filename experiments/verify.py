"""Check a run: every shard as it was written, every expected game there exactly once; the last line is the hash of its content.

python -m experiments.verify RUN
python -m experiments.verify RUN --replay 1%      plays some of its games again, also of a run that is not complete

The exit code is 0 only if the run is complete and sound.
"""

import argparse
import sys
from collections.abc import Sequence
from itertools import islice

import numpy as np

from experiments.audit import audit, missing_games
from experiments.command import answering, reader
from experiments.reading import Run, open_run
from experiments.refusal import Refusal
from experiments.slices import slice_folders


def share(text: str) -> float:
    """A share such as 1% or 0.01."""
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no share; write 1% or 0.01")
    return value


def main(argv: Sequence[str] | None = None) -> int:
    """Check one run; 0 if it is complete and sound, 1 if not."""
    parser = reader("verify", __doc__)
    parser.add_argument("run", metavar="RUN", help="a run folder")
    parser.add_argument("--replay", metavar="SHARE", type=share, help="play this share of the deals again and compare, e.g. 1%%")
    arguments = parser.parse_args(argv)
    return answering("experiments.verify", lambda: _verify(open_run(arguments.run), arguments.replay))


def _verify(run: Run, replay: float | None) -> int:
    found = audit(run)
    for name, problem in found.damaged.items():
        print(f"damaged: {name}: {problem}")
    for problem in found.problems:
        print(f"wrong: {problem}")
    if found.missing:
        print(f"missing: {found.missing:,} of {found.missing + found.games:,} games")
        for text in islice(missing_games(run), 5):
            print(f"  {text}")
    for part in slice_folders(run.path):
        print(f"slice {part} is not merged: python -m experiments.merge {run.path}")
    sound = found.complete
    if replay and (found.damaged or found.problems or not found.games):
        print("nothing was played again: first the run must be sound and have games")
    elif replay:
        sound = _replay(run, replay) and sound
    if sound:
        print(f"complete: {found.games:,} games, each there once")
    elif found.damaged or found.missing:
        print("the command of the run plays what is missing or damaged again")
    for dataset, value in found.hashes.items():
        if dataset != "games":
            print(f"{dataset}: {value}")
    print(f"hash: {found.hashes['games']}")
    return 0 if sound else 1


def _replay(run: Run, part: float) -> bool:
    from experiments.engine_check import chosen_deals, replay_and_compare
    from experiments.executor import SerialExecutor

    deals = len(run.wanted_deals)
    chosen = chosen_deals(run, max(1, int(np.ceil(part * deals))))
    try:
        games = replay_and_compare(run, {m.id: m for m in run.planned}, chosen, SerialExecutor())
    except Refusal as refusal:
        print(f"wrong: {refusal}")
        return False
    print(f"played again: {games:,} games, all the same")
    return True


if __name__ == "__main__":
    sys.exit(main())
