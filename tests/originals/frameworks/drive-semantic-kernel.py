"""Semantic Kernel: its auto-invoke loop, its group chat with termination strategies, a round robin; all on a scripted chat service."""

import asyncio
import json
import logging
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

from scripted import Script, TapeEnd, ToolFailed, serve
from semantic_kernel import Kernel
from semantic_kernel.agents import (
    AgentGroupChat,
    ChatCompletionAgent,
    GroupChatOrchestration,
    RoundRobinGroupChatManager,
)
from semantic_kernel.agents.runtime import InProcessRuntime
from semantic_kernel.agents.strategies import (
    AggregatorTerminationStrategy,
    DefaultTerminationStrategy,
    TerminationStrategy,
)
from semantic_kernel.agents.strategies.termination.aggregator_termination_strategy import (
    AggregateTerminationCondition,
)
from semantic_kernel.connectors.ai import FunctionChoiceBehavior, PromptExecutionSettings
from semantic_kernel.connectors.ai.chat_completion_client_base import (
    ChatCompletionClientBase,
)
from semantic_kernel.contents import (
    AuthorRole,
    ChatHistory,
    ChatMessageContent,
    FunctionCallContent,
    StreamingChatMessageContent,
    TextContent,
)
from semantic_kernel.exceptions import AgentChatException
from semantic_kernel.functions import KernelPlugin, kernel_function


class NoMore(Exception):
    """The recording has no further reply; an ordinary exception, so that the run ends."""


class Scripted(ChatCompletionClientBase):
    driven: object = None

    SUPPORTS_FUNCTION_CALLING = True

    async def _inner_get_chat_message_contents(self, chat_history, settings):
        return [self.driven.reply(settings)]

    async def _inner_get_streaming_chat_message_contents(self, chat_history, settings, function_invoke_attempt=0):
        yield [StreamingChatMessageContent(role=AuthorRole.ASSISTANT, content=self.driven.reply(settings).content, choice_index=0)]

    def _verify_function_choice_settings(self, settings):
        pass

    def _update_function_choice_settings_callback(self):
        return lambda *arguments, **more: None

    def _reset_function_choice_settings(self, settings):
        settings.extension_data["functions_taken_away"] = True


class Drive:
    def __init__(self, given):
        self.config, self.script = given["config"], Script(given["events"])
        self.actions, self.over = [], asyncio.Event()
        self.service = Scripted(ai_model_id="scripted", driven=self)

    def place(self):
        return self.script.end_of_round() if len(self.script.handed) > self.script.first else self.user

    def reply(self, settings):
        if settings.extension_data.get("functions_taken_away"):
            self.actions.append({"at": self.place(), "kind": "force_final", "code": "maximum_auto_invoke_attempts", "before_request": True})
        try:
            event = self.script.reply()
        except TapeEnd:
            self.over.set()
            raise NoMore from None
        items = [TextContent(text=event["content"])] if event["content"] else []
        items += [FunctionCallContent(id=c["id"], plugin_name="p", function_name=c["name"], arguments=json.dumps(c["arguments"] or {})) for c in event.get("tool_calls") or []]
        return ChatMessageContent(role=AuthorRole.ASSISTANT, items=items)

    def function(self, name):
        @kernel_function(name=name, description=name)
        def called(x: int | None = None) -> str:
            try:
                return self.script.result(name, {} if x is None else {"x": x})
            except ToolFailed as error:
                raise RuntimeError(str(error)) from None

        return called

    def agents(self):
        names = dict.fromkeys(event["name"] for event in self.script.events if event.get("name") and event["role"] == "assistant")
        return [ChatCompletionAgent(service=self.service, name=name, description=name) for name in names]


async def auto_invoke(driven):
    config, script = driven.config, driven.script
    kernel, history = Kernel(), ChatHistory()
    kernel.add_plugin(KernelPlugin(name="p", functions=[driven.function(name) for name in script.tools()]))
    make = {"Required": FunctionChoiceBehavior.Required, "None": FunctionChoiceBehavior.NoneInvoke}.get(config.get("function_choice_behavior"), FunctionChoiceBehavior.Auto)
    behaviour = make() if make is FunctionChoiceBehavior.NoneInvoke else make(auto_invoke=config.get("auto_invoke", True))
    if "maximum_auto_invoke_attempts" in config:
        behaviour.maximum_auto_invoke_attempts = config["maximum_auto_invoke_attempts"]
    for turn in range(len(script.users)):
        driven.user = script.start(turn)
        history.add_user_message(script.events[driven.user]["content"])
        try:
            (reply,) = await driven.service.get_chat_message_contents(history, PromptExecutionSettings(function_choice_behavior=behaviour), kernel=kernel)
        except NoMore:
            continue
        history.add_message(reply)
        if script.events[script.handed[-1]].get("tool_calls"):
            driven.actions.append({"at": script.handed[-1], "kind": "halt", "code": "calls returned unexecuted"})
    halts = [action["at"] for action in driven.actions if action["kind"] == "halt"]
    return {"actions": driven.actions, "halted_at": halts[-1] if halts else None, "model_calls": script.requests, "tools_executed": len(script.executed)}


class Contains(TerminationStrategy):
    word: str

    async def should_agent_terminate(self, agent, history):
        return self.word in (history[-1].content or "").lower()


class MinMessages(TerminationStrategy):
    n: int

    async def should_agent_terminate(self, agent, history):
        return sum(message.role == AuthorRole.ASSISTANT for message in history) >= self.n


class Never(TerminationStrategy):
    async def should_agent_terminate(self, agent, history):
        return False


STRATEGIES = {"contains": Contains, "min_messages": MinMessages, "never": Never, "default": DefaultTerminationStrategy}


def strategy(wanted, agents):
    options = {key: value for key, value in wanted.items() if key not in ("type", "agents")}
    if "agents" in wanted:
        options["agents"] = [agent for agent in agents if agent.name in wanted["agents"]]
    return STRATEGIES[wanted["type"]](**options)


async def aggregator(driven):
    config, events, agents = driven.config, driven.script.events, driven.agents()
    more = {"condition": AggregateTerminationCondition[config["condition"].upper()]} if "condition" in config else {}
    made = AggregatorTerminationStrategy(strategies=[strategy(each, agents) for each in config["strategies"]], **more)
    history, said = [], []
    for at, event in enumerate(events):
        role = AuthorRole.USER if event["role"] == "user" else AuthorRole.ASSISTANT
        history.append(ChatMessageContent(role=role, content=event["content"], name=event.get("name")))
        if event["role"] != "assistant":
            continue
        agent = next(agent for agent in agents if agent.name == event["name"])
        said.append(await made.should_terminate_async(agent, history))
        if said[-1]:
            action = {"at": at, "kind": "halt", "code": type(made).__name__}
            return {"actions": [action], "halted_at": at, "per_message": said}
    return {"actions": [], "halted_at": None, "per_message": said}


async def group_chat(driven):
    config, script, agents = driven.config, driven.script, driven.agents()
    more = {"termination_strategy": strategy(config["termination_strategy"], agents)} if "termination_strategy" in config else {}
    chat = AgentGroupChat(agents=agents, **more)
    for turn in range(len(script.users)):
        driven.user = script.start(turn)
        await chat.add_chat_message(script.events[driven.user]["content"])
        try:
            async for _ in chat.invoke():
                pass
        except AgentChatException as error:
            if not driven.over.is_set():
                driven.actions.append({"at": driven.user, "kind": "error", "code": type(error).__name__, "before_request": True, "detail": str(error)})
            continue
        except Exception:
            if not driven.over.is_set():
                raise
            continue
        finally:
            ended, driven.over = driven.over.is_set(), asyncio.Event()
        at = script.handed[-1] if len(script.handed) > script.first else driven.user
        code = "termination_strategy" if chat.is_complete else "maximum_iterations"
        before = {} if len(script.handed) > script.first else {"before_request": True}
        if not ended:
            driven.actions.append({"at": at, "kind": "halt", "code": code, **before})
    halts = [action["at"] for action in driven.actions]
    return {"actions": driven.actions, "halted_at": halts[-1] if halts else None, "model_calls": script.requests}


async def orchestration(driven):
    config, script = driven.config, driven.script
    reasons = []

    class Listened(RoundRobinGroupChatManager):
        async def should_terminate(self, chat_history):
            answer = await super().should_terminate(chat_history)
            if answer.result:
                reasons.append(answer.reason)
            return answer

    more = {"max_rounds": config["max_rounds"]} if "max_rounds" in config else {}
    driven.user = script.start(0)
    runtime = InProcessRuntime()
    runtime.start()
    chat = GroupChatOrchestration(members=driven.agents(), manager=Listened(**more))
    result = await chat.invoke(task=script.events[driven.user]["content"], runtime=runtime)
    waiting = [asyncio.ensure_future(result.get()), asyncio.ensure_future(driven.over.wait())]
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    for each in waiting:
        each.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    actions = [{"at": driven.place(), "kind": "halt", "code": reasons[0], "before_request": True}] if reasons else []
    return {"actions": actions, "halted_at": actions[0]["at"] if actions else None, "agent_turns": script.requests}


HOW = {"auto_invoke": auto_invoke, "aggregator": aggregator, "group_chat_termination": group_chat, "orchestration_max_rounds": orchestration}


def drive(given, table):
    async def run():
        return await HOW[table.rsplit("/", 1)[1].removeprefix("fresh_")](Drive(given))

    return asyncio.run(run())


if __name__ == "__main__":
    serve(drive)
