"""Google ADK: an LlmAgent on a scripted model, alone or as the sub-agents of a LoopAgent; one invocation per user message."""

import asyncio
import logging
import warnings

from google.adk.agents import LlmAgent, LoopAgent, RunConfig
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools import FunctionTool, ToolContext, exit_loop
from google.genai import types
from scripted import Script, TapeEnd, ToolFailed, serve

logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")


class NoMore(Exception):
    """The recording has no further reply; an ordinary exception, so that the run ends."""


def scripted_model(script):
    class Scripted(BaseLlm):
        async def generate_content_async(self, request, stream=False):
            try:
                event = script.reply()
            except TapeEnd:
                raise NoMore from None
            parts = [types.Part(text=event["content"])] if event["content"] or not event.get("tool_calls") else []
            for call in event.get("tool_calls") or []:
                parts.append(types.Part(function_call=types.FunctionCall(id=call["id"], name=call["name"], args=call["arguments"] or {})))
            yield LlmResponse(content=types.Content(role="model", parts=parts))

    return Scripted(model="scripted")


def tool(script, name):
    if name == "exit_loop":
        return exit_loop

    def called(tool_context: ToolContext, x: int = None, path: str = None):
        given = {key: value for key, value in (("x", x), ("path", path)) if value is not None}
        if name == "escalate":
            tool_context.actions.escalate = True
        try:
            return script.result(name, given)
        except ToolFailed as error:
            return {"error": str(error)}

    called.__name__ = called.__doc__ = name

    class Lenient(FunctionTool):
        async def run_async(self, *, args, tool_context):
            known = {key: value for key, value in args.items() if key in ("x", "path")}
            return await super().run_async(args=known, tool_context=tool_context)

    return Lenient(called)


def drive(given):
    config, script = given["config"], Script(given["events"])
    looped = config.get("loop_agent") or "max_iterations" in config

    def agent(name):
        return LlmAgent(name=name, model=scripted_model(script), tools=[tool(script, each) for each in script.tools()])

    escalated = []
    if looped:
        more = {"max_iterations": config["max_iterations"]} if "max_iterations" in config else {}
        root = LoopAgent(name="loop", sub_agents=[agent(f"agent_{nth}") for nth in range(config.get("sub_agents", 1))], **more)
    else:
        root = agent("agent")
    actions = []

    async def run():
        runner = InMemoryRunner(agent=root, app_name="app")
        session = await runner.session_service.create_session(app_name="app", user_id="u")
        limit = {"max_llm_calls": config["max_llm_calls"]} if "max_llm_calls" in config else {}
        for turn in range(len(script.users)):
            user = script.start(turn)
            asked = len(script.handed)
            escalated.clear()
            message = types.Content(role="user", parts=[types.Part(text=script.events[user]["content"])])
            try:
                async for event in runner.run_async(user_id="u", session_id=session.id, new_message=message, run_config=RunConfig(**limit)):
                    if event.actions and event.actions.escalate:
                        escalated.append(event)
            except NoMore:
                continue
            except Exception as error:
                at = script.end_of_round() if len(script.handed) > asked else user
                actions.append({"at": at, "kind": "error", "code": type(error).__name__, "before_request": True, "detail": str(error)})
                return
            if looped:
                at = script.end_of_round() if len(script.handed) > asked else user
                actions.append({"at": at, "kind": "halt", "code": "escalate" if escalated else "max_iterations"})
                return

    asyncio.run(run())
    return script.answer(actions)


if __name__ == "__main__":
    serve(drive, seconds=300)
