"""The options, by keyword. Values are checked where the options are declared, in the program."""

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
    #: What each column of a table means: ``"id=…,task=…,outcome=…,messages=…,cost=…,model=…"``.
    columns: str
    #: Where to find the outcome: a field (``"info.passed"``), a part of the path (``"path:1"``), or a pattern (``"runs/{}/*"``).
    outcome: str
    #: Marks in the recordings that stand in for grades: ``"interrupted=failure,handover=success"``.
    outcome_from: str
    #: Count a graded run as a success from this score on.
    success_at: float
    #: Where to find the task, as for ``outcome``; ``"first-message"`` groups runs with the same first message into one task.
    task: str
    #: Where to find the model, as for ``outcome``.
    model: str
    #: A file of prices (TOML or JSON), to compute costs from tokens.
    price: Path
    #: Treat sub-agents as part of their parent's run, as runs of their own, or leave them out.
    subagents: Literal["parent", "own", "drop"]
    #: Read every file as this format instead of looking at its content.
    format: str
    #: Stop at the first line, run or file that cannot be read.
    strict: bool


class Options(Reading, total=False):
    """How recordings are compared; every key is a keyword of :func:`whenstop.compare`."""

    #: What counts as a run: the whole recording, or each round of it, from one prompt to the next.
    unit: Literal["run", "round"]
    #: What the host keeps from a run that it stops.
    keeps: Literal["nothing", "work", "unknown"]
    #: The stack that runs today, with which the others are compared; the first by default.
    today: str
    #: The share of successes a stack may kill, by the upper end of its 95 % interval.
    max_killed: float
    #: What a lost success costs, in dollars; if given, net worth decides instead of ``max_killed``.
    lost_success_costs: float
    #: Also report what would be saved if this share of the runs failed.
    failure_rate: float
    #: Assumptions that narrow the bounds: ``"m1"``, ``"m2"``, ``"stop-discards-work"``.
    assume: Union[str, Iterable[str]]
    #: Labels checked by hand: ``"50,47,50,44"``.
    label_checked: str
    #: The probability that a true success is labelled a success.
    label_sensitivity: float
    #: The probability that a true failure is labelled a failure.
    label_specificity: float
    #: How much of the recordings' text the page includes.
    embed_text: Literal["none", "evidence", "all"]
    #: Write every step of the curves to ``budget.csv``.
    whole_budget: bool


class Search(Reading, total=False):
    """What is searched for; every key is a keyword of :func:`whenstop.tune`."""

    #: What counts as a run: the whole recording, or each round of it, from one prompt to the next.
    unit: Literal["run", "round"]
    #: The share of successes that may be killed, averaged over tasks; this is what is certified.
    max_killed: float
    #: How sure the certificate is.
    confidence: float
    #: The signal that the budget counts; steps by default.
    budget: str
    #: Learn a list of at most three rules on one half of the tasks, and certify it on the other.
    learn: bool
    #: With ``learn``: learn on all tasks, and estimate by fifths.
    cross_fit: bool
    #: What you run today, for comparison.
    today: Paths
    #: Signals whose limits are named, each with its ``limits``: the limit to ship is then found among these.
    signal: Union[str, Iterable[str]]
    #: What to try: ``"0.5..0.95"``, ``"10,20,30"``.
    limits: Union[str, Iterable[str]]
    #: Also try the shipped rules of all frameworks, which takes most of the time.
    presets: bool
    #: What a lost success costs, in dollars; the certified limit worth most is then shipped.
    lost_success_costs: float


def paths(given: Paths) -> list[str]:
    """One or several, as texts: paths, or signals and their limits."""
    if isinstance(given, (str, os.PathLike)):
        given = [given]
    return [os.fspath(path) for path in given]


def check(function: str, kind: Any, keywords: Mapping[str, Any]) -> None:
    """Rejects keywords that `kind` does not have, with the TypeError Python would raise."""
    for keyword in keywords:
        if keyword not in kind.__annotations__:
            raise TypeError(f"{function}() got an unexpected keyword argument {keyword!r}")
