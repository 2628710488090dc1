"""What map.yaml says: the numbers of a map's box, its colours and terminals, its variants, each checked.

A map that cannot be played is refused with one line: "FILE, row N: reason", N being the line in the file.
"""

import difflib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

import yaml

# What the game's tables have room for.
MAX_CITIES, MAX_ROUTES, MAX_TICKETS, MAX_COLOURS, MAX_LENGTH, MAX_PARALLEL = 64, 128, 96, 8, 8, 3
MAX_CARS, MAX_CARDS, MAX_OF_A_KIND, MAX_TICKET_POINTS = 60, 126, 31, 99
MAX_HAND, MAX_FACE_UP, MAX_REVEALED = 20, 7, 5

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


def near_names(word: str, known: Iterable[str]) -> str:
    """A hint for a mistyped name."""
    close = difflib.get_close_matches(word, list(known), n=2, cutoff=0.6)
    return f" (did you mean {' or '.join(close)}?)" if close else ""


def refuse(path: Path, row: int, reason: str) -> NoReturn:
    """A map is refused, in one line."""
    raise MapError(f"{path.parent.name}/{path.name}, row {row}: {reason}")


def whole_number(text, low: int, high: int, path: Path, row: int, what: str) -> int:
    """The whole number in a field, refused outside low..high."""
    try:
        number: int | None = int(text)
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or isinstance(text, (bool, float)):
        refuse(path, row, f"{what} is not a whole number: {str(text)!r}")
    if not low <= number <= high:
        refuse(path, row, f"{what} is {number}, allowed are {low} to {high}")
    return number


class Settings:
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
                refuse(self.path, 1, f"missing key {key!r}" + (f" (found {near[0]!r})" if near else ""))

    def _document(self) -> yaml.MappingNode:
        try:
            node = yaml.compose(self.path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
        except OSError:
            refuse(self.path, 1, "there is no such file, so this folder is not a map")
        except UnicodeDecodeError:
            refuse(self.path, 1, "not a text file in UTF-8")
        except yaml.MarkedYAMLError as error:
            row = error.problem_mark.line + 1 if error.problem_mark else 1
            refuse(self.path, row, f"not YAML: {error.problem}")
        except yaml.YAMLError as error:
            refuse(self.path, 1, f"not YAML: {' '.join(str(error).split())}")
        if not isinstance(node, yaml.MappingNode):
            refuse(self.path, 1, "expected lines of the form 'key: value'")
        return node

    def _flatten(self, node: yaml.MappingNode, prefix: str = "") -> tuple[dict, dict]:
        values: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for key_node, value_node in node.value:
            key, row = prefix + str(key_node.value), key_node.start_mark.line + 1
            if key in lines:
                refuse(self.path, row, f"key {key!r} stands twice")
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
                    refuse(self.path, row, f"{key} cannot be read")
        return values, lines

    def _check_known(self, key: str, field: str, known: list[str]):
        if field in ("", "tickets", "variants"):  # without the keys that belong below them
            self.refuse(key, f"{key} needs keys below it")
        if field not in known:
            self.refuse(key, f"unknown key {field!r}{near_names(field, known)}")

    def refuse(self, key: str, reason: str) -> NoReturn:
        refuse(self.path, self.lines.get(key, 1), reason)

    def choose(self, variant: str | None):
        """Lays a variant's fields over the map's own."""
        if variant is None:
            return
        if variant not in self.variants:
            there = f"its variants are {', '.join(self.variants)}" if self.variants else "it has none"
            self.refuse("variants", f"unknown variant {variant!r}{near_names(variant, self.variants)}; {there}")
        for field, value in self.variants[variant].items():
            self.values[field] = value
            self.lines[field] = self.lines[f"variants.{variant}.{field}"]

    def number(self, key: str, low: int, high: int) -> int:
        return whole_number(self.values[key], low, high, self.path, self.lines.get(key, 1), key)

    def box(self) -> dict[str, Any]:
        """The numbers of the box, each in its range and fitting the others."""
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
        return number

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

    def terminals(self) -> tuple[int, list[str]]:
        """The line that names cities which end a path, and their names."""
        names = self.values["terminals"]
        if not isinstance(names, list):
            self.refuse("terminals", "terminals is not a list of cities")
        return self.lines.get("terminals", 1), [str(name) for name in names]

    def file(self, key: str) -> Path:
        path = self.path.parent / str(self.values[key])
        if key in self.lines and not path.is_file():
            self.refuse(key, f"there is no file {str(self.values[key])!r} in this folder")
        return path
