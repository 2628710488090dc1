"""What the search makes of its tree: the strongest action, or the one that keeps the game even.

    none                      the best mean, or the most visits
    rosas                     the mean closest to the target score difference
    posas                     any mean within the threshold of it, each as likely; else the closest
    true_rosas, true_posas    the search itself was steered (uct.py): the most visits
    control                   the least mean distance from the target, which the search kept beside the mean (control.py)

`momentum * (parent mean - child mean)`, signed, is added to the distance that rosas and posas minimise. Means are in points here.
"""

import numpy as np

from ttr.jit import inlined, jitted
from ttr.stream import GOLD, below, mix

DDA = ("none", "rosas", "posas", "true_rosas", "true_posas")
NONE, ROSAS, POSAS, TRUE_ROSAS, TRUE_POSAS, CONTROL = range(6)  # control has agents of its own
FINAL_CHOICES = ("best_mean", "most_visits")
BEST_MEAN, MOST_VISITS = range(2)


@inlined
def mean_points(tree, slot):
    """Mean payoff of a node in points."""
    return tree.total[slot] / (2.0 * tree.visits[slot])


@inlined
def merit(tree, slot, dda, final, target, threshold, momentum):
    """What the final choice maximises. A child that no playout has visited has none."""
    if dda == CONTROL:
        return tree.even[slot] / (2.0 * tree.visits[slot])
    if dda >= TRUE_ROSAS or (dda == NONE and final == MOST_VISITS):
        return np.float64(tree.visits[slot])
    mean = mean_points(tree, slot)
    if dda == NONE:
        return mean
    away = abs(mean - target)
    if dda == POSAS:
        away = max(0.0, away - threshold)
    return -(away + momentum * (mean_points(tree, 0) - mean))


@jitted
def choose(tree, dda, final, target, threshold, momentum, stream):
    """Slot of the root's child to play, ties broken uniformly at random; returns it and the stream."""
    first = np.int64(tree.first[0])
    n = np.int64(tree.children[0])
    best = merit(tree, first, dda, final, target, threshold, momentum)
    chosen = first
    ties = 0
    for slot in range(first, first + n):
        worth = merit(tree, slot, dda, final, target, threshold, momentum)
        if worth > best:
            best = worth
            ties = 0
        if worth == best:
            ties += 1
            chosen = slot
    if ties > 1:
        stream += GOLD
        left = below(mix(stream), ties)
        for slot in range(first, first + n):
            if merit(tree, slot, dda, final, target, threshold, momentum) == best:
                if left == 0:
                    return slot, stream
                left -= 1
    return chosen, stream
