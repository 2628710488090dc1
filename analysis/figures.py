"""Every figure and table of the study from results/ in one go: python -m analysis.figures [--results results] [-o figures]

Takes each run of the study's kinds under results/ (the one with the most games where several have the same shape) and writes
figures (PDF, SVG, PNG), tables (CSV, Markdown, LaTeX) and one report page over all of them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from analysis.report import Report
from analysis.summary import Summary, summarise
from experiments.command import answering, writing
from experiments.reading import Run, open_run
from experiments.refusal import Refusal

ORDER = ("round_robin", "sweep", "final_eval", "free_for_all", "run")


def shape(run: Run) -> tuple[str, ...]:
    """What makes two runs the same experiment at different scales: kind, map, rules, swept fields, agents without budgets."""
    texts = sorted({text.partition(":")[0] for m in run.info["matchups"] for text in m["labels"]["agents"]})
    swept = sorted(run.info.get("sweep", {}).get("grid", {}))
    setups = sorted({f"{m['labels']['map']}/{m['labels']['rules']}" for m in run.info["matchups"]})
    return (run.info["kind"], str(run.info.get("study")), *swept, *setups, *texts)


def study_runs(results: Path) -> list[Path]:
    """The run folders to show: of each experiment the one with the most games, in the study's order."""
    best: dict[tuple[str, ...], tuple[int, Path]] = {}
    for folder in sorted(path.parent for path in results.glob("*/run.json")):
        try:
            run = open_run(folder)
            games = int(run.completeness["games"])
        except Refusal as refusal:
            print(f"left out: {refusal}", file=sys.stderr)
            continue
        if games and games > best.get(shape(run), (0, folder))[0]:
            best[shape(run)] = (games, folder)
    kinds = {key: ORDER.index(key[0]) if key[0] in ORDER else len(ORDER) for key in best}
    return [best[key][1] for key in sorted(best, key=lambda key: (kinds[key], key))]


def _summaries(folders: Sequence[Path]) -> Iterator[Summary]:
    """What there is in each run; one with a damaged shard says so and is left out."""
    for folder in folders:
        print(f"reading {folder}", flush=True)
        try:
            summary = summarise(folder)
            _ = summary.search  # the other rows that a report reads
        except Refusal as refusal:
            print(f"left out: {refusal}", file=sys.stderr)
            continue
        yield summary


def main(argv: Sequence[str] | None = None) -> int:
    """Write everything; exit code 2 with one line where there is nothing to show."""
    parser = argparse.ArgumentParser(
        prog="python -m analysis.figures", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--results", default="results", metavar="FOLDER", help="where the runs are (default: results)")
    parser.add_argument(
        "-o", "--output", default="figures", metavar="FOLDER", help="where figures, tables and page go (default: figures)"
    )
    arguments = parser.parse_args(argv)
    return answering("analysis.figures", lambda: _write(Path(arguments.results), Path(arguments.output)))


def _write(results: Path, output: Path) -> int:
    report = Report(list(_summaries(study_runs(results))))
    if not report.summaries:
        raise Refusal(f"{results}: there is no run with games; `python -m experiments.round_robin` makes one")
    page = report.page()
    with writing(output):
        output.mkdir(parents=True, exist_ok=True)
        (output / "report.html").write_text(page, encoding="utf-8")
        saved = report.save_files(output)
    print(f"{len(saved)} files of {len(report.summaries)} runs in {output}")
    print(output / "report.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
