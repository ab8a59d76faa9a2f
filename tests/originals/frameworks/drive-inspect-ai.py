"""Inspect AI: `eval()` of a task of one sample with a scripted model, real tools and the package's own solvers.

The clock of time and working limits is the process clock, moved on to an event's `ts` before the event is delivered.
"""

import asyncio
import datetime
import os
import tempfile
import time

# The package takes the clock when it is loaded.
real, ahead = time.monotonic, [0.0]
time.monotonic = lambda: real() + ahead[0]
os.environ["INSPECT_DISPLAY"] = "none"

import inspect_ai._eval.eval as evaluation
from inspect_ai import Task, eval
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.agent import AgentAttempts, AgentPrompt, AgentSubmit, as_solver, react
from inspect_ai.dataset import Sample
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ModelAPI,
    ModelCost,
    ModelInfo,
    ModelOutput,
    ModelUsage,
    get_model,
    modelapi,
    set_model_info,
)
from inspect_ai.scorer import includes
from inspect_ai.solver import basic_agent, chain, generate, solver, use_tools
from inspect_ai.tool import ToolCall, ToolDef, ToolError
from inspect_ai.util import TokenLimit
from inspect_ai.util import cost_limit as cost
from inspect_ai.util import message_limit as message
from inspect_ai.util import time_limit as seconds
from inspect_ai.util import token_limit as token
from inspect_ai.util import turn_limit as turn
from inspect_ai.util import working_limit as working
from scripted import Script, TapeEnd, ToolFailed, serve

AGENT_LIMITS = {"message": message, "token": token, "turn": turn, "cost": cost, "time": seconds, "working": working}
SAMPLE_LIMITS = ("message_limit", "token_limit", "turn_limit", "cost_limit", "time_limit", "working_limit")
NAME = "scripted/model"


class NoMore(Exception):
    """The recording has no further reply; an ordinary exception, so that the sample ends."""


def moment(event):
    return datetime.datetime.fromisoformat(event["ts"].replace("Z", "+00:00")).timestamp()


@solver
def nothing():
    async def solve(state, generate):
        return state

    return solve


class Drive:
    def __init__(self, given):
        self.config, self.script = given["config"], Script(given["events"])
        self.agent = self.config.get("agent", {})
        self.under_way, self.over, self.ended_by = None, False, None
        self.started = real() + ahead[0]

    async def until(self, event):
        """The clock goes on to the event; whoever waits for it to pass is told before the event is delivered."""
        if not event.get("ts"):
            return
        passed = moment(event) - moment(self.script.events[0])
        ahead[0] += max(0.0, self.started + passed - time.monotonic())
        for _ in range(20):
            await asyncio.sleep(0)
        if "working_limit" in self.config or "working" in self.config.get("agent_limits", {}):
            await asyncio.sleep(0.01)

    def tool(self, name):
        async def execute(x: int | None = None):
            arguments = {} if x is None else {"x": x}
            for call in self.script.events[self.script.handed[-1]]["tool_calls"]:
                nth, event = self.script.results.get(call["id"], (None, None))
                if call["name"] == name and (call["arguments"] or {}) == arguments and nth not in (None, *self.script.executed):
                    await self.until(event)
                    break
            try:
                return self.script.result(name, arguments)
            except ToolFailed as error:
                raise ToolError(str(error)) from None

        return ToolDef(execute, name=name, description=name, parameters={"x": "x"}, parallel=False).as_tool()

    def on_continue(self):
        wanted = self.agent.get("on_continue")
        if wanted is None:
            return {}
        if isinstance(wanted, str):
            return {"on_continue": wanted}
        if "say" in wanted and self.agent.get("submit", True):
            return {"on_continue": wanted["say"]}
        asked = [0]

        async def goes_on(state):
            asked[0] += 1
            if "say" in wanted:
                return wanted["say"]
            last = self.script.events[self.script.handed[-1]]
            ends = asked[0] >= wanted["stop_after"] if "stop_after" in wanted else not last.get("tool_calls")
            if ends:
                self.ended_by = "on_continue"
            return not ends

        return {"on_continue": goes_on}

    def solver(self):
        kind, submit = self.config.get("solver", "react"), self.submit_name()
        tools = [self.tool(name) for name in self.script.tools("A") if name != submit or kind == "generate"]
        prompted = self.agent.get("prompt")
        if kind == "generate":
            return chain(use_tools(*tools), generate(tool_calls="loop"))
        if kind == "basic_agent":
            keys = ("message_limit", "token_limit", "max_attempts", "submit_name")
            return basic_agent(tools=tools, **({} if prompted else {"init": nothing()}), **{key: self.agent[key] for key in keys if key in self.agent})
        more = self.on_continue()
        if "attempts" in self.agent:
            more["attempts"] = AgentAttempts(attempts=self.agent["attempts"])
        if "submit" in self.agent:
            more["submit"] = self.agent["submit"]
        if "submit_name" in self.agent:
            more["submit"] = AgentSubmit(name=self.agent["submit_name"])
        if "truncation" in self.agent:
            more["truncation"] = self.agent["truncation"]
        made = react(tools=tools, prompt=AgentPrompt() if prompted else None, **more)
        limits = [AGENT_LIMITS[name](value) for name, value in self.config.get("agent_limits", {}).items()]
        return as_solver(made, limits=limits)

    def submit_name(self):
        return self.agent.get("submit_name", "submit")

    def run(self):
        limits = {key: self.config[key] for key in SAMPLE_LIMITS if key in self.config}
        if isinstance(limits.get("token_limit"), dict):
            limits["token_limit"] = TokenLimit(**limits["token_limit"])
        prices = self.config.get("model_cost")
        set_model_info(NAME, ModelInfo(cost=ModelCost(**prices) if prices else None))
        events = self.script.events
        first = next(nth for nth, event in enumerate(events) if event["role"] == "user")
        Scripted.driven = self
        with tempfile.TemporaryDirectory() as folder:
            task = Task(dataset=[Sample(input=events[first]["content"], target="42")], solver=self.solver(), scorer=includes())
            (log,) = eval(task, model=get_model(NAME, memoize=False), display="none", log_dir=folder, log_level="critical", log_format="json", fail_on_error=False, **limits)
        return log

    def action(self, log):
        """What ended the sample, if it was not the recording."""
        script, events = self.script, self.script.events
        if self.over:
            return None
        if not log.samples:
            code, _, text = log.error.traceback.strip().splitlines()[-1].partition(": ")
            return {"at": None, "kind": "error", "code": code, "detail": text}
        sample = log.samples[0]
        handed = script.handed[-1] if script.handed else None
        coming = next((nth for nth, event in enumerate(events) if event["role"] == "assistant" and nth not in script.handed), len(events))
        last = events[handed] if handed is not None else {}
        calls = bool(last.get("tool_calls"))
        if sample.limit:
            reason = next(event.message for event in sample.events if event.event == "sample_limit")
            action = {"kind": "halt", "code": sample.limit.type, "detail": reason}
            if "reached" in reason or handed is None or (sample.limit.type in ("time", "working") and self.under_way == "request"):
                return {"at": coming - 1, **action, "before_request": True}
            if sample.limit.type == "message":
                return {"at": script.end_of_round(), **action}
            ran = script.ran_since_reply()
            return {"at": max(ran or [handed]), **action, **({"before_tools": True} if calls and not ran else {})}
        if sample.error:
            code, _, text = sample.error.traceback.strip().splitlines()[-1].partition(": ")
            return {"at": coming - 1, "kind": "error", "code": code, "detail": text, "before_request": True}
        if self.ended_by:
            return {"at": script.end_of_round(), "kind": "halt", "code": self.ended_by}
        submitted = self.submit_name() in [call["name"] for call in last.get("tool_calls") or []] and self.agent.get("submit", True)
        if submitted and self.config.get("solver") != "generate" and last.get("finish_reason") not in ("content_filter", "model_length"):
            return {"at": script.end_of_round(), "kind": "halt", "code": "submit"}
        if last.get("finish_reason") in ("content_filter", "model_length"):
            return {"at": handed, "kind": "halt", "code": last["finish_reason"], **({"before_tools": True} if calls else {})}
        return None


@modelapi(name="scripted")
class Scripted(ModelAPI):
    """Plays the replies of the case that is driven."""

    driven = None

    async def generate(self, input, tools, tool_choice, config):
        driven = Scripted.driven
        script = driven.script
        driven.under_way = "request"
        if script.replies:
            await driven.until(script.events[script.replies[0]])
        try:
            event = script.reply()
        except TapeEnd:
            driven.over = True
            raise NoMore from None
        driven.under_way = "tools"
        calls = [ToolCall(id=c["id"], function=c["name"], arguments=c["arguments"] or {}, type="function") for c in event.get("tool_calls") or []]
        said = ChatMessageAssistant(content=event["content"] or "", tool_calls=calls or None, model=NAME, source="generate")
        stop = event.get("finish_reason") or ("tool_calls" if calls else "stop")
        return ModelOutput(model=NAME, choices=[ChatCompletionChoice(message=said, stop_reason=stop)], usage=usage_of(event))

    def should_retry(self, error):
        return False


def usage_of(event):
    used = event.get("usage")
    if not used:
        return None
    written, read = used.get("cache_write"), used.get("cache_read")
    return ModelUsage(
        input_tokens=used["input"] - (written or 0) - (read or 0), output_tokens=used["output"], total_tokens=used["input"] + used["output"],
        input_tokens_cache_write=written, input_tokens_cache_read=read, reasoning_tokens=used.get("reasoning"),
    )


def drive(given):
    driven = Drive(given)
    evaluation._eval_async_running = False  # one that was given up leaves it set
    try:
        action = driven.action(driven.run())
    except (ValueError, PrerequisiteError) as error:
        detail = str(error).splitlines()[0]
        action = {"at": None, "kind": "error", "code": type(error).__name__, "detail": detail}
    return driven.script.answer([action] if action else [])


if __name__ == "__main__":
    serve(drive)
