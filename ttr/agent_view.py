"""What a user's own agent sees: the observation of its player in the game's own words.

A `View` is made from an observation record (observation.py), so it holds what the player may see and nothing else. It cannot be
changed, stays true to its moment when it is kept, and works out each of its parts only when it is asked for.
"""

import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np

from ttr.actions import count_actions, legal_codes
from ttr.agents.registry import near_misses
from ttr.board import GREY, LOCOMOTIVE, Board
from ttr.cards import FIELD
from ttr.moves import Move, card_name, decode
from ttr.state import CHOOSE, FIRST_CHOICE, PHASES
from ttr.tables import Game

Cards = Mapping[str, int]  # colour (or "locomotive") -> how many; every colour of the map is a key


@dataclass(frozen=True)
class RouteView:
    """A route: where it runs, what it costs and brings, and whose it is."""

    id: int
    a: str
    b: str
    length: int
    colour: str  # "grey": it takes cards of any one colour
    points: float
    owner: int | None  # turn position of the player who has claimed it
    open: bool  # whether I may still claim it (a claimed parallel route can close it)


@dataclass(frozen=True)
class TicketView:
    """A ticket: two cities, its worth, and whether my routes join them."""

    id: int
    a: str
    b: str
    points: float
    completed: bool


@dataclass(frozen=True)
class PlayerView:
    """What everyone may know about a player."""

    seat: int  # turn position, 0 for the player who began
    cars: int
    cards: int
    tickets: int
    points: float  # for routes so far
    known: Cards  # face-up cards it took and has not spent


class Setting:
    """What is the same in all views of a game: board, names, neighbours, and moves once decoded."""

    def __init__(self, board: Board, game: Game):
        self.board, self.game = board, game
        self.colours = [*range(len(board.colours)), LOCOMOTIVE]
        self.names = [card_name(board, colour) for colour in self.colours]
        self.city = {city.name: i for i, city in enumerate(board.cities)}
        self.at: list[list[int]] = [[] for _ in board.cities]  # routes that meet in a city
        for i, route in enumerate(board.routes):
            self.at[route.a].append(i)
            self.at[route.b].append(i)
        self._moves: dict[int, Move] = {}
        self._routes: dict[tuple[int, int | None, bool], RouteView] = {}

    def moves(self, seen: np.void) -> tuple[Move, ...]:
        """The legal moves of the player to move, in sampling order."""
        codes = np.zeros(max(1, count_actions(self.game, seen)), np.int64)
        legal_codes(self.game, seen, codes)
        for code in codes.tolist():
            if code not in self._moves:
                self._moves[code] = decode(self.board, code)
        return tuple(self._moves[code] for code in codes.tolist())

    def cards(self, word: int) -> Cards:
        """A card word as counts by name."""
        return MappingProxyType({name: (word >> (FIELD * c)) & 127 for name, c in zip(self.names, self.colours)})

    def route(self, i: int, owner: int | None, is_open: bool) -> RouteView:
        """A route with the parts that change; each is made once."""
        key = (i, owner, is_open)
        if key not in self._routes:
            route, names = self.board.routes[i], self.board.cities
            colour = "grey" if route.colour == GREY else self.board.colours[route.colour]
            worth = points(self.game.tables["points"][route.length])
            self._routes[key] = RouteView(i, names[route.a].name, names[route.b].name, route.length, colour, worth, owner, is_open)
        return self._routes[key]


def points(half_points: int) -> float:
    """Half points as points, whole where they can be."""
    return int(half_points) // 2 if half_points % 2 == 0 else int(half_points) / 2


def _members(words: np.ndarray) -> list[int]:
    """The members of a set of routes or tickets."""
    return [64 * w + i for w, word in enumerate(words.tolist()) for i in range(64) if (word >> i) & 1]


@dataclass(frozen=True, eq=False)
class View:
    """The game as its player to move sees it."""

    _setting: Setting
    _seen: np.void

    @classmethod
    def of(cls, setting: Setting, seen: np.void) -> "View":
        """The view of an observation, which may be overwritten afterwards."""
        return cls(setting, seen.copy())

    @property
    def board(self) -> Board:
        """The map: cities, routes, all tickets there are, and the numbers in its box."""
        return self._setting.board

    @cached_property
    def me(self) -> int:
        """My turn position: 0 if I began."""
        return int(self._seen["player"])

    @cached_property
    def phase(self) -> str:
        """What I decide: turn | second_card (after the first) | choose (tickets just drawn) | choose_initial (first tickets)."""
        return PHASES[int(self._seen["phase"])]

    @cached_property
    def turn(self) -> int:
        """Turns finished so far, of all players together."""
        return int(self._seen["turn"])

    @cached_property
    def turns_left(self) -> int | None:
        """Turns left in the game, of all players together and this one included, once few cars are left; None before."""
        return int(self._seen["left"]) or None

    @cached_property
    def players(self) -> tuple[PlayerView, ...]:
        """All players in turn order."""
        seen, result = self._seen, []
        for p in range(self._setting.game.players):
            hand = self._setting.cards(int(seen["hand"][p]))
            mine = p == self.me
            cards = sum(hand.values()) + int(seen["hidden_cards"][p])
            tickets = len(self.tickets) if mine else int(seen["hidden_tickets"][p])
            known = self._setting.cards(int(seen["known"][p]))
            result.append(PlayerView(p, int(seen["cars"][p]), cards, tickets, points(seen["points"][p]), known))
        return tuple(result)

    @cached_property
    def opponents(self) -> tuple[PlayerView, ...]:
        """The others, beginning with the one who plays after me."""
        return self.players[self.me + 1 :] + self.players[: self.me]

    @cached_property
    def cars(self) -> int:
        """Cars I have left."""
        return int(self._seen["cars"][self.me])

    @cached_property
    def hand(self) -> Cards:
        """My train cards."""
        return self._setting.cards(int(self._seen["hand"][self.me]))

    @cached_property
    def row(self) -> Cards:
        """The face-up cards."""
        return self._setting.cards(int(self._seen["row"]))

    @cached_property
    def discard(self) -> Cards:
        """The discarded cards, which become the deck when it is empty."""
        return self._setting.cards(int(self._seen["discard"]))

    @cached_property
    def unseen(self) -> Cards:
        """The cards I cannot see: the deck and the unknown ones in the opponents' hands."""
        return self._setting.cards(int(self._seen["deck"]))

    @cached_property
    def deck(self) -> int:
        """Cards left in the deck."""
        return sum(self.unseen.values()) - int(self._seen["hidden"])

    @cached_property
    def routes(self) -> tuple[RouteView, ...]:
        """All routes; `view.routes[move.route]` is the one a move claims."""
        owner = {route: p for p in range(self._setting.game.players) for route in _members(self._seen["own"][p])}
        free = set(_members(self._seen["free"][self.me if self._setting.game.personal else 0]))
        return tuple(self._setting.route(i, owner.get(i), i in free) for i in range(len(self.board.routes)))

    @cached_property
    def tickets(self) -> tuple[TicketView, ...]:
        """My tickets."""
        return tuple(self.ticket(i) for i in _members(self._seen["held"][self.me]))

    @cached_property
    def offered(self) -> tuple[TicketView, ...]:
        """The tickets I choose from now; none in other phases."""
        if int(self._seen["phase"]) not in (CHOOSE, FIRST_CHOICE):
            return ()
        game = self._setting.game
        shown = min(int(self._seen["waiting"]), game.dealt if self.phase == "choose_initial" else game.drawn)
        return tuple(self.ticket(int(i)) for i in self._seen["queue"][:shown])

    @cached_property
    def ticket_deck(self) -> int:
        """Tickets left in their deck."""
        return int(self._seen["waiting"]) - len(self.offered)

    @cached_property
    def score(self) -> float:
        """My points for routes and tickets as they stand: open tickets count against me, bonuses are left out."""
        return self.players[self.me].points + sum(t.points if t.completed else -t.points for t in self.tickets)

    def ticket(self, number: int) -> TicketView:
        """Any ticket of the map, as it would stand if I held it."""
        ticket, cities = self.board.tickets[number], self.board.cities
        worth = points(self._setting.game.tables["ticket"][number][2])
        return TicketView(number, cities[ticket.a].name, cities[ticket.b].name, worth, self._joined(ticket.a, ticket.b))

    def can_claim(self, route: RouteView) -> bool:
        """Whether the route is open to me and I have the cars and cards for it."""
        cards = [n for name, n in self.hand.items() if name != "locomotive" and route.colour in (name, "grey")]
        return route.open and route.length <= min(self.cars, max(cards, default=0) + self.hand["locomotive"])

    def path(self, a: str, b: str, cost: Callable[[RouteView], float] | None = None) -> tuple[RouteView, ...] | None:
        """The routes still to be claimed on the cheapest way from a to b; () if they are joined, None if no way is left.

        My own routes cost nothing, an open one its length or, if a function is given, what it says (not below zero).
        """
        start, goal = (self._city(name) for name in (a, b))
        found = self._cheapest(start, goal, cost)
        return None if found is None else tuple(self.routes[i] for i in found if self.routes[i].owner != self.me)

    def _city(self, name: str) -> int:
        if name not in self._setting.city:
            raise ValueError(f"the map has no city '{name}'{near_misses(name, list(self._setting.city))}")
        return self._setting.city[name]

    def _cheapest(self, start: int, goal: int, cost: Callable[[RouteView], float] | None) -> tuple[int, ...] | None:
        """Dijkstra's search; ties go to fewer routes, then to the least route ids, so that the answer is the same everywhere."""
        queue: list[tuple[float, int, tuple[int, ...], int]] = [(0, 0, (), start)]
        done: set[int] = set()
        while queue:
            spent, steps, way, city = heapq.heappop(queue)
            if city == goal:
                return way
            if city in done or (city in self.board.terminals and city != start):
                continue
            done.add(city)
            for i in self._setting.at[city]:
                route, ends = self.routes[i], self.board.routes[i]
                mine = route.owner == self.me
                following = ends.b if ends.a == city else ends.a
                if following not in done and (mine or route.open):
                    price = 0 if mine else route.length if cost is None else cost(route)
                    heapq.heappush(queue, (spent + price, steps + 1, (*way, i), following))
        return None

    @cached_property
    def _own(self) -> frozenset[int]:
        return frozenset(_members(self._seen["own"][self.me]))

    def _joined(self, start: int, goal: int) -> bool:
        """Whether my routes join two cities; no way leads through a terminal."""
        reached, queue = {start}, [start]
        while queue:
            city = queue.pop()
            if city in self.board.terminals and city != start:
                continue
            for i in self._setting.at[city]:
                ends = self.board.routes[i]
                following = ends.b if ends.a == city else ends.a
                if i in self._own and following not in reached:
                    reached.add(following)
                    queue.append(following)
        return goal in reached
