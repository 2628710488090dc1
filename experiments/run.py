"""An experiment of your own, described in a YAML file (docs/experiments.md); settings on the command line go before it."""

import sys
from collections.abc import Sequence

from experiments.command import experiment


def main(argv: Sequence[str] | None = None) -> int:
    """Run it; returns the exit code."""
    return experiment("run", argv, takes_file=True)


if __name__ == "__main__":
    sys.exit(main())
