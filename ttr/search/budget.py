"""How long a search goes on: iterations, forward-model calls (actions applied, in tree and playouts), or seconds.

Seconds are for play between people; they make a search depend on the machine, so experiments refuse them.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ttr.jit import inlined

MAX_ITERATIONS = 2_000_000  # sums of payoffs stay within 32 bits
BETWEEN_LOOKS = 64  # iterations from one look at the clock to the next
_MONOTONIC = 1


@intrinsic
def nanoseconds(context):
    """The system's steady clock. The C library's function is named, not addressed, so the code can be cached."""

    def generate(context, builder, signature, args):
        word = ir.IntType(64)
        pair = cgutils.alloca_once(builder, ir.ArrayType(word, 2))
        kind = ir.FunctionType(ir.IntType(32), [ir.IntType(32), pair.type])
        function = cgutils.get_or_insert_function(builder.module, kind, "clock_gettime")
        builder.call(function, [ir.Constant(ir.IntType(32), _MONOTONIC), pair])
        seconds, rest = (builder.extract_value(builder.load(pair), i) for i in range(2))
        return builder.add(builder.mul(seconds, ir.Constant(word, 10**9)), rest)

    return types.int64(), generate


@inlined
def goes_on(iterations, calls, most_iterations, most_calls, deadline):
    """Whether there is budget for one more iteration (0: no such limit)."""
    if iterations >= (most_iterations if most_iterations else MAX_ITERATIONS):
        return False
    if most_calls and calls >= most_calls:
        return False
    return deadline == 0 or iterations % BETWEEN_LOOKS != 0 or nanoseconds() < deadline
