"""A comparison in parts, for any engine: list the files, group them into tasks, make a part of each group, merge.

``whenstop.ray`` and ``whenstop.spark`` are these four steps; any engine that can call a function on many machines can do
the same. Only paths go to the workers and only small rows come back; the workers read the recordings in Rust.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal, cast

from . import _whenstop
from ._options import Options, Paths, check
from ._options import paths as _paths
from ._error import Error

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True)
class Task:
    """One part to make: its number out of ``of``, the files it reads, and where the part is written."""

    number: int
    of: int
    files: tuple[str, ...]
    stacks: tuple[str, ...]
    out: str
    #: The keywords of :func:`whenstop.compare`.
    options: Options = field(default_factory=lambda: Options())


def is_uri(path: str) -> bool:
    """True for ``s3://…`` and the like."""
    return "://" in path


def list_files(paths: Paths) -> list[tuple[str, int]]:
    """The files under paths or URIs with their sizes in bytes, in the order in which a single comparison reads them.

    Object store credentials are those pyarrow finds. A folder in an object store is listed in path order.
    """
    found: list[tuple[str, int]] = []
    for path in _paths(paths):
        if not is_uri(path):
            # An archive is read whole: its members belong to one task.
            found += [(name.split("!", 1)[0] if not os.path.exists(name) else name, size) for name, size in _whenstop.files([path])]
            continue
        from pyarrow import fs

        store, inner = fs.FileSystem.from_uri(path)
        info = store.get_file_info(inner)
        listed = [info] if info.is_file else store.get_file_info(fs.FileSelector(inner, recursive=True))
        scheme, rest = path.split("://", 1)
        query = "?" + rest.split("?", 1)[1] if "?" in rest else ""
        files = sorted((one for one in listed if one.is_file), key=lambda one: PurePosixPath(one.path).parts)
        found += [(f"{scheme}://{one.path}{query}", one.size) for one in files]
    return list(dict(found).items())


def group(files: Sequence[tuple[str, int]], target_mb: float = 256) -> list[list[str]]:
    """Groups neighbouring files, up to ``target_mb`` megabytes per group: 128 to 512 keep a worker busy and a retry cheap.

    A file is never divided (``whenstop convert --shards`` does that), and the files of one Langfuse export stay together,
    since a trace may be spread over several of them.
    """
    groups: list[list[str]] = []
    size, last = 0.0, None
    for name, bytes_ in files:
        folder = PurePosixPath(name.split("?", 1)[0]).parent
        one_export = folder.name.startswith("observations") and folder == last
        if groups and (one_export or size + bytes_ <= target_mb * 1e6):
            groups[-1].append(name)
            size += bytes_
        else:
            groups.append([name])
            size = float(bytes_)
        last = folder
    return groups


def tasks(
    paths: Paths,
    stacks: Paths,
    out: str,
    *,
    target_mb: float = 256,
    **options: Unpack[Options],
) -> list[Task]:
    """One task per group; each writes its part to a folder in ``out``. Stack files are read here, so workers need none.

    ``options`` are those of :func:`whenstop.compare`; files they name (``labels``, ``price``) must be available to the workers.
    """
    check("tasks", Options, options)
    beside = {key: [os.path.abspath(path) for path in _paths(options[key])] for key in ("labels", "price") if key in options}
    options = cast(Options, {**options, **beside})
    texts = []
    for named in _paths(stacks):
        is_name = "\n" in named or named.startswith(("preset:", "system:"))
        try:
            text = named if is_name else Path(named).read_text(encoding="utf-8") + "\n"
            # A stack file that names native configurations needs them beside it, so workers read it from its own path.
            texts.append(os.path.abspath(named) if not is_name and re.search(r"^\s*config\s*=", text, re.M) else text)
        except OSError as error:
            raise Error(f"cannot read: {error}", named, "give a stack file, `preset:NAME` or `system:NAME`") from None
    groups = group(list_files(paths), target_mb)
    if not groups:
        raise Error("no file to read", None, "check the path")
    of = len(groups)
    digits = len(str(of))
    return [
        Task(number, of, tuple(files), tuple(texts), f"{out.rstrip('/')}/part-{number:0{digits}}", options)
        for number, files in enumerate(groups, start=1)
    ]


def make(task: Task) -> int:
    """Makes a part on the machine where it is called, and returns its number. Making it again gives the same part."""
    fetched = tempfile.mkdtemp(prefix="whenstop-") if any(map(is_uri, [*task.files, task.out])) else None
    try:
        paths = [_fetched(name, n, fetched) if fetched and is_uri(name) else name for n, name in enumerate(task.files)]
        names = [name.split("?", 1)[0] for name in task.files]
        local = os.path.join(fetched, "part") if fetched and is_uri(task.out) else task.out
        options = {"stacks": task.stacks, "out": local, **task.options}
        _whenstop.part(paths, options, task.number, task.of, names)
        if local != task.out:
            _copy(local, task.out)
        return task.number
    finally:
        if fetched:
            shutil.rmtree(fetched, ignore_errors=True)


def _fetched(uri: str, n: int, folder: str) -> str:
    from pyarrow import fs

    store, inner = fs.FileSystem.from_uri(uri)
    # Equal file names from several folders must not collide, and the folder's name is part of the runs' names.
    path = Path(folder, f"{n:06}", PurePosixPath(inner).parent.name, PurePosixPath(inner).name)
    path.parent.mkdir(parents=True)
    with store.open_input_stream(inner, compression=None) as source, open(path, "wb") as target:
        shutil.copyfileobj(source, target, 1 << 20)
    return str(path)


def _copy(source: str, target: str) -> None:
    from pyarrow import fs

    if is_uri(target):
        store, inner = fs.FileSystem.from_uri(target)
        # The manifest is copied last: a part without one is incomplete.
        for name in sorted(os.listdir(source), key=lambda name: name == "part.json"):
            path, query = (inner.split("?", 1) + [""])[:2]
            with open(os.path.join(source, name), "rb") as file, store.open_output_stream(f"{path}/{name}") as to:
                shutil.copyfileobj(file, to, 1 << 20)
        return
    shutil.copytree(source, target)


def merge(of: Sequence[Task], out: str | os.PathLike[str], *, rows: Literal["csv", "parquet"] = "csv") -> int:
    """Merges the parts of these tasks; see :func:`whenstop.merge`."""
    from . import merge as merge_folders

    if not any(is_uri(task.out) for task in of):
        return merge_folders([task.out for task in of], out, rows=rows)
    from pyarrow import fs

    with tempfile.TemporaryDirectory(prefix="whenstop-") as folder:
        for task in of:
            store, inner = fs.FileSystem.from_uri(task.out)
            fs.copy_files(inner, str(Path(folder, f"{task.number:09}")), source_filesystem=store, destination_filesystem=fs.LocalFileSystem())
        return merge_folders(folder, out, rows=rows)


Make = Callable[[Task], int]


def refused(failed: dict[int, str], all_tasks: Sequence[Task]) -> Error:
    """The error for tasks that failed, naming their files."""
    by_number = {task.number: task for task in all_tasks}
    lines = []
    for number, why in sorted(failed.items()):
        files = by_number[number].files
        more = f" and {len(files) - 5} more" if len(files) > 5 else ""
        lines.append(f"part {number} of {len(all_tasks)} ({why}): {', '.join(files[:5])}{more}")
    done = len(all_tasks) - len(failed)
    return Error("; ".join(lines), None, f"the other {done} parts are complete; leave these files out, or read them one by one")
