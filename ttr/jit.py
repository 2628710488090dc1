"""How the engine is compiled: one set of options for every jitted function.

No fastmath, no parallel, numpy's error model; bounds checks come only from NUMBA_BOUNDSCHECK=1 (the tests use it),
which is part of the compile cache's key. `inlined` is for the small functions of the inner loop (a call would
cost more than their work); `jitted` for everything else.
"""

from collections.abc import Callable
from typing import Any

from numba import njit

OPTIONS: dict[str, Any] = dict(nogil=True, cache=True, error_model="numpy")


def jitted(function: Callable) -> Any:
    """Compile a function of the engine."""
    return njit(**OPTIONS)(function)


def inlined(function: Callable) -> Any:
    """Compile a small function into each of its callers."""
    return njit(forceinline=True, **OPTIONS)(function)
