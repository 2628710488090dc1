"""Records of games: one JSON object a line, a header, every move, and the final scores.

The header and the moves together determine the whole game; the readable text is there for people.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ttr.actions import apply_code
from ttr.agents.registry import AgentError, parse_agent
from ttr.board import Board
from ttr.deal import deal as deal_cards
from ttr.game import RESULT, write_result
from ttr.moves import decode, describe, warwick_code
from ttr.rules import Rules
from ttr.score import new_sheet
from ttr.seats import JittedSeat
from ttr.state import OVER, new_state
from ttr.stream import agent_stream, game_stream
from ttr.tables import Game, compile_game

FORMAT, VERSION = "ttr-record", 1
WARWICK_AGENTS = {"random": 128, "greedy": 256}  # as numbered in the Warwick report
POINTS = "score unfloored routes gained lost ticket_bonus longest_bonus most_tickets_bonus".split()
COUNTS = "tickets completed routes_claimed cars_left cards_left longest rank".split()


def start_game(board: Board, rules: Rules, seed: int, deal: int) -> tuple[Game, np.void]:
    """The compiled game and its dealt state."""
    g, state = compile_game(board, rules), new_state()
    deal_cards(g, state, np.uint64(game_stream(seed, deal)))
    return g, state


def header_line(board: Board, rules: Rules, agents: Sequence[str], seed: int, deal: int, rotation: int = 0) -> dict[str, Any]:
    """The first line of a record: everything that determines the deal."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "map": board.name,
        "rules": asdict(rules) | {"points": list(rules.points)},
        "agents": list(agents),
        "seed": seed,
        "deal": deal,
        "rotation": rotation,
        "warwick_agents": [WARWICK_AGENTS.get(name) for name in agents],
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


def score_line(g: Game, state: np.void) -> dict[str, Any]:
    """The last line: every player's score in points with its breakdown, and the winner (None for a draw)."""
    row = np.zeros(1, RESULT)[0]
    write_result(g, state, new_sheet(), row)
    scores = []
    for p in range(g.players):
        points = {name: _plain(int(row[name][p]) / 2) for name in POINTS}
        scores.append({"player": p} | points | {name: int(row[name][p]) for name in COUNTS})
    return {"scores": scores, "winner": None if row["winner"] < 0 else int(row["winner"])}


def _plain(points: float) -> float:
    return int(points) if points == int(points) else points


def play_and_record(board: Board, rules: Rules, agents: Sequence[str], seed: int, deal: int = 0) -> list[dict[str, Any]]:
    """Play a whole game and return its record; every agent decides from what it may see."""
    if len(agents) != rules.players:
        raise AgentError(f"{rules.players} players are needed, there are {len(agents)} agents")
    players = [parse_agent(text) for text in agents]
    g, state = start_game(board, rules, seed, deal)
    seats = [JittedSeat(g, agent, agent_stream(seed, deal, 0, p)) for p, agent in enumerate(players)]
    lines = [header_line(board, rules, agents, seed, deal)]
    while state["phase"] != OVER:
        code = seats[int(state["player"])].decide(state)
        lines.append(move_line(board, state, len(lines), code))
        apply_code(g, state, code)
    return [*lines, score_line(g, state)]


def write_record(lines: Sequence[dict[str, Any]], path: str | Path) -> None:
    """Write a record, one JSON object a line."""
    Path(path).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def read_record(path: str | Path) -> list[dict[str, Any]]:
    """Read a record as it was written; it is not checked (ttr.replay does that)."""
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
