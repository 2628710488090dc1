"""The rows of a run as CSV files, one for each dataset, for other programs.

python -m experiments.export RUN --csv                    writes games.csv into RUN
python -m experiments.export RUN --csv --output FOLDER
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from experiments.command import answering, reader
from experiments.reading import Run, open_run
from experiments.refusal import Failure, Refusal


def export_csv(run: Run, folder: Path) -> list[Path]:
    """Write every dataset, sorted by matchup, deal and rotation; a matchup at a time is held in memory."""
    written: list[Path] = []
    if not run.manifest.live:
        raise Refusal(f"{run.path} has no games yet; there is nothing to export")
    for dataset in run.manifest.datasets():
        path = folder / f"{dataset}.csv"
        unfinished = path.with_name(f".{path.name}.tmp")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            try:
                with csv.CSVWriter(unfinished, run.schema(dataset)) as writer:
                    for matchup in sorted(m.id for m in run.planned):
                        writer.write_table(pa.table(run.rows(matchup, dataset)).cast(run.schema(dataset)))
                unfinished.replace(path)
            finally:
                unfinished.unlink(missing_ok=True)
        except OSError as error:
            raise Failure(f"{path} could not be written: {error.strerror or error}") from None
        written.append(path)
    return written


def main(argv: Sequence[str] | None = None) -> int:
    """Export one run."""
    parser = reader("export", __doc__)
    parser.add_argument("run", metavar="RUN", help="a run folder")
    parser.add_argument("--csv", action="store_true", help="as comma-separated values")
    parser.add_argument("--output", metavar="FOLDER", help="where the files are written (default: into RUN)")
    arguments = parser.parse_args(argv)

    def work() -> int:
        if not arguments.csv:
            raise Refusal("say in which format: --csv (the files under games/ are Parquet already)")
        run = open_run(arguments.run)
        for path in export_csv(run, Path(arguments.output or arguments.run)):
            print(path)
        return 0

    return answering("experiments.export", work)


if __name__ == "__main__":
    sys.exit(main())
