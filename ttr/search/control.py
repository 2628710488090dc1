"""Control search: it plans with its own steering, and takes opponents for what they have shown themselves to be.

A difficulty-adjusting search that maximises in its tree and steers only at the root forecasts a game it will not play, and the
error depends on the opponent. Here each node keeps two sums: the payoffs d, and u = -|d - T|, minus the distance from the target.

    own node           argmax  mean u + 2 Cp sqrt(2 ln n / n_j)
    opponent's node    with probability 0.9 eps any legal child, else argmin  mean d - 2 Cp sqrt(2 ln n / n_j)
    playout            own moves by chance; an opponent's as believed (opponent_model.py): eps by chance, else the base player's
    move played        argmax  mean u

eps is a player's randomness, believed or fixed. T is `target`, or plus or minus it, by a coin at the first decision of a game.
"""

import math

import numpy as np

from ttr.actions import count_actions
from ttr.agents.contract import pick
from ttr.agents.params import CheatingControl, InformationSetControl, field_index
from ttr.jit import inlined, jitted
from ttr.search.budget import goes_on, nanoseconds
from ttr.search.determinize import BELIEVED, PLAIN, determinize
from ttr.search.difficulty import BEST_MEAN, CONTROL, choose, mean_points
from ttr.search.legality import nth_action
from ttr.search.opponent_model import believed_randomness, in_chances, modelled_playout, remember_paths, seat_models, watch
from ttr.search.search import CP, EXPLORATION, FORWARD_MODEL_CALLS, ITERATIONS, SECONDS, TARGET, TICKETS, descend, payoff
from ttr.search.ticket_belief import deal_hands, ready_hands
from ttr.search.tree import add_distance, add_payoff, clear, fill_logs
from ttr.search.uct import CONTROL as OWN_NODES_STEER
from ttr.search.uct import F, Rule

COIN, ESTIMATE, RANDOMNESS = (field_index(CheatingControl, name) for name in ("coin", "estimate", "randomness"))
_LATER = field_index(InformationSetControl, "coin") - COIN  # the information-set search has fields before these
IN_TREE = 0.9  # of an opponent's randomness, at its nodes
SIGN = 5  # place in the memory: of the target in this game


@jitted
def target_of_game(me, coin):
    """The score difference sought in this game, in half points."""
    if me.memory[SIGN] == 0:
        me.memory[SIGN] = 1 - 2 * pick(me, 2) if coin else 1
    return me.memory[SIGN] * np.int64(np.rint(2.0 * me.params[TARGET]))


@inlined
def _randomness(me, p, later):
    """How random another player is taken to be: as believed, or as fixed."""
    return believed_randomness(me, p) if me.params[ESTIMATE + later] else me.params[RANDOMNESS + later]


@inlined
def _set_chances(g, me, tree, player, later):
    """How random each opponent is taken to be, as chances."""
    for p in range(g.players):
        eps = _randomness(me, p, later)
        tree.randomness[p] = in_chances(eps) if p != player else 0
        tree.chance[p] = in_chances(IN_TREE * eps) if p != player else 0


@jitted
def grow_control(g, root, me, scratch, hidden, target):
    """Build the tree of a decision until the budget is used up; changes me.stream and me.iterations."""
    params = me.params
    tree = scratch.tree
    player = root.player & 7
    availability = np.int64(hidden != 0 and params[EXPLORATION] != 0)
    rule = Rule(F(4.0 * params[CP] * math.sqrt(2.0)), np.int64(OWN_NODES_STEER), F(target), F(0), F(0), availability)
    most_iterations = np.int64(params[ITERATIONS])
    most_calls = np.int64(params[FORWARD_MODEL_CALLS])
    deadline = np.int64(0) if params[SECONDS] == 0.0 else nanoseconds() + np.int64(params[SECONDS] * 1e9)
    plain = np.int64(params[TICKETS] == PLAIN)
    believing = hidden and params[TICKETS] == BELIEVED
    stream = me.stream
    if believing:
        me.seat = player
        stream = ready_hands(g, root, me, scratch, plain, stream)
    clear(tree)
    tree.two_sums = 1
    _set_chances(g, me, tree, player, _LATER if hidden else 0)
    seat_models(g, me, scratch, player)
    s = tree.states[0]
    iterations = 0
    calls = 0
    while goes_on(iterations, calls, most_iterations, most_calls, deadline):
        if iterations + 1 >= tree.logs:
            fill_logs(tree, 2 * iterations + 1024)
        tree.states[0] = root
        if believing:
            stream = deal_hands(g, s, me, stream)
        if hidden:
            stream = determinize(g, s, plain, stream)
        remember_paths(g, s, scratch, player)
        depth, stream = descend(g, s, tree, rule, player, hidden, tree.chance, stream)
        stream, n = modelled_playout(g, s, scratch, player, stream)
        d = payoff(g, s, tree.sheet, player)
        add_payoff(tree, depth, d)
        add_distance(tree, depth, abs(d - target))
        calls += depth - 1 + n
        iterations += 1
    me.stream = stream
    me.iterations = iterations


@jitted
def control_search(g, seen, me, scratch, hidden):
    """The code of the action to take, or what is learnt from another player's. A lone action needs no search."""
    if me.watched >= 0:
        tickets = me.params[TICKETS]
        believing = hidden and tickets == BELIEVED
        eps = _randomness(me, seen.player & 7, _LATER if hidden else 0)
        watch(g, seen, me, scratch, hidden, np.int64(tickets == PLAIN), believing, eps)
        return np.int64(0)
    tree = scratch.tree
    me.iterations = 0
    me.nodes = 0
    me.visits = 0
    me.mean = 0.0
    target = target_of_game(me, me.params[COIN + (_LATER if hidden else 0)])
    legal = count_actions(g, seen)
    if legal <= 1:
        code, _, _ = nth_action(g, seen, 0, legal)
        return code
    grow_control(g, seen, me, scratch, hidden, target)
    slot, me.stream = choose(tree, np.int64(CONTROL), np.int64(BEST_MEAN), 0.0, 0.0, 0.0, me.stream)
    me.nodes = tree.nodes
    me.visits = tree.visits[slot]
    me.mean = mean_points(tree, slot)
    return tree.code[slot]
