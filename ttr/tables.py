"""A board under its rules, as the engine reads it: numbers in a named tuple, tables in one record.

One numba type serves every map, rule set and number of players, so the engine is compiled once. Numbers travel by value; a
record is a bare pointer (a tuple of arrays would cost a reference count at every touch).
"""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numba import from_dtype, types

from ttr.board import GREY, LOCOMOTIVE, Board
from ttr.cards import FIELD
from ttr.map_settings import MAX_LENGTH, MAX_OF_A_KIND, MAX_REVEALED, MAX_ROUTES, MAX_TICKETS
from ttr.rules import Rules

MAX_PLAYERS = 5
PAIRED, STEPWISE = 0, 1
ANY_ROUTE = 8  # row of `usable`: routes that locomotives alone can pay
ALL_FREE = 9  # row of the free-route counts: all colours together

TABLES = np.dtype(
    [
        ("length", "i8", MAX_ROUTES),
        ("colour", "i8", MAX_ROUTES),
        ("ends", "i8", (MAX_ROUTES, 2)),
        ("family", "i8", (MAX_ROUTES, 4)),  # parallel routes: how many (itself included), then their ids
        ("points", "i8", MAX_LENGTH + 1),  # by length, in half points
        ("ticket", "i8", (MAX_TICKETS, 3)),  # two cities, worth in half points
        ("far", "u1", MAX_TICKETS),  # 1 for a far (long) ticket
        ("free", "i8", 2),  # the set of all routes
        ("usable", "i8", (9, MAX_LENGTH + 1, 2)),  # routes of a length that a colour can pay, as sets
        ("free_count", "i8", 10),  # all routes, counted by colour: byte L-1 is the number of length L
        ("ways", "i8", ((MAX_OF_A_KIND + 1) ** 2, 2)),  # [cards + 32 locomotives]: payments by length, see below
        ("alone", "i8", (MAX_OF_A_KIND + 1, 2)),  # [locomotives]: the same for locomotives alone
        ("within", "i8", 64),  # [cars]: mask of the bytes of lengths that many cars can fill
        ("subsets", "i8", (MAX_REVEALED + 1, MAX_REVEALED + 1, 32)),  # [revealed, least kept]: choices as bit masks
        ("choices", "i8", (MAX_REVEALED + 1, MAX_REVEALED + 1)),  # how many of them
    ],
    align=True,
)


class Game(NamedTuple):
    """The numbers of one board under one set of rules; points are half points."""

    players: int
    colours: int  # colours in play, locomotives apart
    cities: int
    routes: int
    words: int  # 64-bit words of a route set in use
    tickets: int
    terminals: int  # set of cities that no path passes through
    personal: int  # 1: a route closes its parallels only for its owner; 0: for all
    drawing: int  # PAIRED or STEPWISE
    cars: int
    hand: int
    face_up: int
    dealt: int  # tickets at the start: dealt, least kept
    kept: int
    drawn: int  # tickets later: drawn, least kept
    kept_later: int
    far_and_near: int  # 1: the first tickets are one far and one near
    end_cars: int
    last_turns: int  # turns after the one that triggers the end
    deck: int  # card word of the whole deck
    longest_bonus: int
    most_tickets_bonus: int
    ticket_bonus: int
    tie_break: int  # 1: tickets completed, then longest route
    floor: int  # 1: the score shown is not below zero
    tables: Any


GAME_TYPE = types.NamedTuple([types.int64] * (len(Game._fields) - 1) + [from_dtype(TABLES)], Game)


def compile_game(board: Board, rules: Rules) -> Game:
    """The engine's numbers and tables of a board under fully resolved rules."""
    record = np.zeros(1, TABLES)[0]
    _fill_routes(record, board)
    _fill_payments(record)
    _fill_choices(record)
    for length, points in enumerate(rules.points, start=1):
        record["points"][length] = half_points(points)
    for i, ticket in enumerate(board.tickets):
        record["ticket"][i] = ticket.a, ticket.b, half_points(ticket.points)
        record["far"][i] = "long" in ticket.tags
    has_parallels = any(record["family"][i][0] > 1 for i in range(len(board.routes)))
    colours = len(board.colours)
    deck = sum(rules.cards_per_colour << (FIELD * c) for c in range(colours))
    return Game(
        players=rules.players,
        colours=colours,
        cities=len(board.cities),
        routes=len(board.routes),
        words=(len(board.routes) + 63) // 64,
        tickets=len(board.tickets),
        terminals=_signed(sum(1 << c for c in board.terminals)),
        personal=int(has_parallels and rules.parallel == "official" and rules.players > 3),
        drawing=STEPWISE if rules.drawing == "stepwise" else PAIRED,
        cars=rules.cars,
        hand=rules.hand,
        face_up=rules.face_up,
        dealt=rules.tickets_dealt,
        kept=rules.tickets_kept,
        drawn=rules.tickets_drawn,
        kept_later=rules.tickets_kept_later,
        far_and_near=int(rules.far_and_near),
        end_cars=rules.end_cars,
        last_turns=rules.players - 1 + int(rules.trigger_plays_again),
        deck=deck + (rules.locomotives << (FIELD * LOCOMOTIVE)),
        longest_bonus=half_points(rules.longest_bonus),
        most_tickets_bonus=half_points(rules.most_tickets_bonus),
        ticket_bonus=half_points(rules.ticket_bonus),
        tie_break=int(rules.tie_break == "tickets_then_longest"),
        floor=int(rules.floor),
        tables=record,
    )


def half_points(points: float) -> int:
    """Points as the engine's integers: 4.5 points are 9 half points."""
    return round(2 * points)


def _signed(word: int) -> int:
    """A 64-bit word as the signed integer with the same bits."""
    return word - (1 << 64) if word >> 63 else word


def _fill_routes(record: np.void, board: Board) -> None:
    usable = [[[0, 0] for _ in range(MAX_LENGTH + 1)] for _ in range(9)]
    free = [0, 0]
    counts = [0] * 10
    for i, route in enumerate(board.routes):
        record["length"][i], record["colour"][i] = route.length, route.colour
        record["ends"][i] = route.a, route.b
        family = [j for j, other in enumerate(board.routes) if other.group == route.group]
        record["family"][i][: len(family) + 1] = [len(family), *family]
        word, bit = i // 64, 1 << (i % 64)
        free[word] |= bit
        usable[ANY_ROUTE][route.length][word] |= bit
        for colour in range(8):
            if route.colour in (colour, GREY):
                usable[colour][route.length][word] |= bit
        for row in (route.colour, ALL_FREE):
            counts[row] += 1 << (8 * (route.length - 1))
    record["free"] = [_signed(w) for w in free]
    record["free_count"] = [_signed(w) for w in counts]
    record["usable"] = [[[_signed(w) for w in words] for words in lengths] for lengths in usable]


def payments(cards: int, locomotives: int, length: int) -> int:
    """Ways to pay for a route with at least one card of its colour: how many locomotives go with it."""
    return max(0, min(locomotives, length - 1) - max(0, length - cards) + 1)


def _fill_payments(record: np.void) -> None:
    """Payments by length, laid out so that two multiplications give the dot product with the free-route counts.

    The counts of lengths 1, 3, 5, 7 and of 2, 4, 6, 8 are spread over 16-bit lanes; the ways stand in reverse, so the top lane
    of the product is the sum over lengths of (free routes) x (ways to pay).
    """
    size = MAX_OF_A_KIND + 1
    for locomotives in range(size):
        for length in range(1, MAX_LENGTH + 1):
            lane, odd = 1 << (16 * (3 - (length - 1) // 2)), (length - 1) & 1
            for cards in range(size):
                record["ways"][cards + size * locomotives][odd] += payments(cards, locomotives, length) * lane
            record["alone"][locomotives][odd] += int(locomotives >= length) * lane
    for cars in range(64):
        mask = sum(255 << (8 * (length - 1)) for length in range(1, MAX_LENGTH + 1) if length <= cars)
        record["within"][cars] = _signed(mask)


def _fill_choices(record: np.void) -> None:
    """All ways to keep at least so many of the revealed tickets, smaller masks first."""
    for revealed in range(1, MAX_REVEALED + 1):
        for least in range(MAX_REVEALED + 1):
            needed = max(1, min(least, revealed))
            masks = sorted(
                sum(1 << i for i in chosen)
                for size in range(needed, revealed + 1)
                for chosen in combinations(range(revealed), size)
            )
            record["choices"][revealed][least] = len(masks)
            record["subsets"][revealed][least][: len(masks)] = masks
