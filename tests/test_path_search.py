"""The cheapest set of routes for all tickets: equal to trying everything on small maps, close to the optimum on large ones."""

import numpy as np
import pytest

from tests.naive.paths import best_routes as best_by_trying
from tests.test_invariants import as_words, members
from ttr.board import load_board
from ttr.path_search import PATHS, best_routes, set_costs
from ttr.rules import resolve_rules
from ttr.tables import compile_game

WEIGHTS = (8.0, 1.0, 0.1)


class Search:
    """The engine's search on one map."""

    def __init__(self, name, preset="official"):
        self.board = load_board(name)
        self.rules = resolve_rules(self.board, preset, 2)
        self.game = compile_game(self.board, self.rules)
        self.paths = np.zeros(1, PATHS)[0]
        set_costs(self.game, self.paths, *WEIGHTS)

    def best(self, usable, tickets):
        return members(best_routes(self.game, self.paths, *as_words(usable), *as_words(tickets)))

    def sample(self, random, most_tickets, most_taken):
        """Some routes taken by opponents, some tickets."""
        n = len(self.board.routes)
        taken = random.choice(n, int(random.integers(0, most_taken + 1)), replace=False)
        tickets = random.choice(len(self.board.tickets), int(random.integers(1, most_tickets + 1)), replace=False)
        return sorted(set(range(n)) - set(taken.tolist())), sorted(tickets.tolist())


@pytest.mark.parametrize(
    ("name", "positions", "most_tickets"),
    [("yang", 400, 5), ("yang:shortest", 200, 5), ("mini", 100, 5), ("new_york", 60, 5), ("new_york:doubles", 5, 3)],
)
def test_small_maps_equal_exhaustive_enumeration(name, positions, most_tickets):
    search = Search(name, "warwick" if name.startswith("yang") else "official")
    random = np.random.default_rng(11)
    several = 0
    for _ in range(positions):
        usable, tickets = search.sample(random, most_tickets, len(search.board.routes) // 3)
        expected = best_by_trying(search.board, search.rules, usable, tickets)
        assert search.best(usable, tickets) == expected, (usable, tickets)
        several += len(expected) > 3
    assert several > positions // 3 or name == "mini"
