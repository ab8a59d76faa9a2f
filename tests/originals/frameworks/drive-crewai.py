"""CrewAI: a crew of one agent with a scripted model and real tools, one task for each prompt.

Where the recording has a sub-agent's messages, the crew has a second agent, to which the first delegates by CrewAI's own tool.
"""

import json
import os
from typing import Any

os.environ.update(CREWAI_DISABLE_TELEMETRY="true", OTEL_SDK_DISABLED="true", CREWAI_TRACING_ENABLED="false", CREWAI_DISABLE_TRACKING="true")

from crewai import Agent, Crew, Task
from crewai.llms.base_llm import BaseLLM
from crewai.tools import BaseTool
from crewai.tools.agent_tools.delegate_work_tool import DelegateWorkTool
from crewai.utilities.i18n import I18N_DEFAULT
from pydantic import PrivateAttr, ValidationError
from scripted import Script, TapeEnd, ToolFailed, of_sub_agent, serve, text_of

FORCED = I18N_DEFAULT.errors("force_final_answer")
REUSED = I18N_DEFAULT.errors("task_repeated_usage").strip()


class NoMore(Exception):
    """The recording has no further reply; an ordinary exception, so that the run ends."""


DELEGATE = "delegate_work_to_coworker"


class Helper(BaseLLM):
    """The model of the agent to which work is delegated: its lane is `side:` and the task."""

    _script: object = PrivateAttr(default=None)
    _said: dict = PrivateAttr(default_factory=dict)

    def call(self, messages, **more):
        lanes = {event["lane"]: None for event in self._script.events if of_sub_agent(event)}
        lane = next(lane for lane in lanes if lane.removeprefix("side:") in str(messages))
        replies = [event for event in self._script.events if event.get("lane") == lane and event["role"] == "assistant"]
        self._said[lane] = self._said.get(lane, 0) + 1
        return spoken(replies[self._said[lane] - 1])

    def supports_function_calling(self):
        return True

    def supports_stop_words(self):
        return False

    def get_context_window_size(self):
        return 1_000_000


def spoken(event):
    """A reply as a model with tool calling gives it."""
    calls = event.get("tool_calls") or []
    if not calls:
        return text_of(event["content"])
    return [{"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": json.dumps(c["arguments"])}} for c in calls]


class ScriptedLLM(BaseLLM):
    _driven: object = PrivateAttr(default=None)

    def call(self, messages, tools=None, **more):
        return self._driven.reply(messages if isinstance(messages, list) else [{"content": messages}])

    def supports_function_calling(self):
        return self._driven.native

    def supports_stop_words(self):
        return False

    def get_context_window_size(self):
        return 1_000_000


def counted(run):
    """The tool that delegates is one of the tools that ran."""

    def delegate(self, *given, **more):
        Drive.latest.runs += 1
        return run(self, *given, **more)

    return delegate


DelegateWorkTool._run = counted(DelegateWorkTool._run)


class Drive:
    def __init__(self, given):
        Drive.latest = self
        self.config, self.script = given["config"], Script(given["events"])
        self.native = self.config.get("path", "native") == "native"
        self.actions, self.seen, self.runs = [], 0, 0

    def tool(self, name):
        drive, limit = self, (self.config.get("max_usage_count") or {})
        limit = limit.get(name) if isinstance(limit, dict) else limit

        class T(BaseTool):
            """The framework's texts about bad settings name the class, and the recordings have those texts."""

            def _run(self, x: Any = None, y: Any = None):
                drive.runs += 1
                arguments = {key: value for key, value in (("x", x), ("y", y)) if value is not None}
                try:
                    return text_of(drive.script.result(name, arguments))
                except ToolFailed as error:
                    raise RuntimeError(text_of(error.args[0])) from None

        more = {} if limit is None else {"max_usage_count": limit}
        return T(name=name, description=name, **more)

    def look(self, messages):
        """What became of the calls of the latest reply, from what the model is told of them."""
        script = self.script
        if len(script.handed) == script.first:
            return
        told = [message for message in messages[self.seen :] if message.get("role") != "assistant" or not self.native]
        calls = script.events[script.handed[-1]].get("tool_calls") or []
        for message in told:
            text = message.get("content") or ""
            if not isinstance(text, str) or "usage limit of" not in text and REUSED not in text:
                continue
            of = message.get("tool_call_id")
            action = {"at": script.handed[-1], "kind": "deny", "before_tools": True}
            if "usage limit of" in text:
                start = text.index("Tool '")
                action["detail"] = text[start : text.index("anymore.", start) + 8]
                action["code"] = "max_usage_count"
            else:
                action["code"] = "task_repeated_usage"
            if self.native and of:
                action["tool_call_id"] = of
            if calls:
                self.actions.append(action)

    def place(self):
        return self.script.end_of_round() if len(self.script.handed) > self.script.first else self.user

    def reply(self, messages):
        self.look(messages)
        self.seen = len(messages)
        if FORCED in str(messages[-1].get("content")):
            self.actions.append({"at": self.place(), "kind": "force_final", "code": "force_final_answer", "detail": "one extra request without tools", "before_request": True})
            self.forced = True
            return "Final Answer: forced"
        try:
            event = self.script.reply()
        except TapeEnd:
            raise NoMore from None
        calls = event.get("tool_calls") or []
        if not self.native:
            if calls:
                return f"Thought: go on\nAction: {calls[0]['name']}\nAction Input: {json.dumps(calls[0]['arguments'])}"
            return f"Thought: done\nFinal Answer: {text_of(event['content'])}"
        return spoken(event)

    def helper(self):
        """The second agent, if there is one."""
        calls = [call for event in self.script.events if of_sub_agent(event) for call in event.get("tool_calls") or []]
        if not any(of_sub_agent(event) for event in self.script.events):
            return []

        class T(BaseTool):
            """A tool of the helper."""

            def _run(self, x: Any = None):
                return "ok"

        llm = Helper(model="scripted")
        llm._script = self.script
        tools = [T(name=name, description=name) for name in dict.fromkeys(call["name"] for call in calls)]
        return [Agent(role="helper", goal="g", backstory="b", llm=llm, tools=tools, cache=False)]

    def run(self):
        script, limits = self.script, {key: self.config[key] for key in ("max_iter",) if key in self.config}
        llm = ScriptedLLM(model="scripted")
        llm._driven = self
        agent = Agent(role="r", goal="g", backstory="b", llm=llm, tools=[self.tool(name) for name in script.tools() if name != DELEGATE], max_retry_limit=0, cache=self.config.get("cache", False), **limits)
        self.agent, crew = agent, [agent, *self.helper()]
        agent.allow_delegation = len(crew) > 1
        for turn in range(len(script.users)):
            self.user, self.seen, self.forced = script.start(turn), 0, False
            task = Task(description=text_of(script.events[self.user]["content"]), expected_output="x", agent=agent)
            try:
                Crew(agents=crew, tasks=[task], cache=False, verbose=False).kickoff()
            except Exception as error:
                executor = agent.agent_executor
                if executor is not None and not script.ended:
                    state = getattr(executor, "state", executor)
                    self.look(list(state.messages))
                if script.ended:
                    continue
                if "max_usage_count" in self.config and type(error).__name__ == "ToolExecutionFailedError":
                    raise LookupError("whether the last call was refused is told to nobody") from None
                action = {"at": self.place(), "kind": "error", "code": type(error).__name__, "detail": str(error)}
                if len(script.handed) == script.first:
                    action["before_request"] = True
                self.actions.append(action)
                break


def drive(given):
    driven = Drive(given)
    try:
        driven.run()
    except ValidationError as error:
        detail = str(error).splitlines()[0]
        driven.actions.append({"at": None, "kind": "error", "code": type(error).__name__, "detail": detail})
    script = driven.script
    return {**script.answer(driven.actions), "tool_runs": driven.runs, "ended_at": script.end_of_round() if script.handed else None}


if __name__ == "__main__":
    serve(drive, seconds=120)
