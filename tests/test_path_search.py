"""The cheapest set of routes for all tickets: equal to trying everything on small maps, close to the optimum on large ones."""

import numpy as np
import pytest

from tests.naive.paths import best_routes as best_by_trying
from tests.naive.paths import cheapest_cost, simple_paths
from tests.test_invariants import as_words, members
from ttr.board import load_board
from ttr.path_search import PATHS, best_routes, quick_routes, search_routes, set_costs
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
        return members(search_routes(self.game, self.paths, *as_words(usable), *as_words(tickets)))

    def quick(self, usable, tickets):
        return members(quick_routes(self.game, self.paths, *as_words(usable), *as_words(tickets)))

    def cost(self, routes):
        return int(self.paths["cost"][routes].sum())

    def all_joinable(self, usable, tickets):
        return all(self.best(usable, [t]) for t in tickets)

    def sample(self, random, most_tickets, most_taken, fewest_tickets=1):
        """Some routes taken by opponents, some tickets."""
        n = len(self.board.routes)
        taken = random.choice(n, int(random.integers(0, most_taken + 1)), replace=False)
        count = int(random.integers(fewest_tickets, most_tickets + 1))
        tickets = random.choice(len(self.board.tickets), count, replace=False)
        return sorted(set(range(n)) - set(taken.tolist())), sorted(tickets.tolist())


@pytest.mark.parametrize(
    ("name", "positions", "most_tickets"),
    [("yang", 400, 5), ("yang:shortest", 200, 5), ("mini", 100, 5), ("new_york", 40, 5), ("new_york:doubles", 4, 3)],
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


def joins(board, routes, ticket):
    """Whether some path of these routes completes a ticket."""
    return bool(simple_paths(board, routes, board.tickets[ticket].a, board.tickets[ticket].b))


@pytest.mark.parametrize("name", ["usa", "europe", "germany"])
def test_large_maps_reach_the_optimum(name):
    """Up to three tickets the cost is the optimum's; beyond, within an eighth of it and mostly equal; all tickets are joined."""
    search = Search(name)
    random = np.random.default_rng(3)
    equal = 0
    for tickets in (1, 2, 2, 3, 3, 3, 4, 4, 5, 6):
        usable, held = search.sample(random, tickets, len(search.board.routes) // 3, fewest_tickets=tickets)
        held = [t for t in held if search.best(usable, [t])]
        found = search.best(usable, held)
        assert set(found) <= set(usable)
        assert all(joins(search.board, found, t) for t in held)
        optimum = cheapest_cost(search.board, search.rules, usable, held)
        equal += search.cost(found) == optimum
        assert optimum <= search.cost(found) <= (optimum if tickets <= 3 else optimum * 9 // 8)
    assert equal >= 8


def test_a_path_ends_in_a_country_but_never_passes_one():
    """Two routes that meet in a country of the map germany complete nothing, however cheap."""
    search = Search("germany")
    random = np.random.default_rng(5)
    countries = search.board.terminals
    to_country = [i for i, t in enumerate(search.board.tickets) if {t.a, t.b} & countries]
    for _ in range(30):
        usable, _ = search.sample(random, 1, 30)
        held = random.choice(to_country, 3, replace=False).tolist()
        found = search.best(usable, held)
        for t in held:
            assert joins(search.board, found, t) == joins_at_all(search, usable, t)


def joins_at_all(search, usable, ticket):
    return bool(search.best(usable, [ticket]))


def test_a_ticket_that_cannot_be_joined_is_left_out():
    """The routes at a city are all taken: the other tickets are joined as if its tickets were not held."""
    search = Search("yang", "warwick")
    for t, ticket in enumerate(search.board.tickets):
        usable = [i for i, r in enumerate(search.board.routes) if ticket.a not in (r.a, r.b)]
        others = [u for u, other in enumerate(search.board.tickets) if ticket.a not in (other.a, other.b)]
        assert search.best(usable, [t]) == []
        assert others and search.best(usable, [t, *others]) == search.best(usable, others) != []


def test_memory_changes_nothing():
    """A search that was done before, on this or another map, gives what a fresh one gives."""
    searches = [Search("yang", "warwick"), Search("yang:shortest", "warwick"), Search("usa")]
    shared = np.zeros(1, PATHS)[0]
    random = np.random.default_rng(7)
    positions = [(search, *search.sample(random, 3, len(search.board.routes) // 3)) for _ in range(100) for search in searches]
    for search, usable, tickets in [*positions, *positions]:
        set_costs(search.game, shared, *WEIGHTS)
        assert members(best_routes(search.game, shared, *as_words(usable), *as_words(tickets))) == search.best(usable, tickets)


def test_costs_are_those_of_the_report():
    """Algorithm 12: eight for each space of a coloured route, one for a grey one, less a tenth of the points."""
    search = Search("yang", "warwick")
    assert search.paths["cost"][:5].tolist() == [15800, 7900, 15800, 23600, 900]
