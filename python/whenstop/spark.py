"""Comparisons on Spark: ``whenstop.spark.compare(spark, "/data/traces", "stacks.toml", "report", parts="/data/parts")``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from . import parts as _parts
from ._error import Error


def compare(
    spark: Any,
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    stacks: str | Iterable[str],
    out: str | os.PathLike[str],
    *,
    parts: str | None = None,
    target_mb: float = 256,
    columns: str | None = None,
    rows: str = "csv",
    make: _parts.Make = _parts.make,
) -> int:
    """Compares in a Spark session, and merges here. Gives the number of rows.

    How often a part is tried again is Spark's ``spark.task.maxFailures`` (4; 1 in ``local[n]``, use ``local[n,4]``).

    :param parts: where the parts go: a folder that all machines see, or a URI. By default ``out`` with ``-parts``.
    :param make: what a worker does with a task; for those who watch or test it.
    :raises Error: naming the files of the parts that failed each time; the other parts are complete.
    """
    out = os.fspath(out)
    tasks = _parts.tasks(paths, stacks, os.fspath(parts or f"{out.rstrip('/')}-parts"), target_mb=target_mb, columns=columns)
    failed: dict[int, str] = {}
    try:
        _run(spark, tasks, make)
    except Exception as error:  # noqa: BLE001 - whatever ended the job, each part is asked for by itself
        if len(tasks) == 1:
            failed[1] = _reason(error)
        else:
            # One bad part ends a job of many: which one is only known by itself.
            for task in tasks:
                try:
                    _run(spark, [task], make)
                except Exception as error:  # noqa: BLE001
                    failed[task.number] = _reason(error)
    if failed:
        raise _parts.refused(failed, tasks)
    return _parts.merge(tasks, out, rows=rows)


def _run(spark: Any, tasks: Sequence[_parts.Task], make: _parts.Make) -> None:
    by_number = {task.number: task for task in tasks}

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            done = [make(by_number[number]) for number in batch.column(0).to_pylist()]
            yield pa.RecordBatch.from_pydict({"number": pa.array(done, pa.int32())})

    numbers = spark.createDataFrame([(task.number,) for task in tasks], "number int")
    numbers.repartitionByRange(len(tasks), "number").mapInArrow(work, "number int").collect()


def _reason(error: Exception) -> str:
    text = str(error)
    for line in text.splitlines():
        if "whenstop._error.Error:" in line:
            return line.split("whenstop._error.Error:", 1)[1].strip()
    if "crashed" in text or "SIGKILL" in text or "EOFException" in text:
        return "its worker died each time"
    return f"{type(error).__name__}: {text.strip().splitlines()[0]}" if text.strip() else type(error).__name__


__all__ = ["Error", "compare"]
