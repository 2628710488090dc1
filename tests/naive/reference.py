"""The rules of Ticket to Ride, written slowly and plainly: the twin that the fast engine is compared with.

Nothing here is clever and nothing is imported from the engine. A board and a rules record are any objects
with the engine's attribute names; cards are counted per colour in lists of nine (index 8: locomotives).
"""

from itertools import combinations

WORD = 2**64
GOLD = 0x9E3779B97F4A7C15
GREY = 8  # as the colour of a route
LOCOMOTIVE = 8  # as the colour of a card
DECK = 9  # in a draw: the top card of the deck instead of a face-up colour


def mix(z):
    """SplitMix64's finishing step: scramble one 64-bit word."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % WORD
    return z ^ (z >> 31)


def fold(*args):
    """Fold any whole numbers into one 64-bit word (H)."""
    h = 0
    for a in args:
        h = mix(((h ^ a) + GOLD) % WORD)
    return h


class Stream:
    """A random stream, which is one 64-bit word that grows by GOLD at every draw."""

    def __init__(self, word):
        self.word = word % WORD

    def below(self, n):
        """The next random number among 0 .. n-1."""
        self.word = (self.word + GOLD) % WORD
        return ((mix(self.word) >> 32) * n) >> 32


def shuffled_tickets(count, stream):
    """The ticket ids 0 .. count-1 in inside-out shuffled order, top of the deck first."""
    order = [None] * count
    for i in range(count):
        j = stream.below(i + 1)
        order[i] = order[j]
        order[j] = i
    return order


def other_end(route, city):
    """The city at the other end of a route, None if the route does not touch this city."""
    if route.b == city:
        return route.a
    return route.b if route.a == city else None


def connects(board, route_ids, start, goal):
    """Whether these routes join two cities without passing through a terminal city between them."""
    reached = {start}
    frontier = [start]
    while frontier:
        city = frontier.pop()
        if city in board.terminals and city != start:
            continue  # a path may end here, but not go on
        for r in route_ids:
            end = other_end(board.routes[r], city)
            if end is not None and end not in reached:
                reached.add(end)
                frontier.append(end)
    return goal in reached


def longest_trail(board, route_ids):
    """Length of the longest trail: no route twice, cities may repeat, a terminal city only at its ends.

    Every trail from every city is tried. A trail is given up only when all the unused routes together
    could not lift it above the best one found.
    """
    best = 0
    routes = {r: board.routes[r] for r in sorted(route_ids)}

    def extend(city, length, unused, unused_length):
        nonlocal best
        best = max(best, length)
        if length + unused_length <= best:
            return
        for r in unused:
            route = routes[r]
            end = other_end(route, city)
            if end is not None:
                left = () if end in board.terminals else tuple(q for q in unused if q != r)
                extend(end, length + route.length, left, unused_length - route.length if left else 0)

    for start in sorted({city for route in routes.values() for city in (route.a, route.b)}):
        extend(start, 0, tuple(routes), sum(route.length for route in routes.values()))
    return best


class Game:
    """One game, dealt at construction and changed in place by `apply`.

    phase is "choose_initial", "turn", "second_card" (stepwise drawing), "choose" (tickets were drawn) or
    "over". countdown is None until the end is triggered, then the number of turns left. When the game is
    over, player stays the one who made the last move.
    """

    def __init__(self, board, rules, seed, deal):
        """Deal the hands, the row and the initial tickets; player 0 is to choose its tickets."""
        self.board, self.rules = board, rules
        self.groups = {}  # parallel routes, by the number of their group
        for r, route in enumerate(board.routes):
            self.groups.setdefault(route.group, set()).add(r)
        game_word = fold(1, seed, deal)
        self.card_stream = Stream(fold(3, game_word))
        self.ticket_stream = Stream(fold(4, game_word))
        players = range(rules.players)

        self.deck = [rules.cards_per_colour if c < len(board.colours) else 0 for c in range(9)]
        self.deck[LOCOMOTIVE] = rules.locomotives
        self.discards = [0] * 9
        self.row = [0] * 9
        self.hands = [[0] * 9 for _ in players]
        self.known = [[0] * 9 for _ in players]
        for p in players:
            for _ in range(rules.hand):
                self._take_from_deck(self.hands[p])
        self._refresh_row()

        self.cars = [rules.cars for _ in players]
        self.routes = [set() for _ in players]
        self.tickets = [set() for _ in players]
        self.returned = [set() for _ in players]
        self._deal_tickets()

        self.phase, self.player, self.pending = "choose_initial", 0, self.dealt[0]
        self.countdown, self.passes, self.turns = None, 0, 0

    def _deal_tickets(self):
        """Set aside every player's initial tickets (self.dealt); what remains is the ticket deck."""
        rules, tickets = self.rules, self.board.tickets
        order = shuffled_tickets(len(tickets), self.ticket_stream)
        if rules.far_and_near:
            far = [t for t in order if "long" in tickets[t].tags]
            near = [t for t in order if "short" in tickets[t].tags]
            self.dealt = [[far[p], near[p]] for p in range(rules.players)]
            self.ticket_deck = near[rules.players :]
        else:
            n = rules.tickets_dealt
            self.dealt = [order[p * n : (p + 1) * n] for p in range(rules.players)]
            self.ticket_deck = order[rules.players * n :]

    def _cards_to_draw(self):
        """How many cards can still come from the deck, the discards being its reserve."""
        return sum(self.deck) + sum(self.discards)

    def _take_from_deck(self, pile):
        """Move a random card from the deck to a pile; an empty deck is first rebuilt from the discards.

        Returns False, leaving the stream alone, if there is no card at all.
        """
        if sum(self.deck) == 0:
            self.deck, self.discards = self.discards, [0] * 9
        if sum(self.deck) == 0:
            return False
        place = self.card_stream.below(sum(self.deck))  # in the deck sorted by colour
        card = 0
        while place >= self.deck[card]:
            place -= self.deck[card]
            card += 1
        self.deck[card] -= 1
        pile[card] += 1
        return True

    def _refresh_row(self):
        """Fill the row, and replace it while it shows three locomotives and enough other cards exist."""
        face_up = 0 if self.rules.drawing == "blind" else self.rules.face_up
        while True:
            while sum(self.row) < face_up and self._take_from_deck(self.row):
                pass
            others = sum(self.row[c] + self.deck[c] + self.discards[c] for c in range(LOCOMOTIVE))
            if self.row[LOCOMOTIVE] < 3 or others < face_up - 2:
                return
            self.discards = [d + r for d, r in zip(self.discards, self.row, strict=True)]
            self.row = [0] * 9

    def _take(self, source):
        """The player takes one card: from the deck (hidden) or face up (then everyone knows it)."""
        if source == DECK:
            self._take_from_deck(self.hands[self.player])
        else:
            self.row[source] -= 1
            self.hands[self.player][source] += 1
            self.known[self.player][source] += 1

    def legal(self):
        """All actions the player to move may choose from; empty when the game is over."""
        if self.phase == "over":
            return []
        if self.phase in ("choose_initial", "choose"):
            return self._legal_keeps()
        if self.phase == "second_card":
            return self._legal_single_draws()
        stepwise = self.rules.drawing == "stepwise"
        actions = self._legal_single_draws() if stepwise else self._legal_paired_draws()
        if self.row[LOCOMOTIVE] >= 1:
            actions.append(("draw", LOCOMOTIVE, None))
        if self.ticket_deck:
            actions.append(("tickets",))
        actions += self._legal_claims()
        return actions or [("pass",)]

    def _legal_keeps(self):
        """Any subset of the revealed tickets that is large enough, and never none of them."""
        initial = self.phase == "choose_initial"
        kept = self.rules.tickets_kept if initial else self.rules.tickets_kept_later
        least = min(max(kept, 1), len(self.pending))
        sizes = range(least, len(self.pending) + 1)
        return [("keep", subset) for size in sizes for subset in combinations(sorted(self.pending), size)]

    def _legal_single_draws(self):
        """Stepwise: one card, either a face-up colour that is no locomotive, or from the deck."""
        actions = [("draw", c, None) for c in range(LOCOMOTIVE) if self.row[c] >= 1]
        if self._cards_to_draw() >= 1:
            actions.append(("draw", DECK, None))
        return actions

    def _legal_paired_draws(self):
        """Paired: two cards in one decision, no face-up locomotive among them."""
        actions = []
        for first in range(LOCOMOTIVE):
            if self.row[first] >= 2:
                actions.append(("draw", first, first))
            for second in range(first + 1, LOCOMOTIVE):
                if self.row[first] >= 1 and self.row[second] >= 1:
                    actions.append(("draw", first, second))
            if self.row[first] >= 1 and self._cards_to_draw() >= 1:
                actions.append(("draw", first, DECK))
        if self._cards_to_draw() >= 1:
            actions.append(("draw", DECK, DECK))
        return actions

    def _closed(self):
        """The routes the player may no longer claim: those claimed, and parallel ones closed with them."""
        closed_for_all = self.rules.parallel == "one" or self.rules.players <= 3
        closed = set()
        for p, claimed in enumerate(self.routes):
            closed |= claimed
            if closed_for_all or p == self.player:
                for r in claimed:
                    closed |= self.groups[self.board.routes[r].group]
        return closed

    def _legal_claims(self):
        """Every route the player can afford, once for each way to pay; locomotives alone are colour 8."""
        hand, cars, closed = self.hands[self.player], self.cars[self.player], self._closed()
        most = max(hand[:LOCOMOTIVE]) + hand[LOCOMOTIVE]  # no longer route can be paid
        actions = []
        for r, route in enumerate(self.board.routes):
            length = route.length
            if length > cars or length > most or r in closed:
                continue
            for colour in range(LOCOMOTIVE) if route.colour == GREY else [route.colour]:
                needed = max(0, length - hand[colour])  # locomotives, and at least one card of the colour
                for locomotives in range(needed, min(length - 1, hand[LOCOMOTIVE]) + 1):
                    actions.append(("claim", r, colour, locomotives))
            if hand[LOCOMOTIVE] >= length:
                actions.append(("claim", r, LOCOMOTIVE, length))
        return actions

    def apply(self, action):
        """Carry out one legal action of the player to move; changes the game in place."""
        if action not in self.legal():
            raise ValueError(f"illegal action {action!r} in phase {self.phase} for player {self.player}")
        kind, phase = action[0], self.phase
        self.passes = self.passes + 1 if kind == "pass" else 0
        if kind == "draw":  # deck cards come to the hand before face-up ones
            for source in sorted([s for s in action[1:] if s is not None], reverse=True):
                self._take(source)
        elif kind == "tickets":
            self._reveal_tickets()
        elif kind == "claim":
            self._claim(*action[1:])
        elif kind == "keep":
            self._keep(action[1])
        self._refresh_row()

        first_of_two = kind == "draw" and phase == "turn" and self.rules.drawing == "stepwise"
        if first_of_two and action[1] != LOCOMOTIVE and self._legal_single_draws():
            self.phase = "second_card"
        elif kind == "tickets":
            self.phase = "choose"
        elif phase == "choose_initial":
            self._next_initial_choice()
        else:
            self._end_turn()

    def _claim(self, r, colour, locomotives):
        """Pay for a route with cards of one colour and locomotives, and put the cars on it."""
        length = self.board.routes[r].length
        paid = [0] * 9
        paid[colour] += length - locomotives
        paid[LOCOMOTIVE] += locomotives
        hand, known = self.hands[self.player], self.known[self.player]
        for c in range(9):
            hand[c] -= paid[c]
            self.discards[c] += paid[c]
            known[c] = max(0, known[c] - paid[c])
        self.cars[self.player] -= length
        self.routes[self.player].add(r)

    def _reveal_tickets(self):
        """Show the player the top tickets; whoever had returned one of them no longer knows where it is."""
        n = self.rules.tickets_drawn
        self.pending, self.ticket_deck = self.ticket_deck[:n], self.ticket_deck[n:]
        for returned in self.returned:
            returned.difference_update(self.pending)

    def _keep(self, kept):
        """Keep some of the revealed tickets; the others go to the bottom of the deck in the order drawn."""
        rejected = [t for t in self.pending if t not in kept]
        self.tickets[self.player].update(kept)
        self.returned[self.player].update(rejected)
        self.ticket_deck = self.ticket_deck + rejected
        self.pending = []

    def _next_initial_choice(self):
        """Let the next player choose its initial tickets; after the last one player 0's turn begins."""
        if self.player + 1 < self.rules.players:
            self.player += 1
            self.pending = self.dealt[self.player]
        else:
            self.player, self.phase = 0, "turn"

    def _end_turn(self):
        """Count the turn, start or run down the last turns, and pass the turn on or end the game."""
        self.turns += 1
        if self.countdown is not None:
            self.countdown -= 1
        elif self.cars[self.player] <= self.rules.end_cars:
            self.countdown = self.rules.players - 1 + (1 if self.rules.trigger_plays_again else 0)
        if self.countdown == 0 or self.passes == self.rules.players:
            self.phase = "over"
        else:
            self.player = (self.player + 1) % self.rules.players
            self.phase = "turn"

    def scores(self):
        """The score sheet: one dict per player, from the routes and tickets held now."""
        rules = self.rules
        held = [[self.board.tickets[t] for t in sorted(ids)] for ids in self.tickets]
        done = [
            [t for t in tickets if connects(self.board, routes, t.a, t.b)]
            for tickets, routes in zip(held, self.routes, strict=True)
        ]
        longest = [longest_trail(self.board, routes) for routes in self.routes]
        completed = [len(tickets) for tickets in done]
        sheet = []
        for p in range(rules.players):
            line = {
                "route_points": sum(rules.points[self.board.routes[r].length - 1] for r in self.routes[p]),
                "tickets_gained": sum(t.points for t in done[p]),
                "tickets_lost": sum(t.points for t in held[p]) - sum(t.points for t in done[p]),
                "ticket_bonus": rules.ticket_bonus * completed[p],
                "longest_bonus": rules.longest_bonus if longest[p] == max(longest) > 0 else 0,
                "most_tickets_bonus": rules.most_tickets_bonus if completed[p] == max(completed) > 0 else 0,
            }
            total = sum(line.values()) - 2 * line["tickets_lost"]  # counted as a gain in the sum
            shown = max(0, total) if rules.floor else total
            sheet.append(line | {"longest": longest[p], "completed": completed[p], "total": total, "shown": shown})
        return sheet

    def winners(self, scores=None):
        """The players in first place: by unfloored total, then as the tie-break says; several share it."""
        scores = scores or self.scores()
        if self.rules.tie_break == "tickets_then_longest":
            ranks = [(s["total"], s["completed"], s["longest"]) for s in scores]
        else:
            ranks = [s["total"] for s in scores]
        return [p for p, rank in enumerate(ranks) if rank == max(ranks)]

    def view(self, player):
        """Exactly what one player may see: its own secrets, and all that lies open or can be counted."""
        choosing = self.phase in ("choose_initial", "choose") and self.player == player
        return {
            "hand": list(self.hands[player]),
            "tickets": set(self.tickets[player]),
            "pending": list(self.pending) if choosing else [],
            "returned": set(self.returned[player]),
            "routes": [set(routes) for routes in self.routes],
            "row": list(self.row),
            "discards": list(self.discards),
            "known": [list(known) for known in self.known],
            "car_counts": list(self.cars),
            "card_counts": [sum(hand) for hand in self.hands],
            "ticket_counts": [len(tickets) for tickets in self.tickets],
            "deck_size": sum(self.deck),
            "ticket_deck_size": len(self.ticket_deck),
            "phase": self.phase,
            "player": self.player,
            "countdown": self.countdown,
            "passes": self.passes,
        }
