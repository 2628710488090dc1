"""Regret: how many points a balancing agent gives away, decision by decision, judged by a full-strength search.

Stored moves are played again. At every decision of the agent that has an alternative, an independent search of fixed size, with a
stream of its own, values all actions on the true state; the move's regret is the best mean less its own. The judge's own error
adds to it: a full-strength search judged in the same way shows how much.

python -m analysis.regret RUN --games 20          the first 20 games of each matchup (played with moves=true)
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np
import pandas as pd
from rich.console import Console

from analysis.balance import judged, show
from analysis.dda import AVERAGE
from experiments.matchup import Matchup
from experiments.reading import Run, open_run
from experiments.refusal import Refusal
from ttr.actions import apply_code, count_actions
from ttr.adapter import board_and_rules
from ttr.agents.contract import new_scratch
from ttr.agents.registry import parse_agent
from ttr.deal import deal
from ttr.search.reading import children
from ttr.seats import JittedSeat
from ttr.state import new_state
from ttr.stream import fold, game_stream
from ttr.tables import Game, compile_game

GRAVE = 4  # points: a decision that loses more is counted
JUDGE = 2000  # iterations
JUDGE_TAG = 0x6A75646765  # the judge's stream is nobody else's


class Judge:
    """A full-strength cheating search of fixed size."""

    def __init__(self, game: Game, iterations: int, scratch: np.void):
        self.game, self.scratch = game, scratch
        self.agent = parse_agent(f"cmcts:iterations={iterations}")

    def regret(self, state: np.void, code: int, stream: int) -> float:
        """Points that a move gives away; an action that the judge never tried counts as the worst one."""
        JittedSeat(self.game, self.agent, stream, self.scratch).decide(state)
        means = {child.code: child.mean for child in children(self.scratch["tree"])}
        return max(means.values()) - means.get(code, min(means.values()))


def regrets(run: Run, matchup: Matchup, entry: int, games: int, iterations: int, scratch: np.void) -> list[float]:
    """The regret of every decision of the agent that had an alternative, in the first games of a matchup."""
    moves = run.rows(matchup.id, "moves", ["deal", "rotation", "number", "seat", "code"]).to_pandas()
    game = compile_game(*board_and_rules(matchup.setup))
    judge, state, found, seed = Judge(game, iterations, scratch), new_state(), [], int(run.info["seed"])
    for (deal_number, rotation), played in list(moves.groupby(["deal", "rotation"], sort=True))[:games]:
        deal(game, state, np.uint64(game_stream(seed, int(deal_number))))
        mine = (entry - int(rotation)) % len(matchup.seats)
        for number, seat, code in played.sort_values("number")[["number", "seat", "code"]].itertuples(index=False):
            if seat == mine and count_actions(game, state) > 1:
                stream = np.uint64(JUDGE_TAG)
                for part in (seed, int(deal_number), int(rotation), int(number)):
                    stream = np.uint64(fold(stream, part))
                found.append(judge.regret(state, int(code), int(stream)))
            apply_code(game, state, int(code))
    return found


def regret_frame(run: Run, games: int, iterations: int) -> pd.DataFrame:
    """Points lost per decision and share of grave ones, per opponent and in the mean, for each agent."""
    scratch, rows = new_scratch(), []
    for matchup, entry, board in judged(run):
        lost = regrets(run, matchup, entry, games, iterations, scratch)
        if lost:
            texts = [seat["text"] for seat in matchup.seats]
            others = " + ".join(text for e, text in enumerate(texts) if e != entry)
            grave = 100 * float(np.mean(np.array(lost) > GRAVE))
            rows.append((board, texts[entry], others, len(lost), float(np.mean(lost)), grave))
    if not rows:
        raise Refusal(f"{run.path} has no stored moves of agents against opponents; play it with moves=true")
    frame = pd.DataFrame(rows, columns=["map", "agent", "opponent", "decisions", "points_lost", "grave"])
    means = frame.groupby(["map", "agent"], sort=False).agg(
        decisions=("decisions", "sum"), points_lost=("points_lost", "mean"), grave=("grave", "mean")
    )
    return pd.concat([frame, means.reset_index().assign(opponent=AVERAGE)], ignore_index=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the regret of a run's agents."""
    parser = argparse.ArgumentParser(prog="python -m analysis.regret", description="Points given away, decision by decision.")
    parser.add_argument("run", metavar="RUN", help="a run folder played with moves=true")
    parser.add_argument("--games", type=int, default=20, help="of each matchup (default: 20)")
    parser.add_argument("--iterations", type=int, default=JUDGE, help=f"of the judge (default: {JUDGE})")
    parser.add_argument("--csv", metavar="FILE", help="also write the table")
    arguments = parser.parse_args(argv)
    try:
        if arguments.games < 1 or arguments.iterations < 1:
            raise Refusal("--games and --iterations must be at least 1")
        frame = regret_frame(open_run(arguments.run), arguments.games, arguments.iterations)
    except Refusal as refusal:
        print(f"analysis.regret: {refusal}", file=sys.stderr)
        return 2
    shown = frame.rename(columns={"grave": f"over {GRAVE} points, %"})
    show(shown, Console(), f"Regret, judged by a full-strength search of {arguments.iterations} iterations")
    if arguments.csv:
        frame.to_csv(arguments.csv, index=False)
        print(arguments.csv)
    return 0


if __name__ == "__main__":
    sys.exit(main())
