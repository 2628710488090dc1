"""How far a run is: games stored and expected, who is writing, shards, engines, slices.

python -m experiments.status RUN
python -m experiments.status RUN --json
"""

import json
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from experiments.command import answering, reader
from experiments.lease import holder
from experiments.reading import Run, open_run
from experiments.run_file import FILE
from experiments.shard import problem_of
from experiments.slices import slice_folders


def status(run: Run) -> dict[str, Any]:
    """The state of a run as plain data; answers from the manifest, without reading rows."""
    lines = list(run.manifest.live.values())
    alive = holder(run.path)
    engines = run.manifest.engines()
    problems = {line["shard"]: problem_of(run.path, line, whole=False) for line in lines}
    slices = {part: open_run(folder) for part, folder in slice_folders(run.path).items() if (folder / FILE).exists()}
    return {
        "run": str(run.path),
        "kind": run.info["kind"],
        "study": run.info["study"],
        "identity": run.info["identity"],
        "seed": run.info["seed"],
        "deals": run.info["deals"],
        "matchups": len(run.info["matchups"]),
        **run.completeness,
        "complete": run.completeness["games"] == run.completeness["expected"] and not any(problems.values()),
        "datasets": {name: sum(line["rows"] for line in run.manifest.shards(name)) for name in run.manifest.datasets()},
        "shards": len(lines),
        "bytes": sum(line["bytes"] for line in lines),
        "damaged": {name: problem for name, problem in problems.items() if problem},
        "set_aside": len(run.manifest.aside),
        "reasons": dict(Counter(line["reason"] for line in lines)),
        "engines": engines,
        "several_engines": len(engines) > 1,
        "last_written": max((line["time"] for line in lines), default=None),
        "writer": {key: alive[key] for key in ("host", "pid", "job", "heartbeat")} if alive else None,
        "slices": {part: {"path": str(one.path), **one.completeness, "writer": holder(one.path)} for part, one in slices.items()},
    }


def told(data: dict[str, Any]) -> list[str]:
    """The state of a run for a person."""
    study = f" ({data['study']})" if data["study"] else ""
    lines = [
        f"{data['run']}: {data['kind']}{study}, {data['matchups']} matchups x {data['deals']:,} deals, seed {data['seed']}",
        f"{data['games']:,} of {data['expected']:,} games ({data['fraction']:.1%}) in {data['shards']} files",
    ]
    for name, rows in data["datasets"].items():
        if name != "games":
            lines.append(f"{name}: {rows:,} rows")
    if data["writer"]:
        lines.append(f"being written by process {data['writer']['pid']} on {data['writer']['host']}")
    elif data["last_written"]:
        lines.append(f"last written {data['last_written']}")
    if data["several_engines"]:
        lines.append(f"played by {len(data['engines'])} states of the engine: {', '.join(e[:12] for e in data['engines'])}")
    for name, problem in data["damaged"].items():
        lines.append(f"damaged: {name}: {problem}")
    for part, one in data["slices"].items():
        writer = f", being written by process {one['writer']['pid']} on {one['writer']['host']}" if one["writer"] else ""
        lines.append(f"slice {part}: {one['games']:,} of {one['expected']:,} games, not merged{writer}")
    if data["slices"]:
        lines.append(f"to join them: python -m experiments.merge {data['run']}")
    elif data["complete"]:
        lines.append(f"complete; figures: python -m analysis.report {data['run']}")
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    """Show the state of one run."""
    parser = reader("status", __doc__)
    parser.add_argument("run", metavar="RUN", help="a run folder")
    parser.add_argument("--json", action="store_true", help="as JSON, for programs")
    arguments = parser.parse_args(argv)

    def work() -> int:
        data = status(open_run(arguments.run))
        print(json.dumps(data, indent=1) if arguments.json else "\n".join(told(data)))
        return 0

    return answering("experiments.status", work)


if __name__ == "__main__":
    sys.exit(main())
