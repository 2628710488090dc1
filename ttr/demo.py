"""The first result: random games on three boards, played, scored and summed up in a minute."""

import time

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from ttr.board import load_board
from ttr.game import play_random_games
from ttr.rules import resolve_rules
from ttr.tables import compile_game

SHOWN = [
    ("yang", "warwick", 2, 200_000),
    ("usa", "official", 2, 20_000),
    ("usa", "official", 4, 20_000),
    ("germany", "leiden", 4, 20_000),
]


def main() -> None:
    """Play the games of SHOWN with seed 1 and print who won."""
    console = Console(soft_wrap=True)
    console.print("Compiling the engine (a few seconds, once) ...")
    table = Table(title="Uniformly random players, seed 1", title_justify="left", box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in ("map", "rules", "players", "games", "first\nplayer wins", "draws", "mean\nscore", "turns", "games/s"):
        table.add_column(heading, justify="left" if heading in ("map", "rules") else "right", no_wrap=True)
    for name, preset, players, games in SHOWN:
        board = load_board(name)
        g = compile_game(board, resolve_rules(board, preset, players))
        play_random_games(g, 1, seed=1)
        start = time.process_time()
        rows = play_random_games(g, games, seed=1)
        seconds = time.process_time() - start
        wins, draws = (rows["winner"] == 0).mean(), (rows["winner"] < 0).mean()
        mean = rows["score"][:, :players].mean() / 2
        table.add_row(
            name,
            preset,
            str(players),
            f"{games:,}",
            f"{wins:.1%}",
            f"{draws:.1%}",
            f"{mean:.1f}",
            f"{rows['turns'].mean():.1f}",
            f"{games / seconds:,.0f}",
        )
    console.print(table)
    console.print("Next: python -m ttr.play human greedy   |   python -m ttr.maps draw usa   |   docs/")


if __name__ == "__main__":
    main()
