"""The search tree: flat preallocated arrays, taken from the system only as they are touched.

A slot is one node: its visits, the sum of its payoffs (half points, the searching player's view) and the action that leads to
it. Slot 0 is the root. A node that is visited a second time gets an entry among the inner nodes, which says where its children
stand: they are neighbours, in a block that moves to one twice the size when it is full, so the tree grows by about two slots
for each iteration, however many actions there are. Blocks left behind are used again.
"""

import numpy as np

from ttr.jit import inlined, jitted
from ttr.score import SHEET
from ttr.state import STATE
from ttr.tables import MAX_PLAYERS

MAX_SLOTS = 1 << 22
MAX_INNER = 1 << 21
MAX_WORDS = 1 << 22
MAX_CHILDREN = 1 << 12  # of one node; an opponent's ticket choices are the only ones to come near
MAX_DEPTH = 1 << 10
SMALLEST_BLOCK = 2  # binary logarithm
LEAF = 0  # `inner` of a slot without children: entry 0 belongs to the root
NONE = -1

TREE = np.dtype(
    [
        ("slots", "i8"),  # in use, blocks left behind included
        ("nodes", "i8"),
        ("inners", "i8"),
        ("words", "i8"),
        ("logs", "i8"),  # entries of root_log that are filled in
        ("limit", "i8"),  # slots that may be used; 0: all
        ("two_sums", "i8"),  # 1: `even` is kept
        ("randomness", "i8", MAX_PLAYERS),  # control search: chance that a player's move is any move, in playouts and in the tree
        ("chance", "i8", MAX_PLAYERS),
        ("states", STATE, 1),  # the state walked down the tree
        ("sheet", SHEET),
        ("path", "u4", MAX_DEPTH),  # slots of this iteration
        ("open", "u1", MAX_CHILDREN),  # 1 for the children of a node that are legal now
        ("key", "i4", MAX_CHILDREN),  # their values, as integers in the same order
        ("free_block", "i4", 16),  # by size: first slot of a block left behind, which holds the next one in `inner`
        ("visits", "i4", MAX_SLOTS),
        ("total", "i4", MAX_SLOTS),  # sum of payoffs
        ("even", "i4", MAX_SLOTS),  # control search: sum of minus how far each payoff was from the target
        ("inner", "i4", MAX_SLOTS),
        ("available", "i4", MAX_SLOTS),  # visits of the parent at which the action was legal
        ("code", "i8", MAX_SLOTS),  # canonical code of the action
        ("need", "i8", MAX_SLOTS),  # cards it needs in the hand (claim) or in the row (draw), as a card word
        ("sort", "u1", MAX_SLOTS),  # what it needs beside them: see legality.py
        ("first", "i4", MAX_INNER),  # first child
        ("children", "i4", MAX_INNER),
        ("block", "i4", MAX_INNER),  # binary logarithm of the block's size
        ("legal", "i4", MAX_INNER),  # number of legal actions, where it never changes
        ("tried", "i4", MAX_INNER),  # first word of the set of tried actions, where their numbers never change
        ("tried_words", "i8", MAX_WORDS),
        ("root_log", "f4", MAX_SLOTS),  # sqrt(ln n), rounded from double precision
    ],
    align=True,
)


@jitted
def clear(tree):
    """An empty tree: the root alone, as an inner node without children."""
    tree.slots = 1
    tree.nodes = 1
    tree.inners = 1
    tree.words = 0
    tree.visits[0] = 0
    tree.total[0] = 0
    tree.even[0] = 0
    tree.two_sums = 0
    tree.inner[0] = LEAF
    tree.first[0] = 0
    tree.children[0] = 0
    tree.block[0] = NONE
    tree.legal[0] = NONE
    for size in range(16):
        tree.free_block[size] = NONE


@jitted
def new_inner(tree):
    """A fresh entry for a node's children; NONE if there is no room."""
    if tree.inners >= MAX_INNER:
        return np.int64(NONE)
    e = tree.inners
    tree.inners += 1
    u = np.uint64(e)
    tree.first[u] = 0
    tree.children[u] = 0
    tree.block[u] = NONE
    tree.legal[u] = NONE
    return e


@inlined
def _take_block(tree, size):
    """First slot of a block of 2**size slots; NONE if there is no room."""
    block = np.int64(tree.free_block[size])
    if block != NONE:
        tree.free_block[size] = tree.inner[np.uint64(block)]
        return block
    if tree.slots + (1 << size) > (tree.limit if tree.limit else MAX_SLOTS):
        return np.int64(NONE)
    block = tree.slots
    tree.slots += 1 << size
    return block


@jitted
def make_room(tree, e):
    """Room for one more child of inner node e; False if there is none."""
    u = np.uint64(e)
    n = np.int64(tree.children[u])
    if n >= MAX_CHILDREN:
        return False
    size = np.int64(tree.block[u])
    if size != NONE and n < (1 << size):
        return True
    larger = SMALLEST_BLOCK if size == NONE else size + 1
    block = _take_block(tree, larger)
    if block == NONE:
        return False
    if size != NONE:
        old = np.int64(tree.first[u])
        for i in range(n):
            a = np.uint64(old + i)
            b = np.uint64(block + i)
            tree.visits[b] = tree.visits[a]
            tree.total[b] = tree.total[a]
            tree.inner[b] = tree.inner[a]
            tree.available[b] = tree.available[a]
            tree.code[b] = tree.code[a]
            tree.need[b] = tree.need[a]
            tree.sort[b] = tree.sort[a]
        if tree.two_sums:
            for i in range(n):
                tree.even[np.uint64(block + i)] = tree.even[np.uint64(old + i)]
        tree.inner[np.uint64(old)] = tree.free_block[size]
        tree.free_block[size] = old
    tree.first[u] = block
    tree.block[u] = larger
    return True


@inlined
def add_child(tree, e, code, need, sort):
    """A new child of inner node e, for which room was made; returns its slot."""
    u = np.uint64(e)
    slot = np.int64(tree.first[u]) + np.int64(tree.children[u])
    tree.children[u] += 1
    tree.nodes += 1
    i = np.uint64(slot)
    tree.visits[i] = 0
    tree.total[i] = 0
    tree.inner[i] = LEAF
    tree.available[i] = 1
    tree.code[i] = code
    tree.need[i] = need
    tree.sort[i] = sort
    return slot


@inlined
def add_payoff(tree, depth, payoff):
    """Count a playout's result at every node of the path."""
    for d in range(depth):
        i = np.uint64(tree.path[d])
        tree.visits[i] += 1
        tree.total[i] += payoff


@inlined
def add_distance(tree, depth, away):
    """Count how far a playout's result, just added, was from the target at every node of the path."""
    for d in range(depth):
        i = np.uint64(tree.path[d])
        before = tree.even[i] if tree.visits[i] > 1 else np.int32(0)
        tree.even[i] = before - away


@jitted
def fill_logs(tree, n):
    """Make sure that sqrt(ln k) is known for k up to n."""
    n = min(n, MAX_SLOTS - 1)
    for k in range(max(tree.logs, 1), n + 1):
        tree.root_log[k] = np.float32(np.sqrt(np.log(np.float64(k))))
    tree.logs = max(tree.logs, n + 1)
