"""Which children of an information set's node are legal in the state at hand: a test of a few operations each.

A child needs cards in the hand (claims) or in the row (draws), and something beside them, its `sort`:

    0 - 127   a claim: this route free for the player, and cars enough
    FACE_UP   a draw of face-up cards alone
    DECK      a draw with a card from the deck: a card to be had there
    TICKETS   a ticket left
    KEPT      a ticket choice: these tickets under choice
    IDLE      a pass: nothing else to do
"""

import numpy as np

from ttr.actions import (
    DRAW_TICKETS,
    FROM_DECK,
    PASS,
    apply_code,
    claim_code,
    draw_code,
    keep_code,
    nth_code,
)
from ttr.cards import FIELD, GUARDS, LOCOMOTIVE
from ttr.claim import claim, nth_claim, route_set
from ttr.deck import cards_to_draw
from ttr.draw import count_first_draws, nth_draw, take
from ttr.jit import inlined, jitted
from ttr.map_settings import MAX_LENGTH
from ttr.state import CHOOSE, FIRST_CHOICE, TURN
from ttr.stream import GOLD, below, mix
from ttr.tables import ANY_ROUTE
from ttr.tickets import nth_choice, reveal

TRIES = 32  # blind draws of an untried action
_COLOURS = (1 << (FIELD * LOCOMOTIVE)) - 1
FACE_UP, DECK, TICKETS, KEPT, IDLE = range(128, 133)
# A card word that no need passes: each lower field keeps its guard, that of the locomotives is clear whatever is subtracted.
NOTHING = (GUARDS & ~(127 << (FIELD * LOCOMOTIVE))) | (63 << (FIELD * LOCOMOTIVE))


@jitted
def nth_action(g, s, k, n):
    """The k-th of n legal actions, as just counted: its code, the cards it needs, its sort."""
    if s.phase == CHOOSE or s.phase == FIRST_CHOICE:
        return keep_code(g, s, nth_choice(g, s, k)), 0, KEPT
    if s.phase == TURN:
        if n == 0:
            return np.int64(PASS), 0, IDLE
        draws = count_first_draws(g, s)
        claims_from = draws + np.int64(s.waiting > 0)
        if k >= claims_from:
            route, colour, locomotives = nth_claim(g, s, k - claims_from)
            length = g.tables.length[route & 127]
            pay = ((length - locomotives) << (FIELD * (colour & 7))) + (locomotives << (FIELD * LOCOMOTIVE))
            return claim_code(route, colour, locomotives), pay, route
        if k >= draws:
            return np.int64(DRAW_TICKETS), 0, TICKETS
    cards, blind = nth_draw(g, s, k)
    return draw_code(cards, blind), cards, DECK if blind else FACE_UP


@inlined
def do_action(g, s, code, need, sort):
    """Do an action of the tree."""
    if sort < FACE_UP:
        s.passes = 0
        claim(g, s, sort, (code >> 11) & 15, (code >> 15) & 15)
    elif sort <= DECK:
        s.passes = 0
        blind = np.int64((code >> 4) & 15 == FROM_DECK) + np.int64((code >> 8) & 15 == FROM_DECK)
        take(g, s, need, blind)
    elif sort == TICKETS:
        s.passes = 0
        reveal(g, s)
    else:
        apply_code(g, s, code)


@inlined
def _claimable(g, s, w):
    """Routes the player may claim and has cars for, as a set."""
    free = s.free[route_set(g, s), w]
    cars = s.cars[s.player & 7]
    if cars >= MAX_LENGTH:
        return free
    within = 0
    for length in range(1, cars + 1):
        within |= g.tables.usable[ANY_ROUTE, length, w]
    return free & within


@jitted
def _mark_choices(g, s, tree, first, n, legal):
    """Ticket choices are legal if they are among those of the tickets shown."""
    for j in range(n):
        tree.open[np.uint64(j)] = 0
    count = 0
    for k in range(legal):
        code = nth_code(g, s, k, legal)
        for j in range(n):
            if tree.code[np.uint64(first + j)] == code:
                tree.open[np.uint64(j)] = 1
                count += 1
    return count


@jitted
def mark_legal(g, s, tree, first, n, legal):
    """Mark in tree.open which of n children from slot `first` are legal in state s; returns how many. `legal` as just counted."""
    if s.phase == CHOOSE or s.phase == FIRST_CHOICE:
        return np.int64(_mark_choices(g, s, tree, first, n, legal))
    hand = s.hand[s.player & 7] | GUARDS if s.phase == TURN else NOTHING
    row = s.row | GUARDS if s.phase == TURN else (s.row & _COLOURS) | GUARDS
    deck = row if cards_to_draw(s) > 0 else NOTHING
    tickets = GUARDS if s.phase == TURN and s.waiting > 0 else NOTHING
    idle = GUARDS if legal == 0 else NOTHING
    low = _claimable(g, s, 0)
    high = _claimable(g, s, 1)
    count = 0
    for j in range(n):
        i = np.uint64(first + j)
        sort = np.int64(tree.sort[i])
        have = hand
        have = row if sort == FACE_UP else have
        have = deck if sort == DECK else have
        have = tickets if sort == TICKETS else have
        have = idle if sort == IDLE else have
        have = NOTHING if sort == KEPT else have
        routes = high if sort & 64 else low
        free = np.int64(sort >= FACE_UP) | ((routes >> (sort & 63)) & 1)
        enough = np.int64((have - tree.need[i]) & GUARDS == GUARDS)
        tree.open[np.uint64(j)] = free & enough
        count += free & enough
    return np.int64(count)


@inlined
def _is_child(tree, first, n, code):
    found = 0
    for j in range(n):
        found |= np.int64(tree.code[np.uint64(first + j)] == code)
    return found != 0


@jitted
def untried_action(g, s, tree, first, n, legal, untried, stream):
    """A legal action that is no child yet, each as likely. Returns the stream, code, need and sort.

    Drawn blindly a few times, which mostly suffices, then counted out. `untried` is how many there are, at least one.
    """
    for _ in range(TRIES):
        stream += GOLD
        code, need, sort = nth_action(g, s, below(mix(stream), legal), legal)
        if not _is_child(tree, first, n, code):
            return stream, code, need, sort
    stream += GOLD
    left = below(mix(stream), untried)
    for k in range(legal):
        code, need, sort = nth_action(g, s, k, legal)
        if not _is_child(tree, first, n, code):
            if left == 0:
                break
            left -= 1
    return stream, code, need, sort
