"""Rules beside a running agent: what it does is pushed as it happens, and the rules say when to stop."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _whenstop


@dataclass(frozen=True)
class Decision:
    """What a rule decided."""

    #: ``observe``, ``warn``, ``inject``, ``deny``, ``ask``, ``force_final``, ``extend``, ``stop`` or ``fail``.
    action: str
    #: True for ``stop`` and ``fail``: make no further model call.
    ends: bool
    rule: str
    #: The step, from 0, and the point of it: ``before_request``, ``after_response``, ``after_tools``, ``end_of_round``.
    step: int
    at: str
    reading: float | None
    limit: float | None
    #: For the model, with ``warn`` and ``inject``.
    message: str | None
    #: The id of the call that ``deny`` refuses.
    call: str | None

    def __str__(self) -> str:
        return self.rule if self.reading is None else f"{self.rule}: {self.reading:g}"


class Live:
    """One stack beside one run of an agent. It decides as a replay of the same events does.

    :param stacks: the path of a stack file.
    :param stack: the stack's name, if the file has several.

    Push each message as it comes, call :meth:`request` before each model call, and act on what both return::

        live = whenstop.Live("stacks.toml")
        live.push({"role": "user", "content": "fix the test"})
        while not any(decision.ends for decision in live.request()):
            reply = model(messages)
            live.push({"role": "assistant", "content": reply.text, "usage": {"input": 812, "output": 20},
                       "tool_calls": [{"id": "1", "name": "sh", "arguments": {"cmd": "ls"}}]})
            live.push({"role": "tool", "tool_call_id": "1", "content": run_tool(reply), "is_error": False})
    """

    def __init__(self, stacks: str | os.PathLike[str], stack: str | None = None) -> None:
        path = Path(stacks)
        self._live = _whenstop.Live(str(path), path.read_text(encoding="utf-8"), stack)

    def push(self, event: Mapping[str, Any]) -> list[Decision]:
        """Takes an event in the shape of ``whenstop schema trace``; without a ``type`` it is a message."""
        return _decisions(self._live.push(json.dumps({"type": "message", **event})))

    def request(self) -> list[Decision]:
        """Says that a model call is about to be made. A decision here that ends the run saves that call."""
        return _decisions(self._live.request())

    def end(self) -> list[Decision]:
        """Says that the agent is done."""
        return _decisions(self._live.end())

    @property
    def stopped_by(self) -> Decision | None:
        """The decision that ended the run; None while it goes on."""
        said = self._live.stopped_by()
        return None if said is None else Decision(**json.loads(said))

    def unread(self) -> list[str]:
        """The rules that cannot be evaluated on what has come so far, and what they lack: they never act."""
        return self._live.unread()


def _decisions(said: str) -> list[Decision]:
    return [Decision(**decision) for decision in json.loads(said)]
