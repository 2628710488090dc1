"""Monte Carlo tree search written slowly and plainly: the twin that the fast search is compared with, node for node.

Nodes are objects, children a list, values one formula after the other. Only the rules of the game are the engine's (they have a
plain twin of their own): which actions are legal and what they do. Random numbers are drawn in the order of the fast search.
"""

from dataclasses import dataclass, field

import numpy as np

from tests.naive.reference import GOLD, WORD, Stream, mix
from ttr.actions import apply_code, count_actions, nth_code
from ttr.game import RESULT, write_result
from ttr.score import new_sheet
from ttr.state import CHOOSE, FIRST_CHOICE, OVER, STATE

TRIES = 32  # blind draws of an untried action before they are counted out
F = np.float32


@dataclass
class Node:
    """One node; totals in half points."""

    code: int | None = None
    visits: int = 0
    total: int = 0
    even: int = 0  # control search: minus the distances from the target
    available: int = 1
    children: list["Node"] = field(default_factory=list)
    untried: list[int] | None = None  # cheating search: numbers of the actions not tried

    def mean(self):
        """Mean payoff in half points, in single precision."""
        return F(self.total) * (F(1) / F(self.visits))

    def dump(self):
        """The subtree as plain data."""
        return (self.code, self.visits, self.total, self.even, [child.dump() for child in self.children])


def copy_of(s):
    """A state of its own."""
    return np.frombuffer(bytearray(s.tobytes()), STATE)[0]


def legal_codes(g, s):
    """Codes of all legal actions in sampling order."""
    n = count_actions(g, s)
    return [int(nth_code(g, s, k, n)) for k in range(max(n, 1))]


def cards_of(word):
    """A card word as a list of colours."""
    return [c for c in range(9) for _ in range((int(word) >> (7 * c)) & 127)]


def word_of(cards):
    """A list of colours as a card word."""
    return sum(1 << (7 * c) for c in cards)


def members(words):
    """A set of two words as a list."""
    return [i for i in range(128) if (int(words[i // 64]) >> (i % 64)) & 1]


def as_words(ids):
    """A list as a set of two words."""
    whole = sum(1 << i for i in ids)
    return np.array([whole % 2**64, whole >> 64], np.uint64).view(np.int64)


def drawn(pool, n, stream):
    """n cards of a sorted pool; if more than half of them, those that stay are drawn. Returns the drawn ones and the rest."""
    rest, taken = list(pool), []
    fewer = len(pool) - n if 2 * n > len(pool) else n
    for _ in range(fewer):
        taken.append(rest.pop(stream.below(len(rest))))
    return (rest, sorted(taken)) if 2 * n > len(pool) else (taken, rest)


def determinized(g, seen, plain, stream):
    """A whole state that the player to move may believe in; an opponent whose tickets are given keeps them."""
    s = copy_of(seen)
    me = int(s["player"])
    others = [p for p in range(g.players) if p != me]
    pool = cards_of(s["deck"])
    for p in others:
        if s["hidden_cards"][p]:
            cards, pool = drawn(pool, int(s["hidden_cards"][p]), stream)
            s["hand"][p] += word_of(cards)
            s["hidden_cards"][p] = 0
    s["deck"], s["hidden"] = word_of(pool), 0
    phase, shown = int(s["phase"]), []
    if phase in (CHOOSE, FIRST_CHOICE):
        shown = s["queue"][: min(int(s["waiting"]), g.dealt if phase == FIRST_CHOICE else g.drawn)].tolist()
    unseen = [t for t in range(g.tickets) if t not in shown and not any(t in members(held) for held in s["held"])]
    stays = [] if plain else [t for t in unseen if t in members(s["returned"][me])]
    if g.far_and_near:
        queue = far_and_near_queue(g, s, me, others, shown, unseen, stays, stream)
    else:
        tickets = [t for t in unseen if t not in stays]
        for p in (p for p in others if s["hidden_tickets"][p]):
            s["held"][p] = as_words([tickets.pop(stream.below(len(tickets))) for _ in range(int(s["hidden_tickets"][p]))])
        queue = shuffled(sorted(tickets + stays), stream)
    for p in others:
        s["hidden_tickets"][p] = 0
    s["queue"][len(shown) : len(shown) + len(queue)] = queue
    s["stream"] = np.uint64(stream_word(stream))
    return s


def shuffled(ids, stream):
    """An inside-out shuffle."""
    queue = []
    for ticket in ids:
        j = stream.below(len(queue) + 1)
        queue.append(queue[j] if j < len(queue) else ticket)
        queue[j] = ticket
    return queue


def far_and_near_queue(g, s, me, others, shown, unseen, stays, stream):
    """Every opponent has one far ticket, which those that have not chosen yet find in the queue with a near one."""
    far = [t for t in unseen if g.tables["far"][t] and t not in stays]
    near = [t for t in unseen if not g.tables["far"][t] and t not in stays]
    waiting = [p for p in others if int(s["phase"]) == FIRST_CHOICE and p > int(s["player"])]
    for p in others:
        if p not in waiting and not members(s["held"][p]):
            hand = [far.pop(stream.below(len(far)))]
            hand += [near.pop(stream.below(len(near))) for _ in range(int(s["hidden_tickets"][p]) - 1)]
            s["held"][p] = as_words(hand)
    pairs = [t for _ in waiting for t in (far.pop(stream.below(len(far))), near.pop(stream.below(len(near))))]
    return pairs + shuffled(sorted(near + stays), stream)


def stream_word(stream):
    """The next random word of a stream."""
    stream.word = (stream.word + GOLD) % WORD
    return mix(stream.word)


def payoff(g, s, me):
    """Own unfloored score minus the best opponent's, in half points."""
    row = np.zeros(1, RESULT)[0]
    write_result(g, s, new_sheet(), row)
    return int(row["unfloored"][me]) - max(int(row["unfloored"][p]) for p in range(g.players) if p != me)


class PlainSearch:
    """One decision of a search agent; `fields` as in conf/agent."""

    def __init__(self, g, fields, word, hidden):
        self.g, self.fields, self.hidden, self.stream = g, fields, hidden, Stream(word)
        self.root = Node()
        self.calls = 0

    def run(self, root):
        """Build the tree and return the code of the action chosen."""
        iterations = 0
        while iterations < self.fields["iterations"] or self.calls < self.fields["forward_model_calls"]:
            self.iterate(root)
            iterations += 1
        return self.choose()

    def iterate(self, root):
        """One iteration: walk down, expand, play out, add the payoff to the path."""
        s, me = copy_of(root), int(root["player"])
        if self.hidden:
            s = determinized(self.g, root, self.fields["tickets"] == "plain", self.stream)
        path = [self.root]
        expanded = False
        while s["phase"] != OVER and not expanded:
            node = path[-1]
            child, expanded = self.step(node, s, me)
            apply_code(self.g, s, child.code)
            path.append(child)
        self.calls += len(path) - 1
        while s["phase"] != OVER:
            n = count_actions(self.g, s)
            apply_code(self.g, s, nth_code(self.g, s, self.stream.below(n), n))
            self.calls += 1
        value = payoff(self.g, s, me)
        for node in path:
            node.visits += 1
            node.total += value

    def step(self, node, s, me):
        """The child to go to, and whether it is new."""
        codes = legal_codes(self.g, s)
        if self.hidden:
            legal = [c for c in node.children if c.code in codes]
            for c in legal:
                c.available += 1
            untried = [c for c in codes if c not in [child.code for child in node.children]]
            if untried:
                node.children.append(Node(self.untried_code(codes, untried)))
                return node.children[-1], True
        else:
            legal = node.children
            if node.untried is None:
                node.untried = list(range(len(codes)))
            if node.untried:
                node.children.append(Node(codes[node.untried.pop(self.stream.below(len(node.untried)))]))
                return node.children[-1], True
        return self.selected(node, legal, s, me), False

    def selected(self, node, legal, s, me):
        """The child of the highest value, ties broken by chance."""
        values = [self.value(node, child, int(s["player"]) == me) for child in legal]
        tied = [child for child, value in zip(legal, values) if value == max(values)]
        return tied[0] if len(tied) == 1 else tied[self.stream.below(len(tied))]

    def untried_code(self, codes, untried):
        """Blind draws first, then the untried ones are counted out."""
        for _ in range(TRIES):
            code = codes[self.stream.below(0 if codes == [0] else len(codes))]
            if code in untried:
                return code
        return untried[self.stream.below(len(untried))]

    def value(self, node, child, own):
        """What selection maximises, in half points and single precision."""
        f = self.fields
        by_availability = f.get("exploration") == "availability"
        n = child.available if by_availability else node.visits
        explore = F(4.0 * f["cp"] * np.sqrt(2.0)) * F(np.sqrt(np.log(np.float64(n))))
        explore = explore * np.sqrt(F(1) / F(child.visits))
        mean = child.mean()
        if f["dda"] in ("true_rosas", "true_posas"):
            away = abs(mean - F(2 * f["target"]))
            if f["dda"] == "true_posas":
                away = max(F(0), away - F(2 * f["posas_threshold"]))
            momentum = F(f["momentum"]) * (F(node.total) / F(node.visits) - mean)
            return explore - (away + momentum)
        return (mean if own else -mean) + explore

    def merit(self, child):
        """What the final choice maximises, in points."""
        f = self.fields
        mean, parent = (node.total / (2 * node.visits) for node in (child, self.root))
        if f["dda"] in ("true_rosas", "true_posas") or (f["dda"] == "none" and f["final_choice"] == "most_visits"):
            return child.visits
        if f["dda"] == "none":
            return mean
        away = abs(mean - f["target"])
        if f["dda"] == "posas":
            away = max(0.0, away - f["posas_threshold"])
        return -(away + f["momentum"] * (parent - mean))

    def choose(self):
        """The child of the root to play."""
        merits = [self.merit(child) for child in self.root.children]
        tied = [child for child, merit in zip(self.root.children, merits) if merit == max(merits)]
        return (tied[0] if len(tied) == 1 else tied[self.stream.below(len(tied))]).code
