"""What the base player does, decision by decision, in plain Python over readable moves (algorithms 11 to 14 as settled here)."""

from ttr.moves import legal_moves


def needs(board, routes):
    """Cards by route colour (a name, or "grey") that claiming these routes takes."""
    need = {}
    for i in routes:
        route = board.routes[i]
        colour = "grey" if route.colour == 8 else board.colours[route.colour]
        need[colour] = need.get(colour, 0) + route.length
    return need


def claim_cost(board, rules, need, move):
    """How much base minds a claim."""
    route = board.routes[move.route]
    colour = "grey" if route.colour == 8 else board.colours[route.colour]
    cost = 8 if move.locomotives else 0
    cost += need[colour] if move.locomotives < route.length else 0
    return cost - rules.points[route.length - 1]


def deck_draw(moves):
    """The draw that takes deck cards alone."""
    return next((m for m in moves if m.kind == "draw" and set(m.cards) == {"deck"}), None)


def in_order(board, moves):
    """Without a legal habit: the longest claim, deck, face-up cards, tickets, pass; the lowest code of equals."""
    claims = [m for m in moves if m.kind == "claim"]
    if claims:
        return min(claims, key=lambda m: (-board.routes[m.route].length, m.code))
    return deck_draw(moves) or min((m for m in moves if m.kind == "draw"), key=lambda m: m.code, default=None) or moves[0]


def best_draw(board, rules, moves, need, row):
    """A locomotive; the most needed open cards, need by need; the deck."""
    draws = {m.cards: m for m in moves if m.kind == "draw"}
    if ("locomotive",) in draws:
        return draws[("locomotive",)]
    open_cards = [c for c in row if need.get(c, 0) > 0]
    open_cards.sort(key=lambda c: (-need[c], board.colours.index(c)))
    if open_cards and rules.drawing == "stepwise":
        return draws[(open_cards[0],)]
    if len(open_cards) >= 2:
        return draws[tuple(sorted(open_cards[:2], key=board.colours.index))]
    if open_cards and (open_cards[0], "deck") in draws:
        return draws[(open_cards[0], "deck")]
    return deck_draw(moves) or in_order(board, moves)


def base_move(board, rules, game, seen, path, row):
    """The move of a base player whose path consists of these routes; `row` are the open cards by name."""
    moves = legal_moves(game, board, seen)
    me = int(seen["player"])
    own = {i for i in range(128) if (int(seen["own"][me][i // 64]) >> (i % 64)) & 1}
    left = [i for i in path if i not in own]
    turn = seen["phase"] == 0
    if turn and not left:
        tickets = next((m for m in moves if m.kind == "tickets"), None)
        return tickets if tickets and seen["cars"][me] > 15 else in_order(board, moves)
    need = needs(board, left)
    claims = [m for m in moves if m.kind == "claim" and m.route in left]
    if claims:
        return min(claims, key=lambda m: (claim_cost(board, rules, need, m), m.code))
    return best_draw(board, rules, moves, need, row)
