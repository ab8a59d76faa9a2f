"""smolagents' ToolCallingAgent with a scripted model and real tools, one `run` per user message."""

import logging

from scripted import Script, TapeEnd, ToolFailed, serve
from smolagents import LogLevel, Tool, ToolCallingAgent
from smolagents.models import (
    ChatMessage,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    MessageRole,
    Model,
)

logging.disable(logging.CRITICAL)


def scripted_model(script, forced):
    class Scripted(Model):
        def __init__(self):
            super().__init__(model_id="scripted")

        def generate(self, messages, stop_sequences=None, response_format=None, tools_to_call_from=None, **more):
            if not tools_to_call_from:
                # The one request without tools, which comes when the steps are used up.
                forced.append(True)
                return ChatMessage(role=MessageRole.ASSISTANT, content="forced answer")
            event = script.reply()
            calls = [
                ChatMessageToolCall(id=c["id"], type="function", function=ChatMessageToolCallFunction(name=c["name"], arguments=c["arguments"] or {}))
                for c in event.get("tool_calls") or []
            ]
            return ChatMessage(role=MessageRole.ASSISTANT, content=event["content"], tool_calls=calls or None)

        def parse_tool_calls(self, message):
            if message.tool_calls:
                return message
            return super().parse_tool_calls(message)

    return Scripted()


def tool(script, named):
    class Scripted(Tool):
        name = named
        description = named
        inputs = {"x": {"type": "any", "description": "x", "nullable": True}}
        output_type = "any"

        def forward(self, x=None):
            return script.result(named, {} if x is None else {"x": x})

    return Scripted()


def drive(given):
    config, script, forced = given["config"], Script(given["events"]), []
    options = {key: config[key] for key in ("max_steps",) if key in config}
    if config.get("final_answer_checks"):
        options["final_answer_checks"] = [lambda answer, memory, **more: False]
    actions, states = [], []
    agent = ToolCallingAgent(
        tools=[tool(script, name) for name in script.tools("A") if name != "final_answer"],
        model=scripted_model(script, forced),
        verbosity_level=LogLevel.OFF,
        max_tool_threads=1,
        **options,
    )
    for turn in range(len(script.users)):
        user = script.start(turn)
        more = {"max_steps": config["run_max_steps"]} if "run_max_steps" in config else {}
        reset = config.get("reset", True)
        forced.clear()
        asked = len(script.handed)
        try:
            result = agent.run(script.events[user]["content"], reset=reset, return_full_result=True, **more)
        except TapeEnd:
            continue
        except Exception as error:
            result, failure = None, type(error).__name__
        at = script.end_of_round() if len(script.handed) > asked else user
        if forced:
            actions.append({"at": at, "kind": "force_final", "code": "max_steps_error", "detail": "one extra request without tools", "before_request": True})
        if result is None:
            actions.append({"at": at, "kind": "error", "code": failure})
        else:
            states.append(result.state)
    answer = script.answer(actions)
    return {**answer, **({"states": states} if states else {})}


if __name__ == "__main__":
    serve(drive)
