"""Compile the engine and the agents once, into the cache, before many processes start that would all do the same.

python -m ttr.warm                  # everything
python -m ttr.warm base cmcts       # the engine and what these agents need
"""

import argparse
import fcntl
import sys
import time
from collections.abc import Sequence

from rich.console import Console

from ttr.agents.registry import SWAP, Agent, AgentError, agent_names, parse_agent, seat_player
from ttr.batch import Table, deals_and_rotations
from ttr.board import load_board
from ttr.compile_cache import cache_folder, writable
from ttr.game import play_random_games
from ttr.moves import legal_moves
from ttr.record import play_and_record, start_game
from ttr.rules import resolve_rules
from ttr.tables import compile_game


def warm(agents: Sequence[Agent]) -> float:
    """Compile what games between these agents need, one process at a time; returns the CPU seconds it took."""
    start = time.process_time()
    folder = writable(cache_folder())
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        board = load_board("mini")
        rules = resolve_rules(board, "warwick", 2)
        game = compile_game(board, rules)
        play_random_games(game, 1)
        Table(game, [parse_agent("random")] * 2).play(*deals_and_rotations(0, 1, 1), seed=0)
        play_and_record(board, rules, ["random", "random"], seed=0)
        legal_moves(game, board, start_game(board, rules, seed=0, deal=0)[1])
        for agent in agents:
            for part in (agent.first, agent.second) if agent.first else (agent,):
                if part and not part.by_user:
                    seat_player(part)
    return time.process_time() - start


def main(argv: Sequence[str] | None = None) -> int:
    """Compile for the agents named, or for all."""
    parser = argparse.ArgumentParser(prog="python -m ttr.warm", description="Compile the engine and agents into the cache.")
    parser.add_argument("agents", nargs="*", metavar="AGENT", help="agents to compile (default: all)")
    names = parser.parse_args(argv).agents or [name for name in agent_names() if name != SWAP]
    try:
        agents = [parse_agent(name) for name in names]
    except AgentError as error:
        print(error, file=sys.stderr)
        return 2
    seconds = warm(agents)
    Console().print(f"The engine and {len(agents)} agents are compiled ({seconds:.1f} s of CPU time).", highlight=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
