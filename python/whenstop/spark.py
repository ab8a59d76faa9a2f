"""Comparisons on Spark: ``whenstop.spark.compare(spark, "/data/traces", "stacks.toml", "report", parts="/data/parts")``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from . import parts as _parts
from ._options import Options, Paths
from ._error import Error

if TYPE_CHECKING:
    from typing_extensions import Unpack


def compare(
    spark: Any,
    paths: Paths,
    stacks: Paths,
    out: str | os.PathLike[str],
    *,
    parts: str | None = None,
    target_mb: float = 256,
    jobs: int = 256,
    rows: Literal["csv", "parquet"] = "csv",
    make: _parts.Make = _parts.make,
    **options: Unpack[Options],
) -> int:
    """Compares in a Spark session, and merges here. Returns the number of rows.

    Spark's ``spark.task.maxFailures`` limits the attempts per part (4; 1 in ``local[n]``, so use ``local[n,4]``).

    :param parts: where the parts go: a folder that all machines see, or a URI. ``out`` with ``-parts`` appended by default.
    :param jobs: how many parts are submitted at a time; Spark runs as many of them as it has room for.
    :param make: what a worker does with a task; replace it to monitor or test the work.
    :param options: the other keywords of :func:`whenstop.compare`.
    :raises Error: naming the files of the parts that failed each time; the other parts are complete.
    """
    out = os.fspath(out)
    tasks = _parts.tasks(paths, stacks, os.fspath(parts or f"{out.rstrip('/')}-parts"), target_mb=target_mb, **options)
    failed: dict[int, str] = {}
    # One job per part: in a shared job, one failing part would end the others, and finished parts would be made twice.
    with ThreadPoolExecutor(max_workers=min(len(tasks), jobs)) as pool:
        running = {pool.submit(_run, spark, task, make): task.number for task in tasks}
        for job in as_completed(running):
            error = job.exception()
            if isinstance(error, Exception):
                failed[running[job]] = _reason(error)
            elif error:
                raise error
    if failed:
        raise _parts.refused(failed, tasks)
    return _parts.merge(tasks, out, rows=rows)


def _run(spark: Any, task: _parts.Task, make: _parts.Make) -> None:
    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            done = [make(task) for _ in range(batch.num_rows)]
            yield pa.RecordBatch.from_pydict({"number": pa.array(done, pa.int32())})

    # One row in one partition is one task, retried as often as the session says.
    rows = spark.createDataFrame([(task.number,)], "number int").coalesce(1)
    rows.mapInArrow(work, "number int").collect()


def _reason(error: Exception) -> str:
    text = str(error)
    for line in text.splitlines():
        if "whenstop._error.Error:" in line:
            return line.split("whenstop._error.Error:", 1)[1].strip()
    if "crashed" in text or "SIGKILL" in text or "EOFException" in text:
        return "its worker died each time"
    return f"{type(error).__name__}: {text.strip().splitlines()[0]}" if text.strip() else type(error).__name__


__all__ = ["Error", "compare"]
