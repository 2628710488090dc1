"""The hands of tickets that an opponent may hold, written slowly and plainly: sets with weights."""

import numpy as np

from tests.naive.search import as_words, copy_of, determinized, members

HANDS, FORGOTTEN, CERTAIN = 64, 1e-6, 2**30


class PlainHands:
    """What player `seat` believes of the tickets of all others."""

    def __init__(self, g, seat, plain=False):
        self.g, self.seat, self.plain, self.hands, self.size = g, seat, plain, {}, {}

    @classmethod
    def of(cls, g, seat, me, plain=False):
        """As a player's record has them."""
        found = cls(g, seat, plain)
        for p in range(g.players):
            if me["tickets"][p]:
                found.size[p] = int(me["tickets"][p])
                found.hands[p] = [[set(members((h["low"], h["high"]))), float(h["weight"])] for h in me["hands"][p]]
        return found

    def world(self, seen, given, stream):
        """A determinization in which some players' hands are given; the mover is as it was."""
        s, mover = copy_of(seen), int(seen["player"])
        for p, hand in given.items():
            s["held"][p], s["hidden_tickets"][p] = as_words(sorted(hand)), 0
        s["player"] = self.seat
        s = determinized(self.g, s, self.plain, stream)
        s["player"] = mover
        return s

    def update(self, seen, p, stream):
        """The hands of player p: drawn, without impossible ones, made longer, or drawn again."""
        held = int(seen["hidden_tickets"][p])
        if not held:
            return
        mine = set(members(seen["held"][self.seat])) | set(seen["queue"][: self.shown(seen)].tolist())
        deck = set() if self.plain else set(members(seen["returned"][self.seat]))
        unseen = set(range(self.g.tickets)) - mine - deck
        hands = [[hand, weight if hand <= unseen else 0.0] for hand, weight in self.hands.get(p, [])]
        if not any(weight for _, weight in hands):
            hands = [[set(members(self.world(seen, {}, stream)["held"][p])), 1 / HANDS] for _ in range(HANDS)]
        else:
            hands = settled(hands)
            for hand, _ in hands:
                for _ in range(held - self.size[p]):
                    far = {t for t in unseen if self.g.far_and_near and self.g.tables["far"][t]}
                    rest = sorted(unseen - hand - far)
                    hand.add(rest[stream.below(len(rest))])
        self.hands[p], self.size[p] = hands, held

    def shown(self, seen):
        """How many tickets the watcher itself chooses from."""
        choosing = int(seen["phase"]) in (2, 3) and int(seen["player"]) == self.seat
        return min(int(seen["waiting"]), self.g.dealt if int(seen["phase"]) == 3 else self.g.drawn) if choosing else 0

    def weigh(self, p, factors):
        """Weigh the hands of player p by how likely its move was with each; None tells nothing."""
        hands = [[hand, weight if f is None else weight * f] for (hand, weight), f in zip(self.hands[p], factors, strict=True)]
        self.hands[p] = settled(hands)

    def dealt(self, seen, stream):
        """Hands for all who have tickets, drawn by weight; a hand with a ticket that another one has is left to chance."""
        given = {}
        for p in range(self.g.players):
            if p == self.seat or not int(seen["hidden_tickets"][p]):
                continue
            word = stream.below(CERTAIN)
            ends = np.floor(np.cumsum([weight for _, weight in self.hands[p]]) * CERTAIN)
            hand = next((hand for (hand, _), end in zip(self.hands[p], ends, strict=True) if word < end), None)
            if hand is not None and not any(hand & other for other in given.values()):
                given[p] = hand
        return given


def settled(hands):
    """Weights that sum to one, the least ones dropped."""
    whole = float(np.cumsum([weight for _, weight in hands])[-1])
    weights = [weight / whole for _, weight in hands]
    return [[hand, weight if weight >= FORGOTTEN else 0.0] for (hand, _), weight in zip(hands, weights, strict=True)]
