"""When should the agent have stopped?

Replays recorded AI-agent runs through stop strategies that never ran on them::

    import whenstop
    result = whenstop.compare("traces", stacks="fixtures/stacks/example.toml")
    result                          # in a notebook: the verdict and the table
    result.rows.to_pandas()         # one row per run and stack; also polars.from_arrow(result.rows)

    tuned = whenstop.tune("traces", max_killed=0.1)
    tuned.stack                     # the stack file to ship, or None; tuned.verdict says why

Each function runs the same code as the command of the same name: the same rows, and the same files byte for byte. Every failure is
a :class:`whenstop.Error` with ``what``, ``where`` and ``help``.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Union

import pyarrow as pa
import pyarrow.parquet as pq

from . import _whenstop
from ._answers import Comparison, Page, Tuned
from ._options import Options, Paths, Reading, Search, check, paths
from ._error import Error
from ._guards import Rule, given
from ._live import Decision, Live

if TYPE_CHECKING:
    from typing_extensions import Unpack

    #: Files and folders, or a table of runs.
    Runs = Union[Paths, pa.RecordBatch, pa.Table, Any]

__all__ = ["Comparison", "Decision", "Error", "Live", "Options", "Page", "Reading", "Search", "Tuned", "compare", "corpus", "merge", "replay", "tune", "tuned"]


def compare(
    runs: Runs,
    stacks: Paths = (),
    *,
    guards: Mapping[str, Rule] | None = None,
    out: str | os.PathLike[str] | None = None,
    rows: Literal["csv", "parquet"] = "csv",
    **options: Unpack[Options],
) -> Comparison:
    """Replays runs under stop strategies and says what each would have stopped, saved and killed.

    :param runs: files and folders of recordings in any format whenstop reads, or a table of runs (pyarrow, polars,
        pandas) with the columns of a known layout or those that ``columns`` names.
    :param stacks: stack files, the text of a stack file (TOML), ``"preset:NAME"``, ``"system:NAME"``, ``"preset:all"``.
    :param guards: rules of your own by name. A class is called once for each run with the run's header, and its method
        ``at(point, news)`` at each point with the events since the last one; a function is called as ``rule(events, point)``
        with all events so far. Both return None to go on, or an answer: ``"stop"``, or a dictionary with ``answer``,
        ``reading``, ``limit`` … The attributes ``reads``, ``points``, ``answers``, ``rules`` and ``version`` are those of
        the handshake of a guard (``whenstop schema guard``).
    :param out: a folder for all tables and figures, as ``whenstop compare --out`` writes it; ``result.page()`` shows its page.
    :param rows: the file format of rows and firings in that folder.
    :param options: the keys of :class:`Options`: ``unit="round"``, ``keeps="work"``, ``labels="labels.csv"``,
        ``outcome_from="interrupted=failure"``, ``columns="messages=chat,outcome=won"``, ``max_killed=0.1`` …
    :raises Error: if runs or stacks cannot be read; single bad lines are skipped and listed in ``report``.
    """
    check("compare", Options, options)
    target = {"out": out, "rows": rows} if out is not None else {}
    with _files(runs) as files:
        rules = [given(name, rule) for name, rule in (guards or {}).items()]
        batch, firings, report, told = _whenstop.compare(files, {"stacks": paths(stacks), **target, **options}, rules)
    said = json.loads(told)
    table, agreement = said.pop("table"), said.pop("agreement")
    return Comparison(
        rows=_batch(batch),
        firings=_batch(firings),
        table=table["markdown"] if table else "",
        cells=table["cells"] if table else [],
        agreement=(agreement[0], agreement[1]["markdown"]) if agreement else None,
        report=json.loads(report),
        out=Path(out) if out is not None else None,
        **said,
    )


def replay(
    runs: Runs, stacks: Paths = (), *, guards: Mapping[str, Rule] | None = None, **options: Unpack[Options]
) -> pa.RecordBatch:
    """Only the rows of :func:`compare`: one per run and stack, in the order of the runs."""
    check("replay", Options, options)
    return compare(runs, stacks, guards=guards, **options).rows


def tune(
    runs: Runs,
    *,
    max_killed: float = 0.05,
    confidence: float = 0.95,
    budget: str | None = None,
    learn: bool = False,
    cross_fit: bool = False,
    today: Paths = (),
    presets: bool = True,
    lost_success_costs: float | None = None,
    signal: str | Sequence[str] = (),
    limits: str | Sequence[str] = (),
    guards: Mapping[str, Rule] | None = None,
    unit: Literal["run", "round"] = "run",
    out: str | os.PathLike[str] | None = None,
    **reading: Unpack[Reading],
) -> Tuned:
    """Finds the stack to ship from recordings, with its certificate, or the reason why there is none.

    :param runs: as for :func:`compare`.
    :param signal: a signal whose limits you name, or several, each with its ``limits``: the limit to ship is then found among
        these. ``"guard:NAME.NUMBER"`` is the number of a rule in ``guards``.
    :param limits: what to try: ``"0.5..0.95"``, ``"10,20,30"``.
    :param guards: rules of your own whose number is limited, as for :func:`compare`; ``answers`` contains ``"reading"``.
    :param max_killed: the share of successes that may be killed, averaged over tasks; this is what is certified.
    :param confidence: how sure the certificate is.
    :param budget: the signal that the budget counts; steps by default.
    :param learn: learn a list of at most three rules on one half of the tasks, and certify it on the other.
    :param cross_fit: with ``learn``: learn on all tasks, and estimate by fifths. This is an estimate, not a proof.
    :param today: what you run today, for comparison; the same values as ``stacks`` of :func:`compare`.
    :param presets: also try the shipped rules of all frameworks, which takes most of the time.
    :param lost_success_costs: what a lost success costs, in dollars; the certified limit worth most is then shipped.
    :param unit: what counts as a run: the whole recording, or each round of it.
    :param out: a folder for ``tuned.toml``, its certificate, the tables, the figures and a page.
    :param reading: the keys of :class:`Reading`: ``labels``, ``columns``, ``outcome_from`` …
    :raises Error: if runs or stacks cannot be read. No recommendation is not an error: ``stack`` is then None.
    """
    check("tune", Reading, reading)
    keywords = {
        "max_killed": max_killed,
        "confidence": confidence,
        "budget": budget,
        "learn": learn,
        "cross_fit": cross_fit,
        "today": paths(today),
        "no_presets": not presets,
        "lost_success_costs": lost_success_costs,
        "signal": paths(signal),
        "limits": paths(limits),
        "unit": unit,
        "out": out,
    }
    rules = [given(name, rule) for name, rule in (guards or {}).items()]
    with _files(runs) as files:
        return _tuned(_whenstop.tune(files, {**keywords, **reading}, rules), out)


def tuned(parts: Paths, out: str | os.PathLike[str] | None = None) -> Tuned:
    """The answer of a search from its parts, as ``whenstop report PARTS`` gives it: the same as of a single search, byte for byte.

    :param parts: folders that ``tune --shard`` wrote, or one that holds them.
    :param out: a folder for ``tuned.toml``, its certificate and the table.
    :raises Error: naming what is missing, duplicated or torn; nothing is written then.
    """
    return _tuned(_whenstop.tuned(paths(parts), {"out": out}), out)


def _tuned(answer: str, out: str | os.PathLike[str] | None) -> Tuned:
    told = json.loads(answer)
    table, strata, detectors = (told.pop(key) for key in ("table", "strata", "detectors"))
    written = None if out is None else Path(out)
    beside = {"strata": strata and strata["markdown"], "detectors": detectors and detectors["markdown"]}
    return Tuned(table=table["markdown"], cells=table["cells"], out=written, **beside, **told)


def corpus(runs: Runs, **reading: Unpack[Reading]) -> dict[str, Any]:
    """What these files contain: formats, runs, outcomes, tokens, and what looks wrong; ``runs`` has an entry for each run."""
    check("corpus", Reading, reading)
    with _files(runs) as files:
        found: dict[str, Any] = json.loads(_whenstop.corpus(files, reading))
        return found


def merge(parts: Paths, out: str | os.PathLike[str], *, rows: Literal["csv", "parquet"] = "csv", whole_budget: bool = False) -> int:
    """Merges the parts of a comparison, as ``whenstop report PARTS`` does: the same files as a single comparison, byte for byte.

    Returns the number of rows.

    :raises Error: naming what is missing, duplicated or torn; nothing is written then.
    """
    return _whenstop.merge(paths(parts), {"out": out, "rows": rows, "whole_budget": whole_budget})


@contextmanager
def _files(runs: Runs) -> Iterator[list[str]]:
    """The paths to read; a table of runs is written to a temporary file while it is read."""
    table = _as_table(runs)
    if table is None:
        yield paths(runs)
        return
    with tempfile.TemporaryDirectory(prefix="whenstop-") as folder:
        path = Path(folder) / "table.parquet"
        pq.write_table(table, path, compression="none", use_dictionary=False)
        yield [str(path)]


def _as_table(runs: Any) -> pa.Table | None:
    if isinstance(runs, pa.Table):
        return runs
    if isinstance(runs, pa.RecordBatch):
        return pa.Table.from_batches([runs])
    if hasattr(runs, "__arrow_c_stream__"):
        return pa.table(runs)
    if hasattr(runs, "to_parquet"):
        return pa.Table.from_pandas(runs, preserve_index=False)
    return None


def _batch(frame: Any) -> pa.RecordBatch:
    table = pa.table(frame).combine_chunks()
    batches = table.to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)


def _main() -> None:
    """The command line of the wheel."""
    sys.exit(_whenstop.main(["whenstop", *sys.argv[1:]]))
