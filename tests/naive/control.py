"""Control search written slowly and plainly: two sums a node, opponents' mixture, playouts as believed, and the belief about eps.

The base player's move comes from its own jitted agent, whose memory is made anew at the root of every iteration: the fast search
makes it once for each hand of tickets.
"""

from fractions import Fraction

import numpy as np

from tests.naive.reference import GOLD, WORD, Stream, mix
from tests.naive.search import F, PlainSearch, copy_of, determinized, payoff
from ttr.actions import CLAIM, apply_code, count_actions, nth_code
from ttr.agents.contract import new_player, new_scratch
from ttr.agents.registry import parse_agent, seat_player
from ttr.state import CHOOSE, FIRST_CHOICE, OVER, TURN

CERTAIN = 2**30
GRID = [Fraction(k, 5) for k in range(6)]


class BasePlayer:
    """What the base player would do in a state, whoever is to move."""

    def __init__(self, g):
        self.g, self.player, self.scratch = g, seat_player(parse_agent("base")), new_scratch()

    def memory(self, s, p):
        """The record of player p, who thinks about its path in state s."""
        thinking, me = copy_of(s), new_player(self.player)
        thinking["player"], thinking["phase"] = p, TURN
        self.player.decide(self.g, thinking, me, self.scratch)
        return me

    def move(self, s, me=None, stream=None):
        """The code; a choice by chance is drawn from the stream."""
        me = new_player(self.player) if me is None else me
        me["stream"] = stream.word if stream else 0
        code = int(self.player.decide(self.g, s, me, self.scratch))
        if stream:
            stream.word = int(me["stream"])
        return code


def likelihood(eps, n, habit):
    """Of a move among n, which is the base player's or not."""
    return eps / n + (1 - eps) * (Fraction(4, 5) if habit else Fraction(1, 5) / n)


def belief(moves):
    """Posterior on the grid after moves, each as a list of views: (weight, legal actions, whether it is the base player's move)."""
    weights = [Fraction(1, 6)] * 6
    for views in moves:
        for k, eps in enumerate(GRID):
            each = [Fraction(weight) * likelihood(eps, n, habit) for weight, n, habit in views]
            weights[k] *= sum(each) / sum(Fraction(weight) for weight, _, _ in views)
        weights = [w / sum(weights) for w in weights]
    return weights


class PlainControl(PlainSearch):
    """One decision of a control search; `randomness` by seat, `target` in half points, `hands` (if any) as they stand then."""

    def __init__(self, g, fields, word, hidden, randomness, target, hands=None):
        super().__init__(g, fields, word, hidden)
        self.randomness, self.target, self.base, self.hands = randomness, target, BasePlayer(g), hands

    def run(self, root):
        """Build the tree and return the code of the action chosen."""
        for p in range(self.g.players) if self.hands else ():
            if p != self.hands.seat:
                self.hands.update(root, p, self.stream)
        return super().run(root)

    def happens(self, probability):
        """Whether something of this probability happens; what cannot is not drawn."""
        chance = int(np.floor(probability * CERTAIN + 0.5))
        return chance > 0 and self.stream.below(CERTAIN) < chance

    def iterate(self, root):
        """One iteration: walk down, expand, play out as believed, add to both sums."""
        s, me = copy_of(root), int(root["player"])
        if self.hands:
            s = self.hands.world(root, self.hands.dealt(root, self.stream), self.stream)
        elif self.hidden:
            s = determinized(self.g, root, self.fields["tickets"] == "plain", self.stream)
        minds = {p: self.base.memory(s, p) for p in range(self.g.players) if p != me}
        path, expanded = [self.root], False
        while s["phase"] != OVER and not expanded:
            child, expanded = self.step(path[-1], s, me)
            apply_code(self.g, s, child.code)
            path.append(child)
        while s["phase"] != OVER:
            p, n = int(s["player"]), count_actions(self.g, s)
            if p == me or self.happens(self.randomness[p]):
                code = nth_code(self.g, s, self.stream.below(n), n)
            else:
                code = self.base.move(s, minds[p], self.stream)
            apply_code(self.g, s, code)
        d = payoff(self.g, s, me)
        for node in path:
            node.visits += 1
            node.total += d
            node.even -= abs(d - self.target)

    def selected(self, node, legal, s, me):
        """Own nodes seek the target; at an opponent's any child by chance, else the one that is worst for the searcher."""
        p = int(s["player"])
        if p != me and self.happens(0.9 * self.randomness[p]):
            return legal[self.stream.below(len(legal))]
        return super().selected(node, legal, s, me)

    def value(self, node, child, own):
        """What selection maximises, in half points and single precision."""
        n = child.available if self.fields.get("exploration") == "availability" else node.visits
        explore = F(4.0 * self.fields["cp"] * np.sqrt(2.0)) * F(np.sqrt(np.log(np.float64(n))))
        explore = explore * np.sqrt(F(1) / F(child.visits))
        return explore + (F(child.even) * (F(1) / F(child.visits)) if own else -child.mean())

    def merit(self, child):
        """The least mean distance from the target, in points."""
        return child.even / (2 * child.visits)


def likely_moves(g, s, code, base):
    """One view of a move: how many there were, and whether it is the base player's; None if it tells nothing."""
    n = count_actions(g, s)
    if int(s["phase"]) in (CHOOSE, FIRST_CHOICE) or n < 2:
        return None
    return 1, n, base.move(s) == code


def views_of(g, seen, code, word, hands, base, eps=None, looks=16):
    """The views of a watcher that does not cheat: worlds it may believe in, in which the mover has paid for its claim.

    With `eps`, the mover's randomness so far, there is one for each of its hands in `hands`, which the move weighs.
    """
    mover, found, factors = int(seen["player"]), [], []
    stream = Stream(mix(((word ^ (8 * int(seen["turn"]) + mover)) + GOLD) % WORD))
    if eps is not None:
        hands.update(seen, mover, stream)
    for hand, weight in hands.hands[mover] if eps is not None else [(None, 1 / looks)] * looks:
        factors.append(None)
        if not weight:
            continue
        s = copy_of(seen)
        if code & 15 == CLAIM:
            locomotives, length = (code >> 15) & 15, int(g.tables["length"][(code >> 4) & 127])
            for colour, paid in (((code >> 11) & 15, length - locomotives), (8, locomotives)):
                unseen = max(0, paid - ((int(s["hand"][mover]) >> (7 * colour)) & 127))
                s["hand"][mover] += unseen << (7 * colour)
                s["deck"] -= unseen << (7 * colour)
                s["hidden_cards"][mover] -= unseen
                s["hidden"] -= unseen
        world = hands.world(s, {mover: hand} if hand else {}, stream)
        view = likely_moves(g, world, code, base)
        if view:
            found.append((weight, *view[1:]))
            factors[-1] = float(likelihood(Fraction(eps or 0), *view[1:]))
    if eps is not None:
        hands.weigh(mover, factors)
    return found
