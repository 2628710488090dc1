"""A board as plain data: complete in itself, so that it can travel to workers and be hashed, and back again.

`content` leaves out what no game depends on: the board's name and title, and where its cities are drawn.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ttr.board import Board, Box, City, Route, Ticket


def board_data(board: Board) -> dict[str, Any]:
    """Everything a board is, as lists, texts and numbers."""
    return {
        "name": board.name,
        "title": board.title,
        "colours": list(board.colours),
        "cities": [[city.name, city.x, city.y] for city in board.cities],
        "routes": [[route.a, route.b, route.length, route.colour, route.group] for route in board.routes],
        "tickets": [[ticket.a, ticket.b, ticket.points, sorted(ticket.tags)] for ticket in board.tickets],
        "terminals": sorted(board.terminals),
        "box": asdict(board.box) | {"points": list(board.box.points)},
    }


def board_from(data: Mapping[str, Any]) -> Board:
    """The board that the data describe."""
    return Board(
        data["name"],
        data["title"],
        tuple(data["colours"]),
        tuple(City(*city) for city in data["cities"]),
        tuple(Route(*route) for route in data["routes"]),
        tuple(Ticket(a, b, points, frozenset(tags)) for a, b, points, tags in data["tickets"]),
        frozenset(data["terminals"]),
        Box(**{**data["box"], "points": tuple(data["box"]["points"])}),
    )


def content(data: Mapping[str, Any]) -> dict[str, Any]:
    """What games on the board depend on."""
    kept = {key: value for key, value in data.items() if key not in ("name", "title")}
    return kept | {"cities": [city[0] for city in data["cities"]]}
