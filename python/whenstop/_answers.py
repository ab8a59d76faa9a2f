"""The results of comparing and tuning, and how a notebook shows them."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from ._error import Error

#: A table as texts; the first row holds the column names.
Cells = list[list[str]]


def _table(cells: Cells) -> str:
    def line(texts: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in texts) + "</tr>"

    head, *body = cells
    return f"<table><thead>{line(head, 'th')}</thead><tbody>{''.join(line(row, 'td') for row in body)}</tbody></table>"


def _paragraph(text: str) -> str:
    return f"<p>{html.escape(text)}</p>"


def _list(notes: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{html.escape(note)}</li>" for note in notes) + "</ul>" if notes else ""


@dataclass(frozen=True)
class Page:
    """A page of results, which a notebook shows in a sandboxed frame: the page can neither read nor change the notebook."""

    #: The file.
    path: Path
    #: Height of the frame in pixels.
    height: int = 900

    def _repr_html_(self) -> str:
        page = html.escape(self.path.read_text(encoding="utf-8"), quote=True)
        return f'<iframe sandbox="allow-scripts" style="width:100%;height:{self.height}px;border:0" srcdoc="{page}"></iframe>'


def _page(out: Path | None, height: int) -> Page:
    path = out / "report.html" if out else None
    if path is None or not path.exists():
        raise Error("there is no page: no folder was written", None, "give a folder, `out=…`")
    return Page(path, height)


@dataclass(frozen=True)
class Comparison:
    """What some stacks would have done with some runs."""

    #: One row per run and stack; the columns are those of ``rows.csv``, and null means unknown.
    rows: pa.RecordBatch
    #: One row per run, stack and rule that would have acted.
    firings: pa.RecordBatch
    #: The answer in a sentence or two.
    verdict: str
    #: The stack to ship, if there is one.
    ship: str | None
    #: What was compared, in one line.
    headline: str
    #: The first table, as Markdown; empty if no stack has a line in it.
    table: str
    #: The same table as texts; the first row holds the column names.
    cells: Cells = field(repr=False)
    #: What to know about the table.
    notes: list[str] = field(default_factory=list)
    #: If nobody graded the runs: how well the stacks agree with people's own stops, as a sentence and a Markdown table.
    agreement: tuple[str, str] | None = None
    #: The messages the command line prints while it works, one per item.
    messages: list[str] = field(default_factory=list, repr=False)
    #: What was read and what was not, as in ``whenstop corpus --format json``.
    report: dict[str, Any] = field(default_factory=dict, repr=False)
    #: The folder with all tables and figures, if one was asked for.
    out: Path | None = None

    def page(self, height: int = 900) -> Page:
        """The folder's page ``report.html``, for a notebook.

        :raises Error: if no folder was asked for.
        """
        return _page(self.out, height)

    def __str__(self) -> str:
        return "\n\n".join(part for part in [self.verdict, self.headline, self.table, *self.notes, *(self.agreement or ())] if part)

    def _repr_html_(self) -> str:
        page = f"<p><b>{html.escape(self.verdict)}</b></p>{_paragraph(self.headline)}"
        page += (_table(self.cells) if self.cells else "") + _list(self.notes)
        figure = self.out / "frontier.svg" if self.out else None
        if figure and figure.exists():
            page += figure.read_text(encoding="utf-8")
        return page


@dataclass(frozen=True)
class Tuned:
    """The stack to ship, or why there is none."""

    #: The answer in two or three sentences.
    verdict: str
    #: The text of the stack file to ship, for ``stacks=`` or a file; None if nothing can be recommended.
    stack: str | None
    #: How many recordings there are, and which limits they suffice to certify.
    recordings: str
    #: What is shipped and the alternatives it is compared with, as Markdown.
    table: str
    #: The same table as texts; the first row holds the column names.
    cells: Cells = field(repr=False)
    #: The same by suite and model, worst first, as Markdown; None if there is only one.
    strata: str | None = field(default=None, repr=False)
    #: What limits of your own detect (precision, recall, the share of failures), as Markdown; None if none were asked for.
    detectors: str | None = field(default=None, repr=False)
    #: What to know about the table.
    notes: list[str] = field(default_factory=list)
    #: The complete result, as in ``certificate.json``.
    certificate: dict[str, Any] = field(default_factory=dict, repr=False)
    #: The folder with the certificate, tables and figures, and ``tuned.toml`` if there is something to ship; None if none was asked for.
    out: Path | None = None

    def page(self, height: int = 900) -> Page:
        """The folder's page ``report.html``, for a notebook.

        :raises Error: if no folder was asked for, or it was made from parts.
        """
        return _page(self.out, height)

    def __str__(self) -> str:
        return "\n\n".join(part for part in [self.verdict, self.recordings, self.table, self.strata, self.detectors, *self.notes] if part)

    def _repr_html_(self) -> str:
        page = f"<p><b>{html.escape(self.verdict)}</b></p>{_paragraph(self.recordings)}{_table(self.cells)}{_list(self.notes)}"
        return page + (f"<pre>{html.escape(self.stack)}</pre>" if self.stack else "")
