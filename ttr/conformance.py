"""Tells the author of an agent what is wrong with it: plays games on several maps and looks closely.

python -m ttr.conformance my_agents.py:Mine
python -m ttr.conformance greedy --map usa --games 5

Each check is a line: ok, warn or FAIL. Exit code 1 if any has failed.
"""

import argparse
import json
import os
import pickle
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numba.core.compiler_lock import global_compiler_lock
from rich.console import Console

from ttr.actions import DRAW_TICKETS, apply_code, index_of, legal_codes
from ttr.agent_view import Setting
from ttr.agents.contract import new_scratch
from ttr.agents.python_agent import AgentFailure, IllegalMove, forget_modules
from ttr.agents.registry import Agent, AgentError, parse_agent
from ttr.board import Board, MapError, load_board
from ttr.random_stream import RandomStream
from ttr.record import start_game
from ttr.rules import Rules, RulesError, resolve_rules, usual_preset
from ttr.seats import take_seat
from ttr.state import OVER, PHASES
from ttr.stream import agent_stream

SETUPS = [("yang", "warwick", 2), ("usa", "official", 3), ("germany", "official", 5), ("first_journey", "orebro", 2)]
PATIENCE = 10.0  # seconds; a decision that takes longer is broken off
HASH_SEEDS = ("1", "2")  # Python orders sets of texts by it, anew in every process
STYLES = {"ok": "green", "warn": "yellow", "FAIL": "bold red"}


@dataclass(frozen=True)
class Finding:
    """What one check has found."""

    check: str
    verdict: str  # ok | warn | FAIL
    text: str


@dataclass
class Trial:
    """One game that the agent has played, or as far as it came."""

    where: str
    codes: list[int] = field(default_factory=list)  # of all players
    phases: Counter = field(default_factory=Counter)  # of the agent's decisions
    seconds: list[float] = field(default_factory=list)
    failure: AgentFailure | None = None
    outside: str = ""  # random numbers that are not its own
    changed: str = ""  # what it has written to


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Break off Python code that takes longer (compiled code cannot be broken off, and compiling must not be)."""

    def give_up(_signal, _frame):
        if global_compiler_lock.is_locked():
            signal.setitimer(signal.ITIMER_REAL, seconds)
        else:
            raise TimeoutError(f"no decision within {seconds:g} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _global_random() -> tuple:
    state = np.random.get_state(legacy=False)["state"]
    return random.getstate(), (state["key"].tobytes(), state["pos"])


def _seed_global_random(seed: int) -> None:
    """So that play which depends on it differs."""
    random.seed(seed)
    np.random.seed(seed)


def _content(state: np.void) -> bytes:
    """A state without the totals that counting the legal actions leaves in it."""
    copy = state.copy()
    copy["up_to"] = 0
    return copy.tobytes()


def play_trial(agent: Agent, board: Board, rules: Rules, seed: int, deal: int, meddle: bool = False) -> Trial:
    """One game of the agent against greedy and random players; its seat is the deal's number.

    With `meddle`, every fourth of its moves, by chance, is exchanged: for a ticket draw as often as for any other.
    """
    g, state = start_game(board, rules, seed, deal)
    mine, setting, scratch = deal % g.players, Setting(board, g), new_scratch()
    trial = Trial(f"{board.name}, {rules.preset} rules, {g.players} players, seed {seed}, deal {deal}")
    dice, codes, tables = RandomStream(seed + deal), np.zeros(4096, np.int64), g.tables.tobytes()
    others = [parse_agent(name) for name in ("greedy", "random")]
    try:
        seats = [
            take_seat(setting, agent if p == mine else others[p % 2], int(agent_stream(seed, deal, 0, p)), scratch)
            for p in range(g.players)
        ]
        while state["phase"] != OVER:
            player = int(state["player"])
            if player != mine:
                code = seats[player].decide(state)
            else:
                trial.phases[PHASES[state["phase"]]] += 1
                code = _watched(trial, seats[player], setting, state, tables)
                if meddle and dice.below(4) == 0:
                    legal = codes[: legal_codes(g, state, codes)].tolist()
                    code = DRAW_TICKETS if DRAW_TICKETS in legal and dice.below(2) else dice.choice(legal)
            trial.codes.append(code)
            apply_code(g, state, code)
    except AgentFailure as failure:
        trial.failure = failure
    return trial


def _watched(trial: Trial, seat, setting: Setting, state: np.void, tables: bytes) -> int:
    """A decision of the agent, with an eye on everything it must not touch."""
    before, content, start = _global_random(), _content(state), time.perf_counter()
    with patience(PATIENCE):
        code = seat.decide(state)
    trial.seconds.append(time.perf_counter() - start)
    for name, old, new in zip(("Python's random", "numpy.random"), before, _global_random()):
        if old != new and not trial.outside:
            trial.outside = f"{name}, at move {len(trial.codes) + 1}"
    if not trial.changed:
        if _content(state) != content:
            trial.changed = f"the state, at move {len(trial.codes) + 1}"
        elif setting.game.tables.tobytes() != tables:
            trial.changed = f"the tables of the board, at move {len(trial.codes) + 1}"
    if index_of(setting.game, state, code) < 0:
        raise IllegalMove(f"illegal move: action code {code}")
    return code


def _difference(first: Sequence[Trial], second: Sequence[Sequence[int]]) -> str:
    """Where two series of the same games part, or nothing."""
    for trial, codes in zip(first, second):
        if trial.codes != list(codes):
            pairs = zip(trial.codes, codes)
            at = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(trial.codes), len(codes)))
            return f"{trial.where}: move {at + 1} differs"
    return ""


class Conformance:
    """All checks of one agent, on some setups, with some games each."""

    def __init__(self, text: str, setups: Sequence[tuple[Board, Rules]], games: int, seed: int, limit: float):
        self.text, self.agent, self.games, self.seed, self.limit = text, parse_agent(text), games, seed, limit
        self.setups, self.maps = setups, [board.name for board, _ in setups]

    def trials(self, meddle: bool = False, fresh: bool = False) -> list[Trial]:
        """All games, in order; `fresh`: backwards, each with newly made modules."""
        games = [(board, rules, deal) for board, rules in self.setups for deal in range(self.games)]
        played = []
        for board, rules, deal in reversed(games) if fresh else games:
            if fresh:
                forget_modules()
            played.append(play_trial(self.agent, board, rules, self.seed, deal, meddle))
        return played[::-1] if fresh else played

    def run(self) -> Iterator[Finding]:
        """The findings, one after the other."""
        yield self.constructible()
        _seed_global_random(1)
        first = self.trials()
        forget_modules()
        _seed_global_random(2)
        second = self.trials()
        yield self.legal(first)
        yield self.no_exceptions(first)
        yield self.deterministic(first, second)
        yield self.own_stream(first)
        yield self.no_memory(first, second)
        yield self.processes(first)
        yield self.changes_nothing(first)
        yield self.any_position()
        yield self.speed(second)

    def constructible(self) -> Finding:
        """It can be made again from what travels to other machines."""
        same = pickle.loads(pickle.dumps(self.agent)).identity() == self.agent.identity()
        fields = ", ".join(f"{key}={value}" for key, value in self.agent.fields.items()) or "no fields"
        return Finding("constructible", "ok" if same else "FAIL", f"{self.agent.text}: {fields}")

    def legal(self, trials: Sequence[Trial]) -> Finding:
        """Every move is one of those it was given."""
        for trial in trials:
            if isinstance(trial.failure, IllegalMove):
                return Finding("legal moves", "FAIL", f"{trial.where}, move {len(trial.codes) + 1}: {trial.failure}")
        return Finding("legal moves", "ok", f"{sum(len(t.seconds) for t in trials)} decisions in {len(trials)} games")

    def no_exceptions(self, trials: Sequence[Trial]) -> Finding:
        """Nothing is raised."""
        for trial in trials:
            if trial.failure and not isinstance(trial.failure, IllegalMove):
                return Finding("no exceptions", "FAIL", f"{trial.where}, move {len(trial.codes) + 1}: {trial.failure}")
        return Finding("no exceptions", "ok", "none raised")

    def deterministic(self, first: Sequence[Trial], second: Sequence[Trial]) -> Finding:
        """Equal streams, equal play."""
        found = _difference(first, [trial.codes for trial in second])
        if found:
            return Finding(
                "deterministic", "FAIL", f"{found} when played again; decide by view, moves and random alone, not the clock"
            )
        return Finding("deterministic", "ok", "the same games with the same streams, played twice")

    def own_stream(self, trials: Sequence[Trial]) -> Finding:
        """Random numbers come from the stream it is given."""
        for trial in trials:
            if trial.outside:
                return Finding("own stream", "FAIL", f"{trial.where}: it draws from {trial.outside}; use the argument random")
        return Finding("own stream", "ok", "no random numbers from elsewhere")

    def no_memory(self, first: Sequence[Trial], second: Sequence[Trial]) -> Finding:
        """A game does not depend on the games before it."""
        if _difference(first, [trial.codes for trial in second]):
            return Finding("no memory", "warn", "not looked at: it is not deterministic")
        found = _difference(first, [trial.codes for trial in self.trials(fresh=True)])
        if found:
            return Finding(
                "no memory", "FAIL", f"{found} when no game is played before; keep memory in self, not in the class or file"
            )
        return Finding("no memory", "ok", "games do not depend on those before")

    def processes(self, first: Sequence[Trial]) -> Finding:
        """Other processes, which order sets of texts otherwise, give the same games."""
        for hash_seed in HASH_SEEDS:
            names = [f"{name},{rules.preset},{rules.players}" for name, (_, rules) in zip(self.maps, self.setups)]
            words = ["--codes", self.text, "--games", str(self.games), "--seed", str(self.seed), "--setups", *names]
            run = subprocess.run(
                [sys.executable, "-m", "ttr.conformance", *words],
                env=os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": _search_path()},
                capture_output=True,
                text=True,
                check=False,
            )
            if run.returncode:
                last = (run.stderr.strip().splitlines() or ["no output"])[-1]
                return Finding("other processes", "FAIL", f"it cannot be played in another process: {last}")
            found = _difference(first, json.loads(run.stdout.splitlines()[-1]))
            if found:
                hint = "does it go through a set of texts or objects? sort it first"
                return Finding("other processes", "FAIL", f"{found} in another process; {hint}")
        return Finding("other processes", "ok", f"the same games in {len(HASH_SEEDS)} other processes")

    def changes_nothing(self, trials: Sequence[Trial]) -> Finding:
        """The game is changed by moves alone."""
        for trial in trials:
            if trial.changed:
                return Finding("changes nothing", "FAIL", f"{trial.where}: it has written to {trial.changed}")
        for name, (board, _) in zip(self.maps, self.setups):
            if load_board(name) != board:
                return Finding("changes nothing", "FAIL", f"it has written to the board of {name}")
        return Finding("changes nothing", "ok", "state, tables and boards are as they were")

    def any_position(self) -> Finding:
        """It decides in positions it would not have gone into, in every phase."""
        trials = self.trials(meddle=True)
        for trial in trials:
            if trial.failure:
                text = f"with every fourth of its moves exchanged, {trial.where}, move {len(trial.codes) + 1}: {trial.failure}"
                return Finding("any position", "FAIL", text)
        met = sum((trial.phases for trial in trials), Counter())
        return Finding("any position", "ok", ", ".join(f"{phase.replace('_', ' ')} {met[phase]}" for phase in PHASES if met[phase]))

    def speed(self, trials: Sequence[Trial]) -> Finding:
        """Time of a decision."""
        slow = max(trials, key=lambda trial: float(np.mean(trial.seconds or [0])))
        every = [1000 * seconds for trial in trials for seconds in trial.seconds] or [0.0]
        text = f"{np.mean(every):.2f} ms a decision, {max(every):.1f} ms at worst"
        mean = 1000 * float(np.mean(slow.seconds or [0]))
        if mean > self.limit:
            hours = sum(slow.seconds) / 3.6
            text += f"; {mean:.1f} ms, more than {self.limit:g}, on {slow.where}: 1,000 such games take {hours:,.2f} hours"
            return Finding("speed", "warn", text)
        return Finding("speed", "ok", text)


def _search_path() -> str:
    """Where the other process finds this package, and what this one finds."""
    return os.pathsep.join([str(Path(__file__).parent.parent), *filter(None, [os.environ.get("PYTHONPATH", "")])])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m ttr.conformance",
        description="Say what is wrong with an agent: illegal moves, exceptions, play that is not reproducible, slowness.",
        epilog="Without --map it plays on several maps, with two to five players. "
        "Exit code 1: a check failed; 2: no such agent or map.",
    )
    parser.add_argument("agent", metavar="AGENT", help="file.py:Object[:field=value,...], or an agent of the project")
    parser.add_argument("--map", action="append", metavar="NAME", help="play on this map only; repeatable")
    parser.add_argument("--players", type=int, metavar="N", help="with --map: players at the table (default: 2)")
    parser.add_argument("--games", type=int, default=2, metavar="N", help="games on each map (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="default: %(default)s")
    parser.add_argument(
        "--limit", type=float, default=100, metavar="MS", help="warn if a decision takes longer (default: %(default)s)"
    )
    parser.add_argument("--codes", action="store_true", help=argparse.SUPPRESS)  # for the check of other processes
    parser.add_argument("--setups", nargs="+", default=[], help=argparse.SUPPRESS)
    return parser


def _setups(arguments: argparse.Namespace) -> list[tuple[Board, Rules]]:
    wanted = [(name, preset, int(players)) for name, preset, players in (text.rsplit(",", 2) for text in arguments.setups)]
    if arguments.map:
        wanted = [(name, usual_preset(load_board(name)), arguments.players or 2) for name in arguments.map]
    boards = [(load_board(name), preset, players) for name, preset, players in wanted or SETUPS]
    return [(board, resolve_rules(board, preset, players)) for board, preset, players in boards]


def main(argv: Sequence[str] | None = None) -> int:
    """Checks one agent; 0 if nothing failed, 1 if something did, 2 with one line on stderr if there is nothing to check."""
    arguments = _parser().parse_args(argv)
    path = arguments.agent.partition(".py")[0] + ".py"
    console = Console(highlight=False, emoji=False, soft_wrap=True)
    try:
        if arguments.games < 1:
            raise RulesError(f"--games {arguments.games}: at least one game must be played")
        setups = _setups(arguments)
        conformance = Conformance(arguments.agent, setups, arguments.games, arguments.seed, arguments.limit)
    except (MapError, RulesError) as error:
        print(error, file=sys.stderr)
        return 2
    except AgentError as error:
        if not Path(path).is_file():
            print(error, file=sys.stderr)
            return 2
        _print(console, Finding("constructible", "FAIL", str(error)))
        return 1
    if arguments.codes:
        print(json.dumps([trial.codes for trial in conformance.trials()]))
        return 0
    verdicts = [_print(console, finding) for finding in conformance.run()]
    if "FAIL" in verdicts:
        console.print(f"{verdicts.count('FAIL')} of {len(verdicts)} checks failed.")
        return 1
    console.print(f"It conforms. Next: python -m ttr.match {arguments.agent} greedy --games 1000", markup=False)
    return 0


def _print(console: Console, finding: Finding) -> str:
    console.print(f"{finding.verdict:4}", style=STYLES[finding.verdict], end="  ")
    console.print(f"{finding.check:16}  {finding.text}", markup=False)
    return finding.verdict


if __name__ == "__main__":
    sys.exit(main())
