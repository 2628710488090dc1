"""Whose turn it is, and when the game ends."""

from ttr.jit import inlined
from ttr.state import OVER, TURN


@inlined
def end_turn(g, s):
    """The turn is over: count down the last turns, or start the countdown if few enough cars are left; then the next player."""
    s.phase = TURN
    s.turn += 1
    if s.left > 0:
        s.left -= 1
        if s.left == 0:
            s.phase = OVER
    elif s.cars[s.player & 7] <= g.end_cars:
        s.left = g.last_turns
    following = s.player + 1
    s.player = following if following < g.players else 0


@inlined
def pass_turn(g, s):
    """A player with nothing to do passes; if all pass in a row the game is over."""
    s.passes += 1
    end_turn(g, s)
    if s.passes >= g.players:
        s.phase = OVER
