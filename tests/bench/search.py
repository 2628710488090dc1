"""The searches: time of one iteration over all turns of a game and at its first decision, memory, two processes at once.

The searcher plays first against a random player. `python -m tests.bench.search MAP AGENT GAMES` prints one such measurement.
"""

import json
import subprocess
import sys
import time
from typing import Any

import numpy as np

from tests.bench.engine import game_of
from tests.bench.measure import best_cpu_seconds, row
from ttr.actions import apply_code, count_actions, nth_code
from ttr.agents.contract import new_scratch
from ttr.agents.registry import parse_agent
from ttr.deal import deal
from ttr.game import playout
from ttr.jit import jitted
from ttr.observation import observe
from ttr.search.determinize import determinize
from ttr.search.search import payoff
from ttr.seats import JittedSeat
from ttr.state import OVER, new_state
from ttr.stream import agent_stream, game_stream

CASES = [
    ("yang", "cmcts", 6),
    ("yang", "ismcts", 6),
    ("usa", "cmcts:iterations=1000", 3),
    ("usa", "ismcts:iterations=1000", 3),
    ("new_york", "cmcts:iterations=3000", 3),
    ("new_york", "ismcts:iterations=3000", 3),
]
MEMORY = "iterations=100000"
_PAGE = 4096
PARTS = ("copied", "determinized", "played out", "scored")


@jitted
def _parts(g, root, scratch, hidden, last, n):
    """The parts of n iterations without a tree, up to one of PARTS; returns a sum, so that nothing is left out."""
    tree = scratch.tree
    s = tree.states[0]
    stream = np.uint64(n)
    done = 0
    for _ in range(n):
        tree.states[0] = root
        if hidden and last >= 1:
            stream = determinize(g, s, 0, stream)
        if last >= 2:
            stream, decisions = playout(g, s, stream)
            done += decisions
        if last >= 3:
            done += payoff(g, s, tree.sheet, 0)
        done += s.turn
    return done


def parts_of_an_iteration(name: str, hidden: int, games: int = 2, n: int = 2000) -> list[float]:
    """Microseconds of an iteration up to each of PARTS, over the turns of random games; the tree comes on top."""
    g, s, seen, scratch = game_of(name, 2), new_state(), new_state(), new_scratch()
    seconds = np.zeros(len(PARTS))
    positions = 0
    for number in range(games):
        deal(g, s, np.uint64(game_stream(9, number)))
        random = np.random.default_rng(number)
        while s["phase"] != OVER:
            legal = count_actions(g, s)
            if s["player"] == 0 and legal > 1:
                observe(g, s, 0, seen)
                root = seen if hidden else s
                for last in range(len(PARTS)):
                    seconds[last] += best_cpu_seconds(lambda: _parts(g, root, scratch, hidden, last, n), 2)  # noqa: B023
                positions += 1
            apply_code(g, s, int(nth_code(g, s, random.integers(max(legal, 1)), legal)))
    return (1e6 * seconds / (positions * n)).tolist()


def _memory() -> int:
    """Bytes of this process that lie in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * _PAGE


def searches(name: str, agent: str, games: int) -> dict[str, float]:
    """Microseconds of an iteration, over all turns and at the first decision that is searched; megabytes the tree took."""
    g, s, scratch = game_of(name, 2), new_state(), new_scratch()
    seconds: list[float] = []
    iterations: list[int] = []
    firsts: list[int] = []
    taken = 0
    for number in range(-1, games):  # one game to warm up
        deal(g, s, np.uint64(game_stream(9, number + 1)))
        seat = JittedSeat(g, parse_agent(agent), agent_stream(9, number + 1, 0, 0), scratch)
        random = np.random.default_rng(number + 1)
        if number >= 0:
            firsts.append(len(seconds))
        while s["phase"] != OVER:
            n = count_actions(g, s)
            if s["player"] == 0:
                held, start = _memory(), time.process_time()
                code = seat.decide(s)
                spent = time.process_time() - start
                taken += max(0, _memory() - held)
                if number >= 0 and seat.me["iterations"]:
                    seconds.append(spent)
                    iterations.append(int(seat.me["iterations"]))
            else:
                code = int(nth_code(g, s, random.integers(max(n, 1)), n))
            apply_code(g, s, code)
    return {
        "all": 1e6 * sum(seconds) / max(1, sum(iterations)),
        "first": 1e6 * sum(seconds[i] for i in firsts) / max(1, sum(iterations[i] for i in firsts)),
        "megabytes": taken / 1e6,
    }


def _started(name: str, agent: str, games: int) -> subprocess.Popen:
    command = [sys.executable, "-m", "tests.bench.search", name, agent, str(games)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _finished(process: subprocess.Popen) -> dict[str, float]:
    return json.loads(process.communicate()[0])


def rows(step: float) -> list[dict[str, Any]]:
    """All rows."""
    result = []
    for name, agent, games in CASES:
        short = agent.partition(":")[0]
        found = searches(name, agent, games)
        result.append(row(f"{short}_us_per_iteration/{name}", found["all"], "us"))
        result.append(row(f"{short}_us_per_iteration_first/{name}", found["first"], "us"))
        result.append(row(f"{short}_reference_ratio/{name}", found["all"] / 1e6 / step, "reference steps per iteration"))
    for name in ("yang", "usa"):
        for hidden, short in enumerate(("cmcts", "ismcts")):
            for part, value in zip(PARTS, parts_of_an_iteration(name, hidden)):
                result.append(row(f"us_until_{part.replace(' ', '_')}/{name}/{short}", value, "us"))
        for short in ("cmcts", "ismcts"):
            found = _finished(_started(name, f"{short}:{MEMORY}", 0))
            result.append(row(f"{short}_megabytes_100000_iterations/{name}", found["megabytes"], "MB"))
    alone = _finished(_started("yang", "cmcts", 4))["all"]
    pair = [_started("yang", "cmcts", 4) for _ in range(2)]
    together = max(_finished(process)["all"] for process in pair)
    result.append(row("two_searches_cpu_ratio", together / alone, "times the CPU of one"))
    return result


if __name__ == "__main__":
    print(json.dumps(searches(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
