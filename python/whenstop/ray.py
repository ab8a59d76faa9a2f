"""Comparisons and searches on Ray: ``whenstop.ray.compare("s3://bucket/traces", "stacks.toml", "report", parts="s3://bucket/parts")``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

import ray

from . import parts as _parts
from ._answers import Tuned
from ._options import Options, Paths, Search
from ._error import Error

if TYPE_CHECKING:
    from typing_extensions import Unpack


def compare(
    paths: Paths,
    stacks: Paths,
    out: str | os.PathLike[str],
    *,
    parts: str | None = None,
    target_mb: float = 256,
    max_retries: int = 3,
    rows: Literal["csv", "parquet"] = "csv",
    make: _parts.Make = _parts.make,
    **options: Unpack[Options],
) -> int:
    """Compares on the cluster that ``ray.init`` connected to, and merges here. Returns the number of rows.

    :param parts: where the parts go: a folder that all machines see, or a URI. ``out`` with ``-parts`` appended by default.
    :param target_mb: megabytes of recordings per task: 128 to 512.
    :param max_retries: how often a part is retried when its worker dies. Ray's own default for data sets is to retry forever.
    :param make: what a worker does with a task; replace it to monitor or test the work.
    :param options: the other keywords of :func:`whenstop.compare`.
    :raises Error: naming the files of the parts whose workers died each time; the other parts are complete.
    """
    out = os.fspath(out)
    tasks = _parts.tasks(paths, stacks, os.fspath(parts or f"{out.rstrip('/')}-parts"), target_mb=target_mb, **options)
    _run(tasks, make, max_retries)
    return _parts.merge(tasks, out, rows=rows)


def tune(
    paths: Paths,
    out: str | os.PathLike[str],
    *,
    parts: str | None = None,
    target_mb: float = 256,
    max_retries: int = 3,
    make: _parts.Make = _parts.make,
    **options: Unpack[Search],
) -> Tuned:
    """Finds the stack to ship on the cluster, as :func:`whenstop.tune` does on one machine: the same answer, byte for byte.

    The workers read the recordings; the search itself is done here, from some five kilobytes a run.

    :param out: a folder for ``tuned.toml``, its certificate and the table. The page of ``tune`` needs recordings: compare ``tuned.toml``.
    :param options: the other keywords of :func:`whenstop.tune`.
    :raises Error: as :func:`compare`.
    """
    out = os.fspath(out)
    tasks = _parts.search_tasks(paths, os.fspath(parts or f"{out.rstrip('/')}-parts"), target_mb=target_mb, **options)
    _run(tasks, make, max_retries)
    return _parts.tuned(tasks, out)


def _run(tasks: list[_parts.Task], make: _parts.Make, max_retries: int) -> None:
    """Makes the parts on the cluster."""

    def work(task: _parts.Task) -> int:
        return make(task)

    remote = ray.remote(max_retries=max_retries)(work)
    waiting = {remote.remote(task): task.number for task in tasks}
    failed: dict[int, str] = {}
    while waiting:
        (done, *_), _ = ray.wait(list(waiting), num_returns=1)
        number = waiting.pop(done)
        try:
            ray.get(done)
        except ray.exceptions.RayTaskError as error:
            cause = error.cause if isinstance(getattr(error, "cause", None), Error) else error
            failed[number] = str(cause).strip().splitlines()[0] if isinstance(cause, Error) else str(error).strip().splitlines()[-1]
        except ray.exceptions.RayError as error:
            failed[number] = f"its worker died {max_retries + 1} times, {type(error).__name__}"
    if failed:
        raise _parts.refused(failed, tasks)
