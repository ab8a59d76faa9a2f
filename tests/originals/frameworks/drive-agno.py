"""Agno's Agent with a scripted model and real functions, one run per user message."""

import json
import logging

from agno.agent import Agent
from agno.models.base import Model
from agno.models.response import ModelResponse
from agno.tools.function import Function
from scripted import Script, TapeEnd, ToolFailed, serve

logging.disable(logging.CRITICAL)


class NoMore(Exception):
    """The recording has no further reply; an ordinary exception, so that the run ends."""


def scripted_model(script, seen):
    class Scripted(Model):
        def __init__(self):
            super().__init__(id="scripted")

        def invoke(self, messages=None, **more):
            seen.update({message.tool_call_id: message.content for message in messages or [] if message.role == "tool"})
            try:
                event = script.reply()
            except TapeEnd:
                raise NoMore from None
            calls = [
                {"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": json.dumps(c["arguments"] or {})}}
                for c in event.get("tool_calls") or []
            ]
            return ModelResponse(role="assistant", content=event["content"], tool_calls=calls)

        async def ainvoke(self, *arguments, **more):
            raise NotImplementedError

        invoke_stream = ainvoke_stream = _parse_provider_response = _parse_provider_response_delta = ainvoke

    return Scripted()


def function(script, name, config):
    def called(**given):
        try:
            return script.result(name, given)
        except ToolFailed as error:
            raise RuntimeError(str(error)) from None

    properties = {key: {} for event in script.events for call in event.get("tool_calls") or [] for key in call["arguments"] or {}}
    return Function(
        name=name, description=name, parameters={"type": "object", "properties": properties, "required": []}, entrypoint=called,
        skip_entrypoint_processing=True, stop_after_tool_call=name in config.get("stop_after_tool_call", []),
    )


def drive(given):
    config, script, seen = given["config"], Script(given["events"]), {}
    names = [name for name in script.tools() if name not in config.get("unregistered", [])]
    more = {"tool_call_limit": config["tool_call_limit"]} if "tool_call_limit" in config else {}
    agent = Agent(model=scripted_model(script, seen), tools=[function(script, name, config) for name in names], telemetry=False, retries=0, **more)
    actions, history = [], []

    def denials(messages):
        """Calls that were answered by the limit instead of their tool."""
        seen.update({message.tool_call_id: message.content for message in messages if message.role == "tool"})
        for at in script.handed:
            for call in script.events[at].get("tool_calls") or []:
                text = str(seen.pop(call["id"], ""))
                if text.startswith("Tool call limit reached"):
                    place = script.results[call["id"]][0]
                    actions.append({"at": at, "kind": "deny", "code": "Tool call limit reached", "tool_call_id": call["id"], "event": place})

    for turn in range(len(script.users)):
        user = script.start(turn)
        asked = len(script.handed)
        try:
            result = agent.run(script.events[user]["content"])
        except NoMore:
            denials([])
            continue
        denials(result.messages or [])
        last = script.events[script.handed[-1]] if len(script.handed) > asked else {}
        if last.get("tool_calls") and not script.ended:
            actions.append({"at": script.end_of_round(), "kind": "halt", "code": "stop_after_tool_call"})
            break
    return script.answer(actions, tools_executed=len(script.executed))


if __name__ == "__main__":
    serve(drive)
