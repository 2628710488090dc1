"""The runs of a results folder.

python -m experiments.list [FOLDER]
"""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from experiments.command import answering, reader
from experiments.reading import open_run
from experiments.refusal import Refusal
from experiments.run_file import FILE

WIDTH = 80  # of what is no terminal


def runs(folder: Path) -> Iterator[dict[str, Any]]:
    """What there is to say of each run, the newest first; a folder that cannot be read says why."""
    files = sorted(folder.glob(f"*/{FILE}"), key=lambda path: -path.stat().st_mtime)
    for path in files:
        try:
            run = open_run(path.parent)
        except Refusal as refusal:
            yield {"run": str(path.parent), "problem": str(refusal)}
            continue
        facts = {name: run.info[name] for name in ("kind", "study", "seed", "deals", "created")}
        yield {"run": str(path.parent), **facts, "matchups": len(run.info["matchups"]), **run.completeness}


def main(argv: Sequence[str] | None = None) -> int:
    """Show all runs of a folder."""
    parser = reader("list", __doc__)
    parser.add_argument("folder", metavar="FOLDER", nargs="?", default="results", help="where the runs lie (default: results)")
    parser.add_argument("--json", action="store_true", help="as JSON, for programs")
    arguments = parser.parse_args(argv)
    return answering("experiments.list", lambda: _show(Path(arguments.folder), arguments.json))


def _show(folder: Path, as_json: bool) -> int:
    if not folder.is_dir():
        raise Refusal(f"{folder}: there is no such folder; an experiment makes it")
    found = list(runs(folder))
    if as_json:
        print(json.dumps(found, indent=1))
        return 0
    table = Table(box=None, padding=(0, 1, 0, 0))
    for heading in ("run", "name", "matchups", "deals", "games", "done", "created"):
        right = heading in ("matchups", "deals", "games", "done")
        table.add_column(heading, justify="right" if right else "left", overflow="fold", no_wrap=heading != "name")
    read = [one for one in found if "problem" not in one]
    for one in read:
        numbers = (f"{one['matchups']:,}", f"{one['deals']:,}", f"{one['games']:,}", f"{one['fraction']:.0%}")
        table.add_row(Path(one["run"]).name, one["study"] or "", *numbers, one["created"][:10])
    console = Console(markup=False, emoji=False, width=None if sys.stdout.isatty() else WIDTH)
    if read:
        print(f"{folder}/")
        console.print(table)
    for one in found:
        if "problem" in one:
            print(f"cannot be read: {one['problem']}")
    if not found:
        print(f"{folder} has no runs yet")
    return 0


if __name__ == "__main__":
    sys.exit(main())
