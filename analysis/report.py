"""A report page for any run or set of runs: python -m analysis.report RUN... [-o FILE]

One HTML file with what was run, tables, figures, and every published number that has a counterpart beside it. It needs no
network to be viewed. Figures (PDF, SVG, PNG) and tables (CSV, Markdown, LaTeX) are written with --files FOLDER.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from analysis.counterparts import Comparison, comparisons
from analysis.gallery import Picture, pictures, published_picture
from analysis.inconsistencies import findings
from analysis.page import (
    DETAILS,
    Detail,
    Section,
    code,
    escaped,
    facts,
    folded,
    paragraph,
    pictures_html,
    render,
    table_html,
    verdicts_html,
)
from analysis.result_tables import anchor, comparison_table, tables_of_run
from analysis.summary import Summary, summarise
from analysis.tables import Column, ResultTable
from experiments.command import answering, writing

LARGEST = 3_000_000  # bytes of the page
MATCHUPS_WITH_GAMES = 600  # more than this, and only the first ones list their games
WIDE_TABLES = ("statistics", "correlations", "games", "tests", "rates", "dda", "balance", "paired")  # folded: long, for looking up


OF_THE_MACHINE = ("results_dir", "cluster", "display")  # settings that say nothing about the games


class Report:
    """The page of several runs, with everything that can be saved beside it."""

    def __init__(self, summaries: Sequence[Summary]):
        self.summaries = list(summaries)
        self.pictures: list[tuple[Summary, Picture]] = []
        self.tables: list[tuple[Summary, ResultTable]] = []
        self.compared: list[tuple[Summary, Comparison]] = []

    def page(self) -> str:
        """The HTML text, in as much detail as fits a page of LARGEST bytes."""
        built = [self._run_sections(summary) for summary in self.summaries]
        glance, closing = self._at_a_glance(), self._closing()
        for detail in DETAILS:
            sections = [section for main, listed in built for section in ([*main, *listed] if detail.games else main)]
            text = render(self._title(), self._lead(), [*glance, *sections, *closing], detail)
            if len(text.encode()) <= LARGEST and detail.games:
                return text
        return re.sub(r'<a href="#games-[^"]*">(.*?)</a>', r"\1", text)

    def _title(self) -> str:
        names = list(dict.fromkeys(summary.title for summary in self.summaries))
        return "Report: " + ", ".join(names)

    def _lead(self) -> str:
        games = sum(summary.sums.rows for summary in self.summaries)
        return (
            f"{games:,} games of {len(self.summaries)} run{'s' if len(self.summaries) > 1 else ''}. Every number has a 95 % "
            "interval that treats all games of a deal as one observation. Fixed-sample intervals: they hold for the finished "
            "run, not while watching it."
        )

    def _at_a_glance(self) -> list[Section]:
        if not self.compared:
            return []
        rows = []
        for _, comparison in self.compared:
            ordering, error, interval = comparison.verdicts()
            rows.append(
                dict(
                    table=comparison.title,
                    values=len(comparison.frame),
                    rank_correlation=comparison.rank_correlation(),
                    ordering="pass" if ordering.passed else "miss",
                    mae=float(comparison.frame["difference"].abs().mean()),
                    error="pass" if error.passed else "miss",
                    inside=int(comparison.frame["within"].sum()),
                    interval="pass" if interval.passed else "miss",
                )
            )
        columns = [
            Column("table", "published table"),
            Column("values", "values"),
            Column("rank_correlation", "rank correlation", 3),
        ]
        columns += [Column("ordering", "ordering"), Column("mae", "mean absolute error", 2), Column("error", "error")]
        columns += [Column("inside", "values within"), Column("interval", "interval")]
        links = {(i, "table"): f"published-{i + 1}" for i in range(len(rows))}
        note = "Three separate verdicts; a table may keep the order and miss the values. Causes stand with each table."
        table = ResultTable("verdicts", "Published and measured, at a glance", pd.DataFrame(rows), columns, note, links)
        section = Section("Published and measured at a glance")
        section.add(table.html())
        return [section]

    def _run_sections(self, summary: Summary) -> tuple[list[Section], list[Section]]:
        number = self.summaries.index(summary) + 1
        several = len(self.summaries) > 1
        head = Section(f"Run {number}: {summary.title}" if several else f"The run: {summary.title}")
        head.add(*_what_was_run(summary))
        drawn = list(pictures(summary))
        self.pictures += [(summary, picture) for picture in drawn]
        head.add(pictures_html(drawn))
        for table in tables_of_run(summary):
            self.tables.append((summary, table))
            head.add(partial(_table_part, table))
        return [head, *self._published(summary)], [_games_section(summary, f" (run {number})" if several else "")]

    def _published(self, summary: Summary) -> list[Section]:
        sections = []
        for comparison in [] if summary.points else comparisons(summary.seatings, summary.cells):
            self.compared.append((summary, comparison))
            number = len(self.compared)
            section = Section(f"Published {number}", level=3)
            section.title = (
                f"{comparison.title} beside {comparison.source}" if comparison.source not in comparison.title else comparison.title
            )
            picture = published_picture(comparison, number)
            self.pictures.append((summary, picture))
            table = comparison_table(comparison, number)
            self.tables.append((summary, table))
            section.add(f'<div id="published-{number}"></div>', verdicts_html(comparison.verdicts()))
            section.add(paragraph(comparison.fitted, "note") if comparison.fitted else "")
            section.add(pictures_html([picture]), partial(_values_part, table))
            sections.append(section)
        return sections

    def _closing(self) -> list[Section]:
        if not self.compared and not any(summary.points for summary in self.summaries):
            return []
        section = Section("Where the publications contradict themselves")
        columns = [
            Column("report", "report"),
            Column("what", "what"),
            Column("printed", "printed"),
            Column("computed", "what follows"),
        ]
        frame = pd.DataFrame([f._asdict() for f in findings()])
        note = "Recomputed from the printed tables alone; the numbers above are compared as printed."
        section.add(ResultTable("contradictions", "Found by recomputing", frame, columns, note).html())
        return [section]

    def save_files(self, folder: Path) -> list[Path]:
        """Every figure and table, in one folder per run where there are several."""
        paths = []
        for kind, items in (("figures", self.pictures), ("tables", self.tables)):
            for summary, item in items:
                own = folder / summary.path.name if len(self.summaries) > 1 else folder
                paths += item.save(own / kind)
        return paths


def _table_part(table: ResultTable, detail: Detail) -> str:
    shown = table_html(table, detail.rows)
    return folded(table.title, shown) if table.name in WIDE_TABLES and len(table.frame) > 12 else shown


def _values_part(table: ResultTable, detail: Detail) -> str:
    return folded(f"All {len(table.frame)} values", table_html(table, detail.rows))


def _what_was_run(summary: Summary) -> list[str]:
    info, run = summary.info, summary.run
    complete = run.completeness
    maps = ", ".join(dict.fromkeys(str(s.labels.get("map")) for s in summary.seatings))
    rules = ", ".join(dict.fromkeys(str(s.labels.get("rules")) for s in summary.seatings))
    pairs: list[tuple[str, object]] = [
        (
            "games",
            f"{complete['games']:,} of {complete['expected']:,} ({len(summary.seatings):,} matchups x {info['deals']:,} deals)",
        ),
        ("map and rules", f"{maps}; {rules}"),
        ("seed", info["seed"]),
        ("run", f"{summary.path.name} (identity {info['identity'][:16]}...)"),
        ("engine", ", ".join(engine[:16] for engine in run.manifest.engines())),
        ("created", info.get("created", "")),
    ]
    forfeits = int(summary.sums.coarse["forfeit"].sum())
    if forfeits:
        pairs.append(("forfeits", f"{forfeits:,} games"))
    parts = [facts(pairs)]
    if complete["fraction"] < 1:
        told = f"This run is {complete['fraction']:.1%} complete: all numbers are of the games that are there."
        parts.insert(0, paragraph(told, "partial"))
    config = {key: value for key, value in info.get("config", {}).items() if key not in OF_THE_MACHINE}
    parts.append(folded("Configuration", code(json.dumps(config, indent=1, ensure_ascii=False, default=str))))
    return parts


def _games_section(summary: Summary, suffix: str) -> Section:
    """For every matchup a few games and the command that replays each."""
    section = Section(f"Games{suffix}")
    section.add(paragraph("Examples of each matchup: its first deals and the largest victory of either side.", "note"))
    shown = summary.seatings[:MATCHUPS_WITH_GAMES]
    if len(summary.seatings) > len(shown):
        section.add(paragraph(f"The first {len(shown)} of {len(summary.seatings)} matchups are listed."))
    lists = []
    for seating in shown:
        examples = summary.examples.of(seating.id)
        if not examples:
            continue
        rows = []
        for deal, rotation, told in examples:
            n = seating.players
            seats = " - ".join(f"{seating.agents[(s + rotation) % n]} {told['scores'][s]:g}" for s in range(n))
            rows.append(f"<tr><td>{seating.id}/{deal}/{rotation}</td><td>{escaped(seats)}</td></tr>")
        deal, rotation, _ = examples[0]
        command = f"python -m experiments.replay {summary.path} {seating.id}/{deal}/{rotation}"
        inner = f"<table><thead><tr><th>game</th><th>turn order and scores</th></tr></thead><tbody>{''.join(rows)}</tbody></table>"
        title = " against ".join(seating.agents) if seating.players == 2 else " + ".join(seating.agents)
        swept = ", ".join(f"{k.rpartition('.')[2]}={v}" for k, v in (seating.labels.get("sweep") or {}).items())
        lists.append(folded(title + (f" ({swept})" if swept else ""), inner + code(command), anchor(seating.id)))
    section.add(f'<div class="games">{"".join(lists)}</div>')
    section.add(code(f"python -m experiments.replay {summary.path} GAME    # any game above, or any other MATCHUP/DEAL/ROTATION"))
    return section


def make_report(runs: Sequence[str | Path]) -> Report:
    """The report of these run folders, not yet written."""
    return Report([summarise(path) for path in runs])


def main(argv: Sequence[str] | None = None) -> int:
    """Write the page; exit code 2 with one line where a run cannot be read."""
    parser = argparse.ArgumentParser(
        prog="python -m analysis.report", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", help="run folders, e.g. results/round_robin-3f2a91c0d4e5")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="the page (default: report.html in the run's folder, or here for several)"
    )
    parser.add_argument(
        "--files", metavar="FOLDER", help="also write every figure (PDF, SVG, PNG) and table (CSV, Markdown, LaTeX)"
    )
    arguments = parser.parse_args(argv)
    default = Path(arguments.runs[0]) / "report.html" if len(arguments.runs) == 1 else Path("report.html")
    output = Path(arguments.output) if arguments.output else default
    return answering("analysis.report", lambda: _write(arguments.runs, output, arguments.files))


def _write(runs: Sequence[str], output: Path, files: str | None) -> int:
    report = make_report(runs)
    text = report.page()
    with writing(output):
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text, encoding="utf-8")
    if files:
        with writing(files):
            saved = report.save_files(Path(files))
        print(f"{len(saved)} files of figures and tables: {files}")
    for summary in report.summaries:
        complete = summary.run.completeness
        if complete["fraction"] < 1:
            print(f"{summary.path.name} is {complete['fraction']:.1%} complete")
    for _, comparison in report.compared:
        marks = ", ".join(f"{v.name} {'pass' if v.passed else 'miss'}" for v in comparison.verdicts())
        print(f"{comparison.title}: {marks}")
    print(f"{output} ({len(text.encode()) / 1e6:.1f} MB)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
