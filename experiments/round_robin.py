"""Every agent against every agent, itself too, from both seats: the ten heuristics unless agents=[...] says others."""

import sys
from collections.abc import Sequence

from experiments.command import experiment


def main(argv: Sequence[str] | None = None) -> int:
    """Run it; returns the exit code."""
    return experiment("round_robin", argv)


if __name__ == "__main__":
    sys.exit(main())
