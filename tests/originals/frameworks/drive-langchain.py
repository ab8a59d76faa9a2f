"""LangChain and LangGraph: `create_agent`, `create_react_agent` and AgentExecutor with a scripted chat model and real tools."""

import datetime
import logging
import time
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

from langchain.agents import create_agent
from langchain.agents import middleware as known
from langchain_classic.agents import (
    AgentExecutor,
    ZeroShotAgent,
    create_tool_calling_agent,
)
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.tools import StructuredTool, Tool, ToolException
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import create_react_agent
from scripted import Script, TapeEnd, ToolFailed, serve

CAPPED = {"ToolCallLimitMiddleware": "ool call limit reached", "ModelCallLimitMiddleware": "odel call limits exceeded"}
APOLOGY = "Sorry, need more steps"


class NoMore(Exception):
    """The recording has no further reply; an ordinary exception, so that the run ends."""


class Scripted(BaseChatModel):
    driven: object = None

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **more):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **more):
        return ChatResult(generations=[ChatGeneration(message=self.driven.reply(messages))])


class Drive:
    def __init__(self, given):
        self.config, self.script = given["config"], Script(given["events"])
        self.forced, self.text_only, self.now = False, False, None

    def tick(self, event):
        if event.get("ts"):
            self.now = datetime.datetime.fromisoformat(event["ts"].replace("Z", "+00:00")).timestamp()

    def reply(self, messages):
        if self.text_only and "I now need to return a final answer" in str(messages[-1].content):
            # The legacy agents' last request, which only wants a text.
            self.forced = True
            return AIMessage("Final Answer: forced")
        try:
            event = self.script.reply()
        except TapeEnd:
            raise NoMore from None
        self.tick(event)
        calls = event.get("tool_calls") or []
        if self.text_only:
            return AIMessage(self.as_text(event, calls))
        return AIMessage(event["content"] or "", tool_calls=[{"id": c["id"], "name": c["name"], "args": c["arguments"] or {}} for c in calls])

    @staticmethod
    def as_text(event, calls):
        """A reply as the text agents write it."""
        if calls:
            argument = (calls[0]["arguments"] or {}).get("x", "")
            return f"Thought: go on\nAction: {calls[0]['name']}\nAction Input: {argument}"
        content = event["content"] or ""
        return content.removeprefix("RAW:") if content.startswith("RAW:") else f"Thought: done\nFinal Answer: {content}"

    def run_tool(self, name, arguments):
        try:
            text = self.script.result(name, arguments)
        except ToolFailed as error:
            self.tick(self.script.events[self.script.executed[-1]])
            raise ToolException(str(error)) from None
        self.tick(self.script.events[self.script.executed[-1]])
        return text

    def tool(self, name):
        if self.text_only:
            def called(x):
                return self.run_tool(name, {"x": int(x) if x.strip().lstrip("-").isdigit() else x})

            return Tool(name=name, description=name, func=called, handle_tool_error=True)

        def structured(x: int | None = None):
            return self.run_tool(name, {} if x is None else {"x": x})

        return StructuredTool.from_function(structured, name=name, description=name, handle_tool_error=True)

    def tools(self):
        return [self.tool(name) for name in self.script.tools("A")]

    def place(self):
        return self.script.end_of_round() if len(self.script.handed) > self.script.first else self.user


class Graph(Drive):
    """The agents that are graphs: one `invoke` per user message, on one thread."""

    def build(self):
        model = Scripted(driven=self)
        if self.config.get("agent") == "create_react_agent":
            return create_react_agent(model, self.tools(), checkpointer=InMemorySaver())
        more = [getattr(known, options["type"])(**{key: value for key, value in options.items() if key != "type"}) for options in self.config.get("middleware", [])]
        return create_agent(model, self.tools(), middleware=more, checkpointer=InMemorySaver())

    def run(self):
        try:
            agent = self.build()
        except ValueError as error:
            return [{"at": None, "kind": "error", "code": type(error).__name__, "detail": str(error)}]
        options = {"configurable": {"thread_id": "t"}}
        if "recursion_limit" in self.config:
            options["recursion_limit"] = self.config["recursion_limit"]
        actions = []
        for turn in range(len(self.script.users)):
            self.user = self.script.start(turn)
            failure, seen = None, set()
            try:
                agent.invoke({"messages": [("user", self.script.events[self.user]["content"])]}, options)
            except NoMore:
                pass
            except Exception as error:
                failure = error
            messages = self.messages(agent, options)
            actions += self.denials(messages, seen)
            actions += self.stop(messages)
            if failure is not None:
                actions.append(self.error(failure))
        return actions

    def messages(self, agent, options):
        try:
            return agent.get_state(options).values.get("messages", [])
        except ValueError:
            return []

    def denials(self, messages, seen):
        """Refused calls of this run: their results are the middleware's."""
        made, wanted = [], set(self.script.handed[self.script.first:])
        known_calls = {call["id"]: at for at in wanted for call in self.script.events[at].get("tool_calls") or []}
        for message in messages:
            if isinstance(message, ToolMessage) and message.tool_call_id in known_calls and message.status == "error" and "call" in str(message.content):
                if str(message.content).startswith(("Tool call limit", "Execution stopped")):
                    made.append({
                        "at": known_calls[message.tool_call_id], "kind": "deny", "code": "ToolCallLimitMiddleware", "detail": message.content,
                        "tool_call_id": message.tool_call_id, "before_tools": True,
                    })
        return made

    def error(self, error):
        detail = str(error).split("\n")[0].split(" You can increase")[0].split(" For troubleshooting")[0]
        action = {"kind": "error", "code": type(error).__name__, "detail": detail}
        asked = len(self.script.handed) > self.script.first
        last = self.script.events[self.script.handed[-1]] if asked else {}
        if asked and last.get("tool_calls") and not self.script.ran_since_reply():
            return {"at": self.script.handed[-1], **action, "before_tools": True}
        if isinstance(error, ValueError):
            return {"at": self.user, **action}
        before = {} if asked and not last.get("tool_calls") else {"before_request": True}
        return {"at": self.place(), **action, **before}

    def stop(self, messages):
        last = messages[-1] if messages else None
        if not isinstance(last, AIMessage):
            return []
        text = str(last.content)
        if text.startswith(APOLOGY):
            return [{"at": self.script.handed[-1], "kind": "force_final", "code": "create_react_agent", "detail": text, "before_tools": True}]
        for code, words in CAPPED.items():
            if words in text:
                before = {"before_tools": True} if code.startswith("Tool") else {"before_request": True}
                at = self.script.handed[-1] if "before_tools" in before else self.place()
                return [{"at": at, "kind": "halt", "code": code, "detail": text, **before}]
        return []


class Executor(Drive):
    def build(self):
        self.text_only = self.config.get("agent") == "ZeroShotAgent"
        model, tools = Scripted(driven=self), self.tools()
        options = {key: self.config[key] for key in ("max_iterations", "max_execution_time", "early_stopping_method", "handle_parsing_errors") if key in self.config}
        if self.text_only:
            agent = ZeroShotAgent.from_llm_and_tools(model, tools)
        else:
            prompt = ChatPromptTemplate.from_messages([("human", "{input}"), ("placeholder", "{agent_scratchpad}")])
            agent = create_tool_calling_agent(model, tools, prompt)
        return AgentExecutor(agent=agent, tools=tools, **options)

    def run(self):
        executor, actions, real = self.build(), [], time.time
        for turn in range(len(self.script.users)):
            self.user = self.script.start(turn)
            self.tick(self.script.events[self.user])
            self.forced = False
            if self.now is not None:
                time.time = lambda: self.now
            try:
                output = executor.invoke({"input": self.script.events[self.user]["content"]})["output"]
            except NoMore:
                continue
            except Exception as error:
                actions.append({"at": self.place(), "kind": "error", "code": type(error).__name__, "detail": str(error), "before_request": True})
                continue
            finally:
                time.time = real
            if self.forced:
                actions.append({"at": self.place(), "kind": "force_final", "code": "generate", "detail": output, "before_request": True})
            elif output.startswith("Agent stopped due to"):
                actions.append({"at": self.place(), "kind": "halt", "code": "force", "detail": output, "before_request": True})
        return actions


def drive(given, table):
    driven = (Executor if table.endswith("agent_executor") else Graph)(given)
    return driven.script.answer(driven.run())


if __name__ == "__main__":
    serve(drive)
