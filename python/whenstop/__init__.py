"""When should the agent have stopped?

Replays recorded AI-agent runs through stop strategies that never ran on them::

    import whenstop
    result = whenstop.compare("traces", stacks="fixtures/stacks/example.toml")
    result                          # in a notebook: the verdict and the table
    result.rows.to_pandas()         # one row a run and stack; also polars.from_arrow(result.rows)

Whatever goes wrong is a :class:`whenstop.Error` with ``what``, ``where`` and ``help``.
"""

from __future__ import annotations

import html
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

import pyarrow as pa
import pyarrow.parquet as pq

from . import _whenstop
from ._error import Error

if TYPE_CHECKING:
    Paths = Union[str, os.PathLike[str], Iterable[Union[str, os.PathLike[str]]]]

__all__ = ["Comparison", "Error", "compare", "corpus", "merge", "replay"]


@dataclass(frozen=True)
class Comparison:
    """What some stacks would have done with some runs."""

    #: One row a run and stack; the columns are those of ``rows.csv``, null is unknown.
    rows: pa.RecordBatch
    #: One row a run, stack and rule that would have acted.
    firings: pa.RecordBatch
    #: The answer in a sentence or two.
    verdict: str
    #: The stack to ship, if there is one.
    ship: str | None
    #: What was compared, in one line.
    headline: str
    #: The first table, as Markdown.
    table: str
    #: What to know about the table.
    notes: list[str] = field(default_factory=list)
    #: What was read, and what was not: as ``whenstop corpus --format json``.
    report: dict[str, Any] = field(default_factory=dict, repr=False)
    #: The folder with all tables and figures, if one was asked for.
    out: Path | None = None

    def __str__(self) -> str:
        return "\n\n".join([self.verdict, self.headline, self.table, *self.notes])

    def _repr_html_(self) -> str:
        escape = html.escape
        lines = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in self.table.splitlines() if line.strip()]
        rows = [line for line in lines if not all(set(cell) <= set("-: ") for cell in line)]
        head, body = (rows[0], rows[1:]) if rows else ([], [])
        cells = lambda row, tag: "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row)
        table = f"<table><thead><tr>{cells(head, 'th')}</tr></thead><tbody>"
        table += "".join(f"<tr>{cells(row, 'td')}</tr>" for row in body) + "</tbody></table>"
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        page = "<p><b>" + escape(self.verdict) + "</b></p><p>" + escape(self.headline) + "</p>" + table
        if notes:
            page += f"<ul>{notes}</ul>"
        figure = self.out / "frontier.svg" if self.out else None
        if figure and figure.exists():
            page += figure.read_text(encoding="utf-8")
        return page


def _paths(paths: Paths) -> list[str]:
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    return [os.fspath(path) for path in paths]


def _stacks(stacks: Paths) -> list[str]:
    return _paths(stacks)


def _batch(parquet: bytes) -> pa.RecordBatch:
    table = pq.read_table(io.BytesIO(parquet)).combine_chunks()
    batches = table.to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)


def _is_table(runs: Any) -> bool:
    return isinstance(runs, (pa.RecordBatch, pa.Table)) or hasattr(runs, "__arrow_c_stream__") or hasattr(runs, "to_parquet")


def _as_table(runs: Any) -> pa.Table:
    if isinstance(runs, pa.Table):
        return runs
    if isinstance(runs, pa.RecordBatch):
        return pa.Table.from_batches([runs])
    if hasattr(runs, "__arrow_c_stream__"):
        return pa.table(runs)
    return pa.Table.from_pandas(runs, preserve_index=False)


def compare(
    runs: Paths | pa.RecordBatch | pa.Table | Any,
    stacks: Paths,
    *,
    columns: str | None = None,
    labels: Paths = (),
    out: str | os.PathLike[str] | None = None,
) -> Comparison:
    """Replays runs under stop strategies and says what each would have stopped, saved and killed.

    :param runs: files and folders of recordings in any format whenstop reads; or a table of runs (pyarrow, polars,
        pandas) with the columns of a known layout, or of ``columns``.
    :param stacks: stack files, the text of one (TOML), ``"preset:NAME"``, ``"system:NAME"``, ``"preset:all"``.
    :param columns: which column of a table is what: ``"id=…,task=…,outcome=…,messages=…,cost=…,model=…"``.
    :param labels: CSV files of outcomes (``run_id``, ``success``, …).
    :param out: a folder for all tables and figures, as ``whenstop compare --out`` writes it.
    :raises Error: when runs or stacks cannot be read; single bad lines are left out and listed in ``report``.
    """
    if _is_table(runs):
        with tempfile.TemporaryDirectory(prefix="whenstop-") as folder:
            path = Path(folder) / "table.parquet"
            pq.write_table(_as_table(runs), path, compression="none", use_dictionary=False)
            return compare(path, stacks, columns=columns, labels=labels, out=out)
    target = os.fspath(out) if out is not None else None
    rows, firings, report, told = _whenstop.compare(_paths(runs), _stacks(stacks), columns, _paths(labels), target)
    return Comparison(
        rows=_batch(rows), firings=_batch(firings), report=json.loads(report), out=Path(target) if target else None, **json.loads(told)
    )


def replay(
    runs: Paths | pa.RecordBatch | pa.Table | Any, stacks: Paths, *, columns: str | None = None, labels: Paths = ()
) -> pa.RecordBatch:
    """The rows of :func:`compare` alone: one a run and stack, in the order of the runs."""
    return compare(runs, stacks, columns=columns, labels=labels).rows


def corpus(paths: Paths, *, columns: str | None = None, labels: Paths = ()) -> dict[str, Any]:
    """What is in these files: formats, runs, outcomes, tokens, what looks wrong; ``runs`` has an entry for each run."""
    return json.loads(_whenstop.corpus(_paths(paths), columns, _paths(labels)))


def merge(parts: Paths, out: str | os.PathLike[str], *, rows: str = "csv") -> int:
    """Puts the parts of a comparison together, as ``whenstop merge``: the files of one comparison, to the byte.

    Gives the number of rows. ``rows`` is ``"csv"`` or ``"parquet"``.

    :raises Error: naming what is missing, doubled or torn; nothing is written then.
    """
    if rows not in ("csv", "parquet"):
        raise Error(f"rows cannot be written as {rows!r}", None, 'give "csv" or "parquet"')
    return _whenstop.merge(_paths(parts), os.fspath(out), rows == "parquet")


def _main() -> None:
    """The command line of the wheel."""
    sys.exit(_whenstop.main(["whenstop", *sys.argv[1:]]))
