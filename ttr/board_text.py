"""The game in the terminal: cards, tickets, players and the board as text, at any width, with or without colours.

A route is shown as its car spaces, RRR for three red ones, xx for two grey ones; claimed, as its owner's number, 111. Cards are
the letters of their colours, RR* for two red ones and a locomotive. So the plain text says as much as the coloured one.
"""

from collections.abc import Sequence

from rich.box import SIMPLE
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ttr.agent_view import Cards, TicketView, View
from ttr.board import Board
from ttr.colour_marks import PLAYERS, colour_marks
from ttr.moves import Move, ticket_text

CLOSED, ANY, WILD = "-", "x", "*"  # a parallel route closed by its neighbour; a space of a grey route; a locomotive
COLUMN = 38  # of the list of routes: two of them fit 80 characters, three 120


class BoardText:
    """Draws one map's games for a terminal of a given width."""

    def __init__(self, board: Board, names: list[str], width: int):
        self.board, self.names, self.width = board, names, width
        marks = colour_marks(board.colours)
        self.styles = {name: f"{ink} on {fill}" for name, fill, _, ink in marks} | {"locomotive": "bold black on #d8c690"}
        self.letters = {name: letter for name, _, letter, _ in marks} | {"grey": ANY, "locomotive": WILD}

    def player(self, p: int) -> Text:
        """A player's number in its colour, and its name."""
        return Text.assemble((str(p), self._player_style(p)), f" {self.names[p]}")

    def _player_style(self, p: int) -> str:
        return f"bold white on {PLAYERS[p % len(PLAYERS)]}"

    def card(self, name: str, count: int | None = None) -> Text:
        """A card's letter and its colour's name, after the number of such cards if it is given."""
        return Text.assemble((self.letters[name], self.styles[name]), "" if count is None else f" {count}", f" {name}")

    def cards(self, counts: Cards, room: int) -> Text:
        """A set of cards."""
        items = [self.card(name, count) for name, count in counts.items() if count]
        return flow(items, room, "   ") if items else Text("none", "dim")

    def letters_of(self, counts: Cards) -> Text:
        """A set of cards in short: RR B *."""
        return Text(" ").join(Text(self.letters[name] * count, self.styles[name]) for name, count in counts.items())

    def spaces(self, route: int, view: View) -> Text:
        """The car spaces of a route: its colour's letter, its owner's number, or a bar if it is closed."""
        r = view.routes[route]
        if r.owner is not None:
            return Text(str(r.owner) * r.length, self._player_style(r.owner))
        if not r.open:
            return Text(CLOSED * r.length, "dim")
        return Text(self.letters[r.colour] * r.length, self.styles[r.colour])

    def connection(self, route: int, room: int) -> str:
        """The two cities of a route, cut to fit."""
        r = self.board.routes[route]
        names = sorted([self.board.cities[r.a].name, self.board.cities[r.b].name])
        while len(" - ".join(names)) > max(room, 9):
            longer = 0 if len(names[0]) >= len(names[1]) else 1
            names[longer] = names[longer].rstrip(".")[:-1].rstrip() + "."
        return " - ".join(names)

    def routes(self, view: View) -> RenderableType:
        """All routes in alphabetical order, parallel ones on one line, in as many columns as fit."""
        groups: dict[int, list[int]] = {}
        for number, r in enumerate(self.board.routes):
            groups.setdefault(r.group, []).append(number)
        entries = []
        for members in groups.values():
            spaces = Text(" ").join(self.spaces(route, view) for route in members)
            name = self.connection(members[0], COLUMN - 1 - len(spaces))
            entries.append((name, Text.assemble(name.ljust(COLUMN - len(spaces)), spaces)))
        lines = [line for _, line in sorted(entries, key=lambda entry: entry[0])]
        columns = max(1, (self.width + 3) // (COLUMN + 3))
        height = -(-len(lines) // columns)
        grid = Table.grid(padding=(0, 3, 0, 0))
        for _ in range(columns):
            grid.add_column(width=COLUMN, no_wrap=True)
        for i in range(height):
            grid.add_row(*lines[i::height])
        return Group(grid, self.legend(view))

    def legend(self, view: View) -> Text:
        """What the letters and numbers on the board mean."""
        parts = [self.card(name) for name in self.board.colours] + [
            Text.assemble((ANY, self.styles["grey"]), " grey: any one colour")
        ]
        parts += [self.player(p) for p in range(len(view.players))]
        if any(r.owner is None and not r.open for r in view.routes):
            parts.append(Text(f"{CLOSED} closed by its parallel route"))
        return flow(parts, self.width, "  ")

    def players(self, view: View) -> RenderableType:
        """Everybody's counts, and the cards known to be in a hand."""
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column("player")
        for heading in ("points", "cars", "cards", "tickets"):
            table.add_column(heading, justify="right")
        table.add_column("known cards")
        for p, seat in enumerate(view.players):
            known = Text(", ").join(Text(f"{count} {name}") for name, count in seat.known.items() if count)
            counts = (f"{seat.points:g}", str(seat.cars), str(seat.cards), str(seat.tickets))
            table.add_row(self.player(p), *counts, known)
        return table

    def tickets(self, tickets: Sequence[TicketView], room: int) -> Text:
        """A player's tickets, those to be completed first."""
        lines = [
            Text.assemble("[x] " if t.completed else "[ ] ", ticket_text(self.board, t.id), style="green" if t.completed else "")
            for t in sorted(tickets, key=lambda t: (t.completed, t.id))
        ]
        return flow(lines, room, "   ", aligned=True) if lines else Text("none yet", "dim")

    def scores(self, line: dict) -> RenderableType:
        """The score pad: a column for each player, a row for what it gained and lost; rows without anything are left out."""
        pad = {
            "routes": "routes",
            "gained": "tickets completed",
            "lost": "tickets missed",
            "ticket_bonus": "bonus for each ticket",
            "longest_bonus": "bonus, longest route",
            "most_tickets_bonus": "bonus, most tickets",
            "unfloored": "before the floor at 0",
            "score": "score",
        }
        sheets = line["scores"]
        floored = any(sheet["unfloored"] != sheet["score"] for sheet in sheets)
        table = Table(box=SIMPLE, pad_edge=False)
        table.add_column("points", no_wrap=True)
        for p in range(len(sheets)):
            table.add_column(self.player(p), justify="right", overflow="fold")
        for name, label in pad.items():
            if name in ("routes", "score") or (floored if name == "unfloored" else any(sheet[name] for sheet in sheets)):
                values = [f"{-sheet[name] if name == 'lost' else sheet[name]}" for sheet in sheets]
                table.add_row(label, *values, style="bold" if name == "score" else None, end_section=name == "score")
        table.add_row("rank", *(str(sheet["rank"]) for sheet in sheets))
        table.add_row("tickets completed", *(f"{sheet['completed']} of {sheet['tickets']}" for sheet in sheets))
        table.add_row("longest route, in cars", *(str(sheet["longest"]) for sheet in sheets))
        return table

    def payment(self, move: Move) -> Text:
        """What a claim costs, card by card: RR* is two red cards and a locomotive."""
        coloured = self.board.routes[move.route].length - move.locomotives
        cards = ([(move.colour, coloured)] if coloured else []) + [("locomotive", move.locomotives)]
        return Text.assemble(*((self.letters[name] * count, self.styles[name]) for name, count in cards))


def flow(items: list[Text], width: int, gap: str, aligned: bool = False) -> Text:
    """Items one after the other, a new line where the next one would not fit; aligned: all as wide as the widest."""
    if aligned and items:
        widest = max(len(item) for item in items)
        per_line = max(1, (width + len(gap)) // (widest + len(gap)))
        lines = [items[i : i + per_line] for i in range(0, len(items), per_line)]
        return Text("\n").join(Text(gap).join(_padded(item, widest) for item in line) for line in lines)
    lines, room = [[]], 0
    for item in items:
        if lines[-1] and room + len(gap) + len(item) > width:
            lines.append([])
            room = 0
        room += len(item) + (len(gap) if lines[-1] else 0)
        lines[-1].append(item)
    return Text("\n").join(Text(gap).join(line) for line in lines)


def _padded(item: Text, width: int) -> Text:
    item = item.copy()
    item.pad_right(width - len(item))
    return item
