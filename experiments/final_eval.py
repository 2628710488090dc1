"""Agents against opponents: eight difficulty-adjusting agents against ten heuristics unless told otherwise."""

import sys
from collections.abc import Sequence

from experiments.command import experiment


def main(argv: Sequence[str] | None = None) -> int:
    """Run it; returns the exit code."""
    return experiment("final_eval", argv)


if __name__ == "__main__":
    sys.exit(main())
