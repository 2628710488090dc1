"""Play a stored game again from its row, move by move, and compare.

python -m experiments.replay RUN                     the games of the run: its matchups
python -m experiments.replay RUN 3f2a91/17/0         matchup (or the start of it), deal, rotation
python -m experiments.replay RUN 3f2a91/17/0 --output game.jsonl    a record for python -m ttr.replay
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow.compute as pc

from experiments.command import answering, reader
from experiments.engine_check import first_difference
from experiments.matchup import Matchup
from experiments.reading import Run, open_run
from experiments.refusal import Failure, Refusal


def find_game(run: Run, text: str) -> tuple[Matchup, int, int]:
    """The game that MATCHUP/DEAL/ROTATION names."""
    parts = text.split("/")
    if len(parts) != 3 or not all(part.isdecimal() and len(part) < 16 for part in parts[1:]):
        raise Refusal(f"'{text}' names no game; write MATCHUP/DEAL/ROTATION, e.g. {run.planned[0].id[:6]}/0/0")
    found = [m for m in run.planned if m.id.startswith(parts[0])]
    if len(found) != 1:
        problem = f"{len(found)} matchups start with '{parts[0]}'" if found else f"no matchup starts with '{parts[0]}'"
        raise Refusal(f"{problem}; `python -m experiments.replay {run.path}` lists them")
    deal, rotation = int(parts[1]), int(parts[2])
    if rotation >= found[0].rotations:
        raise Refusal(f"{found[0].title} has {found[0].rotations} rotations, numbered from 0; there is no rotation {rotation}")
    return found[0], deal, rotation


def main(argv: Sequence[str] | None = None) -> int:
    """Replay one game, or list what there is."""
    parser = reader("replay", __doc__)
    parser.add_argument("run", metavar="RUN", help="a run folder")
    parser.add_argument("game", metavar="GAME", nargs="?", help="MATCHUP/DEAL/ROTATION")
    parser.add_argument("--output", metavar="FILE", help="write the game's record")
    arguments = parser.parse_args(argv)

    def work() -> int:
        run = open_run(arguments.run)
        if not arguments.game:
            if arguments.output:
                raise Refusal("--output writes the record of one game; name it: MATCHUP/DEAL/ROTATION")
            for m in run.planned:
                print(f"{m.id}  {m.rotations} rotations  {m.title}")
            return 0
        return _replay(run, arguments.game, arguments.output)

    return answering("experiments.replay", work)


def _replay(run: Run, text: str, output: str | None) -> int:
    matchup, deal, rotation = find_game(run, text)
    rows = run.rows(matchup.id)
    stored = rows.filter(pc.and_(pc.equal(rows.column("deal"), deal), pc.equal(rows.column("rotation"), rotation)))
    if not len(stored):
        raise Refusal(f"game {matchup.id}/{deal}/{rotation} is not stored in {run.path}")
    on_error = run.info["config"].get("on_error", "stop")
    where = (matchup.setup, list(matchup.seats), run.info["seed"])
    try:
        record = run.game.record_game(*where, deal, rotation, on_error)
        again = run.game.play_batch(*where, np.array([deal]), np.array([rotation]), ("games",), on_error)["games"]
    except run.game.FAILURES as error:
        raise Failure(f"game {matchup.id}/{deal}/{rotation} cannot be played again: {error}") from None
    print("\n".join(run.game.tell_record(record)))
    if output:
        try:
            Path(output).write_text("".join(json.dumps(line) + "\n" for line in record), encoding="utf-8")
        except OSError as error:
            raise Refusal(f"{output} could not be written: {error.strerror or error}") from None
        print(output)
    difference = first_difference(stored.drop_columns("matchup"), again, run.game.MEASUREMENTS)
    if difference:
        old, new = stored.to_pylist()[0], again.to_pylist()[0]
        shown = ", ".join(f"{name} was {old[name]}, is {new[name]}" for name in difference[1])
        raise Failure(f"the engine no longer plays this game as stored: {shown}")
    print("as stored")
    return 0


if __name__ == "__main__":
    sys.exit(main())
