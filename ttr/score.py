"""The final score, with its full breakdown, in half points.

Route points, plus completed tickets, minus the others, plus the bonuses. The unfloored total decides who wins.
"""

import numpy as np

from ttr.bits import lowest_bit
from ttr.jit import inlined, jitted
from ttr.longest_route import WORK, longest_route
from ttr.networks import NETWORKS, find_networks, is_completed
from ttr.tables import MAX_PLAYERS

SHEET = np.dtype(
    [
        ("total", "i8", MAX_PLAYERS),  # unfloored
        ("shown", "i8", MAX_PLAYERS),  # floored at zero where the rules say so
        ("routes", "i8", MAX_PLAYERS),
        ("gained", "i8", MAX_PLAYERS),  # by completed tickets
        ("lost", "i8", MAX_PLAYERS),  # by the others, as a positive number
        ("ticket_bonus", "i8", MAX_PLAYERS),
        ("longest_bonus", "i8", MAX_PLAYERS),
        ("most_tickets_bonus", "i8", MAX_PLAYERS),
        ("completed", "i8", MAX_PLAYERS),  # tickets
        ("longest", "i8", MAX_PLAYERS),  # longest continuous route, in cars
        ("rank", "i8", MAX_PLAYERS),  # 1 is first; tied players share a rank
        ("networks", NETWORKS),  # scratch
        ("work", WORK),
    ],
    align=True,
)


def new_sheet() -> np.void:
    """An empty score sheet."""
    return np.zeros(1, SHEET)[0]


@inlined
def _score_tickets(g, s, player, sheet):
    networks = find_networks(g, s, player, sheet.networks)
    gained = 0
    held = 0
    completed = 0
    for w in range((g.tickets + 63) >> 6):
        tickets = s.held[player, w]
        while tickets:
            ticket = 64 * w + lowest_bit(tickets)
            tickets &= tickets - 1
            worth = g.tables.ticket[ticket, 2]
            done = is_completed(g, ticket, sheet.networks, networks)
            held += worth
            gained += worth * done
            completed += done
    sheet.gained[player] = gained
    sheet.lost[player] = held - gained
    sheet.completed[player] = completed


@jitted
def score(g, s, sheet, with_longest):
    """Fill a score sheet; the longest routes are measured if they count for points or `with_longest` asks for them."""
    measure = with_longest or g.longest_bonus != 0
    most_longest = 1
    most_completed = 1
    for p in range(g.players):
        _score_tickets(g, s, p, sheet)
        most_completed = max(most_completed, sheet.completed[p])
        if measure:
            sheet.longest[p] = longest_route(g, s, p, sheet.work)
            most_longest = max(most_longest, sheet.longest[p])
    for p in range(g.players):
        sheet.routes[p] = s.points[p]
        sheet.ticket_bonus[p] = g.ticket_bonus * sheet.completed[p]
        sheet.longest_bonus[p] = g.longest_bonus if measure and sheet.longest[p] == most_longest else 0
        sheet.most_tickets_bonus[p] = g.most_tickets_bonus if sheet.completed[p] == most_completed else 0
        total = s.points[p] + sheet.gained[p] - sheet.lost[p] + sheet.ticket_bonus[p]
        total += sheet.longest_bonus[p] + sheet.most_tickets_bonus[p]
        sheet.total[p] = total
        sheet.shown[p] = max(0, total) if g.floor else total


@jitted
def rank(g, sheet):
    """Rank the players of a full sheet: by unfloored score; if ties are broken, then by tickets completed, then longest route."""
    for p in range(g.players):
        better = 0
        for q in range(g.players):
            ahead = sheet.total[q] - sheet.total[p]
            if g.tie_break and ahead == 0:
                ahead = sheet.completed[q] - sheet.completed[p]
                if ahead == 0:
                    ahead = sheet.longest[q] - sheet.longest[p]
            better += 1 if ahead > 0 else 0
        sheet.rank[p] = better + 1
