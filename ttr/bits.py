"""Sets as machine words: counting, finding and picking bits; wrapping multiplication.

Numba marks its own int64 + - * as never overflowing, and LLVM drops code that relies on wrap-around. Where a product is
meant modulo 2**64 it must go through `times`.
"""

import os

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ttr.jit import inlined

HAS_PDEP = bool(llvm.get_host_cpu_features().get("bmi2", False)) and not os.environ.get("TTR_NO_PDEP")


@intrinsic
def popcount(context, word):
    """Number of set bits."""

    def generate(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.int64), generate


@intrinsic
def lowest_bit(context, word):
    """Index of the lowest set bit (undefined for 0)."""

    def generate(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate


@intrinsic
def shift_right(context, word, by):
    """Logical (zero-filling) shift right."""

    def generate(context, builder, signature, args):
        return builder.lshr(args[0], args[1])

    return types.int64(types.int64, types.int64), generate


@intrinsic
def times(context, a, b):
    """Product modulo 2**64."""

    def generate(context, builder, signature, args):
        return builder.mul(args[0], args[1])

    return types.int64(types.int64, types.int64), generate


@intrinsic
def _deposit(context, source, mask):
    """The x86 instruction pdep."""

    def generate(context, builder, signature, args):
        word = ir.IntType(64)
        kind = ir.FunctionType(word, [word, word])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.bmi.pdep.64")
        return builder.call(function, args)

    return types.int64(types.int64, types.int64), generate


@inlined
def nth_bit(mask, k):
    """The k-th set bit of a mask (from 0), as a mask; 0 if there are no more than k."""
    if HAS_PDEP:
        return _deposit(1 << k, mask)
    for _ in range(k):
        mask &= mask - 1
    return mask & -mask
