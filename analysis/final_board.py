"""The board at the end of one game of a run: who built what."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure

from analysis.summary import Summary


class Board(NamedTuple):
    """The picture and its words."""

    figure: Figure
    caption: str
    alt: str


def final_board(summary: Summary) -> Board | None:
    """The first stored game between different agents, played again from its seed; None for games without a board to draw."""
    run = summary.run
    if run.info["game"] != "ttr.adapter":
        return None
    from ttr.board import MapError
    from ttr.drawing import draw_board
    from ttr.record import write_record
    from ttr.replay import RecordError, replay

    different = [m for m in run.planned if len({seat["text"] for seat in m.seats}) > 1]
    for matchup in different or run.planned:
        games = summary.examples.of(matchup.id)
        if games:
            deal, rotation, told = games[0]
            break
    else:
        return None
    record = run.game.record_game(matchup.setup, matchup.seats, run.info["seed"], deal, rotation, "forfeit")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "game.jsonl"
        write_record(record, path)
        try:
            game = replay(path)
        except (RecordError, MapError):  # a map of the user's own that is not at hand here
            return None
    ax = draw_board(game.board, owners=game.owners())
    n = len(matchup.seats)
    seats = [matchup.seats[(s + rotation) % n]["text"] for s in range(n)]
    scores = ", ".join(f"player {s} ({name}) {told['scores'][s]:g}" for s, name in enumerate(seats))
    caption = f"Final board of game {matchup.id}/{deal}/{rotation}: {scores} points."
    figure = ax.figure
    assert isinstance(figure, Figure)
    owned = game.owners()
    counts = ", ".join(f"player {s} has {sum(p == s for p in owned.values())} routes" for s in range(n))
    return Board(figure, caption, f"Map {game.board.title} with the routes claimed: {counts}.")
