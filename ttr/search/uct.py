"""The selection rule: UCT, `mean + 2 Cp sqrt(2 ln n / n_j)`, and the value that the true difficulty-adjusting searches minimise.

Everything is in half points and single precision, one correctly rounded operation after the other, so that a search is the same bit
for bit wherever it runs. Values are compared as integers that have the order of the floats: integer maxima run in vector registers.
"""

import math
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ttr.jit import inlined, jitted
from ttr.stream import GOLD, below, mix

LOWEST = -(2**31)
STRONG, TRUE, CONTROL = range(3)  # the searcher maximises, others minimise; every node seeks the target; the searcher alone does
F = np.float32


class Rule(NamedTuple):
    """How children are valued, in half points."""

    explore: np.float32  # 2 Cp sqrt 2
    steer: int  # STRONG, TRUE or CONTROL
    target: np.float32  # score difference
    threshold: np.float32  # how far from it counts as nothing; 0 for rosas
    momentum: np.float32
    availability: int  # 1: the exploration counts how often an action was legal, not its parent's visits


@intrinsic
def bits_of(context, value):
    """The bits of a single-precision number."""

    def generate(context, builder, signature, args):
        return builder.bitcast(args[0], ir.IntType(32))

    return types.int32(types.float32), generate


@inlined
def _ordered(value):
    """An integer for a float, in the same order."""
    bits = bits_of(value)
    return np.int32(bits ^ ((bits >> np.int32(31)) & np.int32(0x7FFFFFFF)))


@inlined
def _uct(tree, i, sign, explore):
    one = F(1) / F(tree.visits[i])
    return sign * (F(tree.total[i]) * one) + explore * math.sqrt(one)


@inlined
def _steered(tree, i, rule, parent, explore):
    """Minus the value that a true variant minimises."""
    one = F(1) / F(tree.visits[i])
    mean = F(tree.total[i]) * one
    away = abs(mean - rule.target) - rule.threshold
    away = away if away > F(0) else F(0)
    return explore * math.sqrt(one) - (away + rule.momentum * (parent - mean))


@inlined
def _evenness(tree, i, explore):
    """What the control search maximises at its own nodes: minus the mean distance from the target, and exploration."""
    one = F(1) / F(tree.visits[i])
    return F(tree.even[i]) * one + explore * math.sqrt(one)


@jitted
def value_children(tree, rule, slot, first, n, sign, masked):
    """Write the values of n children from slot `first` into tree.key; where masked, those that are not open get the lowest."""
    u = np.uint64(slot)
    parent = F(tree.total[u]) / F(tree.visits[u])
    explore = rule.explore * tree.root_log[np.uint64(tree.visits[u])]
    if rule.steer == TRUE:
        for j in range(n):
            key = _ordered(_steered(tree, np.uint64(first + j), rule, parent, explore))
            tree.key[np.uint64(j)] = key if tree.open[np.uint64(j)] or not masked else np.int32(LOWEST)
    elif rule.steer == CONTROL and sign > F(0):
        for j in range(n):
            key = _ordered(_evenness(tree, np.uint64(first + j), explore))
            tree.key[np.uint64(j)] = key if tree.open[np.uint64(j)] or not masked else np.int32(LOWEST)
    else:
        for j in range(n):
            key = _ordered(_uct(tree, np.uint64(first + j), sign, explore))
            tree.key[np.uint64(j)] = key if tree.open[np.uint64(j)] or not masked else np.int32(LOWEST)


@jitted
def value_by_availability(tree, rule, slot, first, n, sign):
    """The same for open children alone, each explored by how often it was legal."""
    u = np.uint64(slot)
    parent = F(tree.total[u]) / F(tree.visits[u])
    for j in range(n):
        tree.key[np.uint64(j)] = LOWEST
        if tree.open[np.uint64(j)]:
            i = np.uint64(first + j)
            explore = rule.explore * tree.root_log[np.uint64(tree.available[i])]
            if rule.steer == TRUE:
                tree.key[np.uint64(j)] = _ordered(_steered(tree, i, rule, parent, explore))
            elif rule.steer == CONTROL and sign > F(0):
                tree.key[np.uint64(j)] = _ordered(_evenness(tree, i, explore))
            else:
                tree.key[np.uint64(j)] = _ordered(_uct(tree, i, sign, explore))


@jitted
def any_child(tree, n, open_children, masked, stream):
    """Number of a child, each as likely; where masked, of an open one. Returns it and the stream."""
    stream += GOLD
    left = below(mix(stream), open_children)
    if not masked:
        return left, stream
    for j in range(n):
        if tree.open[np.uint64(j)]:
            if left == 0:
                return j, stream
            left -= 1
    return np.int64(0), stream


@jitted
def best_child(tree, n, stream):
    """Number of the child with the highest value in tree.key, ties broken uniformly at random; returns it and the stream."""
    best = np.int32(LOWEST)
    for j in range(n):
        best = max(best, tree.key[np.uint64(j)])
    ties = 0
    last = 0
    for j in range(n):
        tied = tree.key[np.uint64(j)] == best
        ties += 1 if tied else 0
        last = max(last, j if tied else 0)
    if ties == 1:
        return last, stream
    stream += GOLD
    left = below(mix(stream), ties)
    for j in range(n):
        if tree.key[np.uint64(j)] == best:
            if left == 0:
                return j, stream
            left -= 1
    return last, stream
