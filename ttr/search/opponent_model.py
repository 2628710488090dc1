"""What a search may believe of its opponents: a move is any legal one with probability eps, else what the base player would do.

eps is a player's randomness. It can be learnt from the moves seen: the posterior on {0, 0.2, ..., 1}, uniform at first, with

    eps / n + (1 - eps) (0.8 if it is the base player's move, else 0.2 / n)

as the likelihood of a move among n. Ticket choices, which the base player makes by chance, and moves without an alternative tell
nothing. A watcher that does not cheat averages the likelihood over determinizations in which the mover can pay for what it did; the
tickets that the mover may hold are learnt from the same likelihoods (ticket_belief.py).

The base player's path is the costly part. It depends on the tickets and the routes still usable, so the one at the root is kept for
each hand of tickets met, and during a playout the player's memory holds it while it lasts (agents/path.py).
"""

import numpy as np

from ttr.actions import CLAIM, apply_code, apply_nth, count_actions
from ttr.agents.contract import GRID, HANDS, KNOWN_PATHS, MAX_PARAMS
from ttr.agents.path import base_move, find_path
from ttr.cards import FIELD, LOCOMOTIVE, count_of
from ttr.jit import inlined, jitted
from ttr.search.determinize import determinize
from ttr.search.ticket_belief import hold, settle_weights, update_hands
from ttr.state import OVER, SECOND_CARD, TURN
from ttr.stream import CERTAIN, GOLD, below, fold, happens, mix

HABIT = 0.8  # how often a player that is not random makes the base player's very move
LOOKS = 16  # determinizations that judge a move


@jitted
def seat_models(g, me, scratch, player):
    """Sit down the imagined base players for one search, their paths unknown."""
    scratch.searches += 1
    for p in range(g.players):
        if p != player:
            for k in range(MAX_PARAMS):
                scratch.models[p].params[k] = me.model[k]


@jitted
def remember_paths(g, s, scratch, player):
    """Give every imagined player the path it has in state s, the root of an iteration."""
    mover = s.player
    for p in range(g.players):
        if p == player:
            continue
        model = scratch.models[p]
        low = s.held[p, 0]
        high = s.held[p, 1]
        known = scratch.known[np.int64(fold(fold(np.uint64(p), low), high) & np.uint64(KNOWN_PATHS - 1))]
        if known.search != scratch.searches or known.seat != p or known.held[0] != low or known.held[1] != high:
            s.player = p
            model.memory[0] = ~low  # no path of an earlier state counts
            known.path[0], known.path[1] = find_path(g, s, model, scratch.paths)
            known.search = scratch.searches
            known.seat = p
            known.held[0] = low
            known.held[1] = high
        model.memory[0] = low
        model.memory[1] = high
        model.memory[2] = known.path[0]
        model.memory[3] = known.path[1]
    s.player = mover


@jitted
def modelled_playout(g, s, scratch, player, stream):
    """Play on to the end, the searcher by chance, the others as believed; returns the stream and the number of decisions."""
    n = 0
    while s.phase != OVER:
        p = s.player & 7
        by_chance = True
        if p != player:
            by_chance, stream = happens(scratch.tree.randomness[p], stream)
        if by_chance:
            stream += GOLD
            m = count_actions(g, s)
            apply_nth(g, s, below(mix(stream), m), m)
        else:
            model = scratch.models[p]
            model.stream = stream
            code = base_move(g, s, model, scratch.paths)
            stream = model.stream
            apply_code(g, s, code)
        n += 1
    return stream, n


@inlined
def _has_begun(me, p):
    """Whether anything was learnt of player p in this game: a belief is a distribution, or all zero."""
    whole = 0.0
    for k in range(GRID):
        whole += me.belief[p, k]
    return whole > 0.0


@jitted
def learn(me, p, by_chance, by_habit):
    """Bayes' rule for a move of player p, as likely as this for one that is all random, and for one that is not at all."""
    begun = _has_begun(me, p)
    whole = 0.0
    for k in range(GRID):
        eps = k / (GRID - 1.0)
        before = me.belief[p, k] if begun else 1.0
        me.belief[p, k] = before * (eps * by_chance + (1.0 - eps) * by_habit)
        whole += me.belief[p, k]
    for k in range(GRID):
        me.belief[p, k] /= whole


@jitted
def believed_randomness(me, p):
    """Posterior mean of a player's randomness; one half before its first move."""
    if not _has_begun(me, p):
        return 0.5
    mean = 0.0
    for k in range(GRID):
        mean += me.belief[p, k] * (k / (GRID - 1.0))
    return mean


@inlined
def in_chances(probability):
    """A probability as chances in CERTAIN."""
    return np.int64(np.floor(probability * CERTAIN + 0.5))


@jitted
def _judge(g, s, me, scratch, code, n):
    """How likely the player to move, who knows state s, is to do this by habit; `n` actions are legal."""
    p = s.player & 7
    model = scratch.models[p]
    for k in range(MAX_PARAMS):
        model.params[k] = me.model[k]
    model.memory[0] = ~s.held[p, 0]  # no path of an earlier state counts
    return HABIT if base_move(g, s, model, scratch.paths) == code else (1.0 - HABIT) / n


@inlined
def _show_payment(g, s, p, code):
    """In an observation: whoever claims a route had the cards for it."""
    colour = (code >> 11) & 15
    locomotives = (code >> 15) & 15
    for kind in range(2):
        of = LOCOMOTIVE if kind else colour
        paid = locomotives if kind else g.tables.length[(code >> 4) & 127] - locomotives
        unseen = max(0, paid - count_of(s.hand[p], of))
        s.hand[p] += unseen << (FIELD * of)
        s.deck -= unseen << (FIELD * of)
        s.hidden_cards[p] -= unseen
        s.hidden -= unseen


@jitted
def watch(g, seen, me, scratch, hidden, plain, believing, eps):
    """Learn from a move that another player is about to make: `me.watched`, in the true state or, if hidden, in what `me` sees.

    A hidden move is judged in LOOKS determinizations, or, if believing, in one for each hand that its player may hold; `eps`, the
    player's randomness as believed before, says how much it tells of them.
    """
    code = me.watched
    p = seen.player & 7
    if seen.phase != TURN and seen.phase != SECOND_CARD:
        return
    if not hidden:
        n = count_actions(g, seen)
        if n > 1:
            learn(me, p, 1.0 / n, _judge(g, seen, me, scratch, code, n))
        return
    stream = fold(me.stream, 8 * seen.turn + p)
    if believing:
        stream = update_hands(g, seen, me, scratch, p, plain, stream)
    s = scratch.tree.states[0]
    by_chance = 0.0
    by_habit = 0.0
    judged = 0.0
    for k in range(HANDS if believing else LOOKS):
        weight = me.hands[p, k].weight if believing else 1.0 / LOOKS
        if weight == 0.0:
            continue
        scratch.tree.states[0] = seen
        if code & 15 == CLAIM:
            _show_payment(g, s, p, code)
        if believing:
            hold(s, p, me.hands[p, k])
        s.player = me.seat
        stream = determinize(g, s, plain, stream)
        s.player = p
        n = count_actions(g, s)
        if n > 1:
            habit = _judge(g, s, me, scratch, code, n)
            by_chance += weight / n
            by_habit += weight * habit
            judged += weight
            if believing:
                me.hands[p, k].weight = weight * (eps / n + (1.0 - eps) * habit)
    if judged > 0.0:
        learn(me, p, by_chance / judged, by_habit / judged)
    if believing:
        settle_weights(me, p)
