"""Two runs side by side, the same deals paired: python -m analysis.compare RUN_A RUN_B

Matchups are matched by what they are; where the two runs have none in common, by who plays whom (as far as names go), so that
another map, another rule or another number of iterations can be compared. With the same seed the deals are the same and each
difference is taken deal by deal; otherwise the interval is that of two independent samples.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.estimate import Estimate, Interval
from analysis.pairs import difference, unpaired_interval
from analysis.rates import Cell
from analysis.summary import Summary, summarise
from analysis.tables import Column, ResultTable, p_column
from analysis.tests import correct
from experiments.command import answering, writing
from experiments.refusal import Refusal

SHOWN = 60


def pairs_of(a: Summary, b: Summary) -> list[tuple[Cell, Cell]]:
    """Cells of both runs that are about the same agent against the same opponents."""
    same = {(c.matchup, c.agent): c for c in b.cells}
    found = [(c, same[(c.matchup, c.agent)]) for c in a.cells if (c.matchup, c.agent) in same]
    if found:
        return found

    def names(summary: Summary) -> dict[tuple[object, ...], Cell]:
        labels = {s.id: tuple(sorted((s.labels.get("sweep") or {}).items())) for s in summary.seatings}
        unique: dict[tuple[object, ...], Cell] = {}
        for c in summary.cells:
            key = (_plain(c.agent), tuple(_plain(o) for o in c.opponents), labels[c.matchup])
            unique.setdefault(key, c)
        return unique

    first, second = names(a), names(b)
    return [(first[key], second[key]) for key in first if key in second]


def _plain(text: str) -> str:
    """The agent without its budget, so that the same agent at another scale is the same."""
    name, _, fields = text.partition(":")
    kept = [part for part in fields.split(",") if part and not part.startswith("iterations=")]
    return name + (":" + ",".join(kept) if kept else "")


def shared_deals(a: Summary, b: Summary) -> bool:
    """Same seed and the same blocks: deal d is the same deal in both."""
    return a.info["seed"] == b.info["seed"] and a.sums.blocks == b.sums.blocks


def compare(a: Summary, b: Summary) -> pd.DataFrame:
    """B less A for win rate (percent) and score, with the paired interval where deals are shared."""
    paired = shared_deals(a, b)
    rows = []
    for ours, theirs in pairs_of(a, b):
        row: dict[str, object] = dict(agent=theirs.agent, opponent=theirs.opponent, games_a=ours.games, games_b=theirs.games)
        for name, scale in (("win", 100.0), ("score", 1.0)):
            first, second = getattr(ours, name) * scale, getattr(theirs, name) * scale
            value, ends, alone, p = _difference(second, first, paired)
            row |= {f"{name}_a": first.value, f"{name}_b": second.value, f"{name}_change": value}
            row |= {f"{name}_change_low": ends.low, f"{name}_change_high": ends.high, f"{name}_unpaired": alone, f"{name}_p": p}
        rows.append(row)
    frame = pd.DataFrame(rows)
    if len(frame):
        frame["p_corrected"] = correct(frame["win_p"].tolist())
    return frame


def _difference(second: Estimate, first: Estimate, paired: bool) -> tuple[float, Interval, float, float]:
    if paired:
        d = difference(second, first)
        return d.value, d.paired, d.unpaired.half_width, d.p_value
    ends = unpaired_interval(second, first)
    apart = Estimate(second.value - first.value, np.concatenate([second.influence, -first.influence]), first.deals, first.clusters)
    return apart.value, ends, ends.half_width, apart.p_value()


def comparison_of(a: Summary, b: Summary) -> ResultTable:
    """The table that is printed."""
    frame = compare(a, b)
    if frame.empty:
        raise Refusal(f"{a.path.name} and {b.path.name} have no table in common: nobody meets the same opponent in both")
    columns = [
        Column("agent", "agent"),
        Column("opponent", "against"),
        Column("win_a", "A win %", 2),
        Column("win_b", "B win %", 2),
    ]
    columns += [
        Column("win_change", "B less A", 2, True, True),
        Column("win_unpaired", "± unpaired", 2),
        p_column("p_corrected", "p (Holm)"),
    ]
    columns += [Column("score_change", "score, B less A", 2, True, True)]
    how = "same deals, paired" if shared_deals(a, b) else "different deals (another seed), not paired"
    runs = "; ".join(f"{x}: {s.path.name}, {s.sums.rows:,} games" for x, s in (("A", a), ("B", b)))
    note = f"{runs}; {how}; 95 % intervals clustered by deal."
    return ResultTable("compare", "B less A", frame, columns, note)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the comparison, and write it where asked."""
    parser = argparse.ArgumentParser(
        prog="python -m analysis.compare", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("a", metavar="RUN_A", help="a run folder")
    parser.add_argument("b", metavar="RUN_B", help="the run that is compared with it")
    parser.add_argument("-o", "--output", metavar="FOLDER", help="write compare.csv, compare.md and compare.tex there")
    arguments = parser.parse_args(argv)

    def work() -> int:
        table = comparison_of(summarise(arguments.a), summarise(arguments.b))
        _print(table)
        if arguments.output:
            with writing(arguments.output):
                paths = table.save(Path(arguments.output))
            print(*paths, sep="\n")
        return 0

    return answering("analysis.compare", work)


def _print(table: ResultTable) -> None:
    from rich.console import Console
    from rich.table import Table

    shown = Table(title=table.title)
    for column in table.columns:
        shown.add_column(column.heading, justify="left" if column.decimals is None else "right")
    for row in table.rows()[:SHOWN]:
        shown.add_row(*row)
    console = Console(markup=False, emoji=False, soft_wrap=True)
    console.print(shown)
    if len(table.frame) > SHOWN:
        console.print(f"... and {len(table.frame) - SHOWN} more; -o FOLDER writes all")
    console.print(table.note)


if __name__ == "__main__":
    sys.exit(main())
