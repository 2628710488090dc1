"""Two agents of one's own: a function, the shortest there is, and a class that plans. docs/agents.md explains them.

python -m ttr.match examples/my_agents.py:Planner greedy --games 200
"""


def hasty(view, moves, random):
    """Claims the longest route it can pay; else does anything."""
    claims = [move for move in moves if move.kind == "claim"]
    if claims:
        return max(claims, key=lambda move: view.routes[move.route].length)
    return random.choice(moves)


class Planner:
    """Joins its tickets by the shortest ways that are open, and only then claims for the points."""

    def __init__(self, locomotive_worth: float = 2.0):  # a field: Planner:locomotive_worth=0.5
        self.locomotive_worth = locomotive_worth

    def decide(self, view, moves, random):
        """One of the moves."""
        if view.offered:  # tickets to choose from: keep those that need the fewest cars
            return min(moves, key=lambda move: sum(self.cars_for(view, view.ticket(t)) for t in move.tickets))
        plan = self.plan(view)
        claims = [move for move in moves if move.kind == "claim" and (not plan or view.routes[move.route] in plan)]
        if claims:  # the longest first, with as few locomotives as possible
            return max(claims, key=lambda move: (view.routes[move.route].length, -move.locomotives))
        draws = [move for move in moves if move.kind == "draw"]
        if draws:
            needs = self.needs(view, plan)
            return max(draws, key=lambda move: sum(needs.get(card, 0) for card in move.cards))
        return random.choice(moves)

    def cars_for(self, view, ticket):
        """Cars that a ticket still needs; very many if it cannot be completed any more."""
        way = view.path(ticket.a, ticket.b)
        return 1000 if way is None else sum(route.length for route in way)

    def plan(self, view):
        """The routes still to be claimed for all tickets that my cars are enough for, the dearest ticket first."""
        plan, cars = set(), view.cars
        for ticket in sorted(view.tickets, key=lambda ticket: -ticket.points):
            way = set(view.path(ticket.a, ticket.b) or ()) - plan
            if sum(route.length for route in way) <= cars:
                cars -= sum(route.length for route in way)
                plan |= way
        return plan

    def needs(self, view, plan):
        """How much a card of each colour is worth: 1 for a colour the plan lacks, the deck a little."""
        needs = {"locomotive": self.locomotive_worth, "deck": 0.3}
        for route in plan:
            if route.colour != "grey" and view.hand[route.colour] < route.length:
                needs[route.colour] = 1
        return needs
