"""Whole games and batches of games inside jitted code, and what a game leaves behind.

A batch plays consecutive deals of one seed; row i depends on (board, rules, agents, seed, deal, rotation) alone.
"""

import numpy as np

from ttr.actions import apply_nth, count_actions
from ttr.bits import lowest_bit, popcount
from ttr.cards import total
from ttr.deal import deal
from ttr.jit import inlined, jitted
from ttr.score import SHEET, rank, score
from ttr.state import OVER, STATE
from ttr.stream import GOLD, agent_stream, below, game_stream, mix
from ttr.tables import MAX_PLAYERS, Game

PER_SEAT = (
    "score unfloored routes gained lost ticket_bonus longest_bonus most_tickets_bonus tickets completed routes_claimed "
    "cars_left cards_left longest longest_single rank turns_taken turns_led"
).split()
PER_GAME = "deal rotation turns decisions winner lead_changes forfeit".split()
RESULT = np.dtype(
    [(name, "i8") for name in PER_GAME] + [(name, "i4", MAX_PLAYERS) for name in PER_SEAT] + [("ticks", "i8", MAX_PLAYERS)],
    align=True,
)  # points in half points; winner and forfeit: turn position, or -1 for a draw and for none; ticks: decision time (clock.py)
CONTENT = [*PER_GAME, *PER_SEAT]  # what configuration and seed determine: all but the time


@jitted
def playout(g, s, stream):
    """Play on with uniformly random actions until the game is over; returns the stream and the number of decisions."""
    n = 0
    while s.phase != OVER:
        stream += GOLD
        m = count_actions(g, s)
        apply_nth(g, s, below(mix(stream), m), m)
        n += 1
    return stream, n


@jitted
def play_random_game(g, s, streams):
    """A whole game in which every seat plays uniformly at random from its own stream; returns the number of decisions."""
    n = 0
    while s.phase != OVER:
        seat = s.player & 7
        streams[seat] += GOLD
        m = count_actions(g, s)
        apply_nth(g, s, below(mix(streams[seat]), m), m)
        n += 1
    return n


@inlined
def _longest_single(g, s, player):
    best = 0
    for w in range(g.words):
        routes = s.own[player, w]
        while routes:
            best = max(best, g.tables.length[64 * w + lowest_bit(routes)])
            routes &= routes - 1
    return best


@jitted
def write_result(g, s, sheet, row):
    """Score a finished game into its row."""
    score(g, s, sheet, True)
    rank(g, sheet)
    row.turns = s.turn
    row.forfeit = -1
    firsts = 0
    for p in range(5):
        playing = p < g.players
        row.score[p] = sheet.shown[p] if playing else 0
        row.unfloored[p] = sheet.total[p] if playing else 0
        row.routes[p] = sheet.routes[p] if playing else 0
        row.gained[p] = sheet.gained[p] if playing else 0
        row.lost[p] = sheet.lost[p] if playing else 0
        row.ticket_bonus[p] = sheet.ticket_bonus[p] if playing else 0
        row.longest_bonus[p] = sheet.longest_bonus[p] if playing else 0
        row.most_tickets_bonus[p] = sheet.most_tickets_bonus[p] if playing else 0
        row.completed[p] = sheet.completed[p] if playing else 0
        row.longest[p] = sheet.longest[p] if playing else 0
        row.rank[p] = sheet.rank[p] if playing else 0
        row.tickets[p] = popcount(s.held[p, 0]) + popcount(s.held[p, 1]) if playing else 0
        row.routes_claimed[p] = popcount(s.own[p, 0]) + popcount(s.own[p, 1]) if playing else 0
        row.cars_left[p] = s.cars[p] if playing else 0
        row.cards_left[p] = total(s.hand[p]) if playing else 0
        row.longest_single[p] = _longest_single(g, s, p) if playing else 0
        if playing and sheet.rank[p] == 1:
            row.winner = p
            firsts += 1
    if firsts != 1:
        row.winner = -1


@jitted
def random_batch(g, states, sheets, streams, seed, first_deal, rotation, rows):
    """Play one game for each row, all seats uniformly random, on consecutive deals."""
    s = states[0]
    sheet = sheets[0]
    for i in range(len(rows)):
        deal_number = first_deal + i
        deal(g, s, game_stream(seed, deal_number))
        for p in range(g.players):
            streams[p] = agent_stream(seed, deal_number, rotation, p)
        rows[i].decisions = play_random_game(g, s, streams)
        rows[i].deal = deal_number
        rows[i].rotation = rotation
        write_result(g, s, sheet, rows[i])


def play_random_games(g: Game, games: int, seed: int = 0, first_deal: int = 0, rotation: int = 0) -> np.ndarray:
    """Results of whole games between uniformly random players."""
    rows = np.zeros(games, RESULT)
    streams = np.zeros(MAX_PLAYERS, np.uint64)
    random_batch(g, np.zeros(1, STATE), np.zeros(1, SHEET), streams, seed, first_deal, rotation, rows)
    return rows
