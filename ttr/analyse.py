"""What a search thinks of a position of a recorded game.

python -m ttr.analyse game.jsonl --move 12
python -m ttr.analyse game.jsonl --move 12 --agent ismcts:iterations=3000,target=3 --json
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from ttr.actions import apply_code
from ttr.agents.registry import Agent, AgentError, parse_agent
from ttr.board import Board, MapError
from ttr.deal import deal
from ttr.moves import decode, describe
from ttr.record import read_record
from ttr.replay import RecordError, replay
from ttr.rules import RulesError
from ttr.search.analysis import Analysis, analyse
from ttr.search.reading import Child
from ttr.state import new_state
from ttr.stream import agent_stream, game_stream
from ttr.tables import Game

MADE_OF_ONE_SEARCH = ("none", "rosas", "posas")


@dataclass
class Position:
    """A recorded game before one of its moves."""

    board: Board
    game: Game
    state: np.void
    line: dict[str, Any]  # the move played then


def position_before(path: str | Path, move: int) -> Position:
    """The position before a move of a record, which is checked as a whole; raises RecordError."""
    followed, lines = replay(path), read_record(path)
    moves = lines[1:-1]
    if not 1 <= move <= len(moves):
        raise RecordError(f"{path} has no move {move}; its moves are numbered 1 to {len(moves)}")
    state = new_state()
    deal(followed.game, state, np.uint64(game_stream(lines[0]["seed"], lines[0]["deal"])))
    for line in moves[: move - 1]:
        apply_code(followed.game, state, line["code"])
    return Position(followed.board, followed.game, state, moves[move - 1])


def as_data(position: Position, result: Analysis, seed: int) -> dict[str, Any]:
    """An analysis as plain data."""

    def text(child: Child) -> str:
        return describe(position.board, decode(position.board, child.code))

    def shown(child: Child) -> dict[str, Any]:
        mean = child.mean if child.visits else None
        return {"code": child.code, "text": text(child), "visits": child.visits, "mean": mean}

    return {
        "move": position.line["move"],
        "player": position.line["player"],
        "turn": position.line["turn"],
        "agent": result.agent.text,
        "seed": seed,
        "iterations": result.iterations,
        "nodes": result.nodes,
        "mean": result.mean if result.iterations else None,
        "played": {"code": position.line["code"], "text": position.line["text"]},
        "actions": [shown(child) for child in result.actions],
        "choices": {dda: [shown(child) for child in picks] for dda, picks in result.choices.items()},
    }


def _pick_marks(data: dict[str, Any], code: int) -> str:
    """Which choices of the plain search play an action; a tie says among how many."""
    marks = []
    for dda in MADE_OF_ONE_SEARCH:
        picks = data["choices"][dda]
        if code in [pick["code"] for pick in picks]:
            marks.append(dda if len(picks) == 1 else f"{dda} (1 of {len(picks)})")
    return ", ".join(marks)


def print_analysis(data: dict[str, Any], console: Console, most: int) -> None:
    """The analysis as a table for a person."""
    console.print(f"Move {data['move']}, turn {data['turn'] + 1}, player {data['player']} to move: {data['agent']}")
    if not data["iterations"]:
        console.print(f"Only one action is legal, nothing was searched: {data['actions'][0]['text']}")
        return
    console.print(f"{data['iterations']:,} iterations, {data['nodes']:,} nodes, expected score difference {data['mean']:+.2f}\n")
    table = Table()
    for heading in ("mean", "visits", "action", "played by"):
        table.add_column(heading, justify="right" if heading in ("mean", "visits") else "left", overflow="fold")
    played = data["played"]["code"]
    for place, action in enumerate(data["actions"]):
        marks = _pick_marks(data, action["code"])
        alone = any([pick["code"] for pick in data["choices"][dda]] == [action["code"]] for dda in MADE_OF_ONE_SEARCH)
        if place < most or alone or action["code"] == played:
            marks = ", ".join(part for part in (marks, "the game" if action["code"] == played else "") if part)
            table.add_row(f"{action['mean']:+.2f}", f"{action['visits']:,}", action["text"], marks)
    console.print(table)
    if len(data["actions"]) > most:
        console.print(f"{len(data['actions'])} actions in all (--all shows them).")
    for dda in ("true_rosas", "true_posas"):
        picks = data["choices"][dda]
        told = " or ".join(f"{p['text']} ({p['visits']:,} visits, mean {p['mean']:+.2f})" for p in picks)
        console.print(f"{dda}, by a search of its own: {told}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m ttr.analyse", description="What a search thinks of a recorded position.")
    parser.add_argument("record", metavar="RECORD", help="a recorded game, one JSON object a line")
    parser.add_argument("--move", type=int, required=True, metavar="N", help="the position before this move of the record")
    parser.add_argument("--agent", default="cmcts", help="a search agent, name[:field=value,...] (default: cmcts)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the search's random stream (default: 1)")
    parser.add_argument("--all", action="store_true", help="show all actions, not only the best ten and those picked")
    parser.add_argument("--json", action="store_true", help="print one JSON object, for scripts")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Analyses one position; 2 with one line on stderr if something named does not exist."""
    arguments = _parser().parse_args(argv)
    try:
        agent: Agent = parse_agent(arguments.agent)
        position = position_before(arguments.record, arguments.move)
        if arguments.seed < 0:
            raise AgentError(f"--seed is {arguments.seed}, it must not be negative")
        stream = int(agent_stream(arguments.seed, arguments.move, 0, position.line["player"]))
        result = analyse(position.game, position.state, agent, stream)
    except (AgentError, RecordError, MapError, RulesError) as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{error.filename or arguments.record}: {error.strerror or error}", file=sys.stderr)
        return 2
    data = as_data(position, result, arguments.seed)
    if arguments.json:
        print(json.dumps(data))
    else:
        print_analysis(data, Console(soft_wrap=False, highlight=False, emoji=False), len(data["actions"]) if arguments.all else 10)
    return 0


if __name__ == "__main__":
    sys.exit(main())
