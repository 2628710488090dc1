"""The state of a game: one numpy record with named fields, changed in place.

Numba sees a record as a bare pointer: a field is one load, a copy one memcpy. Sizes are the largest any board needs. In the
true state the `hidden_*` fields are zero; an observation (observation.py) is the same record with the unseen cards pooled.
A seat read from the state is masked (`s.player & 7`) where it indexes, which spares the test for negative indices.
"""

import numpy as np

from ttr.map_settings import MAX_TICKETS
from ttr.tables import MAX_PLAYERS

TURN, SECOND_CARD, CHOOSE, FIRST_CHOICE, OVER = range(5)  # phases
PHASES = ("turn", "second_card", "choose", "choose_initial", "over")

STATE = np.dtype(
    [
        ("stream", "u8"),  # of the train card deck
        ("deck", "i8"),  # card words
        ("discard", "i8"),
        ("row", "i8"),
        ("player", "i8"),  # whose decision it is
        ("phase", "i8"),
        ("left", "i8"),  # turns until the end, once it is triggered; else 0
        ("passes", "i8"),  # passes in a row
        ("turn", "i8"),  # finished turns
        ("head", "i8"),  # of the ticket queue
        ("waiting", "i8"),  # tickets in the queue; those under choice lie at its head
        ("hidden", "i8"),  # observation: cards of `deck` that lie in hands, sum of hidden_cards
        ("hand", "i8", MAX_PLAYERS),
        ("cars", "i8", MAX_PLAYERS),
        ("points", "i8", MAX_PLAYERS),  # for routes, in half points
        ("known", "i8", MAX_PLAYERS),  # face-up cards taken and not yet spent
        ("own", "i8", (MAX_PLAYERS, 2)),  # routes, as a set
        ("held", "i8", (MAX_PLAYERS, 2)),  # tickets, as a set
        ("returned", "i8", (MAX_PLAYERS, 2)),  # tickets put back and not drawn since
        ("hidden_cards", "i8", MAX_PLAYERS),  # observation: cards in hand beyond the known ones
        ("hidden_tickets", "i8", MAX_PLAYERS),  # observation: tickets held, unseen
        ("free", "i8", (MAX_PLAYERS, 2)),  # routes still to be claimed; one set, or one for each player
        ("counts", "i8", (MAX_PLAYERS, 10)),  # those, counted by colour and length
        ("up_to", "i8", 9),  # claims with colours 0..c, left by the last count
        ("queue", "u1", MAX_TICKETS),  # ticket deck, a ring
    ],
    align=True,
)


def new_state() -> np.void:
    """An empty state, to be dealt."""
    return np.zeros(1, STATE)[0]
