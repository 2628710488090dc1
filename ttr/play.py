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

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from ttr.actions import apply_code
from ttr.agent_view import Setting, View
from ttr.agents.python_agent import AgentFailure
from ttr.agents.registry import AgentError, parse_agent
from ttr.board import Board, MapError, load_board
from ttr.board_text import BoardText
from ttr.human_seat import HUMAN, HumanSeat, LeftTheTable
from ttr.moves import Move, decode, describe
from ttr.observation import observe
from ttr.record import header_line, move_line, score_line, start_game, write_record
from ttr.rules import Rules, RulesError, parse_overrides, resolve_rules, usual_preset
from ttr.seats import Seat, take_seat
from ttr.state import OVER, new_state
from ttr.stream import agent_stream


def public_text(board: Board, move: Move) -> str:
    """A move as the other players see it: how many tickets are kept, not which."""
    if move.kind == "keep":
        return f"keeps {len(move.tickets)} ticket{'s' if len(move.tickets) > 1 else ''}"
    return describe(board, move)


class Play:
    """One game at one terminal: its table, its log of moves, and the people's screens."""

    def __init__(self, board: Board, rules: Rules, agents: Sequence[str], seed: int, console: Console):
        self.board, self.rules, self.console, self.seed = board, rules, console, seed
        self.humans = [p for p, text in enumerate(agents) if text == HUMAN]
        parsed = {p: parse_agent(text) for p, text in enumerate(agents) if text != HUMAN}
        seated = [parsed[p].text if p in parsed else HUMAN for p in range(len(agents))]
        self.text = BoardText(board, ["you" if self.humans == [p] else text for p, text in enumerate(seated)], console.width)
        self.game, self.state = start_game(board, rules, seed, deal=0)
        self.setting = Setting(board, self.game)
        self.seats: list[Seat | HumanSeat] = [
            take_seat(self.setting, parsed[p], int(agent_stream(seed, 0, 0, p))) if p in parsed else HumanSeat(self, p)
            for p in range(len(agents))
        ]
        self.lines = [header_line(board, rules, seated, seed, deal=0)]
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
        for other, seat in enumerate(self.seats):
            if other != p:
                seat.watch(self.state, other, code)
        apply_code(self.game, self.state, code)
        own = describe(self.board, move)
        if move.kind == "draw" and "deck" in move.cards:
            gained = self.setting.cards(int(self.state["hand"][p]) - hand)
            blind = [name for name, count in gained.items() for _ in range(count - move.cards.count(name))]
            own += f" ({', '.join(blind)})"
        self.log.append((p, public_text(self.board, move), own))
        if not self.humans:
            self.console.print(Text.assemble(f"{len(self.log):4}  ", self.text.player(p), ": ", own))

    def moves_since(self, start: int, me: int) -> list[Text]:
        """The moves from `start` on, as one player may know them."""
        return [Text.assemble("  ", self.text.player(p), ": ", own if p == me else public) for p, public, own in self.log[start:]]

    def say_final(self, line: dict) -> None:
        """The end: the board, everybody's tickets, the scores with their breakdown, and the winner."""
        say, views = self.console.print, [self._last_view(p) for p in range(self.rules.players)]
        say(Rule("The game is over"), self.text.routes(views[0]), "")
        for p, view in enumerate(views):
            say(Text.assemble("Tickets of ", self.text.player(p)))
            say(self.text.tickets(view.tickets, self.console.width))
        say("", self.text.scores(line))
        winner = line["winner"]
        if winner is None:
            say("The game is a draw.", style="bold")
        else:
            you = self.text.names[winner] == "you"
            say(Text.assemble("You win." if you else f"Player {winner} ({self.text.names[winner]}) wins.", style="bold"))

    def _last_view(self, player: int) -> View:
        """The end of the game as one player sees it."""
        state, seen = self.state.copy(), new_state()
        state["player"] = player
        observe(self.game, state, player, seen)
        return View.of(self.setting, seen)


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
    console = Console(highlight=False, markup=False, emoji=False)
    try:
        with console.status("Setting up the table (compiling takes some seconds the first time) ..."):
            play = _set_up(arguments, console)
        console.print(f"{play.board.title}; rules {play.rules.preset}; seed {play.seed}")
        play.say_final(play.run())
    except (AgentError, AgentFailure, MapError, RulesError) as error:
        print(error, file=sys.stderr)
        return 2
    except (LeftTheTable, KeyboardInterrupt) as reason:
        console.print(f"\n{str(reason) or 'Interrupted.'} The game was not finished.")
        if arguments.record:
            console.print(f"{arguments.record} was not written: a record holds a whole game.")
        return 1
    if arguments.record:
        try:
            write_record(play.lines, arguments.record)
        except OSError as error:
            print(f"cannot write {arguments.record}: {error.strerror or error}", file=sys.stderr)
            return 2
        console.print(f"Recorded. Follow it again: python -m ttr.replay {arguments.record} --draw board.png", soft_wrap=True)
    else:
        console.print(f"The same cards again: --seed {play.seed}. To keep a game and replay it: --record FILE.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
