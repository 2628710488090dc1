"""A clock that jitted code can read: the processor's own counter of ticks.

Calls of Python's or the C library's clocks would keep compiled code out of the cache; the counter is a single instruction.
Decision times are measurements: they are stored beside the results and never enter them.
"""

import time
from functools import cache

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ttr.jit import jitted


@intrinsic
def ticks(context):
    """The processor's tick counter."""

    def generate(context, builder, signature, args):
        kind = ir.FunctionType(ir.IntType(64), [])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.readcyclecounter"), [])

    return types.int64(), generate


@jitted
def read_ticks():
    """The tick counter, for Python."""
    return ticks()


@cache
def seconds_per_tick() -> float:
    """How long a tick is, measured once in a process against the system's clock."""
    read_ticks()
    start, first = time.perf_counter(), read_ticks()
    time.sleep(0.02)
    stop, last = time.perf_counter(), read_ticks()
    return (stop - start) / max(1, last - first)
