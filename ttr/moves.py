"""Actions as a person reads them: canonical codes to readable objects, and the codes of the Warwick report.

A `Move` names what it does in the game's words; `code` brings it back to the engine.
"""

from dataclasses import dataclass, field

import numpy as np

from ttr.actions import CLAIM, DRAW, DRAW_TICKETS, FROM_DECK, KEEP, PASS, count_actions, legal_codes
from ttr.board import LOCOMOTIVE, Board
from ttr.tables import Game

KINDS = {PASS: "pass", DRAW_TICKETS: "tickets", KEEP: "keep", DRAW: "draw", CLAIM: "claim"}
# Colours as numbered in appendix A of the Warwick report (pink is its purple).
WARWICK_COLOURS = ("black", "white", "red", "orange", "yellow", "green", "blue", "pink")


@dataclass(frozen=True)
class Move:
    """One action. Only the fields of its kind are set."""

    kind: str  # pass | tickets | keep | draw | claim
    code: int
    cards: tuple[str, ...] = ()  # draw: colours, "locomotive" or "deck"
    route: int = -1  # claim
    colour: str = ""  # claim: the colour paid; "locomotive" for locomotives alone
    locomotives: int = 0  # claim
    tickets: tuple[int, ...] = field(default=())  # keep: ids


def card_name(board: Board, colour: int) -> str:
    """Name of a card colour."""
    return "locomotive" if colour == LOCOMOTIVE else board.colours[colour]


def decode(board: Board, code: int) -> Move:
    """The readable form of a canonical code; raises ValueError for what is no code on this board."""
    kind = code & 15
    if kind == DRAW:
        slots = [(code >> 4) & 15, (code >> 8) & 15]
        cards = tuple("deck" if c == FROM_DECK else _card_in_slot(board, c) for c in slots if c)
        move = Move("draw", code, cards=cards)
    elif kind == CLAIM:
        route, colour = (code >> 4) & 127, (code >> 11) & 15
        if route >= len(board.routes):
            raise ValueError(f"action code {code} names route {route}, but there are {len(board.routes)} routes")
        move = Move("claim", code, route=route, colour=_card_in_slot(board, colour + 1), locomotives=(code >> 15) & 15)
    elif kind == KEEP:
        ids = tuple(((code >> place) & 127) - 1 for place in range(4, 53, 7) if (code >> place) & 127)
        if any(i >= len(board.tickets) for i in ids):
            raise ValueError(f"action code {code} names a ticket that does not exist")
        move = Move("keep", code, tickets=ids)
    elif kind in KINDS:
        move = Move(KINDS[kind], code)
    else:
        raise ValueError(f"action code {code} is of no known kind")
    if encode(board, move) != code:
        raise ValueError(f"action code {code} is not canonical")
    return move


def _card_in_slot(board: Board, slot: int) -> str:
    if slot - 1 != LOCOMOTIVE and not 1 <= slot <= len(board.colours):
        raise ValueError(f"an action code names colour {slot - 1}, but the colours are {', '.join(board.colours)}")
    return card_name(board, slot - 1)


def _slot(board: Board, name: str) -> int:
    return FROM_DECK if name == "deck" else 1 + (LOCOMOTIVE if name == "locomotive" else board.colours.index(name))


def encode(board: Board, move: Move) -> int:
    """The canonical code of a readable move (its `code` field is not looked at)."""
    if move.kind == "draw":
        slots = sorted(_slot(board, card) for card in move.cards)
        return DRAW | slots[0] << 4 | (slots[1] << 8 if len(slots) > 1 else 0)
    if move.kind == "claim":
        return CLAIM | move.route << 4 | (_slot(board, move.colour) - 1) << 11 | move.locomotives << 15
    if move.kind == "keep":
        return KEEP | sum((ticket + 1) << (4 + 7 * i) for i, ticket in enumerate(sorted(move.tickets)))
    return PASS if move.kind == "pass" else DRAW_TICKETS


def legal_moves(g: Game, board: Board, state: np.void) -> list[Move]:
    """All legal moves of the player to move, in sampling order."""
    out = np.zeros(max(1, count_actions(g, state)), np.int64)
    legal_codes(g, state, out)
    return [decode(board, int(code)) for code in out]


def ticket_text(board: Board, ticket: int) -> str:
    """A ticket as printed: its cities and worth."""
    t = board.tickets[ticket]
    return f"{board.cities[t.a].name} - {board.cities[t.b].name} ({t.points})"


def route_text(board: Board, route: int) -> str:
    """A route as a player names it."""
    r = board.routes[route]
    colour = "grey" if r.colour == 8 else board.colours[r.colour]
    return f"{board.cities[r.a].name} - {board.cities[r.b].name} ({colour}, {r.length})"


def describe(board: Board, move: Move) -> str:
    """A move in a sentence."""
    if move.kind == "pass":
        return "passes"
    if move.kind == "tickets":
        return "draws tickets"
    if move.kind == "keep":
        return "keeps " + "; ".join(ticket_text(board, t) for t in move.tickets)
    if move.kind == "draw":
        if move.cards == ("deck", "deck"):
            return "draws two cards from the deck"
        return "takes " + " and ".join("a card from the deck" if c == "deck" else c for c in move.cards)
    coloured = board.routes[move.route].length - move.locomotives
    paid = [f"{coloured} {move.colour}"] if coloured else []
    paid += [f"{move.locomotives} locomotive{'s' if move.locomotives > 1 else ''}"] if move.locomotives else []
    return f"claims {route_text(board, move.route)} with {' and '.join(paid)}"


def warwick_code(board: Board, move: Move) -> list[int] | None:
    """The move as the Warwick report's records write it (its appendix A), or None where it has no code."""
    if move.kind == "tickets":
        return [0]
    if move.kind == "claim":
        r = board.routes[move.route]
        colour = 8 if move.colour == "locomotive" else WARWICK_COLOURS.index(move.colour)
        return [8, r.a, r.b, move.locomotives, colour]
    if move.kind == "draw" and len(move.cards) == 2:
        colours = [WARWICK_COLOURS.index(c) for c in move.cards if c != "deck"]
        return [{0: 4, 1: 6, 2: 5}[len(colours)], *colours]
    if move.kind == "draw" and move.cards == ("locomotive",):
        return [3]
    return None
