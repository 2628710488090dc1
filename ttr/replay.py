"""Follow a recorded game move by move, checking every line of it.

python -m ttr.replay game.jsonl
python -m ttr.replay game.jsonl --draw board.png
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ttr.actions import apply_code, index_of
from ttr.board import Board, MapError, load_board
from ttr.record import FORMAT, VERSION, header_line, move_line, score_line, start_game
from ttr.rules import FIELDS, RulesError, resolve_rules
from ttr.state import OVER
from ttr.tables import Game

FORMATS = (".png", ".pdf", ".svg")


class RecordError(ValueError):
    """A record that cannot be followed, in one line: "FILE, line N: reason"."""


@dataclass
class Replay:
    """A game followed to its end."""

    board: Board
    game: Game
    state: np.void
    texts: list[str]  # the moves, as printed
    scores: dict[str, Any]

    def owners(self) -> dict[int, int]:
        """Who has claimed which route."""
        owned = self.state["own"]
        return {
            route: p
            for p in range(self.game.players)
            for route in range(self.game.routes)
            if (int(owned[p][route >> 6]) >> (route & 63)) & 1
        }


def replay(path: str | Path) -> Replay:
    """Follow the record in a file; raises RecordError at the first line that is not as it must be."""
    try:
        texts = Path(path).read_bytes().decode("utf-8").splitlines()
    except UnicodeDecodeError:
        raise RecordError(f"{path}, line 1: this is no text") from None
    number = 1
    try:
        header = _parse(texts, 0)
        board, game, state = _start(header)
        turn_order = [header["agents"][(p + header["rotation"]) % game.players] for p in range(game.players)]
        told = []
        number += 1
        while state["phase"] != OVER and "forfeit" not in _parse(texts, number - 1):
            told.append(_follow(board, game, state, number - 1, _parse(texts, number - 1), turn_order))
            number += 1
        final = _parse(texts, number - 1)
        expected = json.loads(json.dumps(_expected_end(game, state, final, begun=number > 2)))
        for field in expected | final:
            _same(field, final.get(field), expected.get(field))
        if len(texts) > number:
            number += 1
            raise ValueError("the game is over, but the record goes on")
    except (ValueError, OverflowError) as error:
        raise RecordError(f"{path}, line {number}: {error}") from None
    return Replay(board, game, state, told, final)


def _expected_end(game: Game, state: np.void, final: dict[str, Any], begun: bool) -> dict[str, Any]:
    """The last line as it must be; the player to move forfeits, before the first move anyone."""
    if "forfeit" not in final:
        return score_line(game, state)
    player, reason = final["forfeit"], final.get("reason")
    if state["phase"] == OVER:
        raise ValueError("a forfeit, but the game is over")
    if type(player) is not int or not 0 <= player < game.players:
        raise ValueError(f"forfeit is {json.dumps(player)}, it must be a player, 0 to {game.players - 1}")
    if begun:
        _same("forfeit", player, int(state["player"]))
    if not isinstance(reason, str):
        raise ValueError("the reason of the forfeit is missing")
    return score_line(game, state, player, reason)


def _parse(texts: list[str], at: int) -> dict[str, Any]:
    if at >= len(texts):
        raise ValueError("the record ends here, but the game is not complete" if at else "the file is empty")
    try:
        line = json.loads(texts[at])
    except (ValueError, RecursionError):
        raise ValueError("this is no JSON object") from None
    if not isinstance(line, dict):
        raise ValueError("this is no JSON object")
    return line


def _same(field: str, found: Any, expected: Any) -> None:
    if found != expected or type(found) is not type(expected):
        raise ValueError(f"{field} is {json.dumps(found)}, it must be {json.dumps(expected)}")


def _start(header: dict[str, Any]) -> tuple[Board, Game, np.void]:
    """The board and the deal that a header names."""
    _same("format", header.get("format"), FORMAT)
    _same("version", header.get("version"), VERSION)
    rules, agents = header.get("rules"), header.get("agents")
    if not isinstance(header.get("map"), str):
        raise ValueError("the map is missing")
    if not isinstance(rules, dict) or not isinstance(rules.get("preset"), str):
        raise ValueError("the rules are missing")
    if not isinstance(agents, list) or not all(isinstance(name, str) for name in agents):
        raise ValueError("the agents are missing")
    for name in ("seed", "deal", "rotation"):
        value = header.get(name)
        if type(value) is not int or not 0 <= value < 2**63:
            raise ValueError(f"{name} is {json.dumps(value)}, it must be a whole number")
    for name in FIELDS:
        if name not in rules:
            raise ValueError(f"the rules do not say {name}")
    board = load_board(header["map"])
    values = {name: value for name, value in rules.items() if name != "preset"}
    resolved = resolve_rules(board, rules["preset"], overrides=values)
    _same("the number of agents", len(agents), resolved.players)
    expected = header_line(board, resolved, agents, header["seed"], header["deal"], header["rotation"])
    for field in expected | header:
        _same(field, header.get(field), expected.get(field))
    return board, *start_game(board, resolved, header["seed"], header["deal"])


def _follow(board: Board, game: Game, state: np.void, number: int, line: dict[str, Any], agents: list[str]) -> str:
    """Check one move, do it, and tell it."""
    if "scores" in line:
        raise ValueError("final scores, but the game is not over")
    code = line.get("code")
    if type(code) is not int or not 0 <= code < 2**63:
        raise ValueError("the action code is missing")
    if index_of(game, state, code) < 0:
        raise ValueError(f"action code {code} is not legal here")
    expected = move_line(board, state, number, code)
    for field in expected | line:
        _same(field, line.get(field), expected.get(field))
    apply_code(game, state, code)
    player = expected["player"]
    return f"{number:4}  turn {expected['turn'] + 1:3}  player {player} ({agents[player]}) {expected['text']}"


def score_table(line: dict[str, Any]) -> str:
    """The final scores as a table, a column for each player, and who has won."""
    names = "score routes gained lost ticket_bonus longest_bonus most_tickets_bonus completed tickets longest".split()
    columns = [["player", *(name.replace("_", " ") for name in names)]]
    columns += [[str(sheet["player"]), *(str(sheet[name]) for name in names)] for sheet in line["scores"]]
    first, *others = [max(map(len, column)) for column in columns]
    table = [
        text.ljust(first) + "".join(cell.rjust(width + 2) for cell, width in zip(cells, others)) for text, *cells in zip(*columns)
    ]
    winner = line["winner"]
    forfeit = [f"Player {line['forfeit']} forfeits: {line['reason']}"] if "forfeit" in line else []
    return "\n".join([*table, *forfeit, "The game is a draw." if winner is None else f"Player {winner} wins."])


def main(argv: Sequence[str] | None = None) -> int:
    """Follows one record; 0 if it is sound, 2 with one line on stderr if not."""
    parser = argparse.ArgumentParser(prog="python -m ttr.replay", description="Follow a recorded game and check it.")
    parser.add_argument("file", metavar="FILE", help="a record, one JSON object a line")
    parser.add_argument("--draw", metavar="PICTURE", help="draw the final board: .png, .pdf or .svg")
    arguments = parser.parse_args(argv)
    if arguments.draw and Path(arguments.draw).suffix.lower() not in FORMATS:
        print(f"cannot draw {arguments.draw!r}: the name must end in {', '.join(FORMATS)}", file=sys.stderr)
        return 2
    try:
        game = replay(arguments.file)
        print("\n".join([*game.texts, "", score_table(game.scores)]))
        if arguments.draw:
            from ttr.drawing import save_board  # matplotlib is slow to import and only needed here

            print(save_board(game.board, arguments.draw, owners=game.owners()))
    except (RecordError, MapError, RulesError) as error:
        print(error, file=sys.stderr)
        return 2
    except BrokenPipeError:
        raise  # nobody reads the output
    except OSError as error:
        print(f"{error.filename or arguments.file}: {error.strerror or error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
