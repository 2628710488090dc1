"""A player at a table that is run from Python: one decision at a time, for users' own agents, records, play and study.

The jitted loop of batch.py plays the same games; the tests hold the two against each other.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from ttr.agent_view import Setting, View
from ttr.agents.contract import ME, new_player, new_scratch, seen_code
from ttr.agents.python_agent import GOES_WRONG, AgentFailure, IllegalMove, failure_text, make_decide
from ttr.agents.registry import Agent, seat_player
from ttr.moves import Move, describe
from ttr.observation import observe
from ttr.random_stream import RandomStream
from ttr.state import new_state
from ttr.tables import Game


class Seat(Protocol):
    """One seat of one game. `me` tells what the last search did; `stream` is the state of the player's random stream."""

    @property
    def me(self) -> np.void: ...

    @property
    def stream(self) -> int: ...

    @stream.setter
    def stream(self, state: int) -> None: ...

    def decide(self, state: np.void) -> int:
        """The code of the action it takes in a state in which it is to move."""

    def watch(self, state: np.void, seat: int, code: int) -> None:
        """See, from its seat, an action that another player is about to do."""


class JittedSeat:
    """A jitted agent, its stream and its memory of this game."""

    def __init__(self, game: Game, agent: Agent, stream: int, scratch: np.void | None = None):
        self.game, self.agent = game, agent
        self._player, self._seen = seat_player(agent), new_state()
        self.me = new_player(self._player, stream)
        self._scratch = new_scratch() if scratch is None else scratch

    @property
    def stream(self) -> int:
        """The state of its random stream."""
        return int(self.me["stream"])

    @stream.setter
    def stream(self, state: int) -> None:
        self.me["stream"] = state

    def decide(self, state: np.void) -> int:
        """The code of its action; it sees what its player may see, unless it is one that cheats."""
        if not self._player.cheats:
            observe(self.game, state, int(state["player"]), self._seen)
            state = self._seen
        return int(self._player.decide(self.game, state, self.me, self._scratch))

    def watch(self, state: np.void, seat: int, code: int) -> None:
        """See another player's action, if it is one that watches."""
        if not self._player.watches:
            return
        if not self._player.cheats:
            observe(self.game, state, seat, self._seen)
            state = self._seen
        self.me["seat"], self.me["watched"] = seat, seen_code(self._player.cheats, code)
        self._player.decide(self.game, state, self.me, self._scratch)
        self.me["watched"] = -1


class UserSeat:
    """A user's own agent. What goes wrong in it comes out as an AgentFailure."""

    def __init__(self, setting: Setting, agent: Agent, stream: int):
        self.setting, self.agent, self.me = setting, agent, np.zeros(1, ME)[0]
        self._random, self._seen = RandomStream(stream), new_state()
        self._file = agent.name.rpartition(":")[0]
        self._decide = make_decide(agent)

    @property
    def stream(self) -> int:
        """The state of its random stream."""
        return self._random.state

    @stream.setter
    def stream(self, state: int) -> None:
        self._random.state = state

    def decide(self, state: np.void) -> int:
        """The code of the move it returns, which must be one of those it was given."""
        observe(self.setting.game, state, int(state["player"]), self._seen)
        moves = self.setting.moves(self._seen)
        try:
            move = self._decide(View.of(self.setting, self._seen), moves, self._random)
        except GOES_WRONG as error:
            raise AgentFailure(failure_text(error, self._file)) from error
        if not isinstance(move, Move):
            raise IllegalMove(f"{self._file}: illegal move: it returned {_short(move)}, not one of the moves it was given")
        if move not in moves:
            raise IllegalMove(
                f"{self._file}: illegal move: {_told(self.setting, move)}, which is not one of the {len(moves)} legal"
            )
        return move.code

    def watch(self, state: np.void, seat: int, code: int) -> None:
        """Users' agents look at the view when they decide."""


def _short(value: object) -> str:
    try:
        text = " ".join(repr(value).split())
    except GOES_WRONG:
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


def _told(setting: Setting, move: Move) -> str:
    try:
        return describe(setting.board, move)
    except (LookupError, TypeError, AttributeError):  # a move that a user has made up
        return _short(move)


class SwapSeat:
    """One agent until a round begins, then another, which goes on with the first one's stream."""

    def __init__(self, game: Game, halves: Sequence[Seat], swap_round: int):
        self._halves, self._now = halves, 0
        self._from_turn = (swap_round - 1) * game.players

    @property
    def me(self) -> np.void:
        """The record of the agent that plays now."""
        return self._halves[self._now].me

    @property
    def stream(self) -> int:
        """The state of the stream."""
        return self._halves[self._now].stream

    @stream.setter
    def stream(self, state: int) -> None:
        self._halves[self._now].stream = state

    def decide(self, state: np.void) -> int:
        """The code of the action that the agent of this round takes."""
        if not self._now and state["turn"] >= self._from_turn:
            self._halves[1].stream = self._halves[0].stream
            self._now = 1
        return self._halves[self._now].decide(state)

    def watch(self, state: np.void, seat: int, code: int) -> None:
        """The agent of this round watches."""
        self._halves[int(state["turn"] >= self._from_turn)].watch(state, seat, code)


def take_seat(setting: Setting, agent: Agent, stream: int, scratch: np.void | None = None) -> Seat:
    """Seat any agent for one game; raises AgentFailure if a user's own cannot be made."""
    if agent.first and agent.second:
        halves = [take_seat(setting, part, stream, scratch) for part in (agent.first, agent.second)]
        return SwapSeat(setting.game, halves, agent.fields["round"])
    if agent.by_user:
        return UserSeat(setting, agent, stream)
    return JittedSeat(setting.game, agent, stream, scratch)
