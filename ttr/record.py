"""Records of games: one JSON object a line, a header, every move, and the final scores.

The header and the moves together determine the whole game; the readable text is there for people.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ttr.agents.registry import Agent, AgentError, parse_agent
from ttr.board import Board
from ttr.deal import deal as deal_cards
from ttr.game import RESULT, write_result
from ttr.moves import decode, describe, warwick_code
from ttr.python_table import PythonTable, forfeit
from ttr.rules import Rules
from ttr.score import new_sheet
from ttr.state import new_state
from ttr.stream import game_stream
from ttr.tables import Game, compile_game

FORMAT, VERSION = "ttr-record", 1
WARWICK_AGENTS = {  # as numbered in appendix A of the Warwick report; its 512 is listed there but not described
    "swap": 64,  # 70 and 96 as well
    "random": 128,
    "greedy": 256,
    "base": 1024,
    "random_smart": 2048,
    "random_base": 3072,
    "villain": 4096,
    "hoarder": 5120,
    "hoarder_ticket": 6144,
    "pile": 7168,
    "pile_ticket_hater": 8192,
    "cmcts": 16384,
    "cmcts_rosas": 32768,
    "cmcts_true_rosas": 32769,
    "cmcts_posas": 32770,
    "cmcts_true_posas": 32771,
    "ismcts": 131072,
    "ismcts_rosas": 262144,
    "ismcts_true_rosas": 262145,
    "ismcts_posas": 262146,
    "ismcts_true_posas": 262147,
}
POINTS = "score unfloored routes gained lost ticket_bonus longest_bonus most_tickets_bonus".split()
COUNTS = "tickets completed routes_claimed cars_left cards_left longest rank".split()


def start_game(board: Board, rules: Rules, seed: int, deal: int) -> tuple[Game, np.void]:
    """The compiled game and its dealt state."""
    g, state = compile_game(board, rules), new_state()
    deal_cards(g, state, np.uint64(game_stream(seed, deal)))
    return g, state


def header_line(board: Board, rules: Rules, agents: Sequence[str], seed: int, deal: int, rotation: int = 0) -> dict[str, Any]:
    """The first line of a record: everything that determines the deal; turn position s is played by agent (s + rotation) mod n."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "map": board.name,
        "rules": asdict(rules) | {"points": list(rules.points)},
        "agents": list(agents),
        "seed": seed,
        "deal": deal,
        "rotation": rotation,
        "warwick_agents": [WARWICK_AGENTS.get(text.partition(":")[0]) for text in agents],
    }


def move_line(board: Board, state: np.void, number: int, code: int) -> dict[str, Any]:
    """The line of one move, before it is done in `state`."""
    move = decode(board, code)
    line = {"move": number, "player": int(state["player"]), "turn": int(state["turn"]), "code": code, "text": describe(board, move)}
    try:
        warwick = warwick_code(board, move)
    except ValueError:  # a colour the Warwick report does not number
        warwick = None
    return line if warwick is None else line | {"warwick": warwick}


def score_line(g: Game, state: np.void, forfeiter: int = -1, reason: str = "") -> dict[str, Any]:
    """The last line of a game that is over, or that a player forfeits in this state."""
    row = np.zeros(1, RESULT)[0]
    write_result(g, state, new_sheet(), row)
    if forfeiter >= 0:
        forfeit(row, forfeiter, g.players)
    return result_line(row, g.players, reason)


def result_line(row: np.void, players: int, reason: str = "") -> dict[str, Any]:
    """The last line: every player's score in points with its breakdown, the winner (None for a draw), and who forfeited, if any."""
    scores = []
    for p in range(players):
        points = {name: _plain(int(row[name][p]) / 2) for name in POINTS}
        scores.append({"player": p} | points | {name: int(row[name][p]) for name in COUNTS})
    line = {"scores": scores, "winner": None if row["winner"] < 0 else int(row["winner"])}
    return line if row["forfeit"] < 0 else line | {"forfeit": int(row["forfeit"]), "reason": reason}


def _plain(points: float) -> float:
    return int(points) if points == int(points) else points


def play_and_record(
    board: Board,
    rules: Rules,
    agents: Sequence[str | Agent],
    seed: int,
    deal: int = 0,
    rotation: int = 0,
    on_error: str = "stop",
) -> list[dict[str, Any]]:
    """Play a whole game and return its record; in rotation r, turn position s is played by agent (s + r) mod n."""
    if len(agents) != rules.players:
        raise AgentError(f"{rules.players} players are needed, there are {len(agents)} agents")
    players = [parse_agent(agent) if isinstance(agent, str) else agent for agent in agents]
    table = PythonTable(compile_game(board, rules), board, players, on_error)
    row = np.zeros(1, RESULT)[0]
    row["deal"], row["rotation"] = deal, rotation
    lines = [header_line(board, rules, [player.text for player in players], seed, deal, rotation)]
    reason = table.play_row(row, seed, lambda state, _, before, code, __: lines.append(move_line(board, state, before + 1, code)))
    return [*lines, result_line(row, rules.players, reason)]


def write_record(lines: Sequence[dict[str, Any]], path: str | Path) -> None:
    """Write a record, one JSON object a line."""
    Path(path).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def read_record(path: str | Path) -> list[dict[str, Any]]:
    """Read a record as it was written; it is not checked (ttr.replay does that)."""
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
