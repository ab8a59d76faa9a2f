"""A comparison or a search in parts, for any engine: list the files, group them into tasks, make a part of each group, merge.

``whenstop.ray`` and ``whenstop.spark`` are these four steps; any engine that can call a function on many machines can do
the same. Only paths go to the workers and only small rows come back; the workers read the recordings in Rust.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal, cast

from . import _whenstop
from ._options import Options, Paths, Search, check
from ._options import paths as _paths
from ._error import Error

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._answers import Tuned


@dataclass(frozen=True)
class Task:
    """One part to make: its number out of ``of``, the files it reads, and where the part is written."""

    number: int
    of: int
    files: tuple[str, ...]
    stacks: tuple[str, ...]
    out: str
    #: The keywords of :func:`whenstop.compare`, or of :func:`whenstop.tune`.
    options: Options | Search = field(default_factory=lambda: Options())
    #: Whether it is a part of a search, as :func:`whenstop.tune` makes it, not of a comparison.
    is_search: bool = False


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
        # As in a folder on a disk, hidden files are no recordings.
        shown = (one for one in listed if one.is_file and not one.base_name.startswith("."))
        files = sorted(shown, key=lambda one: PurePosixPath(one.path).parts)
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
    options = cast(Options, {**options, **_beside(options)})
    return _grouped(paths, out, target_mb, tuple(_stack_texts(stacks)), options, is_search=False)


def search_tasks(paths: Paths, out: str, *, target_mb: float = 256, **options: Unpack[Search]) -> list[Task]:
    """The same for a search; ``options`` are those of :func:`whenstop.tune`."""
    check("search_tasks", Search, options)
    today = _stack_texts(options.get("today", ()))
    own = {"signal": _paths(options.get("signal", ())), "limits": _paths(options.get("limits", ()))}
    kept = {key: value for key, value in options.items() if key != "presets"}
    options = cast(Search, {**kept, **_beside(options), **own, "today": today, "no_presets": not options.get("presets", True)})
    return _grouped(paths, out, target_mb, (), options, is_search=True)


def _beside(options: Options | Search) -> dict[str, list[str]]:
    """The files that options name, from wherever a worker is started."""
    return {key: [os.path.abspath(path) for path in _paths(options[key])] for key in ("labels", "price") if key in options}


def _stack_texts(stacks: Paths) -> list[str]:
    texts = []
    for named in _paths(stacks):
        is_name = "\n" in named or named.startswith(("preset:", "system:"))
        try:
            text = named if is_name else Path(named).read_text(encoding="utf-8") + "\n"
            # A stack file that names native configurations needs them beside it, so workers read it from its own path.
            texts.append(os.path.abspath(named) if not is_name and re.search(r"^\s*config\s*=", text, re.M) else text)
        except OSError as error:
            raise Error(f"cannot read: {error}", named, "give a stack file, `preset:NAME` or `system:NAME`") from None
    return texts


def _grouped(
    paths: Paths, out: str, target_mb: float, stacks: tuple[str, ...], options: Options | Search, *, is_search: bool
) -> list[Task]:
    groups = group(list_files(paths), target_mb)
    if not groups:
        raise Error("no file to read", None, "check the path")
    of = len(groups)
    digits = len(str(of))
    return [
        Task(number, of, tuple(files), stacks, f"{out.rstrip('/')}/part-{number:0{digits}}", options, is_search)
        for number, files in enumerate(groups, start=1)
    ]


def make(task: Task) -> int:
    """Makes a part on the machine where it is called, and returns its number. Making it again gives the same part."""
    fetched = tempfile.mkdtemp(prefix="whenstop-") if any(map(is_uri, [*task.files, task.out])) else None
    try:
        paths = [_fetched(name, n, fetched) if fetched and is_uri(name) else name for n, name in enumerate(task.files)]
        names = [name.split("?", 1)[0] for name in task.files]
        local = os.path.join(fetched, "part") if fetched and is_uri(task.out) else task.out
        stacks = {} if task.is_search else {"stacks": task.stacks}
        _whenstop.part(paths, {**stacks, "out": local, **task.options}, task.number, task.of, names, task.is_search)
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

    with _folders(of) as folders:
        return merge_folders(folders, out, rows=rows)


def tuned(of: Sequence[Task], out: str | os.PathLike[str] | None = None) -> Tuned:
    """The answer of the search whose parts these tasks made; see :func:`whenstop.tuned`."""
    from . import tuned as answer

    with _folders(of) as folders:
        return answer(folders, out)


@contextmanager
def _folders(of: Sequence[Task]) -> Iterator[list[str]]:
    """The folders of the parts on this machine."""
    if not any(is_uri(task.out) for task in of):
        yield [task.out for task in of]
        return
    from pyarrow import fs

    with tempfile.TemporaryDirectory(prefix="whenstop-") as folder:
        for task in of:
            store, inner = fs.FileSystem.from_uri(task.out)
            fs.copy_files(inner, str(Path(folder, f"{task.number:09}")), source_filesystem=store, destination_filesystem=fs.LocalFileSystem())
        yield [folder]


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
