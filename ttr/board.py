"""A map as it lies in its box: cities, routes, tickets, and the numbers of pieces.

A map is a folder with map.yaml, cities.csv, routes.csv and tickets.csv; the maps of the project are in ttr/boards.
A map that cannot be played is refused with one line: "FILE, row N: reason", N being the line in the file.
"""

import csv
import difflib
import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import yaml

GREY = 8  # a route's colour: it takes cards of any one colour
LOCOMOTIVE = 8  # a card's colour: it stands for any colour

# What the game's tables have room for.
MAX_CITIES, MAX_ROUTES, MAX_TICKETS, MAX_COLOURS, MAX_LENGTH, MAX_PARALLEL = 64, 128, 96, 8, 8, 3
MAX_CARS, MAX_CARDS, MAX_OF_A_KIND, MAX_TICKET_POINTS = 60, 126, 31, 99
MAX_HAND, MAX_FACE_UP, MAX_REVEALED = 20, 7, 5

BOARDS = Path(__file__).parent / "boards"

NUMBERS = {  # whole numbers of map.yaml with their range
    "cars": (1, MAX_CARS),
    "hand": (0, MAX_HAND),
    "cards_per_colour": (1, MAX_OF_A_KIND),
    "locomotives": (0, MAX_OF_A_KIND),
    "face_up": (0, MAX_FACE_UP),
    "end_cars": (0, MAX_CARS),
    "longest_bonus": (0, 99),
    "most_tickets_bonus": (0, 99),
    "tickets.dealt": (1, MAX_REVEALED),
    "tickets.kept": (1, MAX_REVEALED),
    "tickets.drawn": (1, MAX_REVEALED),
    "tickets.kept_later": (1, MAX_REVEALED),
}
DEFAULTS = {
    "face_up": 5,
    "end_cars": 2,
    "points": [1, 2, 4, 7, 10, 15, 18, 21],
    "terminals": [],
    "tickets.drawn": 3,
    "tickets.kept_later": 1,
    "routes": "routes.csv",
    "tickets_file": "tickets.csv",
    "tickets_tag": None,
    "all_lengths": None,
}
REQUIRED = ["title", "colours", *(key for key in NUMBERS if key not in DEFAULTS)]
REMARKS = ["confirmed", "ours", "sources"]  # for readers only
FIELDS = [*REQUIRED, *DEFAULTS]


class MapError(ValueError):
    """A map that cannot be played, in one line: "FILE, row N: reason"."""


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
    return list(_Settings(folder).variants)


def load_board(name: str) -> Board:
    """The map called `name`: "yang", "new_york:doubles", or a map's folder, optionally with :variant."""
    folder, variant = _find_map(str(name))
    settings = _Settings(folder)
    settings.choose(variant)
    box = settings.box()
    colours = settings.colours()
    cities = _read_cities(folder)
    terminals = settings.terminals(cities)
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
    raise MapError(f"unknown map {asked!r}{_near(asked, map_names())}; the maps are {', '.join(map_names())}")


def _near(word: str, known) -> str:
    close = difflib.get_close_matches(word, list(known), n=2, cutoff=0.6)
    return f" (did you mean {' or '.join(close)}?)" if close else ""


def _refuse(path: Path, row: int, reason: str) -> NoReturn:
    raise MapError(f"{path.parent.name}/{path.name}, row {row}: {reason}")


def _whole(text, low: int, high: int, path: Path, row: int, what: str) -> int:
    """The whole number in a field, refused outside low..high."""
    try:
        number: int | None = int(text)
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or isinstance(text, (bool, float)):
        _refuse(path, row, f"{what} is not a whole number: {str(text)!r}")
    if not low <= number <= high:
        _refuse(path, row, f"{what} is {number}, allowed are {low} to {high}")
    return number


class _Settings:
    """map.yaml with the line of every key: `values` and `lines` are keyed by name, nested ones as "tickets.dealt"."""

    def __init__(self, folder: Path):
        self.path = folder / "map.yaml"
        values, self.lines = self._flatten(self._document())
        self.variants: dict[str, dict] = {}
        known = [*FIELDS, *REMARKS]
        for key, value in values.items():
            if key.startswith("variants."):
                variant, _, field = key.removeprefix("variants.").partition(".")
                self._check_known(key, field, FIELDS)
                self.variants.setdefault(variant, {})[field] = value
            elif key != "variants" or value:
                self._check_known(key, key, known)
        self.values = DEFAULTS | {key: value for key, value in values.items() if key in FIELDS}
        for key in REQUIRED:
            if key not in values:
                near = difflib.get_close_matches(key, values, n=1, cutoff=0.8)
                _refuse(self.path, 1, f"missing key {key!r}" + (f" (found {near[0]!r})" if near else ""))

    def _document(self) -> yaml.MappingNode:
        try:
            node = yaml.compose(self.path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
        except OSError:
            _refuse(self.path, 1, "there is no such file, so this folder is not a map")
        except UnicodeDecodeError:
            _refuse(self.path, 1, "not a text file in UTF-8")
        except yaml.MarkedYAMLError as error:
            row = error.problem_mark.line + 1 if error.problem_mark else 1
            _refuse(self.path, row, f"not YAML: {error.problem}")
        except yaml.YAMLError as error:
            _refuse(self.path, 1, f"not YAML: {' '.join(str(error).split())}")
        if not isinstance(node, yaml.MappingNode):
            _refuse(self.path, 1, "expected lines of the form 'key: value'")
        return node

    def _flatten(self, node: yaml.MappingNode, prefix: str = "") -> tuple[dict, dict]:
        values: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for key_node, value_node in node.value:
            key, row = prefix + str(key_node.value), key_node.start_mark.line + 1
            if key in lines:
                _refuse(self.path, row, f"key {key!r} stands twice")
            lines[key] = row
            is_group = key == "tickets" or key.startswith("variants")
            if is_group and isinstance(value_node, yaml.MappingNode) and value_node.value:
                inner_values, inner_lines = self._flatten(value_node, key + ".")
                values |= inner_values
                lines |= inner_lines
            else:
                try:
                    values[key] = yaml.constructor.SafeConstructor().construct_object(value_node, deep=True)
                except (yaml.YAMLError, ValueError):
                    _refuse(self.path, row, f"{key} cannot be read")
        return values, lines

    def _check_known(self, key: str, field: str, known: list[str]):
        if field in ("", "tickets", "variants"):  # without the keys that belong below them
            self.refuse(key, f"{key} needs keys below it")
        if field not in known:
            self.refuse(key, f"unknown key {field!r}{_near(field, known)}")

    def refuse(self, key: str, reason: str) -> NoReturn:
        _refuse(self.path, self.lines.get(key, 1), reason)

    def choose(self, variant: str | None):
        """Lays a variant's fields over the map's own."""
        if variant is None:
            return
        if variant not in self.variants:
            there = f"its variants are {', '.join(self.variants)}" if self.variants else "it has none"
            self.refuse("variants", f"unknown variant {variant!r}{_near(variant, self.variants)}; {there}")
        for field, value in self.variants[variant].items():
            self.values[field] = value
            self.lines[field] = self.lines[f"variants.{variant}.{field}"]

    def number(self, key: str, low: int, high: int) -> int:
        return _whole(self.values[key], low, high, self.path, self.lines.get(key, 1), key)

    def box(self) -> Box:
        """The numbers, each in its range and fitting the others."""
        if not isinstance(self.values["title"], str) or not self.values["title"].strip():
            self.refuse("title", "title is not a text")
        number: dict[str, Any] = {key.replace(".", "_"): self.number(key, *span) for key, span in NUMBERS.items()}
        for fewer, more in [("kept", "dealt"), ("kept_later", "drawn")]:
            if number[f"tickets_{fewer}"] > number[f"tickets_{more}"]:
                self.refuse(f"tickets.{fewer}", f"tickets.{fewer} is larger than tickets.{more}")
        points = self.values["points"]
        if not isinstance(points, list) or len(points) != MAX_LENGTH:
            self.refuse("points", f"points needs {MAX_LENGTH} numbers, for the lengths 1 to {MAX_LENGTH}")
        for value in points:
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 99 or value * 2 % 1:
                self.refuse("points", f"points are whole or half numbers from 0 to 99, not {value!r}")
        number["points"] = tuple(points)
        cards = number["cards_per_colour"] * len(self.colours()) + number["locomotives"]
        if cards > MAX_CARDS:
            self.refuse("cards_per_colour", f"{cards} train cards in all, at most {MAX_CARDS} are allowed")
        return Box(**number)

    def colours(self) -> tuple[str, ...]:
        colours = self.values["colours"]
        if not isinstance(colours, list) or not colours or not all(isinstance(name, str) for name in colours):
            self.refuse("colours", "colours is not a list of names")
        if len(colours) > MAX_COLOURS:
            self.refuse("colours", f"{len(colours)} colours, at most {MAX_COLOURS} are allowed")
        for name, times in Counter(colours).items():
            if times > 1:
                self.refuse("colours", f"colour {name!r} stands twice")
            if name in ("grey", "locomotive"):
                self.refuse("colours", f"{name!r} is not a colour of cards")
        return tuple(colours)

    def terminals(self, cities: tuple[City, ...]) -> frozenset[int]:
        names = self.values["terminals"]
        if not isinstance(names, list):
            self.refuse("terminals", "terminals is not a list of cities")
        row = self.lines.get("terminals", 1)
        return frozenset(_city(str(name), cities, self.path, row) for name in names)

    def file(self, key: str) -> Path:
        path = self.path.parent / str(self.values[key])
        if key in self.lines and not path.is_file():
            self.refuse(key, f"there is no file {str(self.values[key])!r} in this folder")
        return path


def _read_table(path: Path, columns: list[str]):
    """Yields (row, fields) for every filled line; columns beyond the needed ones are allowed and ignored."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError:
        _refuse(path, 1, "there is no such file")
    except UnicodeDecodeError:
        _refuse(path, 1, "not a text file in UTF-8")
    longest = max(map(len, lines), default=0)
    if longest > csv.field_size_limit():
        _refuse(path, 1 + [len(line) for line in lines].index(longest), f"{longest} characters in one row")
    reader = csv.reader(lines)
    header = [name.strip() for name in next(reader, [])]
    for column in columns:
        if column not in header:
            _refuse(path, 1, f"missing column {column!r}; the columns are {', '.join(header) or 'none'}")
    for count, fields in enumerate(fields for fields in reader if any(field.strip() for field in fields)):
        row = reader.line_num
        if len(fields) != len(header):
            _refuse(path, row, f"{len(fields)} fields, but the header has {len(header)}")
        record = {name: field.strip() for name, field in zip(header, fields)}
        if record["id"] != str(count):
            _refuse(path, row, f"id is {record['id']!r}, but ids count 0, 1, 2, ... and this one is {count}")
        yield row, record


def _city(text: str, cities, path: Path, row: int) -> int:
    """A city by its name or its id."""
    names = [city.name for city in cities]
    if text in names:
        return names.index(text)
    if text.isdecimal() and int(text) < len(cities):
        return int(text)
    return _refuse(path, row, f"unknown city {text!r}{_near(text, names)}")


def _read_cities(folder: Path) -> tuple[City, ...]:
    path = folder / "cities.csv"
    cities: list[City] = []
    for row, fields in _read_table(path, ["id", "name", "x", "y"]):
        name = fields["name"]
        if not name or name.isdecimal():
            _refuse(path, row, f"a city needs a name that is not a number, not {name!r}")
        if any(city.name == name for city in cities):
            _refuse(path, row, f"city {name!r} stands twice")
        place = {}
        for axis in "xy":
            try:
                place[axis] = float(fields[axis])
            except ValueError:
                place[axis] = math.nan
            if not math.isfinite(place[axis]):
                _refuse(path, row, f"{axis} is not a number: {fields[axis]!r}")
        if len(cities) == MAX_CITIES:
            _refuse(path, row, f"more than {MAX_CITIES} cities")
        cities.append(City(name, place["x"], place["y"]))
    if len(cities) < 2:
        _refuse(path, 1, "a map needs two cities at least")
    return tuple(cities)


def _read_routes(settings: _Settings, cities, colours, terminals) -> tuple[Route, ...]:
    path = settings.file("routes")
    all_lengths = settings.values["all_lengths"]
    if all_lengths is not None:
        all_lengths = settings.number("all_lengths", 1, MAX_LENGTH)
    routes: list[Route] = []
    numbers: dict[int, int] = {}  # group in the file -> group counted from 0
    for row, fields in _read_table(path, ["id", "city_a", "city_b", "length", "colour", "group"]):
        a, b = (_city(fields[column], cities, path, row) for column in ("city_a", "city_b"))
        pair = f"{cities[a].name} - {cities[b].name}"
        length = _whole(fields["length"], 1, MAX_LENGTH, path, row, "length")
        name = fields["colour"]
        if name != "grey" and name not in colours:
            near = _near(name, [*colours, "grey"])
            _refuse(path, row, f"unknown colour {name!r}{near}; the map has {', '.join(colours)} and grey")
        colour = GREY if name == "grey" else colours.index(name)
        label = _whole(fields["group"], 0, 10**6, path, row, "group")
        group = numbers.setdefault(label, len(numbers))
        if a == b:
            _refuse(path, row, f"the route leads from {cities[a].name} to itself")
        if a in terminals and b in terminals:
            _refuse(path, row, f"{pair} joins two terminals")
        for other in routes:
            same_pair = {other.a, other.b} == {a, b}
            if same_pair and other.colour == colour and (colour != GREY or other.group != group):
                _refuse(path, row, f"duplicate route {pair} {name}")
            if other.group == group and not same_pair:
                there = f"{cities[other.a].name} - {cities[other.b].name}"
                _refuse(path, row, f"group {label} mixes {there} and {pair}")
            if other.group == group and other.length != (all_lengths or length):
                _refuse(path, row, f"group {label} mixes the lengths {other.length} and {length}")
            if same_pair and other.group != group:
                _refuse(path, row, f"{pair} is in two groups; parallel routes share one")
        if sum(other.group == group for other in routes) == MAX_PARALLEL:
            _refuse(path, row, f"more than {MAX_PARALLEL} parallel routes {pair}")
        if len(routes) == MAX_ROUTES:
            _refuse(path, row, f"more than {MAX_ROUTES} routes")
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
        _refuse(path, row, f"the map is not connected: no routes lead from {first} to {name}")


def _read_tickets(settings: _Settings, cities, routes, terminals) -> tuple[Ticket, ...]:
    path = settings.file("tickets_file")
    tag = settings.values["tickets_tag"]
    tickets: list[Ticket] = []
    for row, fields in _read_table(path, ["id", "city_a", "city_b", "points", "tags"]):
        a, b = (_city(fields[column], cities, path, row) for column in ("city_a", "city_b"))
        points = _whole(fields["points"], 1, MAX_TICKET_POINTS, path, row, "points")
        if a == b:
            _refuse(path, row, f"the ticket leads from {cities[a].name} to itself")
        if b not in _reachable(a, routes, terminals):
            pair = f"{cities[a].name} - {cities[b].name}"
            _refuse(path, row, f"no path for the ticket {pair} without passing through a terminal")
        tags = frozenset(part.strip() for part in fields["tags"].split("|") if part.strip())
        if tag is not None and str(tag) not in tags:
            continue
        if len(tickets) == MAX_TICKETS:
            _refuse(path, row, f"more than {MAX_TICKETS} tickets")
        tickets.append(Ticket(a, b, points, tags))
    if not tickets:
        _refuse(path, 1, "no tickets" + (f" with the tag {str(tag)!r}" if tag is not None else ""))
    return tuple(tickets)
