"""What a person sees while an experiment runs: a live display on a terminal, else plain lines at growing intervals.

Win rates carry intervals that stay valid when watched (confidence.py).
"""

import sys
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from experiments.confidence import Tally, deal_means
from experiments.matchup import Matchup
from experiments.reading import parse_part

FIRST_LINE, LONGEST_PAUSE, GROWTH = 5.0, 600.0, 1.6
SHOWN = 12


class Progress:
    """Counts games and win rates of all matchups, and shows them."""

    def __init__(self, matchups: Mapping[str, Matchup], expected: int, stored: int, part: str | None, display: str):
        k, n = parse_part(part) if part else (1, 1)
        self.matchups, self.expected, self.stored = matchups, expected, stored
        self.tallies = {name: Tally(step=n, first=k - 1) for name in matchups}
        self.played, self.lost, self.peak_mb = 0, 0, 0.0
        self._start = time.monotonic()
        self._pause, self._next = FIRST_LINE, FIRST_LINE
        self._display, self._live = display, None
        if display == "auto" and sys.stdout.isatty():
            self._live = Live(self._picture(), console=Console(), refresh_per_second=2, transient=True)
            self._live.start()
        self._drawn = 0.0

    def entry(self, matchup: str) -> int:
        """Whose win rate is shown: the agent under test, else the first."""
        role = self.matchups[matchup].labels.get("role")
        return role["agent"] if role else 0

    def count(self, matchup: str, games: pa.Table | pa.RecordBatch) -> None:
        """Take finished games into the win rates."""
        players = len(self.matchups[matchup].seats)
        deals, rotations = (np.asarray(games.column(name)) for name in ("deal", "rotation"))
        winners = np.asarray(games.column("winner").fill_null(-1))
        self.tallies[matchup].add(*deal_means(deals, rotations, winners, self.entry(matchup), players))

    def count_stored(self, run: Any) -> None:
        """Take the games that were there before into the win rates."""
        for batch in run.batches(["matchup", "deal", "rotation", "winner"]):
            table = pa.Table.from_batches([batch])
            for name in table.column("matchup").unique().to_pylist():
                if name in self.tallies:
                    self.count(name, table.filter(pa.compute.equal(table.column("matchup"), name)))

    def add(self, matchup: str, games: pa.Table, peak_mb: float) -> None:
        """Take a batch that was just played."""
        self.played += len(games)
        self.peak_mb = max(self.peak_mb, peak_mb)
        self.count(matchup, games)

    def start_clock(self) -> None:
        """Speed counts from now: compiling is over."""
        self._start = time.monotonic()

    def tick(self) -> None:
        """Show how things stand, if it is time."""
        now = time.monotonic() - self._start
        if self._live:
            if now - self._drawn > 0.5:
                self._drawn = now
                self._live.update(self._picture())
        elif self._display != "none" and now >= self._next:
            self._pause = min(self._pause * GROWTH, LONGEST_PAUSE)
            self._next = now + self._pause
            print(self.line(), flush=True)

    def say(self, text: str) -> None:
        """Print a line above the display."""
        if self._display == "none":
            return
        if self._live:
            self._live.console.print(Text(text))
        else:
            print(text, flush=True)

    def close(self) -> None:
        """Take the display down."""
        if self._live:
            self._live.stop()
            self._live = None

    @property
    def speed(self) -> float:
        """Games a second, of those played now."""
        return self.played / max(1e-9, time.monotonic() - self._start)

    def line(self) -> str:
        """How things stand, in one line."""
        done = self.stored + self.played
        left = (self.expected - done) / self.speed if self.played else None
        parts = [f"{done:,} of {self.expected:,} games ({done / max(1, self.expected):.0%})", f"{self.speed:,.1f} games/s"]
        parts.append(f"about {duration(left)} left" if left is not None else "starting")
        if self.lost:
            parts.append(f"{self.lost} batches lost and played again")
        return ", ".join(parts)

    def rates(self, most: int = SHOWN) -> list[tuple[str, float, float, float, int]]:
        """Win rates so far: title, rate, interval, deals; of the matchups with the most deals."""
        names = sorted(self.tallies, key=lambda name: -self.tallies[name].deals)[:most]
        rows = []
        for name in names:
            tally, seats = self.tallies[name], self.matchups[name].seats
            if tally.deals:
                entry = self.entry(name)
                others = [seat["text"] for e, seat in enumerate(seats) if e != entry]
                rows.append((f"{seats[entry]['text']} against {', '.join(others)}", tally.rate, *tally.interval(), tally.deals))
        return rows

    def _picture(self) -> Group:
        done = self.stored + self.played
        table = Table(box=None, pad_edge=False)
        for heading in ("matchup", "wins", "95 %, valid at every look", "deals"):
            table.add_column(heading, justify="left" if heading == "matchup" else "right", overflow="ellipsis", no_wrap=True)
        for title, rate, low, high, deals in self.rates():
            table.add_row(Text(title), f"{rate:.1%}", f"{low:.1%} to {high:.1%}", f"{deals:,}")
        more = len(self.tallies) - SHOWN
        foot = Text(f"and {more} more matchups") if more > 0 else Text("")
        return Group(ProgressBar(total=max(1, self.expected), completed=done, width=60), Text(self.line()), table, foot)


def duration(seconds: float) -> str:
    """A time for a person."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86_400:.1f} days"
