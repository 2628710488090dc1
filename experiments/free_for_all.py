"""Games of three to five players: every choice of agents, each deal in every rotation of the seats."""

import sys
from collections.abc import Sequence

from experiments.command import experiment


def main(argv: Sequence[str] | None = None) -> int:
    """Run it; returns the exit code."""
    return experiment("free_for_all", argv)


if __name__ == "__main__":
    sys.exit(main())
