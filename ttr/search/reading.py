"""A search tree read from Python: its nodes as plain data, for analysis and tests."""

from dataclasses import dataclass

import numpy as np

from ttr.search.tree import LEAF


@dataclass(frozen=True)
class Child:
    """One action of a node: how often it was visited and its mean payoff in points."""

    slot: int
    code: int
    visits: int
    total: int  # half points

    @property
    def mean(self) -> float:
        """Mean payoff in points."""
        return self.total / (2 * self.visits)


def children(tree: np.void, slot: int = 0) -> list[Child]:
    """The children of a node in the order they were tried."""
    inner = int(tree["inner"][slot])
    if inner == LEAF and slot != 0:
        return []
    first, n = int(tree["first"][inner]), int(tree["children"][inner])
    return [Child(i, int(tree["code"][i]), int(tree["visits"][i]), int(tree["total"][i])) for i in range(first, first + n)]
