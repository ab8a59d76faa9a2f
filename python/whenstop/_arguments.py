"""Keywords of Python as arguments of the command line, which says itself what is wrong with them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypedDict, Union

Path = Union[str, "os.PathLike[str]"]
Paths = Union[Path, Iterable[Path]]


class Reading(TypedDict, total=False):
    """How recordings are read; every key is a keyword of :func:`whenstop.compare`, ``tune`` and ``corpus``."""

    #: CSV files of outcomes (``run_id``, ``success``, …).
    labels: Paths
    #: Accept labels that match no run, without a warning.
    allow_unmatched_labels: bool
    #: Which column of a table is what: ``"id=…,task=…,outcome=…,messages=…,cost=…,model=…"``.
    columns: str
    #: Where the outcome stands: a field (``"info.passed"``), a part of the path (``"path:1"``), or a pattern (``"runs/{}/*"``).
    outcome: str
    #: Marks of the recordings that stand in for grades: ``"interrupted=failure,handover=success"``.
    outcome_from: str
    #: Count a graded run as a success from this score on.
    success_at: float
    #: Where the task stands, as for ``outcome``; ``"first-message"`` takes runs of one first message for one task.
    task: str
    #: Where the model stands, as for ``outcome``.
    model: str
    #: A file of prices (TOML or JSON), to compute costs from tokens.
    price: Path
    #: Sub-agents are part of their parent's run, runs of their own, or left out.
    subagents: Literal["parent", "own", "drop"]
    #: Read every file as this format instead of looking at its content.
    format: str
    #: End at the first line, run or file that cannot be read.
    strict: bool


class Options(Reading, total=False):
    """How recordings are compared; every key is a keyword of :func:`whenstop.compare`."""

    #: What counts as a run: the recording, or each round of it, from a prompt to the next.
    unit: Literal["run", "round"]
    #: What the host keeps of a run that it stops.
    keeps: Literal["nothing", "work", "unknown"]
    #: The stack the others are compared with; by default the first.
    baseline: str
    #: The share of successes a stack may kill, by the upper end of its 95 % interval.
    max_fes: float
    #: What a lost success costs, in dollars; then worth decides, and not ``max_fes``.
    lost_success_costs: float
    #: Also say what would be saved if this share of the runs failed.
    failure_rate: float
    #: Assume something that narrows the bounds: ``"m1"``, ``"m2"``, ``"stop-discards-work"``.
    assume: Union[str, Iterable[str]]
    #: Labels checked by hand: ``"50,47,50,44"``.
    label_checked: str
    #: Chance that a true success is labelled a success.
    label_sensitivity: float
    #: Chance that a true failure is labelled a failure.
    label_specificity: float
    #: How much of the recordings' texts the page holds.
    embed_text: Literal["none", "evidence", "all"]
    #: Every step of the curves in ``budget.csv``.
    whole_budget: bool


#: Keywords that are called otherwise on the command line.
_NAMES = {"columns": "map", "format": "as"}


def paths(given: Paths) -> list[str]:
    """One path or several, as texts."""
    if isinstance(given, (str, os.PathLike)):
        given = [given]
    return [os.fspath(path) for path in given]


def arguments(keywords: Mapping[str, Any], after: Iterable[str] = ()) -> list[str]:
    """The arguments for these keywords, None and False left out, and then ``after``."""
    all_of_them = []
    for keyword, value in keywords.items():
        name = "--" + _NAMES.get(keyword, keyword).replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            all_of_them.append(name)
        elif isinstance(value, (str, os.PathLike, int, float)):
            all_of_them.append(f"{name}={_text(value)}")
        else:
            all_of_them += [f"{name}={_text(one)}" for one in value]
    return [*all_of_them, "--", *after]


def _text(value: Any) -> str:
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def check(function: str, kind: Any, keywords: Mapping[str, Any]) -> None:
    """Refuses keywords that `kind` does not have, as Python does."""
    for keyword in keywords:
        if keyword not in kind.__annotations__:
            raise TypeError(f"{function}() got an unexpected keyword argument {keyword!r}")
