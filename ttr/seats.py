"""A jitted agent at a table that is run from Python: one decision at a time, for records, play and the study of single games.

The jitted loop of batch.py plays the same games; the tests hold the two against each other.
"""

import numpy as np

from ttr.agents.contract import ME, new_scratch
from ttr.agents.registry import Agent, seat_player
from ttr.observation import observe
from ttr.state import new_state
from ttr.tables import Game


class JittedSeat:
    """One seat of one game: the agent (both, for a swap), its stream and its memory of this game."""

    def __init__(self, game: Game, agent: Agent, stream: int, scratch: np.void | None = None):
        self.game, self.agent = game, agent
        halves = (agent.first, agent.second) if agent.first and agent.second else (agent,)
        self._players = [seat_player(part) for part in halves]
        self._records = np.zeros(len(halves), ME)
        for record, player in zip(self._records, self._players):
            record["params"], record["stream"] = player.params, stream
        self._half, self._seen = 0, new_state()
        self._scratch = new_scratch() if scratch is None else scratch

    @property
    def me(self) -> np.void:
        """The agent's own record; after a decision it tells what the search did."""
        return self._records[self._half]

    def decide(self, state: np.void) -> int:
        """The code of the action it takes in a state in which it is to move."""
        if self.agent.first and not self._half and state["turn"] >= (self.agent.fields["round"] - 1) * self.game.players:
            self._records[1]["stream"] = self._records[0]["stream"]
            self._half = 1
        player = self._players[self._half]
        if not player.cheats:
            observe(self.game, state, int(state["player"]), self._seen)
            state = self._seen
        return int(player.decide(self.game, state, self.me, self._scratch))
