"""A table is written once and comes out as CSV, Markdown, LaTeX and HTML, each number with its interval."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

MINUS, NOTHING = "\u2212", "\u2013"  # signs of print: minus, and a dash for no value
LATEX = {"\\": r"\textbackslash{}", "_": r"\_", "%": r"\%", "&": r"\&", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}"}
LATEX |= {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "→": r"$\rightarrow$", "±": r"$\pm$", "<": "$<$", ">": "$>$"}


@dataclass(frozen=True)
class Column:
    """A column as people see it. With `interval` the ends are taken from the columns KEY_low and KEY_high (or `ends`)."""

    key: str
    heading: str
    decimals: int | None = None  # None: text, or whole numbers with separators
    interval: bool = False
    signed: bool = False
    ends: tuple[str, str] | None = None
    above_zero: bool = False  # what the decimals cannot show is "< 0.0001", not 0

    def limits(self) -> tuple[str, str]:
        """The columns that hold the ends of the interval."""
        return self.ends or (f"{self.key}_low", f"{self.key}_high")

    def number(self, value: float) -> str:
        """One number as printed."""
        if self.decimals is None:
            return f"{value:,.0f}"
        if self.above_zero and value < (least := 10.0**-self.decimals):
            return f"< {least:.{self.decimals}f}"
        shown = f"{value:{'+' if self.signed else ''}.{self.decimals}f}"
        return shown.replace("-", MINUS) if float(shown) != 0 else shown.lstrip("-")

    def show(self, row: pd.Series) -> str:
        """The cell of one row."""
        value = row[self.key]
        if isinstance(value, (bool, np.bool_)):
            return "yes" if value else "no"
        if isinstance(value, str):
            return value
        if value is None or not np.isfinite(value):
            return NOTHING
        text = self.number(float(value))
        low, high = self.limits()
        if self.interval and np.isfinite(row[low]):
            text += f" [{self.number(float(row[low]))}, {self.number(float(row[high]))}]"
        return text


def p_column(key: str, heading: str) -> Column:
    """A column of p values."""
    return Column(key, heading, 4, above_zero=True)


@dataclass(frozen=True)
class ResultTable:
    """Rows, the columns to show, and where a cell leads: (row number, column key) -> anchor on the page."""

    name: str
    title: str
    frame: pd.DataFrame
    columns: Sequence[Column]
    note: str = ""
    links: dict[tuple[int, str], str] = field(default_factory=dict)
    shades: dict[tuple[int, str], str] = field(default_factory=dict)  # background colours of a matrix

    def rows(self) -> list[list[str]]:
        """All cells as text."""
        return [[column.show(row) for column in self.columns] for _, row in self.frame.iterrows()]

    def csv(self) -> str:
        """Plain numbers, ends of intervals in columns of their own."""
        keys: list[str] = []
        for column in self.columns:
            keys += [column.key, *(column.limits() if column.interval else ())]
        return self.frame[keys].to_csv(index=False, float_format="%.6g")

    def markdown(self) -> str:
        """A pipe table under its title."""
        lines = [f"**{self.title}**", ""]
        lines.append("| " + " | ".join(c.heading for c in self.columns) + " |")
        lines.append("|" + "|".join("---" if _is_text(self.frame, c) else "---:" for c in self.columns) + "|")
        for row in self.rows():
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |")
        return "\n".join(lines) + "\n" + (f"\n{self.note}\n" if self.note else "")

    def latex(self) -> str:
        """A booktabs table."""
        layout = "".join("l" if _is_text(self.frame, c) else "r" for c in self.columns)
        lines = [r"\begin{table}", r"\centering", rf"\caption{{{_escape(self.title)}}}", rf"\label{{tab:{self.name}}}"]
        lines += [rf"\begin{{tabular}}{{{layout}}}", r"\toprule"]
        lines.append(" & ".join(_escape(c.heading) for c in self.columns) + r" \\")
        lines.append(r"\midrule")
        lines += [" & ".join(_escape(cell).replace(MINUS, "$-$") for cell in row) + r" \\" for row in self.rows()]
        lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
        return "\n".join(lines) + "\n"

    def html(self) -> str:
        """A table whose headings sort it; cells carry the number they sort by."""
        head = "".join(
            f'<th scope="col"{"" if _is_text(self.frame, c) else " class=n"} aria-sort="none">'
            f'<button type="button">{html.escape(c.heading).replace("_", "_<wbr>")}</button></th>'
            for c in self.columns
        )
        body = []
        for number, ((_, row), texts) in enumerate(zip(self.frame.iterrows(), self.rows())):
            cells = [self._cell(number, column, row[column.key], text) for column, text in zip(self.columns, texts)]
            body.append(f"<tr>{''.join(cells)}</tr>")
        note = f'<p class="note">{html.escape(self.note)}</p>' if self.note else ""
        caption = f"<caption>{html.escape(self.title)}</caption>"
        table = f'<table class="sortable">{caption}<thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table>'
        reached = f'tabindex="0" role="region" aria-label="{html.escape(self.title)}"'  # a wide table scrolls, by the keyboard too
        return f'<div class="scroll" {reached} id="table-{html.escape(self.name)}">{table}</div>{note}'

    def _cell(self, number: int, column: Column, value: object, text: str) -> str:
        shown = html.escape(text)
        if column.interval:
            shown = shown.replace(" [", ' <span class="ci">[').replace("]", "]</span>")
        elif isinstance(value, str):
            shown = re.sub(r"[:,](?=\w)", r"\g<0><wbr>", shown)  # an agent's fields: where print may break the line
        anchor = self.links.get((number, column.key))
        if anchor:
            shown = f'<a href="#{html.escape(anchor)}">{shown}</a>'
        attributes = ""
        if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
            attributes = f' class="n" data-v="{float(value):.6g}"'
        shade = self.shades.get((number, column.key))
        if shade:
            attributes += f' style="{shade}"'
        return f"<td{attributes}>{shown}</td>"

    def save(self, folder: Path) -> list[Path]:
        """Write NAME.csv, NAME.md and NAME.tex."""
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for ending, text in (("csv", self.csv()), ("md", self.markdown()), ("tex", self.latex())):
            path = folder / f"{self.name}.{ending}"
            path.write_text(text, encoding="utf-8")
            paths.append(path)
        return paths


def _is_text(frame: pd.DataFrame, column: Column) -> bool:
    return not pd.api.types.is_numeric_dtype(frame[column.key]) or pd.api.types.is_bool_dtype(frame[column.key])


def _escape(text: str) -> str:
    return "".join(LATEX.get(letter, letter) for letter in text)
