"""The random stream of a user's own agent: the project's SplitMix64 in plain Python.

It starts where a jitted agent's stream would start in the same seat, and gives the same numbers, so equal streams mean equal
play on every machine. Python's own `random` would not: it is shared by the whole process.
"""

from collections.abc import MutableSequence, Sequence
from typing import Any, TypeVar

from ttr.stream import GOLD

_T = TypeVar("_T")
_WORD = (1 << 64) - 1
_GOLD = int(GOLD)


class RandomStream:
    """Random numbers of one player in one game. `state` is its whole state, a 64-bit word."""

    def __init__(self, state: int):
        self.state = int(state)

    def _word(self) -> int:
        self.state = (self.state + _GOLD) & _WORD
        z = ((self.state ^ (self.state >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _WORD
        return z ^ (z >> 31)

    def below(self, n: int) -> int:
        """A whole number 0 .. n-1, each as likely."""
        if not 1 <= n < 1 << 32:
            raise ValueError(f"random.below({n}): the number must be at least 1")
        return ((self._word() >> 32) * n) >> 32

    def random(self) -> float:
        """A number from 0 up to, but not including, 1."""
        return (self._word() >> 11) * 2.0**-53

    def choice(self, items: Sequence[_T]) -> _T:
        """One of the items, each as likely."""
        if len(items) == 0:
            raise ValueError("random.choice: there is nothing to choose from")
        return items[self.below(len(items))]

    def shuffle(self, items: MutableSequence[Any]) -> None:
        """Put a list into a random order, in place."""
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]
