"""OpenHands SDK: a real LocalConversation. Its stuck detector fed event by event, or its `run()` with the SDK's scripted model."""

import json
import logging
import os
import tempfile

os.environ.setdefault("OPENHANDS_SUPPRESS_BANNER", "1")

from openhands.sdk import Agent, LocalConversation, Message, TextContent, Tool
from openhands.sdk.event import (
    ActionEvent,
    AgentErrorEvent,
    CondensationSummaryEvent,
    MessageEvent,
    ObservationEvent,
    UserRejectObservation,
)
from openhands.sdk.event.conversation_error import ConversationErrorEvent
from openhands.sdk.llm import MessageToolCall
from openhands.sdk.testing import TestLLM
from openhands.sdk.testing.test_llm import TestLLMExhaustedError
from openhands.sdk.tool import (
    Action,
    Observation,
    ToolDefinition,
    ToolExecutor,
    register_tool,
)
from pydantic import PrivateAttr
from scripted import Script, serve

PATTERNS = {"Action, Observation": "action_observation", "Action, Error": "action_error", "Alternating": "alternating_pattern"}


class Log(logging.Handler):
    """The detector only logs which pattern it was; of a monologue it logs nothing."""

    pattern = "monologue"

    def emit(self, record):
        for start, name in PATTERNS.items():
            if record.getMessage().startswith(start):
                self.pattern = name


log = Log(level=logging.WARNING)
logging.getLogger("openhands").setLevel(logging.WARNING)
logging.getLogger("openhands.sdk.conversation.stuck_detector").addHandler(log)


class ZAction(Action):
    """The framework's texts about bad arguments name the class, and the recordings have those texts."""

    x: int = 0
    y: int = 0


class AnyAction(Action):
    arguments: dict = {}


class ScriptedObservation(Observation):
    pass


class Executor(ToolExecutor):
    def __init__(self, script, name):
        self.script, self.name = script, name

    def __call__(self, action, conversation=None):
        # By their order: defaults that are left out and a summary are no part of the action any more.
        for call in self.script.events[self.script.handed[-1]]["tool_calls"]:
            nth, event = self.script.results.get(call["id"], (None, None))
            if call["name"] == self.name and nth is not None and nth not in self.script.executed:
                self.script.executed.append(nth)
                if event.get("is_error"):
                    raise ValueError(event["content"].removeprefix(f"Error executing tool '{self.name}': "))
                return ScriptedObservation.from_text(event["content"])
        raise LookupError(f"the latest reply does not call {self.name}")


class ScriptedLLM(TestLLM):
    _script: object = PrivateAttr(default=None)
    _spend: object = PrivateAttr(default=None)

    def completion(self, messages, tools=None, **more):
        if not self._script.replies:
            self._script.ended = True
            raise TestLLMExhaustedError("the recording has no further reply")
        event = self._script.reply()
        self._spend(event.get("cost_usd") or 0.0)
        self._scripted_responses.append(message_of(event))
        return super().completion(messages, tools, **more)


def called(call):
    return MessageToolCall(id=call["id"], name=call["name"], arguments=json.dumps(call["arguments"]), origin="completion")


def message_of(event):
    calls = [called(call) for call in event.get("tool_calls") or []]
    return Message(role="assistant", content=[TextContent(text=event["content"] or "")], tool_calls=calls or None)


def told(role, source, text):
    return MessageEvent(source=source, llm_message=Message(role=role, content=[TextContent(text=text)]))


class Feed:
    """A recording's events as the conversation's own."""

    def __init__(self):
        self.actions = {}

    def of(self, event, nth):
        native = event.get("native")
        if event["role"] == "user":
            if native == "CondensationSummaryEvent":
                return [CondensationSummaryEvent(summary=event["content"])]
            return [told("user", native or "user", event["content"])]
        if event["role"] == "tool":
            return [self.result(event, native)]
        if not event.get("tool_calls"):
            return [told("assistant", "agent", event["content"] or "")]
        made = []
        for place, call in enumerate(event["tool_calls"]):
            thought = [TextContent(text=event["content"])] if event["content"] and place == 0 else []
            action = ActionEvent(
                thought=thought, action=AnyAction(arguments=call["arguments"] or {}), tool_name=call["name"], tool_call_id=call["id"],
                tool_call=called(call), llm_response_id=f"reply-{nth}",
            )
            self.actions[call["id"]] = action
            made.append(action)
        return made

    def result(self, event, native):
        action = self.actions[event["tool_call_id"]]
        common = {"tool_name": action.tool_name, "tool_call_id": action.tool_call_id}
        if native == "UserRejectObservation":
            return UserRejectObservation(rejection_reason=event["content"], action_id=action.id, **common)
        if event.get("is_error") and native != "ObservationEvent":
            return AgentErrorEvent(error=event["content"], **common)
        seen = ScriptedObservation.from_text(event["content"], is_error=bool(event.get("is_error")))
        return ObservationEvent(observation=seen, action_id=action.id, **common)


def conversation_of(config, agent, folder, **more):
    options = {key: config[key] for key in ("max_iteration_per_run", "max_budget_per_run", "stuck_detection") if key in config}
    if "thresholds" in config:
        options["stuck_detection_thresholds"] = config["thresholds"]
    return LocalConversation(agent=agent, workspace=folder, visualizer=None, **options, **more)


def stuck(at):
    return {"at": at, "kind": "halt", "code": "STUCK", "detail": log.pattern, "before_request": True}


def detector(config, script, folder):
    said, actions, feed = [], [], Feed()
    conversation = conversation_of(config, Agent(llm=TestLLM.from_messages([]), tools=[]), folder, callbacks=[said.append])

    def decide(at):
        log.pattern = "monologue"
        said.clear()
        halted = conversation._check_stuck_or_nudge()
        actions.extend({"at": at, "kind": "inject", "code": "action_error_nudge", "detail": text_of(event), "before_request": True} for event in said if isinstance(event, MessageEvent))
        if halted:
            actions.append(stuck(at))
        return halted

    for nth, event in enumerate(script.events):
        if event["role"] == "assistant" and nth and decide(nth - 1):
            return actions
        for made in feed.of(event, nth):
            conversation._on_event(made)
    decide(len(script.events) - 1)
    return actions


def text_of(event):
    return "".join(part.text for part in event.llm_message.content)


def tool(script, name):
    class Scripted(ToolDefinition):
        @classmethod
        def create(cls, state=None, **more):
            return [cls(description=name, action_type=ZAction, observation_type=ScriptedObservation, executor=Executor(script, name))]

    Scripted.name = name
    register_tool(name, Scripted)
    return Tool(name=name)


def run(config, script, folder):
    actions = []

    def listen(event):
        place = script.end_of_round() if len(script.handed) > script.first else script.users[turn]
        if isinstance(event, ConversationErrorEvent) and event.code.startswith("Max"):
            actions.append({"at": place, "kind": "error", "code": event.code, "detail": event.detail})
        elif isinstance(event, MessageEvent) and event.source == "environment":
            text = text_of(event)
            if text.startswith("You've called"):
                actions.append({"at": place, "kind": "inject", "code": "action_error_nudge", "detail": text, "before_request": True})
            elif event.llm_message.role == "user":
                actions.append({"at": script.handed[-1], "kind": "inject", "code": "corrective_nudge", "detail": text})

    llm = ScriptedLLM(model="test-model", usage_id="test-llm")
    llm._script = script
    conversation = conversation_of(config, Agent(llm=llm, tools=[tool(script, name) for name in script.tools("A", "B")]), folder, callbacks=[listen])

    def spend(dollars):
        """Booked where the conversation looks; the SDK's scripted model costs nothing and has no account there."""
        conversation.conversation_stats.usage_to_metrics.setdefault(llm.usage_id, llm.metrics).add_cost(dollars)

    llm._spend = spend
    for turn in range(len(script.users)):
        user = script.start(turn)
        log.pattern = "monologue"
        conversation.send_message(script.events[user]["content"])
        try:
            conversation.run()
        except Exception:
            if not script.ended:
                raise
            continue
        if conversation.state.execution_status.value == "stuck":
            actions.append(stuck(script.end_of_round() if len(script.handed) > script.first else user))
    return actions


def drive(given):
    script = Script(given["events"])
    with tempfile.TemporaryDirectory() as folder:
        try:
            actions = {"detector": detector, "run": run}[given["drive"]](given["config"], script, folder)
        except ValueError as error:
            if "validation error" not in str(error):
                raise
            actions = [{"at": None, "kind": "error", "code": type(error).__name__, "detail": str(error).splitlines()[0]}]
    return script.answer(actions)


if __name__ == "__main__":
    serve(drive)
