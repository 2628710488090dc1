"""A map as it lies in its box: cities, routes, tickets, and the numbers of pieces.

A map is a folder with map.yaml, cities.csv, routes.csv and tickets.csv; the maps of the project are in ttr/boards.
A map that cannot be played is refused with one line: "FILE, row N: reason", N being the line in the file.
"""

import csv
import math
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from ttr.map_settings import (
    MAX_CITIES,
    MAX_LENGTH,
    MAX_PARALLEL,
    MAX_ROUTES,
    MAX_TICKET_POINTS,
    MAX_TICKETS,
    MapError,
    Settings,
    near_names,
    refuse,
    whole_number,
)

GREY = 8  # a route's colour: it takes cards of any one colour
LOCOMOTIVE = 8  # a card's colour: it stands for any colour

BOARDS = Path(__file__).parent / "boards"


@dataclass(frozen=True)
class City:
    name: str
    x: float
    y: float  # downwards


@dataclass(frozen=True)
class Route:
    a: int
    b: int
    length: int
    colour: int  # index into Board.colours, or GREY
    group: int  # parallel routes share it; numbered from 0 without gaps


@dataclass(frozen=True)
class Ticket:
    a: int
    b: int
    points: int
    tags: frozenset[str]


@dataclass(frozen=True)
class Box:
    """The numbers of a map: pieces, deal, bonuses, points by route length."""

    cars: int
    hand: int
    cards_per_colour: int
    locomotives: int
    face_up: int
    tickets_dealt: int
    tickets_kept: int
    tickets_drawn: int
    tickets_kept_later: int
    end_cars: int
    longest_bonus: int
    most_tickets_bonus: int
    points: tuple[float, ...]  # of a route of length 1, 2, ..., 8


@dataclass(frozen=True)
class Board:
    name: str  # as asked for, e.g. "usa_1910:mega"
    title: str
    colours: tuple[str, ...]
    cities: tuple[City, ...]
    routes: tuple[Route, ...]
    tickets: tuple[Ticket, ...]
    terminals: frozenset[int]  # cities that end a path: no ticket's path and no trail leads through one
    box: Box


def map_names() -> list[str]:
    """The maps of the project."""
    return sorted(path.parent.name for path in BOARDS.glob("*/map.yaml"))


def variant_names(name: str) -> list[str]:
    """The variants a map has, in the order of its map.yaml."""
    folder, _ = _find_map(name)
    return list(Settings(folder).variants)


def load_board(name: str) -> Board:
    """The map called `name`: "yang", "new_york:doubles", or a map's folder, optionally with :variant."""
    folder, variant = _find_map(str(name))
    settings = Settings(folder)
    settings.choose(variant)
    box = Box(**settings.box())
    colours = settings.colours()
    cities = _read_cities(folder)
    row, names = settings.terminals()
    terminals = frozenset(_city(name, cities, settings.path, row) for name in names)
    routes = _read_routes(settings, cities, colours, terminals)
    _check_connected(folder, cities, routes)
    tickets = _read_tickets(settings, cities, routes, terminals)
    if box.tickets_dealt > len(tickets):
        settings.refuse("tickets.dealt", f"tickets.dealt is {box.tickets_dealt}, but the map has {len(tickets)} tickets")
    return Board(
        str(name),
        " ".join(settings.values["title"].split()),
        colours,
        cities,
        routes,
        tickets,
        terminals,
        box,
    )


def _find_map(name: str) -> tuple[Path, str | None]:
    """The folder and the variant (None for none) that a name means; a map of the project goes before a folder."""
    stem, colon, variant = name.rpartition(":")
    for candidate, wanted in [(name, None), (stem, variant)] if colon else [(name, None)]:
        if candidate in map_names():
            return BOARDS / candidate, wanted
        if candidate and Path(candidate).is_dir():
            return Path(candidate).resolve(), wanted
    asked = stem or name
    if "/" in asked or "\\" in asked:
        raise MapError(f"no such map folder: {asked}")
    raise MapError(f"unknown map {asked!r}{near_names(asked, map_names())}; the maps are {', '.join(map_names())}")


def _read_table(path: Path, columns: list[str]):
    """Yields (row, fields) for every filled line; columns beyond the needed ones are allowed and ignored."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError:
        refuse(path, 1, "there is no such file")
    except UnicodeDecodeError:
        refuse(path, 1, "not a text file in UTF-8")
    longest = max(map(len, lines), default=0)
    if longest > csv.field_size_limit():
        refuse(path, 1 + [len(line) for line in lines].index(longest), f"{longest} characters in one row")
    reader = csv.reader(lines)
    header = [name.strip() for name in next(reader, [])]
    for column in columns:
        if column not in header:
            refuse(path, 1, f"missing column {column!r}; the columns are {', '.join(header) or 'none'}")
    for count, fields in enumerate(fields for fields in reader if any(field.strip() for field in fields)):
        row = reader.line_num
        if len(fields) != len(header):
            refuse(path, row, f"{len(fields)} fields, but the header has {len(header)}")
        record = {name: field.strip() for name, field in zip(header, fields)}
        if record["id"] != str(count):
            refuse(path, row, f"id is {record['id']!r}, but ids count 0, 1, 2, ... and this one is {count}")
        yield row, record


def _city(text: str, cities, path: Path, row: int) -> int:
    """A city by its name or its id."""
    names = [city.name for city in cities]
    if text in names:
        return names.index(text)
    if text.isdecimal() and int(text) < len(cities):
        return int(text)
    return refuse(path, row, f"unknown city {text!r}{near_names(text, names)}")


def _read_cities(folder: Path) -> tuple[City, ...]:
    path = folder / "cities.csv"
    cities: list[City] = []
    for row, fields in _read_table(path, ["id", "name", "x", "y"]):
        name = fields["name"]
        if not name or name.isdecimal():
            refuse(path, row, f"a city needs a name that is not a number, not {name!r}")
        if any(city.name == name for city in cities):
            refuse(path, row, f"city {name!r} stands twice")
        place = {}
        for axis in "xy":
            try:
                place[axis] = float(fields[axis])
            except ValueError:
                place[axis] = math.nan
            if not math.isfinite(place[axis]):
                refuse(path, row, f"{axis} is not a number: {fields[axis]!r}")
        if len(cities) == MAX_CITIES:
            refuse(path, row, f"more than {MAX_CITIES} cities")
        cities.append(City(name, place["x"], place["y"]))
    if len(cities) < 2:
        refuse(path, 1, "a map needs two cities at least")
    return tuple(cities)


def _read_routes(settings: Settings, cities, colours, terminals) -> tuple[Route, ...]:
    path = settings.file("routes")
    all_lengths = settings.values["all_lengths"]
    if all_lengths is not None:
        all_lengths = settings.number("all_lengths", 1, MAX_LENGTH)
    routes: list[Route] = []
    numbers: dict[int, int] = {}  # group in the file -> group counted from 0
    for row, fields in _read_table(path, ["id", "city_a", "city_b", "length", "colour", "group"]):
        a, b = (_city(fields[column], cities, path, row) for column in ("city_a", "city_b"))
        pair = f"{cities[a].name} - {cities[b].name}"
        length = whole_number(fields["length"], 1, MAX_LENGTH, path, row, "length")
        name = fields["colour"]
        if name != "grey" and name not in colours:
            near = near_names(name, [*colours, "grey"])
            refuse(path, row, f"unknown colour {name!r}{near}; the map has {', '.join(colours)} and grey")
        colour = GREY if name == "grey" else colours.index(name)
        label = whole_number(fields["group"], 0, 10**6, path, row, "group")
        group = numbers.setdefault(label, len(numbers))
        if a == b:
            refuse(path, row, f"the route leads from {cities[a].name} to itself")
        if a in terminals and b in terminals:
            refuse(path, row, f"{pair} joins two terminals")
        for other in routes:
            same_pair = {other.a, other.b} == {a, b}
            if same_pair and other.colour == colour and (colour != GREY or other.group != group):
                refuse(path, row, f"duplicate route {pair} {name}")
            if other.group == group and not same_pair:
                there = f"{cities[other.a].name} - {cities[other.b].name}"
                refuse(path, row, f"group {label} mixes {there} and {pair}")
            if other.group == group and other.length != (all_lengths or length):
                refuse(path, row, f"group {label} mixes the lengths {other.length} and {length}")
            if same_pair and other.group != group:
                refuse(path, row, f"{pair} is in two groups; parallel routes share one")
        if sum(other.group == group for other in routes) == MAX_PARALLEL:
            refuse(path, row, f"more than {MAX_PARALLEL} parallel routes {pair}")
        if len(routes) == MAX_ROUTES:
            refuse(path, row, f"more than {MAX_ROUTES} routes")
        routes.append(Route(a, b, all_lengths or length, colour, group))
    return tuple(routes)


def _reachable(start: int, routes, terminals=frozenset()) -> set[int]:
    """The cities a path from `start` leads to, passing through no terminal."""
    neighbours = defaultdict(set)
    for route in routes:
        neighbours[route.a].add(route.b)
        neighbours[route.b].add(route.a)
    reached, waiting = {start}, [start]
    while waiting:
        city = waiting.pop()
        if city in terminals and city != start:
            continue
        waiting += neighbours[city] - reached
        reached |= neighbours[city]
    return reached


def _check_connected(folder: Path, cities, routes):
    cut_off = sorted(set(range(len(cities))) - _reachable(0, routes))
    if cut_off:
        path = folder / "cities.csv"
        row = next(row for row, fields in _read_table(path, ["id"]) if fields["id"] == str(cut_off[0]))
        name, first = cities[cut_off[0]].name, cities[0].name
        refuse(path, row, f"the map is not connected: no routes lead from {first} to {name}")


def _read_tickets(settings: Settings, cities, routes, terminals) -> tuple[Ticket, ...]:
    path = settings.file("tickets_file")
    tag = settings.values["tickets_tag"]
    tickets: list[Ticket] = []
    for row, fields in _read_table(path, ["id", "city_a", "city_b", "points", "tags"]):
        a, b = (_city(fields[column], cities, path, row) for column in ("city_a", "city_b"))
        points = whole_number(fields["points"], 1, MAX_TICKET_POINTS, path, row, "points")
        if a == b:
            refuse(path, row, f"the ticket leads from {cities[a].name} to itself")
        if b not in _reachable(a, routes, terminals):
            pair = f"{cities[a].name} - {cities[b].name}"
            refuse(path, row, f"no path for the ticket {pair} without passing through a terminal")
        tags = frozenset(part.strip() for part in fields["tags"].split("|") if part.strip())
        if tag is not None and str(tag) not in tags:
            continue
        if len(tickets) == MAX_TICKETS:
            refuse(path, row, f"more than {MAX_TICKETS} tickets")
        tickets.append(Ticket(a, b, points, tags))
    if not tickets:
        refuse(path, 1, "no tickets" + (f" with the tag {str(tag)!r}" if tag is not None else ""))
    return tuple(tickets)
