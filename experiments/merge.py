"""Join the slices of a run, or runs of the same configuration from other places.

python -m experiments.merge RUN                  the slices under RUN/parts
python -m experiments.merge RUN FOLDER ...       and these folders: slices or whole runs
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.command import answering, reader
from experiments.merging import merge


def main(argv: Sequence[str] | None = None) -> int:
    """Join into one run folder."""
    parser = reader("merge", __doc__)
    parser.add_argument("run", metavar="RUN", help="the run folder that takes all rows")
    parser.add_argument("folders", metavar="FOLDER", nargs="*", help="slices or runs of the same configuration")
    arguments = parser.parse_args(argv)

    def work() -> int:
        print("\n".join(merge(Path(arguments.run), [Path(folder) for folder in arguments.folders])))
        print(arguments.run)
        return 0

    return answering("experiments.merge", work)


if __name__ == "__main__":
    sys.exit(main())
