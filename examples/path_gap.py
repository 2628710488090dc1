"""How far the paths of the base player are from the cheapest there are, and what they cost to find, on sampled positions.

    python -m examples.path_gap usa europe germany --positions 100

For each number of tickets: positions in which opponents have taken up to a third of the routes; the cost of the path found, of the
quick search alone, and of the optimum (an integer program, slow).
"""

import argparse
import time

import numpy as np

from tests.naive.paths import cheapest_cost
from tests.test_path_search import Search


def cpu_us(work, times: int) -> float:
    """CPU time of some work in microseconds."""
    start = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - start) / times * 1e6


def main() -> None:
    """Sample, search, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("maps", nargs="+")
    parser.add_argument("--positions", type=int, default=50, help="for each number of tickets")
    parser.add_argument("--tickets", type=int, nargs="+", default=[2, 3, 4, 5, 6, 8])
    given = parser.parse_args()
    print("| map | tickets | exact | mean gap % | worst gap % | us | quick alone: exact | mean gap % | worst gap % | us |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name in given.maps:
        search = Search(name)
        for tickets in given.tickets:
            random = np.random.default_rng(tickets)
            gaps, times = [], []
            while len(gaps) < given.positions:
                usable, held = search.sample(random, tickets, len(search.board.routes) // 3, fewest_tickets=tickets)
                if not search.all_joinable(usable, held):
                    continue
                best = cheapest_cost(search.board, search.rules, usable, held)
                both = (search.best, search.quick)
                gaps.append([100 * (search.cost(f(usable, held)) / best - 1) for f in both])
                times.append([cpu_us(lambda f=f, u=usable, h=held: f(u, h), 20) for f in both])
            gap, us = np.array(gaps), np.mean(times, 0)
            line = f"| {name} | {tickets} |"
            for i in (0, 1):
                line += f" {(gap[:, i] < 1e-9).mean():.0%} | {gap[:, i].mean():.2f} | {gap[:, i].max():.1f} | {us[i]:.0f} |"
            print(line, flush=True)


if __name__ == "__main__":
    main()
