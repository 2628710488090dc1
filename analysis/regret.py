"""Regret: how many points a balancing agent gives away, decision by decision, judged by a full-strength search.

Stored moves are played again. At every decision of the agent that has an alternative, an independent search of fixed size, with a
stream of its own, values all actions on the true state; the move's regret is the best mean less its own. The judge's own error
adds to it: a full-strength search judged in the same way shows how much. What is found does not depend on the number of workers.

python -m analysis.regret RUN --games 20          the first 20 games of each matchup (played with moves=true)

It is printed, and kept as regret.csv in the run folder, where reports find it.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache, lru_cache, partial

import numpy as np
import pandas as pd
from rich.console import Console

from analysis.balance import judged, opponents_of, show
from analysis.dda import AVERAGE
from analysis.estimate import average
from analysis.regret_file import GAME, GRAVE, MEASURED, Regret, keep_regret
from experiments.command import answering, writing
from experiments.progress import FIRST_LINE, GROWTH, LONGEST_PAUSE, duration
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

JUDGE = 2000  # iterations
JUDGE_TAG = 0x6A75646765  # the judge's stream is nobody else's


@dataclass(frozen=True)
class StoredGame:
    """A stored game, to be played again; `setup` as JSON text, so that it travels cheaply."""

    setup: bytes
    matchup: str
    seed: int
    deal: int
    rotation: int
    mine: int  # the agent's turn position
    moves: np.ndarray  # int64[moves, 3]: number, seat, code


@lru_cache(maxsize=8)
def _compiled(setup: bytes) -> Game:
    return compile_game(*board_and_rules(json.loads(setup)))


_scratch = cache(new_scratch)  # the memory of a search, once per process


def regret(game: Game, state: np.void, code: int, iterations: int, stream: int) -> float:
    """Points that a move gives away, by a full-strength cheating search; an action that it never tried counts as the worst one."""
    JittedSeat(game, parse_agent(f"cmcts:iterations={iterations}"), stream, _scratch()).decide(state)
    means = {child.code: child.mean for child in children(_scratch()["tree"])}
    return max(means.values()) - means.get(code, min(means.values()))


def judge(stored: StoredGame, iterations: int) -> list[float]:
    """The regret of every decision of the agent that had an alternative."""
    game, state, found = _compiled(stored.setup), new_state(), []
    deal(game, state, np.uint64(game_stream(stored.seed, stored.deal)))
    for number, seat, code in stored.moves.tolist():
        if seat == stored.mine and count_actions(game, state) > 1:
            stream = np.uint64(JUDGE_TAG)
            for part in (stored.seed, stored.deal, stored.rotation, number):
                stream = np.uint64(fold(stream, part))
            found.append(regret(game, state, code, iterations, int(stream)))
        apply_code(game, state, code)
    return found


def stored_games(run: Run, most: int) -> Iterator[StoredGame]:
    """The first games of each matchup of an agent against opponents."""
    for matchup, entry, _ in judged(run):
        moves = run.rows(matchup.id, "moves", ["deal", "rotation", "number", "seat", "code"]).to_pandas()
        setup = json.dumps(matchup.setup).encode()
        for (number, rotation), played in list(moves.groupby(["deal", "rotation"], sort=True))[:most]:
            mine = (entry - int(rotation)) % len(matchup.seats)
            told = played.sort_values("number")[["number", "seat", "code"]].to_numpy(np.int64)
            yield StoredGame(setup, matchup.id, int(run.info["seed"]), int(number), int(rotation), mine, told)


def judged_games(games: Sequence[StoredGame], iterations: int, workers: int) -> Iterator[list[float]]:
    """Each game's regrets, in order; in this process, or in several once the code is compiled."""
    work = partial(judge, iterations=iterations)
    if workers == 1 or len(games) < 2:
        yield from map(work, games)
        return
    judge(games[0], 1)  # compiles: two processes at once would fill one cache
    ignore = partial(signal.signal, signal.SIGINT, signal.SIG_IGN)  # the parent ends them
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(workers, len(games)), context, initializer=ignore)
    try:
        yield from pool.map(work, games)
    except BrokenProcessPool:
        raise Refusal("a worker was lost, perhaps for lack of memory; --workers 1 needs the least") from None
    finally:
        pool.shutdown(cancel_futures=True)


class Watch:
    """Says on stderr how far the judge is: one line that changes on a terminal, else lines at growing intervals."""

    def __init__(self, games: int):
        self.games, self.done, self.start = games, 0, time.monotonic()
        self.first = 0.0  # when the first game was judged: processes have started and code is compiled
        self.terminal = sys.stderr.isatty()
        self.pause, self.next = FIRST_LINE, FIRST_LINE
        self._say(0.0)

    def count(self) -> None:
        """One game more."""
        self.done += 1
        seconds = time.monotonic() - self.start
        self.first = self.first or seconds
        if self.terminal or seconds >= self.next:
            self._say(seconds)
            self.pause = min(self.pause * GROWTH, LONGEST_PAUSE)
            self.next = seconds + self.pause

    def _say(self, seconds: float) -> None:
        speed = (self.done - 1) / (seconds - self.first) if self.done > 1 else 0.0
        left = f", about {duration((self.games - self.done) / speed)} left" if speed else ""
        line = f"judged {self.done:,} of {self.games:,} games{left}"
        if self.terminal:
            print(f"\r{line:<60}", end="", file=sys.stderr, flush=True)
        elif self.done:
            print(line, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Take the changing line away."""
        if self.terminal:
            print(f"\r{'':<60}\r", end="", file=sys.stderr, flush=True)


def judge_run(run: Run, games: int, iterations: int, workers: int = 1) -> Regret:
    """The regret of the first games of each matchup; a run without stored moves is refused."""
    chosen = list(stored_games(run, games))
    watch = Watch(len(chosen))
    rows = []
    try:
        for stored, lost in zip(chosen, judged_games(chosen, iterations, workers)):
            if lost:
                grave = sum(points > GRAVE for points in lost)
                rows.append((stored.matchup, stored.deal, stored.rotation, len(lost), float(np.sum(lost)), grave))
            watch.count()
    finally:
        watch.close()
    if not rows:
        raise Refusal(f"{run.path} has no stored moves of agents against opponents; play it with moves=true")
    return Regret(iterations, pd.DataFrame(rows, columns=[*GAME, *MEASURED]))


def regret_frame(run: Run, regret: Regret) -> pd.DataFrame:
    """Points lost per decision and share of grave ones, per opponent and in the mean, for each agent."""
    groups: dict[tuple[str, str], list[tuple[str, int, list]]] = {}
    for matchup, entry, board in judged(run):
        points, grave, decisions = regret.of(matchup.id)
        if points is not None and grave is not None:
            group = groups.setdefault((board, matchup.seats[entry]["text"]), [])
            group.append((opponents_of(matchup, entry), decisions, [points, grave]))
    rows = []
    for (board, agent), group in groups.items():
        means = [average(each) for each in zip(*(estimates for _, _, estimates in group))]
        for opponent, decisions, (points, grave) in [*group, (AVERAGE, sum(each[1] for each in group), means)]:
            low, high = points.interval()
            row = dict(map=board, agent=agent, opponent=opponent, decisions=decisions, points_lost=points.value)
            rows.append(row | dict(points_lost_low=np.maximum(low, 0), points_lost_high=high, grave=100 * grave.value))
    return pd.DataFrame(rows)


def main(argv: Sequence[str] | None = None) -> int:
    """Judge a run's agents, print what is found and keep it in the run folder."""
    parser = argparse.ArgumentParser(prog="python -m analysis.regret", description="Points given away, decision by decision.")
    parser.add_argument("run", metavar="RUN", help="a run folder played with moves=true; regret.csv is written there")
    parser.add_argument("--games", type=int, default=20, help="of each matchup (default: 20)")
    parser.add_argument("--iterations", type=int, default=JUDGE, help=f"of the judge (default: {JUDGE})")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)), help="processes (default: one per core)")
    parser.add_argument("--csv", metavar="FILE", help="also write the table")
    arguments = parser.parse_args(argv)
    return answering("analysis.regret", lambda: _judge_and_keep(arguments))


def _judge_and_keep(arguments: argparse.Namespace) -> int:
    if min(arguments.games, arguments.iterations, arguments.workers) < 1:
        raise Refusal("--games, --iterations and --workers must be at least 1")
    run = open_run(arguments.run)
    try:
        found = judge_run(run, arguments.games, arguments.iterations, arguments.workers)
    except KeyboardInterrupt:
        print("stopped; nothing is kept", file=sys.stderr)
        return 130
    with writing(run.path):
        kept = keep_regret(run, found)  # before anything is printed: perhaps nobody reads it
    frame = regret_frame(run, found)
    shown = frame.rename(columns={"grave": f"over {GRAVE} points, %"})
    show(shown, Console(), f"Regret, judged by a full-strength search of {arguments.iterations} iterations")
    if arguments.csv:
        with writing(arguments.csv):
            frame.to_csv(arguments.csv, index=False)
        print(arguments.csv)
    print(kept)
    return 0


if __name__ == "__main__":
    sys.exit(main())
