"""The page: one HTML file that carries its style, its script and its figures, and asks the network for nothing."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from analysis.counterparts import Verdict
from analysis.gallery import Picture
from analysis.tables import ResultTable

HERE = Path(__file__).parent
LARGEST_SVG = 90_000  # bytes; a larger drawing goes in as PNG
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


class Detail(NamedTuple):
    """How much of everything goes into the page: a large study must do with less to stay small enough."""

    vector: bool  # figures as drawings, else as images
    rows: int  # of each table
    games: bool  # lists of example games


DETAILS = (Detail(True, 400, True), Detail(False, 400, True), Detail(False, 120, True), Detail(False, 60, False))
Part = str | Callable[[Detail], str]


@dataclass
class Section:
    """A heading with what stands under it: finished HTML, or what gives it for a level of detail."""

    title: str
    parts: list[Part] = field(default_factory=list)
    level: int = 2

    @property
    def anchor(self) -> str:
        """Its place on the page."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")

    def add(self, *parts: Part) -> None:
        """Put more under the heading."""
        self.parts += [part for part in parts if part]


def escaped(text: object) -> str:
    """Text as HTML shows it."""
    return html.escape(str(text))


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph of plain text."""
    return f"<p{f' class={chr(34)}{kind}{chr(34)}' if kind else ''}>{escaped(text)}</p>"


def facts(pairs: Sequence[tuple[str, object]]) -> str:
    """Names and values, one below the other."""
    return "<dl>" + "".join(f"<dt>{escaped(name)}</dt><dd>{escaped(value)}</dd>" for name, value in pairs) + "</dl>"


def code(text: str) -> str:
    """Something to type."""
    return f"<pre>{escaped(text)}</pre>"


def folded(title: str, inner: str, anchor: str = "") -> str:
    """Something to open."""
    mark = f' id="{escaped(anchor)}"' if anchor else ""
    return f"<details{mark}><summary>{escaped(title)}</summary>{inner}</details>"


def picture_html(picture: Picture, vector: bool = True) -> str:
    """A figure with its alternative text and caption, inside the page itself."""
    wide = picture.name == "board"
    kind, data = "svg+xml", picture.render("svg") if vector else b""
    if not vector or len(data) > LARGEST_SVG:
        kind, data = "png", picture.small_png(90 if wide else 190)
    source = f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
    image = f'<img src="{source}" alt="{escaped(picture.alt)}">'
    return f"<figure{' class=wide' if wide else ''}>{image}<figcaption>{escaped(picture.caption)}</figcaption></figure>"


def pictures_html(drawn: Sequence[Picture]) -> Part:
    """Figures side by side where there is room."""
    if not drawn:
        return ""
    return lambda detail: '<div class="figures">' + "".join(picture_html(p, detail.vector) for p in drawn) + "</div>"


def table_html(table: ResultTable, most: int) -> str:
    """A table; a very long one is cut, and says so."""
    if len(table.frame) <= most:
        return table.html()
    cut = ResultTable(
        table.name,
        table.title,
        table.frame.iloc[:most],
        table.columns,
        f"The first {most:,} of {len(table.frame):,} rows; the CSV file has all. {table.note}",
        table.links,
        table.shades,
    )
    return cut.html()


def verdicts_html(verdicts: Sequence[Verdict]) -> str:
    """The three verdicts, each on its own line, with the likely cause of a miss."""
    lines = []
    for verdict in verdicts:
        mark = '<span class="pass">pass</span>' if verdict.passed else '<span class="fail">miss</span>'
        cause = f"<br><em>likely cause:</em> {escaped(verdict.cause)}" if verdict.cause else ""
        lines.append(f"<li><strong>{escaped(verdict.name)}</strong>: {mark}. {escaped(verdict.text)}.{cause}</li>")
    return f"<ul>{''.join(lines)}</ul>"


def render(title: str, lead: str, sections: Sequence[Section], detail: Detail = DETAILS[0]) -> str:
    """The whole page."""
    contents = "".join(f'<li><a href="#{s.anchor}">{escaped(s.title)}</a></li>' for s in sections if s.level == 2)
    body = []
    for section in sections:
        body.append(f'<h{section.level} id="{section.anchor}">{escaped(section.title)}</h{section.level}>')
        body += [part if isinstance(part, str) else part(detail) for part in section.parts]
    style, script = (HERE / "page.css").read_text(encoding="utf-8"), (HERE / "page.js").read_text(encoding="utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{escaped(title)}</title>\n<link rel="icon" href="data:,">\n<style>\n{style}</style>\n</head>\n<body>\n'
        f'<header><h1>{escaped(title)}</h1><p class="lead">{escaped(lead)}</p></header>\n'
        f'<nav aria-label="Contents"><ul>{contents}</ul></nav>\n<main>\n'
        + "\n".join(body)
        + f"\n</main>\n<script>\n{script}</script>\n</body>\n</html>\n"
    )
