"""A person's seat: shows what the person may see, lists the legal actions with numbers, and asks until one is named.

Several people at one terminal take turns at the screen, and no one's hand is shown to another.
"""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Group
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from ttr.agent_view import View
from ttr.board import Board
from ttr.board_text import flow
from ttr.moves import Move, ticket_text
from ttr.observation import observe
from ttr.state import new_state

if TYPE_CHECKING:
    from ttr.play import Play

HUMAN = "human"
SMALL = 20  # connections: so small a board is shown at every turn
MANY = 40  # claims: of more than these, the route is chosen first and then how to pay
HELP = """\
Type the number of an action and Enter. Besides the numbers:
  b  the board: RRR is a free red route of length 3, xx a grey one of
     length 2 (any one colour), 11 one that player 1 has claimed
  t  your tickets: [x] is completed, [ ] not yet
  ?  this help
  q  leave the game
A route costs as many cards of its colour as it is long, and a locomotive (*)
stands for any colour: RR* pays three spaces with two red cards and a
locomotive. A ticket that is not completed at the end costs its points. "Known
cards" were taken face up and are still in that hand. The last turns begin when
a player has {end_cars} cars left or fewer."""
TICKET_LETTERS = "VWXYZ"  # none of them is a command


class LeftTheTable(Exception):
    """A person has quit, or its input has ended."""


class HumanSeat:
    """A person at the terminal."""

    def __init__(self, play: "Play", me: int):
        self.play, self.me, self.console, self.text = play, me, play.console, play.text
        self._seen = new_state()
        self._told = 0  # moves of the log already shown to this person

    def watch(self, state: np.void, seat: int, code: int) -> None:
        """A person is shown the others' moves when it is to move."""

    def decide(self, state: np.void) -> int:
        """Show what the person may see and ask until a legal action is named."""
        self._take_over_the_screen()
        setting = self.play.setting
        observe(setting.game, state, self.me, self._seen)
        view = View.of(setting, self._seen)
        moves = without_twins(setting.board, setting.moves(self._seen))
        self.text.width = self.console.width
        numbered, menu = self._menu(view, moves)
        self._show(view)
        self.console.print(menu)
        while True:
            word = self._ask(f"Your move (1-{len(numbered)}, b board, t tickets, ? help, q quit): ").lower()
            if word.isdecimal() and 1 <= int(word) <= len(numbered):
                move = self._how_to_pay(numbered[int(word) - 1])
                if move:
                    return move.code
                continue
            if word in ("q", "quit"):
                raise LeftTheTable("You have left the game.")
            if word in ("?", "h", "help"):
                self.console.print(HELP.format(end_cars=self.play.rules.end_cars))
            elif word in ("b", "board"):
                self.console.print(self.text.routes(view))
            elif word in ("t", "tickets"):
                self.console.print(self.text.tickets(view.tickets, self.console.width))
            elif not word:
                self.console.print(menu)
            else:
                self.console.print(f"'{word}' is no action: type a number from 1 to {len(numbered)}, or b, t, ? or q.")

    def _how_to_pay(self, moves: list[Move]) -> Move | None:
        """The one move of a number, or the person's choice among its payments; None if it thinks again."""
        if len(moves) == 1:
            return moves[0]
        ways = [Text.assemble((f"{i:3}", "bold cyan"), " ", self.text.payment(move)) for i, move in enumerate(moves, start=1)]
        self.console.print(Text("Pay with", "bold"), flow(ways, self.console.width, "  "))
        while True:
            word = self._ask(f"Payment (1-{len(moves)}, Enter for another move): ")
            if word.isdecimal() and 1 <= int(word) <= len(moves):
                return moves[int(word) - 1]
            if not word:
                return None
            self.console.print(f"'{word}' is no payment: type a number from 1 to {len(moves)}, or only Enter to go back.")

    def _ask(self, prompt: str) -> str:
        try:
            self.console.print(prompt, end="", style="bold")
            word = input().strip()
        except EOFError:
            raise LeftTheTable("The input has ended.") from None
        if not sys.stdin.isatty():
            self.console.print(word, markup=False)  # so that the text of a scripted game can be followed
        return word

    def _take_over_the_screen(self) -> None:
        """Several people share the screen: the next one's hand is shown only when the next one sits there."""
        if len(self.play.humans) > 1 and self.play.looking != self.me:
            if self.console.is_terminal:
                self.console.clear()
                self.console.file.write("\x1b[3J")  # what scrolled away, too
            self._ask(f"Player {self.me}, it is your turn. Press Enter when nobody else is looking. ")
        self.play.looking = self.me

    def _show(self, view: View) -> None:
        """The table as the person sees it."""
        say = self.console.print
        rules = self.play.rules
        you = "you" if len(self.play.humans) == 1 else HUMAN
        say("", Rule(f"Round {view.turn // rules.players + 1}: player {self.me} ({you})"))
        news = self.play.moves_since(self._told, self.me)
        self._told = len(self.play.log)
        if news:
            say("Last moves:", Group(*news), "")
        if len({route.group for route in self.play.board.routes}) <= SMALL:
            say(self.text.routes(view), "")
        say(self.text.players(view), "")
        facts = Table.grid(padding=(0, 2, 0, 0))
        facts.add_column(no_wrap=True)
        facts.add_column()
        room = self.console.width - 9
        if rules.face_up:
            facts.add_row("Face up", self.text.cards(view.row, room))
        facts.add_row("Decks", f"{view.deck} cards, {sum(view.discard.values())} discarded; {view.ticket_deck} tickets")
        facts.add_row("Hand", self.text.cards(view.hand, room))
        facts.add_row("Tickets", self.text.tickets(view.tickets, room))
        say(facts)
        if view.turns_left:
            this = "this is the last one" if view.turns_left == 1 else f"{view.turns_left} are left, this is your last one"
            say(Text(f"\nTHE LAST TURNS: {this}.", style="bold red"))
        say("")

    def _menu(self, view: View, moves: list[Move]) -> tuple[list[list[Move]], Group]:
        """What each number stands for (several moves if only their payments differ), and the menu: by kind, claims by route."""
        numbered: list[list[Move]] = []
        parts: list = []

        def item(move: Move | list[Move], text: str | Text) -> Text:
            numbered.append(move if isinstance(move, list) else [move])
            return Text.assemble((f"{len(numbered):3}", "bold cyan"), " ", text)

        draws = [move for move in moves if move.kind == "draw"]
        if draws:
            heading = "Draw the second card" if view.phase == "second_card" else "Draw train cards"
            items = [item(move, _draw_text(move)) for move in draws]
            parts += [Text(heading, "bold"), flow(items, self.console.width, " ", aligned=True)]
        for move in moves:
            if move.kind == "tickets":
                shown = min(self.play.rules.tickets_drawn, view.ticket_deck)
                least = min(self.play.rules.tickets_kept_later, shown)
                text = f"look at {shown} ticket{'s' if shown > 1 else ''}, keep at least {least}"
                parts += [Text("Draw tickets", "bold"), item(move, text)]
            elif move.kind == "pass":
                parts.append(item(move, "pass: there is nothing else to do"))
        letters = dict(zip((ticket.id for ticket in view.offered), TICKET_LETTERS[-len(view.offered) :]))
        keeps = [move for move in moves if move.kind == "keep"]
        keeps.sort(key=lambda move: (len(move.tickets), sorted(letters[t] for t in move.tickets)))
        if keeps:
            parts.append(Text(f"Choose from {len(letters)} tickets, at least {len(keeps[0].tickets)}", "bold"))
            parts += [Text(f"  {letter}  {ticket_text(self.play.board, t)}") for t, letter in letters.items()]
            items = [item(move, " ".join(sorted(letters[t] for t in move.tickets))) for move in keeps]
            parts += [Text("Keep", "bold"), flow(items, self.console.width, "   ", aligned=True)]
        claims = [move for move in moves if move.kind == "claim"]
        if claims:
            parts += [Text("Claim a route", "bold"), self._claims(view, claims, item)]
            parts.append(Text.assemble(("Hand ", "bold"), self.text.letters_of(view.hand)))  # it may have scrolled away
        return numbered, Group(*parts)

    def _claims(self, view: View, claims: list[Move], item) -> Table | Text:
        """By route: its spaces, cities and points, and the ways to pay for it; the routes alone if there are too many ways."""
        by_route: dict[int, list[Move]] = {}
        for move in claims:
            by_route.setdefault(move.route, []).append(move)
        names = {route: self.text.connection(route, 30) for route in by_route}
        points = {route: f"+{view.routes[route].points:g}" for route in by_route}
        order = sorted(by_route, key=lambda route: (names[route], route))
        if len(claims) > MANY:
            return flow([item(by_route[r], self._short(r, view, points[r])) for r in order], self.console.width, "  ", aligned=True)
        grid = Table.grid(padding=(0, 2, 0, 0))
        for justify in ("left", "left", "right", "left"):
            grid.add_column(no_wrap=True, justify=justify)
        longest = max(view.routes[route].length for route in by_route)
        room = self.console.width - 2 - longest - max(map(len, names.values())) - 3 - 6
        for r in order:
            ways = [item(move, self.text.payment(move)) for move in by_route[r]]
            grid.add_row(Text("  ") + self.text.spaces(r, view), names[r], points[r], flow(ways, max(room, 20), " "))
        return grid

    def _short(self, route: int, view: View, points: str) -> Text:
        """A route to claim, so short that two stand side by side on 80 characters."""
        spaces = self.text.spaces(route, view)
        name = self.text.connection(route, 29 - len(spaces))
        return Text.assemble(spaces, " ", name.ljust(29 - len(spaces)), points.rjust(4))


def without_twins(board: Board, moves: Sequence[Move]) -> list[Move]:
    """The moves without claims that equal an earlier one but for lying on a parallel route of the same colour."""
    kept: dict[tuple, Move] = {}
    for move in moves:
        if move.kind == "claim":
            route = board.routes[move.route]
            kept.setdefault((route.group, route.colour, move.colour, move.locomotives), move)
        else:
            kept[(move.code,)] = move
    return list(kept.values())


def _draw_text(move: Move) -> str:
    if move.cards == ("deck", "deck"):
        return "two from the deck"
    return " + ".join("from the deck" if card == "deck" and len(move.cards) == 1 else card for card in move.cards)
