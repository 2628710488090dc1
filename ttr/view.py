"""What one player sees, in plain Python: made from an observation, so that nothing else can be shown.

The fast engine reads bits of words; people, and what is printed for them, read this.
"""

from dataclasses import dataclass

import numpy as np

from ttr.board import Board, reachable
from ttr.cards import FIELD, KINDS
from ttr.moves import card_name
from ttr.observation import observe
from ttr.state import CHOOSE, FIRST_CHOICE, PHASES, new_state
from ttr.tables import Game


@dataclass(frozen=True)
class PlayerView:
    """One player as everybody sees it."""

    points: float  # for routes
    cars: int
    cards: int
    tickets: int
    known: dict[str, int]  # face-up cards it took and has not spent, by colour


@dataclass(frozen=True)
class View:
    """The game as `me` sees it while `player` is to move."""

    me: int
    player: int
    phase: str
    round: int  # from 1
    left: int  # turns until the end, once it is triggered; else 0
    hand: dict[str, int]  # by colour, locomotives last
    row: dict[str, int]
    deck: int
    discards: int
    ticket_deck: int
    tickets: dict[int, bool]  # own: whether it is completed
    revealed: tuple[int, ...]  # tickets to choose from
    players: tuple[PlayerView, ...]
    owners: dict[int, int]  # claimed routes
    open_routes: frozenset[int]  # that `me` may still claim


def cards_of(board: Board, word: int) -> dict[str, int]:
    """A card word as counts by colour, locomotives last."""
    counts = {colour: (int(word) >> (FIELD * colour)) & 127 for colour in range(KINDS)}
    return {card_name(board, colour): count for colour, count in counts.items() if count}


def members(words: np.ndarray) -> list[int]:
    """The members of a set of routes or tickets."""
    whole = int(words[0]) % 2**64 | int(words[1]) % 2**64 << 64
    return [i for i in range(whole.bit_length()) if whole >> i & 1]


def owners_of(game: Game, state: np.void) -> dict[int, int]:
    """Who has claimed which route."""
    return {route: p for p in range(game.players) for route in members(state["own"][p])}


def is_completed(board: Board, routes: list[int], ticket: int) -> bool:
    """A ticket is completed when its cities are joined by routes, none of which leads on through a terminal."""
    wanted = board.tickets[ticket]
    return wanted.b in reachable(wanted.a, [board.routes[r] for r in routes], board.terminals)


def view_of(board: Board, game: Game, state: np.void, me: int) -> View:
    """The game as a player sees it."""
    seen = new_state()
    observe(game, state, me, seen)
    choosing = seen["player"] == me and seen["phase"] in (CHOOSE, FIRST_CHOICE)
    shown = min(int(seen["waiting"]), game.dealt if seen["phase"] == FIRST_CHOICE else game.drawn) if choosing else 0
    mine = members(seen["own"][me])
    players = []
    for p in range(game.players):
        cards, held = sum(cards_of(board, seen["hand"][p]).values()), len(members(seen["held"][p]))
        players.append(
            PlayerView(
                points=int(seen["points"][p]) / 2,
                cars=int(seen["cars"][p]),
                cards=cards + int(seen["hidden_cards"][p]),
                tickets=held + int(seen["hidden_tickets"][p]),
                known=cards_of(board, seen["known"][p]),
            )
        )
    return View(
        me=me,
        player=int(seen["player"]),
        phase=PHASES[int(seen["phase"])],
        round=int(seen["turn"]) // game.players + 1,
        left=int(seen["left"]),
        hand=cards_of(board, seen["hand"][me]),
        row=cards_of(board, seen["row"]),
        deck=sum(cards_of(board, seen["deck"]).values()) - int(seen["hidden"]),
        discards=sum(cards_of(board, seen["discard"]).values()),
        ticket_deck=int(seen["waiting"]),
        tickets={t: is_completed(board, mine, t) for t in members(seen["held"][me])},
        revealed=tuple(int(seen["queue"][i]) for i in range(shown)),
        players=tuple(players),
        owners=owners_of(game, seen),
        open_routes=frozenset(members(seen["free"][me if game.personal else 0])),
    )
