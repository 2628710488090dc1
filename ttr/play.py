"""A game in the terminal: people and agents at one table, on any map.

python -m ttr.play                                             you against greedy on the map yang
python -m ttr.play human greedy greedy --map usa --seed 7      three players, the same cards every time
python -m ttr.play random greedy --record game.jsonl           watch two agents, and keep the record

A person is shown what `observe` shows and nothing else.
"""

import argparse
import re
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from rich.console import Console, Group
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from ttr.actions import apply_code
from ttr.agents.registry import Agent, AgentError, parse_agent
from ttr.board import Board, MapError, load_board
from ttr.board_text import BoardText, flow
from ttr.moves import Move, decode, describe, legal_moves, ticket_text
from ttr.observation import observe
from ttr.record import header_line, move_line, score_line, start_game, write_record
from ttr.rules import Rules, RulesError, parse_overrides, resolve_rules, usual_preset
from ttr.seats import JittedSeat
from ttr.state import OVER, new_state
from ttr.stream import agent_stream
from ttr.tables import Game
from ttr.view import View, cards_of, is_completed, members, view_of

HUMAN = "human"
SMALL = 20  # connections: so small a board is shown at every turn
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


class Seat(Protocol):
    """Whoever decides at one place of the table."""

    def decide(self, state: np.void) -> int:
        """The code of the action taken in a state in which it is to move."""
        ...


def agent_seat(game: Game, agent: Agent, stream: int) -> Seat:
    """The seat of any agent."""
    return JittedSeat(game, agent, stream)


def public_text(board: Board, move: Move) -> str:
    """A move as the other players see it: how many tickets are kept, not which."""
    if move.kind == "keep":
        return f"keeps {len(move.tickets)} ticket{'s' if len(move.tickets) > 1 else ''}"
    return describe(board, move)


class Play:
    """One game at one terminal: its table, its log of moves, and the people's screens."""

    def __init__(self, board: Board, rules: Rules, agents: Sequence[str], seed: int, console: Console):
        self.board, self.rules, self.console, self.seed = board, rules, console, seed
        self.agents = list(agents)
        self.humans = [p for p, text in enumerate(agents) if text == HUMAN]
        parsed = {p: parse_agent(text) for p, text in enumerate(agents) if text != HUMAN}
        names = [text if text != HUMAN else "you" if len(self.humans) == 1 else HUMAN for text in self.agents]
        self.text = BoardText(board, names, console.width)
        self.game, self.state = start_game(board, rules, seed, deal=0)
        streams = [agent_stream(seed, 0, 0, p) for p in range(len(agents))]
        self.seats: list[Seat] = [
            agent_seat(self.game, parsed[p], streams[p]) if p in parsed else HumanSeat(self, p) for p in range(len(agents))
        ]
        self.lines = [header_line(board, rules, self.agents, seed, deal=0)]
        self.log: list[tuple[int, str, str]] = []  # player, move as the others see it, move as the player itself sees it
        self.looking: int | None = self.humans[0] if self.humans else None  # whose screen this is

    def run(self) -> dict:
        """Play to the end; returns the final scores."""
        while self.state["phase"] != OVER:
            p = int(self.state["player"])
            if p in self.humans or not self.console.is_terminal:
                code = self.seats[p].decide(self.state)
            else:
                with self.console.status(f"{self.text.names[p]} is thinking ..."):
                    code = self.seats[p].decide(self.state)
            self._do(p, code)
        self.lines.append(score_line(self.game, self.state))
        return self.lines[-1]

    def _do(self, p: int, code: int) -> None:
        move, hand = decode(self.board, code), int(self.state["hand"][p])
        self.lines.append(move_line(self.board, self.state, len(self.lines), code))
        apply_code(self.game, self.state, code)
        own = describe(self.board, move)
        if move.kind == "draw" and "deck" in move.cards:
            gained = cards_of(self.board, int(self.state["hand"][p]) - hand)
            for card in move.cards:
                if card != "deck":
                    gained[card] -= 1
            own += f" ({', '.join(name for name, count in gained.items() for _ in range(count))})"
        self.log.append((p, public_text(self.board, move), own))
        if not self.humans:
            self.console.print(Text.assemble(f"{len(self.log):4}  ", self.text.player(p), ": ", own))

    def moves_since(self, start: int, me: int) -> list[Text]:
        """The moves from `start` on, as one player may know them."""
        return [Text.assemble("  ", self.text.player(p), ": ", own if p == me else public) for p, public, own in self.log[start:]]

    def say_final(self, line: dict) -> None:
        """The end: the board, everybody's tickets, the scores with their breakdown, and the winner."""
        view, say = view_of(self.board, self.game, self.state, 0), self.console.print
        say(Rule("The game is over"), self.text.routes(view), "")
        for p in range(self.rules.players):
            routes = [route for route, owner in view.owners.items() if owner == p]
            held = members(self.state["held"][p])
            texts = [Text(("[x] " if is_completed(self.board, routes, t) else "[ ] ") + ticket_text(self.board, t)) for t in held]
            say(Text.assemble("Tickets of ", self.text.player(p), ":"), flow(texts, self.console.width, "   ", aligned=True))
        say("", self.text.scores(line))
        winner = line["winner"]
        if winner is None:
            say("The game is a draw.", style="bold")
        else:
            you = self.text.names[winner] == "you"
            say(Text.assemble("You win." if you else f"Player {winner} ({self.text.names[winner]}) wins.", style="bold"))


class HumanSeat:
    """A person at the terminal."""

    def __init__(self, play: Play, me: int):
        self.play, self.me, self.console, self.text = play, me, play.console, play.text
        self._seen = new_state()
        self._told = 0  # moves of the log already shown to this person

    def decide(self, state: np.void) -> int:
        """Show what the person may see and ask until a legal action is named."""
        self._take_over_the_screen()
        board, game = self.play.board, self.play.game
        observe(game, state, self.me, self._seen)
        view = view_of(board, game, state, self.me)
        moves = legal_moves(game, board, self._seen)
        numbered, menu = self._menu(view, moves)
        self._show(view)
        self.console.print(menu)
        while True:
            word = self._ask(f"Your move (1-{len(numbered)}, b board, t tickets, ? help, q quit): ").lower()
            if word.isdecimal() and 1 <= int(word) <= len(numbered):
                return numbered[int(word) - 1].code
            if word in ("q", "quit"):
                raise LeftTheTable("You have left the game.")
            if word in ("?", "h", "help"):
                self.console.print(HELP.format(end_cars=self.play.rules.end_cars))
            elif word in ("b", "board"):
                self.console.print(self.text.routes(view))
            elif word in ("t", "tickets"):
                self.console.print(self.text.tickets(view))
            elif not word:
                self.console.print(menu)
            else:
                self.console.print(f"'{word}' is no action: type a number from 1 to {len(numbered)}, or b, t, ? or q.")

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
        say("", Rule(f"Round {view.round}: player {self.me} ({you})"))
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
        if rules.face_up:
            facts.add_row("Face up", flow(self._items(view.row), self.console.width - 10, "   "))
        piles = f"{view.deck} cards, {view.discards} discarded; {view.ticket_deck} tickets"
        facts.add_row("Decks", piles)
        facts.add_row("Hand", flow(self._items(view.hand), self.console.width - 10, "   "))
        facts.add_row("Tickets", self.text.tickets(view))
        say(facts)
        if view.left:
            turns = "this is the last turn" if view.left == 1 else f"{view.left} turns are left, this is your last one"
            say(Text(f"\nTHE LAST TURNS: {turns}.", style="bold red"))
        say("")

    def _items(self, counts: dict[str, int]) -> list[Text]:
        return [self.text.card(name, count) for name, count in counts.items()] or [Text("none", "dim")]

    def _menu(self, view: View, moves: list[Move]) -> tuple[list[Move], Group]:
        """The legal moves in the order of their numbers, and how they are shown: by kind, claims by route."""
        numbered: list[Move] = []
        parts: list = []

        def item(move: Move, text: str | Text) -> Text:
            numbered.append(move)
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
        keeps = sorted((move for move in moves if move.kind == "keep"), key=lambda move: (len(move.tickets), move.tickets))
        if keeps:
            letters = dict(zip(view.revealed, TICKET_LETTERS[-len(view.revealed) :]))
            parts.append(Text(f"Choose from {len(letters)} tickets, at least {len(keeps[0].tickets)}", "bold"))
            parts += [Text(f"  {letter}  {ticket_text(self.play.board, t)}") for t, letter in letters.items()]
            items = [item(move, " ".join(sorted(letters[t] for t in move.tickets))) for move in keeps]
            parts += [Text("Keep", "bold"), flow(items, self.console.width, "   ", aligned=True)]
        claims = [move for move in moves if move.kind == "claim"]
        if claims:
            parts += [Text("Claim a route", "bold"), self._claims(view, claims, item)]
        return numbered, Group(*parts)

    def _claims(self, view: View, claims: list[Move], item) -> Table:
        """One row for a route: its spaces, cities and points, then every way to pay for it."""
        by_route: dict[int, list[Move]] = {}
        for move in claims:
            by_route.setdefault(move.route, []).append(move)
        names = {route: self.text.connection(route, 30) for route in by_route}
        grid = Table.grid(padding=(0, 2, 0, 0))
        for justify in ("left", "left", "right", "left"):
            grid.add_column(no_wrap=True, justify=justify)
        longest = max(self.play.board.routes[route].length for route in by_route)
        room = self.console.width - 2 - longest - max(map(len, names.values())) - 3 - 6
        for route in sorted(by_route, key=lambda route: (names[route], route)):
            points = f"+{self.play.rules.points[self.play.board.routes[route].length - 1]:g}"
            ways = [item(move, self.text.payment(move)) for move in by_route[route]]
            grid.add_row(Text("  ") + self.text.spaces(route, view), names[route], points, flow(ways, max(room, 20), " "))
        return grid


def _draw_text(move: Move) -> str:
    if move.cards == ("deck", "deck"):
        return "two from the deck"
    return " + ".join("from the deck" if card == "deck" and len(move.cards) == 1 else card for card in move.cards)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m ttr.play",
        description="Play a game in the terminal, against any agents and with other people; without a human, watch.",
        epilog="Without arguments: human greedy on yang. Exit code 0: the game was finished; 1: somebody left; 2: wrong input.",
    )
    parser.add_argument(
        "players", nargs="*", metavar="PLAYER|FIELD=VALUE",
        help="'human' or an agent (greedy, swap:first=a,second=b,round=5) for each seat, in turn order; "
        "field=value changes a rule (cars=20)",
    )  # fmt: skip
    parser.add_argument(
        "--map", default="yang", metavar="NAME", help="a map, a variant (usa_1910:mega) or a map's folder (default: yang)"
    )
    parser.add_argument(
        "--rules", metavar="PRESET", help="a preset of conf/rules (default: warwick on yang and mini, else official)"
    )
    parser.add_argument("--seed", type=int, metavar="N", help="the same seed deals the same cards (default: a new one)")
    parser.add_argument("--record", metavar="FILE", help="write the finished game to this file, for python -m ttr.replay")
    return parser


def _set_up(arguments: argparse.Namespace, console: Console) -> Play:
    """The table that the command line asks for."""
    overrides = parse_overrides([word for word in arguments.players if re.match(r"[\w.]+=", word)])
    agents = [word for word in arguments.players if not re.match(r"[\w.]+=", word)] or [HUMAN, "greedy"]
    if overrides.get("players", len(agents)) != len(agents):
        raise RulesError(f"players={overrides['players']}, but {len(agents)} players are named: {' '.join(agents)}")
    seed = secrets.randbelow(10**6) if arguments.seed is None else arguments.seed
    if not 0 <= seed < 2**63:
        raise RulesError(f"--seed {seed}: it must be a whole number from 0 on")
    if arguments.record:
        path = Path(arguments.record)
        if path.exists():
            raise RulesError(f"--record {path}: this file exists; name a new one")
        if not path.parent.is_dir():
            raise RulesError(f"--record {path}: there is no folder {path.parent}")
    board = load_board(arguments.map)
    rules = resolve_rules(board, arguments.rules or usual_preset(board), len(agents), overrides)
    return Play(board, rules, agents, seed, console)


def main(argv: Sequence[str] | None = None) -> int:
    """One game: 0 if it was finished, 1 if somebody left, 2 with one line on stderr for what cannot be played."""
    arguments = _parser().parse_intermixed_args(argv)
    console = Console(highlight=False, markup=False)
    try:
        with console.status("Setting up the table (compiling takes some seconds the first time) ..."):
            play = _set_up(arguments, console)
    except (AgentError, MapError, RulesError) as error:
        print(error, file=sys.stderr)
        return 2
    console.print(f"{play.board.title}; rules {play.rules.preset}; seed {play.seed}")
    try:
        play.say_final(play.run())
    except (LeftTheTable, KeyboardInterrupt) as reason:
        console.print(f"\n{reason or 'Interrupted.'} The game was not finished.")
        if arguments.record:
            console.print(f"{arguments.record} was not written: a record holds a whole game.")
        return 1
    if arguments.record:
        try:
            write_record(play.lines, arguments.record)
        except OSError as error:
            print(f"cannot write {arguments.record}: {error.strerror or error}", file=sys.stderr)
            return 2
        console.print(f"Recorded. Follow it again: python -m ttr.replay {arguments.record} --draw board.png")
    else:
        console.print(f"The same cards again: --seed {play.seed}. To keep a game and replay it: --record FILE.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
