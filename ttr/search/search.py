"""The search: select down the tree, expand one action, play out at random, add the payoff to the path (algorithms 1-8).

The cheating search walks copies of the true state, the deck's stream included, so it knows every card to come. The information-set
search determinizes the observation at each iteration; a node's children are then the actions met in any of them, and at each visit
only those count that are legal now. Both are this one function.

Payoff: own unfloored score minus the best opponent's, in half points. Opponents minimise it.
"""

import math

import numpy as np

from ttr.actions import count_actions
from ttr.agents.params import InformationSetSearch, field_index
from ttr.bits import lowest_bit, nth_bit, popcount
from ttr.game import playout
from ttr.jit import inlined, jitted
from ttr.score import score
from ttr.search.budget import goes_on, nanoseconds
from ttr.search.determinize import PLAIN, determinize
from ttr.search.difficulty import TRUE_POSAS, TRUE_ROSAS, choose, mean_points
from ttr.search.legality import do_action, mark_legal, nth_action, untried_action
from ttr.search.tree import LEAF, MAX_DEPTH, MAX_WORDS, NONE, add_child, add_payoff, clear, fill_logs, make_room, new_inner
from ttr.search.uct import STRONG, TRUE, F, Rule, any_child, best_child, value_by_availability, value_children
from ttr.state import OVER
from ttr.stream import GOLD, below, happens, mix

FIELDS = "iterations forward_model_calls seconds cp dda posas_threshold momentum target final_choice exploration tickets".split()
ITERATIONS, FORWARD_MODEL_CALLS, SECONDS, CP, DDA, POSAS_THRESHOLD, MOMENTUM, TARGET, FINAL_CHOICE, EXPLORATION, TICKETS = (
    field_index(InformationSetSearch, name) for name in FIELDS
)


@inlined
def payoff(g, s, sheet, me):
    """Own unfloored score minus the best opponent's, in half points."""
    score(g, s, sheet, False)
    best = np.int64(-(1 << 40))
    for p in range(g.players):
        best = max(best, sheet.total[p] if p != me else best)
    return sheet.total[me] - best


@jitted
def _start_tried(tree, e, legal):
    """Note how many actions a node of the cheating search has, none of them tried; False if there is no room."""
    words = (max(legal, 1) + 63) >> 6
    if tree.words + words > MAX_WORDS:
        return False
    u = np.uint64(e)
    tree.legal[u] = max(legal, 1)
    tree.tried[u] = tree.words
    for w in range(words):
        left = max(legal, 1) - 64 * w
        tree.tried_words[np.uint64(tree.words + w)] = -1 if left >= 64 else (1 << left) - 1  # bits of what is left to try
    tree.words += words
    return True


@jitted
def _expand_fixed(g, s, tree, e, stream):
    """Try one of the actions a node of the cheating search has not tried, each as likely; returns the new slot and the stream."""
    u = np.uint64(e)
    stream += GOLD
    left = below(mix(stream), np.int64(tree.legal[u]) - np.int64(tree.children[u]))
    w = np.int64(tree.tried[u])
    k = 0
    while left >= popcount(tree.tried_words[np.uint64(w)]):
        left -= popcount(tree.tried_words[np.uint64(w)])
        w += 1
        k += 64
    bit = nth_bit(tree.tried_words[np.uint64(w)], left)
    tree.tried_words[np.uint64(w)] ^= bit
    n = count_actions(g, s)
    code, need, sort = nth_action(g, s, k + lowest_bit(bit), n)
    return add_child(tree, e, code, need, sort), stream


@inlined
def _count_open(tree, first, n):
    for j in range(n):
        tree.available[np.uint64(first + j)] += np.int32(tree.open[np.uint64(j)])


@jitted
def descend(g, s, tree, rule, me, hidden, chance, stream):
    """Walk from the root to a new node, to the end of the game or to where there is no room; fills tree.path.

    `chance` is None, and then costs nothing, or says by player how often its nodes lead to any child.

    Returns the length of the path and the stream.
    """
    slot = 0
    depth = 1
    tree.path[0] = 0
    while s.phase != OVER and depth < MAX_DEPTH:
        e = np.int64(tree.inner[np.uint64(slot)])
        if e == LEAF and slot != 0:
            e = new_inner(tree)
            if e == NONE:
                break
            tree.inner[np.uint64(slot)] = e
        u = np.uint64(e)
        n = np.int64(tree.children[u])
        first = np.int64(tree.first[u])
        if hidden:
            legal = count_actions(g, s)
            open_children = mark_legal(g, s, tree, first, n, legal)
            untried = max(legal, 1) - open_children
            if rule.availability:
                _count_open(tree, first, n)
        else:
            if tree.legal[u] == NONE and not _start_tried(tree, e, count_actions(g, s)):
                break
            legal = np.int64(tree.legal[u])
            open_children = n
            untried = legal - n
        if untried > 0 and make_room(tree, e):
            if hidden:
                stream, code, need, sort = untried_action(g, s, tree, np.int64(tree.first[u]), n, legal, untried, stream)
                slot = add_child(tree, e, code, need, sort)
            else:
                slot, stream = _expand_fixed(g, s, tree, e, stream)
            i = np.uint64(slot)
            do_action(g, s, tree.code[i], tree.need[i], np.int64(tree.sort[i]))
            tree.path[depth] = slot
            depth += 1
            break
        if open_children == 0:
            break
        best = np.int64(NONE)
        if chance is not None:
            by_chance, stream = happens(chance[s.player & 7], stream)
            if by_chance:
                best, stream = any_child(tree, n, open_children, hidden, stream)
        if chance is None or best == NONE:
            sign = F(1) if s.player == me else F(-1)
            if rule.availability:
                value_by_availability(tree, rule, slot, first, n, sign)
            else:
                value_children(tree, rule, slot, first, n, sign, hidden)
            best, stream = best_child(tree, n, stream)
        slot = first + best
        i = np.uint64(slot)
        do_action(g, s, tree.code[i], tree.need[i], np.int64(tree.sort[i]))
        tree.path[depth] = slot
        depth += 1
    return depth, stream


@inlined
def _rule(params, hidden):
    """The selection rule that an agent's fields ask for."""
    dda = np.int64(params[DDA])
    return Rule(
        F(4.0 * params[CP] * math.sqrt(2.0)),  # half points: twice 2 Cp sqrt 2
        np.int64(TRUE if dda == TRUE_ROSAS or dda == TRUE_POSAS else STRONG),
        F(2.0 * params[TARGET]),
        F(2.0 * params[POSAS_THRESHOLD] if dda == TRUE_POSAS else 0.0),
        F(params[MOMENTUM]),
        np.int64(hidden != 0 and params[EXPLORATION] != 0),
    )


@jitted
def grow(g, root, me, tree, hidden):
    """Build the tree of a decision until the budget is used up; changes me.stream and me.iterations."""
    params = me.params
    rule = _rule(params, hidden)
    player = root.player & 7
    most_iterations = np.int64(params[ITERATIONS])
    most_calls = np.int64(params[FORWARD_MODEL_CALLS])
    deadline = np.int64(0) if params[SECONDS] == 0.0 else nanoseconds() + np.int64(params[SECONDS] * 1e9)
    plain = np.int64(params[TICKETS] == PLAIN)
    stream = me.stream
    clear(tree)
    s = tree.states[0]
    iterations = 0
    calls = 0
    while goes_on(iterations, calls, most_iterations, most_calls, deadline):
        if iterations + 1 >= tree.logs:
            fill_logs(tree, 2 * iterations + 1024)
        tree.states[0] = root
        if hidden:
            stream = determinize(g, s, plain, stream)
        depth, stream = descend(g, s, tree, rule, player, hidden, None, stream)
        stream, n = playout(g, s, stream)
        add_payoff(tree, depth, payoff(g, s, tree.sheet, player))
        calls += depth - 1 + n
        iterations += 1
    me.stream = stream
    me.iterations = iterations


@jitted
def search(g, root, me, scratch, hidden):
    """The code of the action to take at the root: the true state, or an observation if `hidden`. A lone action needs no search."""
    tree = scratch.tree
    me.iterations = 0
    me.nodes = 0
    me.visits = 0
    me.mean = 0.0
    legal = count_actions(g, root)
    if legal <= 1:
        code, _, _ = nth_action(g, root, 0, legal)
        return code
    grow(g, root, me, tree, hidden)
    params = me.params
    slot, me.stream = choose(
        tree,
        np.int64(params[DDA]),
        np.int64(params[FINAL_CHOICE]),
        params[TARGET],
        params[POSAS_THRESHOLD],
        params[MOMENTUM],
        me.stream,
    )
    me.nodes = tree.nodes
    me.visits = tree.visits[slot]
    me.mean = mean_points(tree, slot)
    return tree.code[slot]
