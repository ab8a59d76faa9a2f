"""AutoGen AgentChat: its termination conditions, called with real messages, and a team of one agent with a replayed model."""

import asyncio
import datetime
import json
import logging
import time
import warnings

from autogen_agentchat import EVENT_LOGGER_NAME
from autogen_agentchat import conditions as known
from autogen_agentchat import messages as spoken
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.base import (
    AndTerminationCondition,
    OrTerminationCondition,
    TerminatedException,
)
from autogen_agentchat.conditions import FunctionalTermination
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core import FunctionCall
from autogen_core.models import (
    CreateResult,
    FunctionExecutionResult,
    RequestUsage,
)
from autogen_core.tools import FunctionTool
from autogen_ext.models.replay import ReplayChatCompletionClient
from scripted import Script, ToolFailed, serve

logging.getLogger(EVENT_LOGGER_NAME).setLevel(logging.CRITICAL)
logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")
FUNCTIONS = {
    "delta_len_at_least_2": lambda delta: len(delta) >= 2,
    "returns_truthy_not_true": lambda delta: len(delta),
    "last_is_stop_message": lambda delta: isinstance(delta[-1], spoken.StopMessage),
}


def condition_of(wanted):
    if "or" in wanted or "and" in wanted:
        (how, parts), = wanted.items()
        kind = OrTerminationCondition if how == "or" else AndTerminationCondition
        return kind(*(condition_of(part) for part in parts))
    options = dict(wanted)
    name = options.pop("type")
    if name == "FunctionalTermination":
        return FunctionalTermination(FUNCTIONS[options["func"]])
    return getattr(known, name)(**options)


def usage_of(event):
    used = event.get("usage")
    return RequestUsage(prompt_tokens=used["input"], completion_tokens=used["output"]) if used else None


def calls_of(event):
    return [FunctionCall(id=c["id"], name=c["name"], arguments=json.dumps(c["arguments"])) for c in event.get("tool_calls") or []]


def message_of(event):
    source = event.get("name") or "assistant"
    usage = {"models_usage": usage_of(event)}
    if event["role"] == "user":
        return spoken.TextMessage(content=event["content"], source="user")
    if event["role"] == "tool":
        result = FunctionExecutionResult(content=event["content"], name=event["name"], call_id=event["tool_call_id"], is_error=bool(event.get("is_error")))
        return spoken.ToolCallExecutionEvent(content=[result], source="assistant")
    if event.get("tool_calls"):
        return spoken.ToolCallRequestEvent(content=calls_of(event), source=source, **usage)
    kind = event.get("native", "TextMessage")
    more = {"target": event["target"]} if kind == "HandoffMessage" else usage
    if kind == "ToolCallSummaryMessage":
        more = {"tool_calls": [], "results": []}
    return getattr(spoken, kind)(content=event["content"], source=source, **more)


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class Clock:
    """The clock of the timeout condition: the recording's."""

    def __init__(self, config):
        self.now = moment(config["started_at"]) if "started_at" in config else None
        self.real = time.monotonic, time.time

    def __enter__(self):
        if self.now is not None:
            time.monotonic = time.time = lambda: self.now
        return self

    def __exit__(self, *_):
        time.monotonic, time.time = self.real


def parts_of(condition):
    """The conditions inside one, however deep."""
    inner = getattr(condition, "_conditions", None)
    return [condition] if inner is None else [part for each in inner for part in parts_of(each)]


async def ask(given, condition, clock):
    events, actions = given["events"], []
    for delta in given.get("deltas") or [[nth] for nth in range(len(events))]:
        first = delta[0] if delta else None
        if clock.now is not None and delta and events[delta[-1]].get("ts"):
            clock.now = moment(events[delta[-1]]["ts"])
        if first in given.get("reset_before", []):
            await condition.reset()
        if first is not None and first == given.get("external_set_before"):
            for part in parts_of(condition):
                if isinstance(part, known.ExternalTermination):
                    part.set()
        at = delta[-1] if delta else None
        try:
            stop = await condition([message_of(events[nth]) for nth in delta])
        except (TerminatedException, RuntimeError) as error:
            actions.append({"at": at, "kind": "error", "code": type(error).__name__, "detail": str(error)})
            stop = None
            if not given.get("continue_after_halt"):
                break
        if stop is not None:
            actions.append({"at": at, "kind": "halt", "code": stop.source, "detail": stop.content})
            if not given.get("continue_after_halt"):
                break
    return actions


async def play(given, script):
    """A team: each reply with its results is one turn, and one delta to the conditions."""
    config, events = given["config"], given["events"]
    replies = []
    for nth in script.replies:
        event = events[nth]
        calls = calls_of(event)
        more = {"thought": event["content"] or None} if calls else {}
        replies.append(CreateResult(
            finish_reason="function_calls" if calls else "stop", content=calls or event["content"],
            usage=usage_of(event) or RequestUsage(prompt_tokens=0, completion_tokens=0), cached=False, **more,
        ))

    class Replayed(ReplayChatCompletionClient):
        async def create(self, *arguments, **more):
            if script.replies:
                script.handed.append(script.replies.pop(0))
            else:
                script.ended = True
            result = await super().create(*arguments, **more)
            # The package's own client counts words where the recording says tokens.
            result.usage = usage_of(events[script.handed[-1]]) or RequestUsage(prompt_tokens=0, completion_tokens=0)
            return result

    def tool(name):
        def called(x: int = 0) -> str:
            try:
                return script.result(name, {"x": x})
            except ToolFailed as error:
                raise RuntimeError(str(error)) from None

        return FunctionTool(called, name=name, description=name)

    client = Replayed(replies, model_info={"vision": False, "function_calling": True, "json_output": False, "family": "unknown", "structured_output": False})
    agent = AssistantAgent("assistant", model_client=client, tools=[tool(name) for name in script.tools("A")])
    condition = condition_of(config["condition"]) if "condition" in config else None
    more = {"max_turns": config["max_turns"]} if "max_turns" in config else {}
    team = RoundRobinGroupChat([agent], termination_condition=condition, **more)
    first = next(nth for nth, event in enumerate(events) if event["role"] != "user")
    task = [spoken.TextMessage(content=event["content"], source="user") for event in events[:first]]
    try:
        result = await team.run(task=task)
    except Exception:
        if script.ended:
            return []
        raise
    at = script.end_of_round() if script.handed else first - 1
    kinds = [type(message).__name__ for message in result.messages]
    return [{"at": at, "kind": "halt", "code": "GroupChatTermination", "detail": result.stop_reason}], kinds


def drive(given):
    config, script = given["config"], Script(given["events"])
    kinds = None
    with Clock(config) as clock:
        try:
            if given["drive"] == "team":
                played = asyncio.run(play(given, script))
                actions, kinds = played if played else ([], None)
            else:
                actions = asyncio.run(ask(given, condition_of(config["condition"]), clock))
        except ValueError as error:
            actions = [{"at": None, "kind": "error", "code": type(error).__name__, "detail": str(error)}]
    answer = script.answer(actions)
    return {**answer, **({"messages": kinds} if kinds is not None else {})}


if __name__ == "__main__":
    serve(drive)
