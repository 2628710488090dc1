"""A published table, at any scale: study=NAME."""

import sys
from collections.abc import Sequence

from experiments.command import experiment


def main(argv: Sequence[str] | None = None) -> int:
    """Run it; returns the exit code."""
    return experiment("reproduce", argv, takes_study=True)


if __name__ == "__main__":
    sys.exit(main())
