"""Whole games run from Python on the engine's jitted steps: for tables at which a user's own agent sits, and for records.

The games are those of batch.py, row for row; only slower. A user's agent that fails ends the run (`stop`) or, with
`forfeit`, its game: it is scored as it stands and the forfeiter comes last.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from ttr.actions import apply_code
from ttr.agent_view import Setting
from ttr.agents.contract import new_scratch
from ttr.agents.python_agent import AgentFailure
from ttr.agents.registry import Agent
from ttr.batch import DECISION, LONGEST_LOG, Table, note_decision, note_lead, seat_stream, start_row
from ttr.board import Board
from ttr.clock import read_ticks
from ttr.game import RESULT, write_result
from ttr.rules import Rules
from ttr.score import new_sheet
from ttr.seats import Seat, take_seat
from ttr.state import OVER, new_state
from ttr.tables import Game, compile_game

ON_ERROR = ("stop", "forfeit")
Note = Callable[[np.void, np.void, int, int, int], None]  # (state, the player's record, moves before, code, ticks)


class Plays(Protocol):
    """A table of either kind."""

    def play(self, deals: np.ndarray, rotations: np.ndarray, seed: int) -> np.ndarray:
        """The games of these deals and rotations, one row each."""

    def play_logged(self, deals: np.ndarray, rotations: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """The same games with the log of all their decisions."""


def table_for(
    board: Board, rules: Rules | Game, agents: Sequence[Agent], on_error: str = "stop", scratch: np.void | None = None
) -> Plays:
    """The fastest table these agents can sit at."""
    game = compile_game(board, rules) if isinstance(rules, Rules) else rules
    if any(agent.by_user for agent in agents):
        return PythonTable(game, board, agents, on_error, scratch)
    return Table(game, agents, scratch)


class PythonTable:
    """Agents of any kind sat down at one game."""

    def __init__(self, game: Game, board: Board, agents: Sequence[Agent], on_error: str = "stop", scratch: np.void | None = None):
        if len(agents) != game.players:
            raise ValueError(f"{game.players} players are needed, there are {len(agents)} agents")
        if on_error not in ON_ERROR:
            raise ValueError(f"on_error is '{on_error}', it must be one of {', '.join(ON_ERROR)}")
        self.game, self.agents, self.on_error = game, list(agents), on_error
        self.setting = Setting(board, game)
        self._state, self._sheet = new_state(), new_sheet()
        self._scratch = new_scratch() if scratch is None else scratch

    def play(self, deals: np.ndarray, rotations: np.ndarray, seed: int) -> np.ndarray:
        """The games of these deals and rotations, one row each; raises AgentFailure unless failures forfeit."""
        rows = np.zeros(len(deals), RESULT)
        rows["deal"], rows["rotation"] = deals, rotations
        for row in rows:
            self.play_row(row, seed)
        return rows

    def play_logged(self, deals: np.ndarray, rotations: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """The same games with the log of all their decisions."""
        rows = np.zeros(len(deals), RESULT)
        rows["deal"], rows["rotation"] = deals, rotations
        log, kept = np.zeros(LONGEST_LOG, DECISION), []

        def note(state: np.void, me: np.void, number: int, code: int, spent: int) -> None:
            note_decision(self.game, state, me, code, spent, log[number])

        for i, row in enumerate(rows):
            self.play_row(row, seed, note)
            entries = log[: row["decisions"]].copy()
            entries["row"], entries["number"] = i, np.arange(len(entries))
            kept.append(entries)
        return rows, np.concatenate(kept) if kept else log[:0]

    def play_row(self, row: np.void, seed: int, note: Note | None = None) -> str:
        """Play the game of a row; returns why it was forfeited, or "". `note` is told of every move before it is done."""
        g, s = self.game, self._state
        start_row(g, s, row, seed)
        seats: list[Seat] = []
        seat = 0
        try:
            for seat in range(g.players):
                stream = int(seat_stream(seed, row, seat))
                seats.append(take_seat(self.setting, self.seated(row, seat), stream, self._scratch))
            while s["phase"] != OVER:
                seat = int(s["player"])
                before = read_ticks()
                code = seats[seat].decide(s)
                spent = read_ticks() - before
                row["ticks"][seat] += spent
                if note:
                    note(s, seats[seat].me, int(row["decisions"]), code, spent)
                for other in range(g.players):
                    if other != seat:
                        seats[other].watch(s, other, code)
                turn = int(s["turn"])
                apply_code(g, s, code)
                row["decisions"] += 1
                if s["turn"] != turn:
                    note_lead(g, s, row, seat)
        except AgentFailure as failure:
            where = f"seed {seed}, deal {row['deal']}, rotation {row['rotation']}, move {row['decisions'] + 1}"
            message = f"agent {self.seated(row, seat).text} failed at {where}: {failure}"
            if self.on_error == "stop":
                raise AgentFailure(message) from failure
            write_result(g, s, self._sheet, row)
            forfeit(row, seat, g.players)
            return message
        write_result(g, s, self._sheet, row)
        return ""

    def seated(self, row: np.void, seat: int) -> Agent:
        """Who plays a turn position in the game of a row."""
        return self.agents[(seat + int(row["rotation"])) % self.game.players]


def forfeit(row: np.void, seat: int, players: int) -> None:
    """The player in a seat gives up a game that is scored in its row: it is last, and one of the others wins, or they draw."""
    row["forfeit"] = seat
    ranks = row["rank"]
    for p in range(players):
        if p != seat and ranks[p] > ranks[seat]:
            ranks[p] -= 1
    ranks[seat] = players
    first = [p for p in range(players) if p != seat and ranks[p] == 1]
    row["winner"] = first[0] if len(first) == 1 else -1
