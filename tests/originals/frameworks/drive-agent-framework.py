"""Microsoft Agent Framework: `Agent.run` over a scripted chat client with the package's function-invocation layer."""

import asyncio
import datetime
import logging

import agent_framework._tools as layer
from agent_framework import (
    Agent,
    AgentLoopMiddleware,
    BaseChatClient,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    FunctionMiddleware,
    FunctionTool,
    Message,
    MiddlewareTermination,
)
from scripted import Script, TapeEnd, ToolFailed, serve

LIMITS = {
    "Maximum iterations": "max_iterations",
    "Maximum function calls": "max_function_calls",
    "Maximum consecutive function call errors": "max_consecutive_errors_per_request",
    "Maximum duration": "max_duration_seconds",
}
NOT_LIMITS = ("approval_tools", "declaration_only", "terminate_after", "loop", "tools", "set_later")


class NoMore(Exception):
    """The recording has no further reply; an ordinary exception, so that the run ends."""


class Log(logging.Handler):
    """The framework only logs which limit it was."""

    def __init__(self):
        super().__init__(level=logging.DEBUG)
        self.lines = []

    def emit(self, record):
        text = record.getMessage()
        if text.startswith(tuple(LIMITS)):
            self.lines.append(text)


log, logger = Log(), logging.getLogger("agent_framework")
logger.addHandler(log)
logger.setLevel(logging.DEBUG)
logger.propagate = False


class Drive:
    def __init__(self, given):
        self.config, self.script, self.now = given["config"], Script(given["events"]), 0.0
        self.forced, self.over, self.terminated = [], False, False
        layer.perf_counter = lambda: self.now

    def tick(self, event):
        if event.get("ts"):
            self.now = datetime.datetime.fromisoformat(event["ts"].replace("Z", "+00:00")).timestamp()

    def place(self):
        """The last event that happened."""
        return self.script.end_of_round() if len(self.script.handed) > self.first else self.user

    def client(self):
        drive, script = self, self.script

        class Scripted(FunctionInvocationLayer, BaseChatClient):
            async def _inner_get_response(self, *, messages, stream, options, **more):
                if options.get("tool_choice") == "none" and options.get("tools"):
                    drive.forced.append(drive.place())
                    return ChatResponse(messages=[Message("assistant", [Content.from_text("forced answer")])])
                try:
                    event = script.reply()
                except TapeEnd:
                    drive.over = True
                    raise NoMore from None
                drive.tick(event)
                contents = [Content.from_text(event["content"])] if event["content"] else []
                contents += [Content.from_function_call(call_id=c["id"], name=c["name"], arguments=c["arguments"]) for c in event.get("tool_calls") or []]
                return ChatResponse(messages=[Message("assistant", contents)])

        limits = {key: value for key, value in self.config.items() if key not in NOT_LIMITS}
        return Scripted(function_invocation_configuration=limits)

    def tool(self, name):
        def called(x=None):
            try:
                text = self.script.result(name, {} if x is None else {"x": x})
            except ToolFailed as error:
                self.tick(self.script.events[self.script.executed[-1]])
                raise RuntimeError(str(error)) from None
            self.tick(self.script.events[self.script.executed[-1]])
            return text

        schema = {"type": "object", "properties": {"x": {}}}
        approval = "always_require" if name in self.config.get("approval_tools", []) else None
        function = None if name in self.config.get("declaration_only", []) else called
        return FunctionTool(name=name, description=name, func=function, input_model=schema, approval_mode=approval)

    def middleware(self):
        made, drive = [], self
        if "loop" in self.config:
            options = dict(self.config["loop"])
            until, always = options.pop("until_text", None), options.pop("should_continue", True)

            def should_continue(*, last_result=None, **more):
                goes_on = always and (until is None or until not in last_result.text)
                drive.loop_ends = not goes_on
                return goes_on

            made.append(AgentLoopMiddleware(should_continue, inject_progress=False, **options))
        if "terminate_after" in self.config:
            class Terminates(FunctionMiddleware):
                async def process(self, context, call_next):
                    await call_next()
                    if context.function.name in drive.config["terminate_after"]:
                        drive.terminated = True
                        raise MiddlewareTermination(result=context.result)

            made.append(Terminates())
        return made

    async def one(self, agent, session):
        """One run; what it did beyond an end of its own."""
        log.lines.clear()
        self.forced.clear()
        self.over = self.terminated = self.loop_ends = False
        try:
            response = await agent.run(self.script.events[self.user]["content"], session=session)
        except NoMore:
            return self.limit()
        except Exception as error:
            last = self.script.events[self.script.handed[-1]] if len(self.script.handed) > self.first else {}
            before = {"before_tools": True} if last.get("tool_calls") and not self.script.ran_since_reply() else {"before_request": True}
            at = self.script.handed[-1] if "before_tools" in before else self.place()
            return [{"at": at, "kind": "error", "code": type(error).__name__, "detail": str(error.args[0]), **before}]
        if self.forced:
            return self.limit()
        last = self.script.handed[-1]
        if self.terminated:
            return [{"at": self.place(), "kind": "halt", "code": "MiddlewareTermination"}]
        if response.user_input_requests:
            kinds = {content.type for content in response.user_input_requests}
            if "function_approval_request" in kinds:
                return [{"at": last, "kind": "ask", "code": "function_approval_request", "before_tools": True}]
        if self.script.events[last].get("tool_calls") and not self.script.ran_since_reply():
            return [{"at": last, "kind": "halt", "code": "function calls returned to the caller", "before_tools": True}]
        if "loop" in self.config:
            return [{"at": last, "kind": "halt", "code": "should_continue" if self.loop_ends else "loop.max_iterations"}]
        return []

    def limit(self):
        if not self.forced:
            return []
        first = log.lines[0] if log.lines else None
        code = next((code for start, code in LIMITS.items() if first and first.startswith(start)), "max_iterations")
        detail = {"detail": first} if first else {}
        return [{"at": self.forced[0], "kind": "force_final", "code": code, **detail, "before_request": True}]

    async def run(self):
        try:
            client = self.client()
            tools = None if self.config.get("tools") is False else [self.tool(name) for name in self.script.tools("A")]
            agent = Agent(client, tools=tools, middleware=self.middleware())
        except (ValueError, TypeError) as error:
            return [{"at": None, "kind": "error", "code": type(error).__name__, "detail": str(error)}]
        client.function_invocation_configuration.update(self.config.get("set_later", {}))
        actions, session = [], agent.create_session()
        for turn in range(len(self.script.users)):
            self.user = self.script.start(turn)
            self.first = self.script.first
            self.tick(self.script.events[self.user])
            done = await self.one(agent, session)
            actions += done
            if done and done[0]["kind"] in ("error", "ask") or done and done[0].get("before_tools"):
                session = agent.create_session()
        return actions


def drive(given):
    driven = Drive(given)
    actions = asyncio.run(driven.run())
    return driven.script.answer(actions)


if __name__ == "__main__":
    serve(drive)
