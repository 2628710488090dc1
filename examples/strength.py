"""How strong the searches are: against every heuristic on yang, with more and more iterations, and on larger maps.

    python examples/strength.py > strength.md      # about 20 minutes on one core
    python examples/strength.py --share 0.1        # a tenth of the games

Win rates count draws among the games; intervals are 95 %, clustered by deal (each deal is played in both seat orders).
"""

import argparse
import sys

from ttr.agents.registry import parse_agent
from ttr.batch import Table, deals_and_rotations
from ttr.board import load_board
from ttr.match import Tally, mean_interval
from ttr.rules import resolve_rules, usual_preset
from ttr.tables import compile_game

HEURISTICS = "random greedy villain random_base hoarder_ticket pile pile_ticket_hater random_smart base hoarder".split()
SEARCHES = ("cmcts", "ismcts")
HEADINGS = ("map", "agent", "iterations", "opponent", "games", "wins", "interval", "draws", "mean score difference")


def matches():
    """Map, agent, iterations, opponent and number of deals of every match."""
    for iterations, deals in ((300, 200), (3_000, 200), (30_000, 100)):
        yield "yang", "cmcts", iterations, f"ismcts:iterations={iterations}", deals
    for agent in SEARCHES:
        for iterations in (300, 3_000):
            for opponent in ("base", "hoarder"):
                yield "yang", agent, iterations, opponent, 200
        for iterations, deals in ((100, 150), (1_000, 100), (10_000, 20)):
            yield "new_york", agent, iterations, "base", deals
        for iterations, deals in ((100, 100), (1_000, 50), (3_000, 20)):
            yield "usa", agent, iterations, "base", deals
    for opponent in reversed(HEURISTICS):
        for agent in SEARCHES:
            yield "yang", agent, 30_000, opponent, 100


def row(name: str, agent: str, iterations: int, opponent: str, deals: int, seed: int) -> list[str]:
    """Play a match; one line of the table."""
    board = load_board(name)
    game = compile_game(board, resolve_rules(board, usual_preset(board), 2))
    agents = [parse_agent(f"{agent}:iterations={iterations}"), parse_agent(opponent)]
    tally = Tally(2)
    tally.add(Table(game, agents).play(*deals_and_rotations(0, deals, 2), seed))
    summary, scores = tally.summary(), tally.by_deal(1)
    low, high = summary["win_rate_interval"][0]
    difference = scores[:, 0] - scores[:, 1]
    least, most = mean_interval(difference) or (0.0, 0.0)
    return [
        name,
        agent,
        f"{iterations:,}",
        opponent.partition(":")[0],
        f"{summary['games']}",
        f"{summary['win_rate'][0]:.1%}",
        f"{low:.1%} - {high:.1%}",
        f"{summary['draw_rate']:.1%}",
        f"{difference.mean():+.1f} ({least:+.1f} to {most:+.1f})",
    ]


def main() -> None:
    """Play all matches and print the table as it grows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=1.0, help="of the games (default: all)")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print(f"| {' | '.join(HEADINGS)} |\n|{'---|' * len(HEADINGS)}")
    for name, agent, iterations, opponent, deals in matches():
        print(f"| {' | '.join(row(name, agent, iterations, opponent, max(2, round(deals * arguments.share)), arguments.seed))} |")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
