"""The OpenAI Agents SDK: `Runner.run` of an agent with a scripted model, one run per user message."""

import asyncio
import json

from agents import (
    Agent,
    FunctionTool,
    Model,
    ModelResponse,
    RunConfig,
    RunErrorHandlerResult,
    Runner,
    StopAtTools,
    Usage,
)
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
from scripted import Script, TapeEnd, ToolFailed, serve


class NoMore(Exception):
    """The recording has no further reply; an ordinary exception, so that the run ends."""


def scripted_model(script):
    class Scripted(Model):
        async def get_response(self, *arguments, **more):
            try:
                event = script.reply()
            except TapeEnd:
                raise NoMore from None
            output = []
            if event["content"]:
                text = ResponseOutputText(text=event["content"], type="output_text", annotations=[])
                output.append(ResponseOutputMessage(id="m", content=[text], role="assistant", status="completed", type="message"))
            for call in event.get("tool_calls") or []:
                arguments = json.dumps(call["arguments"] or {})
                output.append(ResponseFunctionToolCall(arguments=arguments, call_id=call["id"], name=call["name"], type="function_call"))
            return ModelResponse(output=output, usage=Usage(), response_id=None)

        def stream_response(self, *arguments, **more):
            raise NotImplementedError

    return Scripted()


def tool(script, name):
    async def called(context, arguments):
        try:
            return script.result(name, json.loads(arguments))
        except ToolFailed as error:
            return str(error)  # what the SDK's own decorator does with a tool that raises: its text is the result

    return FunctionTool(name=name, description=name, params_json_schema={"type": "object", "properties": {}}, on_invoke_tool=called, strict_json_schema=False)


def drive(given):
    config, script = given["config"], Script(given["events"])
    behaviour = config.get("tool_use_behavior", "run_llm_again")
    if isinstance(behaviour, dict):
        behaviour = StopAtTools(**behaviour)
    agent = Agent(name="agent", model=scripted_model(script), tools=[tool(script, name) for name in script.tools()], tool_use_behavior=behaviour)
    handled = []

    def handler(text):
        def answer(data):
            handled.append(text)
            return RunErrorHandlerResult(final_output=text, include_in_history=False)

        return answer

    more = {"max_turns": config["max_turns"]} if "max_turns" in config else {}
    if "error_handlers" in config:
        more["error_handlers"] = {kind: handler(text) for kind, text in config["error_handlers"].items()}
    actions = []

    async def run():
        history = []
        for turn in range(len(script.users)):
            user = script.start(turn)
            history.append({"role": "user", "content": script.events[user]["content"]})
            asked = len(script.handed)
            try:
                result = await Runner.run(agent, history, run_config=RunConfig(tracing_disabled=True), **more)
            except NoMore:
                continue
            except Exception as error:
                at = script.end_of_round() if len(script.handed) > asked else user
                actions.append({"at": at, "kind": "error", "code": type(error).__name__, "before_request": True, "detail": str(error)})
                return
            at = script.end_of_round() if len(script.handed) > asked else user
            if handled:
                actions.append({"at": at, "kind": "force_final", "code": "max_turns handler", "before_request": True, "final_output": result.final_output})
                return
            if script.events[at]["role"] == "tool":
                code = "StopAtTools" if isinstance(behaviour, dict) else behaviour
                actions.append({"at": at, "kind": "halt", "code": code, "final_output": result.final_output})
                return
            history = result.to_input_list()

    asyncio.run(run())
    return script.answer(actions)


if __name__ == "__main__":
    serve(drive)
