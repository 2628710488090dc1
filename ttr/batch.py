"""Batches of whole games between any jitted agents, inside jitted code.

Row i is one game: its deal and rotation are given, everything else is filled in. In rotation r, turn position s is played by
entry (s + r) mod n of the matchup. A row depends on board, rules, agents, seed, deal and rotation alone, never on the batch.
Every decision can be logged: which move it was, and what a search knew of it.
"""

from collections.abc import Sequence

import numba
import numpy as np
from numba import types

from ttr.actions import apply_code, count_actions
from ttr.agents.contract import DECIDERS, ME, SCRATCH, as_seen_by, new_scratch, start_game
from ttr.agents.registry import Agent, Player, seat_player
from ttr.clock import ticks
from ttr.deal import deal
from ttr.game import RESULT, write_result
from ttr.jit import OPTIONS, jitted
from ttr.observation import observe
from ttr.score import SHEET
from ttr.state import OVER, STATE
from ttr.stream import agent_stream, game_stream
from ttr.tables import GAME_TYPE, MAX_PLAYERS, Game

NEVER = 1 << 40  # the round in which a plain agent is swapped
ENTRY = np.dtype([("cheats", "i8", 2), ("watches", "i8", 2), ("swap_round", "i8")], align=True)
DECISION = np.dtype(
    [
        ("row", "i8"),  # which game of the batch
        ("number", "i8"),  # of the decision in its game
        ("turn", "i8"),
        ("seat", "i8"),
        ("code", "i8"),  # canonical, of the action taken
        ("actions", "i8"),  # legal ones; 0 for a pass
        ("iterations", "i8"),  # what a search did; zero for agents that do not search
        ("nodes", "i8"),
        ("visits", "i8"),  # of the action taken
        ("mean", "f8"),
        ("ticks", "i8"),  # time (clock.py)
    ],
    align=True,
)
LONGEST_LOG = 1 << 14  # decisions of one game; no board comes near


@jitted
def note_lead(g, s, row, player):
    """After a turn of `player`: who has the most route points leads, ties all lead; a lead changes when another one leads alone.

    `row.winner` holds the last sole leader until the game is scored.
    """
    row.turns_taken[player] += 1
    best = s.points[0]
    for p in range(1, g.players):
        best = max(best, s.points[p])
    leaders = 0
    leader = 0
    for p in range(g.players):
        if s.points[p] == best:
            row.turns_led[p] += 1
            leaders += 1
            leader = p
    if leaders == 1:
        if row.winner >= 0 and row.winner != leader:
            row.lead_changes += 1
        row.winner = leader


@jitted
def start_row(g, s, row, seed):
    """Deal the game of a row and clear what is counted during play."""
    deal(g, s, game_stream(seed, row.deal))
    row.decisions = 0
    row.lead_changes = 0
    row.winner = -1
    for p in range(MAX_PLAYERS):
        row.turns_taken[p] = 0
        row.turns_led[p] = 0
        row.ticks[p] = 0


@jitted
def note_decision(g, s, me, code, spent, entry):
    """Log a decision, before it is done."""
    entry.turn = s.turn
    entry.seat = s.player
    entry.code = code
    entry.actions = count_actions(g, s)
    entry.iterations = me.iterations
    entry.nodes = me.nodes
    entry.visits = me.visits
    entry.mean = me.mean
    entry.ticks = spent


@jitted
def seat_stream(seed, row, seat):
    """The random stream of a turn position in the game of a row."""
    return agent_stream(seed, row.deal, row.rotation, seat)


@jitted
def _show_move(g, deciders, entries, players, s, seen, scratch, row, code):
    """Let the others who watch see an action that is about to be done."""
    for seat in range(g.players):
        e = (seat + row.rotation) % g.players
        half = np.int64(s.turn >= (entries[e].swap_round - 1) * g.players)
        if seat == s.player or not entries[e].watches[half]:
            continue
        before = ticks()
        me = players[2 * e + half]
        me.seat = seat
        me.watched = as_seen_by(entries[e].cheats[half], code)
        if entries[e].cheats[half]:
            deciders[2 * e + half](g, s, me, scratch)
        else:
            observe(g, s, seat, seen)
            deciders[2 * e + half](g, seen, me, scratch)
        me.watched = -1
        row.ticks[seat] += ticks() - before


_R = numba.from_dtype
_ARRAYS = [types.Array(_R(t), 1, "C") for t in (ENTRY, ME, STATE, SHEET)]
_ROWS, _LOG = (types.Array(_R(t), 1, "C") for t in (RESULT, DECISION))


@numba.njit(types.void(GAME_TYPE, DECIDERS, *_ARRAYS, _R(SCRATCH), types.int64, _ROWS, _LOG), **OPTIONS)
def play_rows(g, deciders, entries, players, states, sheets, scratch, seed, rows, log):
    """Play the game of every row. Entry e decides by deciders[2 e] with players[2 e], from its swap round on by 2 e + 1.

    The decisions of each game are written to `log`, as far as it reaches: an empty one costs nothing.
    """
    s = states[0]
    seen = states[1]
    watchers = 0
    for e in range(g.players):
        watchers += entries[e].watches[0] + entries[e].watches[1]
    for i in range(len(rows)):
        row = rows[i]
        start_row(g, s, row, seed)
        for seat in range(g.players):
            e = (seat + row.rotation) % g.players
            for half in range(2):
                start_game(players[2 * e + half], seat_stream(seed, row, seat))
        before = ticks()
        while s.phase != OVER:
            seat = s.player & 7
            e = (seat + row.rotation) % g.players
            which = 2 * e
            half = 0
            if s.turn >= (entries[e].swap_round - 1) * g.players:
                half = 1
                if players[which].memory[-1] == 0:  # the stream is handed over once
                    players[which].memory[-1] = 1
                    players[which + 1].stream = players[which].stream
            me = players[which + half]
            if entries[e].cheats[half]:
                code = deciders[which + half](g, s, me, scratch)
            else:
                observe(g, s, seat, seen)
                code = deciders[which + half](g, seen, me, scratch)
            now = ticks()
            row.ticks[seat] += now - before
            if row.decisions < len(log):
                note_decision(g, s, me, code, now - before, log[row.decisions])
            if watchers:
                _show_move(g, deciders, entries, players, s, seen, scratch, row, code)
                now = ticks()
            before = now
            turn = s.turn
            apply_code(g, s, code)
            row.decisions += 1
            if s.turn != turn:
                note_lead(g, s, row, seat)
        write_result(g, s, sheets[0], row)


class Table:
    """Jitted agents sat down at one game: plays rows. One table belongs to one thread."""

    def __init__(self, game: Game, agents: Sequence[Agent], scratch: np.void | None = None):
        """Tables of one thread may share a scratch: it is large, and its content means nothing between decisions."""
        if len(agents) != game.players:
            raise ValueError(f"{game.players} players are needed, there are {len(agents)} agents")
        self.game = game
        self.entries = np.zeros(MAX_PLAYERS, ENTRY)
        self.players = np.zeros(2 * MAX_PLAYERS, ME)
        self._states, self._sheets = np.zeros(2, STATE), np.zeros(1, SHEET)
        self._scratch = new_scratch() if scratch is None else scratch
        seated: dict[str, Player] = {}
        deciders = []
        for e in range(MAX_PLAYERS):
            agent = agents[e % len(agents)]
            halves = (agent.first, agent.second) if agent.first and agent.second else (agent, agent)
            self.entries[e]["swap_round"] = agent.fields["round"] if agent.first else NEVER
            for half, part in enumerate(halves):
                if part.text not in seated:
                    seated[part.text] = seat_player(part)
                player = seated[part.text]
                self.players[2 * e + half]["params"] = player.params
                self.players[2 * e + half]["model"] = player.model
                self.entries[e]["cheats"][half] = player.cheats
                self.entries[e]["watches"][half] = player.watches
                deciders.append(player.decide)
        self._deciders = tuple(deciders)

    def play(self, deals: np.ndarray, rotations: np.ndarray, seed: int) -> np.ndarray:
        """The games of these deals and rotations, one row each."""
        rows = np.zeros(len(deals), RESULT)
        rows["deal"], rows["rotation"] = deals, rotations
        self._play_rows(rows, seed, np.zeros(0, DECISION))
        return rows

    def play_logged(self, deals: np.ndarray, rotations: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """The same games with the log of all their decisions."""
        rows = np.zeros(len(deals), RESULT)
        rows["deal"], rows["rotation"] = deals, rotations
        log, kept = np.zeros(LONGEST_LOG, DECISION), []
        for i in range(len(rows)):
            self._play_rows(rows[i : i + 1], seed, log)
            entries = log[: rows[i]["decisions"]].copy()
            entries["row"], entries["number"] = i, np.arange(len(entries))
            kept.append(entries)
        return rows, np.concatenate(kept) if kept else log[:0]

    def _play_rows(self, rows: np.ndarray, seed: int, log: np.ndarray) -> None:
        mine = (self.entries, self.players, self._states, self._sheets, self._scratch)
        play_rows(self.game, self._deciders, *mine, seed, rows, log)


def deals_and_rotations(first: int, deals: int, rotations: int) -> tuple[np.ndarray, np.ndarray]:
    """Consecutive deals, each in every rotation."""
    return np.repeat(np.arange(first, first + deals), rotations), np.tile(np.arange(rotations), deals)
