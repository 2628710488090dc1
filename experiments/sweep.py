"""Agents against opponents over a grid of values: +sweep=cp|posas|momentum, and any field: sweep.grid.agent.FIELD=[...]."""

import sys
from collections.abc import Sequence

from experiments.command import experiment


def main(argv: Sequence[str] | None = None) -> int:
    """Run it; returns the exit code."""
    return experiment("sweep", argv)


if __name__ == "__main__":
    sys.exit(main())
