"""Pydantic AI's Agent with a scripted model and real UsageLimits."""

import asyncio
import re
import warnings
from decimal import Decimal

from pydantic_ai import Agent, ModelRetry, Tool, ToolOutput
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.usage import RequestUsage, RunUsage, UsageLimits
from scripted import Script, TapeEnd, ToolFailed, serve


class NoMore(Exception):
    """The recording has no further reply; an ordinary exception, so that the run ends."""


def usage_of(event):
    if not event.get("usage"):
        return RequestUsage(unmeasured_requests=1)
    recorded = event["usage"]
    known = {"input_tokens": recorded.get("input"), "output_tokens": recorded.get("output"), "cache_read_tokens": recorded.get("cache_read")}
    if event.get("cost_usd") is not None:
        known["cost"] = Decimal(str(event["cost_usd"]))
    return RequestUsage(**{key: value for key, value in known.items() if value is not None})


def drive(given):
    config, script = given["config"], Script(given["events"])

    class Scripted(FunctionModel):
        async def request(self, *arguments, **more):
            response = await super().request(*arguments, **more)
            response.usage = usage_of(script.events[script.handed[-1]])  # missing ones are guessed otherwise
            return response

        async def count_tokens(self, messages, model_settings, model_request_parameters):
            coming = script.events[script.replies[0]] if script.replies else {}
            return RequestUsage(input_tokens=(coming.get("usage") or {}).get("input") or 0)

    def answer(messages, info):
        try:
            event = script.reply()
        except TapeEnd:
            raise NoMore from None
        parts = [TextPart(event["content"])] if event["content"] else []
        parts += [ToolCallPart(c["name"], c["arguments"] or {}, tool_call_id=c["id"]) for c in event.get("tool_calls") or []]
        return ModelResponse(parts=parts, model_name="scripted")

    def tool(name):
        def function(x: object = None, answer: object = None) -> str:
            arguments = {key: value for key, value in (("x", x), ("answer", answer)) if value is not None}
            try:
                return script.result(name, arguments)
            except ToolFailed as error:
                raise ModelRetry(str(error)) from None

        return Tool(function, name=name, description=name, max_retries=1000, sequential=True)

    def final(answer: str) -> str:
        return answer

    agent = Agent(
        Scripted(answer),
        tools=[tool(name) for name in script.tools("A") if name != "final_result"],
        output_type=ToolOutput(final, name="final_result") if config.get("output_tool") else str,
        retries=1000,
    )
    limits = UsageLimits(**config["usage_limits"]) if "usage_limits" in config else None
    if limits is not None and limits.cost_limit is not None:
        limits.cost_limit = Decimal(str(limits.cost_limit))

    actions = []

    def warned(message, category, *more, **named):
        """The framework's own warnings, each once, as Python shows them."""
        action = {"at": script.handed[-1] if script.handed else 0, "kind": "warn", "code": category.__name__}
        if category.__module__.startswith("pydantic_ai") and category.__name__ not in [a["code"] for a in actions]:
            actions.append(action)

    async def run():
        history, shared, usage = None, RunUsage(), None
        for turn in range(len(script.users)):
            user = script.start(turn)
            usage = shared if config.get("share_usage") else RunUsage()
            more = {"usage_limits": limits} if limits is not None else {}
            try:
                result = await agent.run(script.events[user]["content"], message_history=history, usage=usage, **more)
                history = result.all_messages()
            except NoMore:
                continue
            except Exception as error:
                action = {"kind": "error", "code": type(error).__name__, "detail": str(error)}
                if limit := re.search(r"\b\w+_limit\b", action["detail"]):
                    action["limit"] = limit[0]
                asked = len(script.handed) > script.first
                if action["detail"].startswith("The next tool call"):
                    action.update(at=script.handed[-1], before_tools=True)
                elif action["detail"].startswith("The next request"):
                    action.update(at=script.end_of_round() if asked else user, before_request=True)
                elif asked and script.ran_since_reply():
                    action.update(at=script.end_of_round(), before_request=True)
                else:
                    action["at"] = script.handed[-1] if asked else user
                actions.append(action)
                break
        return {key: getattr(usage, key) for key in ("requests", "tool_calls", "input_tokens", "output_tokens")}

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = warned
        counted = asyncio.run(run())
    return {**script.answer(actions), "usage": counted}


if __name__ == "__main__":
    serve(drive)
