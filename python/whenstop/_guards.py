"""Rules of the user's own, called in this process by the lines of the guard protocol (``whenstop schema guard``)."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Union

#: None, a word, or a dictionary with ``answer`` and its details.
Answer = Union[None, str, "dict[str, Any]"]
#: A class with a method ``at(point, news)``, or a function of the events so far and the point.
Rule = Union[type, Callable[["list[dict[str, Any]]", "dict[str, Any]"], Answer]]

_HELLO = ("version", "reads", "points", "answers", "rules")


class _Function:
    """A function, as an object that sees one run."""

    def __init__(self, function: Callable[[list[dict[str, Any]], dict[str, Any]], Answer]) -> None:
        self.function = function
        self.events: list[dict[str, Any]] = []

    def at(self, point: dict[str, Any], news: list[dict[str, Any]]) -> Answer:
        self.events += news
        return self.function(self.events, point)


class Host:
    """Answers the lines of the protocol for one rule, about one run after another."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.watching: Any = None
        self.news: list[dict[str, Any]] = []

    def exchange(self, lines: str) -> str:
        """The answer to the last of these lines, which is a question."""
        answer: Answer = None
        # JSON has no line feeds but those between lines; `splitlines` would split at others too.
        for line in lines.split("\n"):
            if line:
                event = json.loads(line)
                answer = self._take(event)
        said = {"answer": answer} if isinstance(answer, str) else answer or {"answer": "continue"}
        return json.dumps({"id": event["id"], **said}, allow_nan=False, default=_number)

    def _take(self, event: dict[str, Any]) -> Answer:
        kind = event["type"]
        if kind == "hello":
            return {"protocol": 1, **{key: getattr(self.rule, key) for key in _HELLO if hasattr(self.rule, key)}}
        if kind == "run":
            self.watching, self.news = self._start(event), []
        elif kind == "point":
            news, self.news = self.news, []
            answer: Answer = self.watching.at(event, news)
            return answer
        elif "id" not in event:
            self.news.append(event)
        return None

    def _start(self, run: dict[str, Any]) -> Any:
        if not inspect.isclass(self.rule):
            return _Function(self.rule)
        new: Any = self.rule
        return new(run) if inspect.signature(new).parameters else new()


def _number(value: Any) -> Any:
    """A number of another kind (numpy, Decimal), or a set or tuple, as JSON has it."""
    return list(value) if isinstance(value, (set, frozenset)) else float(value)


def given(name: str, rule: Rule) -> tuple[str, str, list[tuple[str, str]], Callable[[], Host]]:
    """A rule as the extension takes it: its name, what the manifest says about it, and what makes a host for a thread."""
    if not callable(rule) or (inspect.isclass(rule) and not hasattr(rule, "at")):
        raise TypeError(f"guard {name!r} is neither a function nor a class with a method `at(point, news)`")
    function = f"{getattr(rule, '__module__', '')}.{getattr(rule, '__qualname__', type(rule).__name__)}"
    try:
        source = inspect.getsourcefile(rule)
    except TypeError:
        source = None
    files = []
    if source is not None and Path(source).is_file():
        files.append((source, hashlib.sha256(Path(source).read_bytes()).hexdigest()))
    return name, function, files, lambda: Host(rule)
