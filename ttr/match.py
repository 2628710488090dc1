"""A quick match in the terminal: two to five agents, every deal in every seat order, win rates with intervals.

python -m ttr.match greedy random --games 10000
python -m ttr.match my_agents.py:Mine greedy greedy --map usa --set cars=30
python -m ttr.match greedy random --games 500 --json
"""

import argparse
import json
import shlex
import sys
import time
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table as RichTable

from ttr.agents.python_agent import AgentFailure
from ttr.agents.registry import Agent, AgentError, parse_agent
from ttr.board import MapError, load_board
from ttr.python_table import ON_ERROR, Plays, table_for
from ttr.record import play_and_record, write_record
from ttr.rules import RulesError, parse_overrides, resolve_rules, usual_preset
from ttr.tables import MAX_PLAYERS

SECONDS_A_BATCH = 0.2  # so that Ctrl-C is answered soon
LARGEST_BATCH = 1 << 15
INTERRUPTED = 130


@dataclass
class Tally:
    """What the games of a match left behind, by agent in the order named; whole deals only, the deal being the unit of evidence."""

    players: int
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=list)  # wins, scores, forfeits: games x agents

    def add(self, rows: np.ndarray) -> None:
        """Count games; in rotation r, turn position s was played by agent (s + r) mod n."""
        positions = (np.arange(self.players)[None, :] - rows["rotation"][:, None]) % self.players
        scores = np.take_along_axis(rows["score"], positions, 1) / np.float32(2)
        self.parts.append((rows["winner"][:, None] == positions, scores, rows["forfeit"][:, None] == positions))

    @property
    def games(self) -> int:
        """Games played, those of the last, unfinished deal included."""
        return sum(len(wins) for wins, _, _ in self.parts)

    def by_deal(self, which: int) -> np.ndarray:
        """Means over the seat orders of each deal that was played in all of them: deals x agents."""
        games = np.concatenate([part[which] for part in self.parts])
        deals = len(games) // self.players
        return games[: deals * self.players].reshape(deals, self.players, self.players).mean(axis=1, dtype=np.float64)

    def summary(self) -> dict[str, Any]:
        """Rates, draws and mean scores with 95 % intervals, as plain data."""
        if self.games < self.players:
            return {"games": 0, "deals": 0}
        wins, scores, forfeits = (self.by_deal(which) for which in range(3))
        deals, draws, entries = len(wins), 1 - wins.sum(axis=1), range(self.players)
        return {
            "games": deals * self.players,
            "deals": deals,
            "win_rate": [float(wins[:, e].mean()) for e in entries],
            "win_rate_interval": [rate_interval(wins[:, e], self.players) for e in entries],
            "draw_rate": float(draws.mean()),
            "draw_rate_interval": rate_interval(draws, self.players),
            "mean_score": [float(scores[:, e].mean()) for e in entries],
            "mean_score_interval": [mean_interval(scores[:, e]) for e in entries],
            "forfeits": [round(forfeits[:, e].sum() * self.players) for e in entries],
        }


def mean_interval(deals: np.ndarray) -> list[float] | None:
    """95 % interval of a mean, from one value for each deal (Student); none for a single deal."""
    from scipy import stats  # slow to import, and not needed before the games are over

    if len(deals) < 2:
        return None
    half = stats.t.ppf(0.975, len(deals) - 1) * deals.std(ddof=1) / np.sqrt(len(deals))
    return [float(deals.mean() - half), float(deals.mean() + half)]


def rate_interval(deals: np.ndarray, games_a_deal: int) -> list[float] | None:
    """95 % interval of a rate, from its mean in each deal: that of as many independent games as tell as much (Korn and Graubard).

    The number of such games follows from the variance between the deals; where nothing varies it is the number of deals.
    """
    from scipy import stats

    n, rate = len(deals), float(deals.mean())
    if n < 2:
        return None
    variance = deals.var(ddof=1) / n
    games = rate * (1 - rate) / variance if variance > 1e-15 else n
    games *= (stats.t.ppf(0.975, n * games_a_deal - 1) / stats.t.ppf(0.975, n - 1)) ** 2
    wins = min(games, rate * games)
    low = stats.beta.ppf(0.025, wins, games - wins + 1) if wins > 1e-9 else 0.0
    high = stats.beta.ppf(0.975, wins + 1, games - wins) if games - wins > 1e-9 else 1.0
    return [float(low), float(high)]


def play_games(table: Plays, players: int, games: int, seed: int, tally: Tally, console: Console) -> tuple[float, bool]:
    """Play into the tally, in batches of a fraction of a second; returns the seconds and whether all were played."""
    start, done, size = time.perf_counter(), 0, players
    shown = Progress(
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} games"),
        BarColumn(),
        TextColumn("{task.fields[speed]:,.0f} games/s"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    task = shown.add_task("", total=games, speed=0)
    seconds = 0.0
    try:
        while done < games:
            numbers = np.arange(done, min(games, done + size))
            tally.add(table.play(numbers // players, numbers % players, seed))
            done += len(numbers)
            before, seconds = seconds, time.perf_counter() - start
            size = int(np.clip(len(numbers) * SECONDS_A_BATCH / max(1e-6, seconds - before), 1, min(LARGEST_BATCH, 4 * size)))
            if seconds > 1 and console.is_terminal:
                shown.start()
                shown.update(task, completed=done, speed=done / seconds)
    except KeyboardInterrupt:
        return max(seconds, 1e-9), False
    finally:
        if shown.live.is_started:
            shown.stop()
    return seconds, True


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m ttr.match",
        description="Play agents against each other: each deal in every seat order, with 95 % intervals clustered by deal.",
        epilog="An agent is name[:field=value,...] or file.py:Object[:field=value,...]; docs/agents.md tells how to write one. "
        "Exit code 2: something named does not exist or an agent failed; 130: interrupted, with the results so far.",
    )
    parser.add_argument("agents", nargs="+", metavar="AGENT", help=f"two to {MAX_PLAYERS} agents")
    parser.add_argument("--games", type=int, default=1000, metavar="N", help="rounded up to whole deals (default: %(default)s)")
    parser.add_argument("--map", default="yang", metavar="NAME", help="a map, a variant or a map's folder (default: %(default)s)")
    parser.add_argument(
        "--rules", metavar="PRESET", help="a preset of conf/rules (default: warwick on yang and mini, else official)"
    )
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE", help="change a rule (cars=30); repeatable")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of all cards and all agents (default: %(default)s)")
    parser.add_argument("--on-error", choices=ON_ERROR, default="stop", help="what a failing agent does (default: %(default)s)")
    parser.add_argument("--record", metavar="FILE", help="keep the first game, for python -m ttr.replay")
    parser.add_argument("--json", action="store_true", help="print one JSON object, for scripts")
    return parser


def _command(arguments: argparse.Namespace, rules: str) -> str:
    """The whole command that plays these games again."""
    words = ["python", "-m", "ttr.match", *arguments.agents, "--games", str(arguments.games), "--map", arguments.map]
    words += ["--rules", rules, "--seed", str(arguments.seed)]
    words += [word for text in arguments.set for word in ("--set", text)]
    words += ["--on-error", arguments.on_error] if arguments.on_error != "stop" else []
    return shlex.join(words)


def _show(result: dict[str, Any], console: Console) -> None:
    """The result as a table with what it rests on."""
    players = len(result["agents"])
    against = " against ".join(result["agents"])
    console.print(f"{against}: map {result['map']}, rules {result['rules']}, seed {result['seed']}")
    if not result["games"]:
        console.print("Interrupted before the first deal was played in every seat order.")
        return
    forfeits = any(result["forfeits"])
    table = RichTable()
    table.add_column("agent", overflow="fold")
    for heading in ("wins", "95 % interval", "mean score", "95 % interval", *(["forfeits"] if forfeits else [])):
        table.add_column(heading, justify="right", no_wrap=True)
    for e, agent in enumerate(result["agents"]):
        win, score = result["win_rate_interval"][e], result["mean_score_interval"][e]
        cells = [f"{result['win_rate'][e]:.1%}", _percents(win), f"{result['mean_score'][e]:.2f}", _numbers(score)]
        table.add_row(agent, *cells, *([str(result["forfeits"][e])] if forfeits else []))
    table.add_section()
    table.add_row("draws", f"{result['draw_rate']:.1%}", _percents(result["draw_rate_interval"]), "", "")
    console.print(table)
    console.print(
        f"{result['games']:,} games: {result['deals']:,} deals, each in {players} seat orders; intervals take a deal as one "
        f"observation. {result['games_per_second']:,.0f} games/s, {result['seconds']:.2f} s."
    )
    if len(set(result["agents"])) < players:
        console.print("Equal agents are told apart by their place in the command.")
    if result["interrupted"]:
        console.print("Interrupted: these are the games played so far.")
    console.print(f"Again: {result['command']}")


def _percents(interval: list[float] | None) -> str:
    return f"{100 * interval[0]:.1f} to {100 * interval[1]:.1f} %" if interval else "-"


def _numbers(interval: list[float] | None) -> str:
    return f"{interval[0]:.2f} to {interval[1]:.2f}" if interval else "-"


def _check(arguments: argparse.Namespace) -> list[Agent]:
    if not 2 <= len(arguments.agents) <= MAX_PLAYERS:
        raise AgentError(f"a match has 2 to {MAX_PLAYERS} agents, there are {len(arguments.agents)}: {' '.join(arguments.agents)}")
    if arguments.games < 1:
        raise RulesError(f"--games {arguments.games}: at least one game must be played")
    if not 0 <= arguments.seed < 2**63:
        raise RulesError(f"--seed {arguments.seed}: it must be a whole number from 0 on")
    return [parse_agent(text) for text in arguments.agents]


def match(arguments: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Play the match of a command line; its result as plain data."""
    agents = _check(arguments)
    board = load_board(arguments.map)
    overrides = parse_overrides(arguments.set)
    if overrides.get("players", len(agents)) != len(agents):
        raise RulesError(f"players={overrides['players']}, but {len(agents)} agents are named")
    preset = arguments.rules or usual_preset(board)
    rules = resolve_rules(board, preset, len(agents), overrides)
    with console.status("Setting up (agents are compiled when they play for the first time) ..."):
        table = table_for(board, rules, agents, arguments.on_error)
        if arguments.record:
            lines = play_and_record(board, rules, agents, arguments.seed, on_error=arguments.on_error)
            write_record(lines, arguments.record)
    tally = Tally(len(agents))
    games = -(-arguments.games // len(agents)) * len(agents)
    seconds, finished = play_games(table, len(agents), games, arguments.seed, tally, console)
    return {
        "agents": [agent.text for agent in agents],
        "map": arguments.map,
        "rules": preset,
        "overrides": overrides,
        "seed": arguments.seed,
        **tally.summary(),
        "seconds": seconds,
        "games_per_second": tally.games / seconds,
        "interrupted": not finished,
        "command": _command(arguments, preset),
    }


def main(argv: Sequence[str] | None = None) -> int:
    """One match: 0 if it was played, 2 with one line on stderr if not, 130 if it was interrupted."""
    arguments = _parser().parse_args(argv)
    try:
        with redirect_stdout(sys.stderr):  # what agents print is no part of the result
            result = match(arguments, Console(stderr=True, highlight=False))
    except (AgentError, MapError, RulesError) as error:
        print(error, file=sys.stderr)
        return 2
    except AgentFailure as error:
        print(f"{error} (--on-error forfeit goes on)", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"cannot write {error.filename or arguments.record}: {error.strerror or error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted before the first game", file=sys.stderr)
        return INTERRUPTED
    if arguments.json:
        print(json.dumps(result))
    else:
        _show(result, Console(highlight=False, markup=False, emoji=False, soft_wrap=True))
        if arguments.record:
            print(f"The first game: python -m ttr.replay {shlex.quote(arguments.record)}")
    return INTERRUPTED if result["interrupted"] else 0


if __name__ == "__main__":
    sys.exit(main())
