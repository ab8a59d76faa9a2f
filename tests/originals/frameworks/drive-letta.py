"""Letta: `LettaAgentV3.step` with all it does in a step, a new agent for each user message as its server has it.

The agent has the tools of the recording, those of the rules, and one that nobody calls: where the rules leave no tool, Letta offers
all again. Without rules its model may call several at once. Scripted are the provider's client (what it returns is read by the agent's own adapter) and the execution of a tool; the managers
that would store and count are stand-ins.
"""

import asyncio
import json
import logging
import os
import tempfile
from unittest.mock import AsyncMock, MagicMock

os.environ.update(HOME=tempfile.mkdtemp(), LETTA_DISABLE_TRACING="true")
logging.disable(logging.CRITICAL)

import letta.agents.letta_agent_v3 as original
from letta.schemas.agent import AgentState
from letta.schemas.enums import MessageRole
from letta.schemas.llm_config import LLMConfig
from letta.schemas.memory import Memory
from letta.schemas.message import MessageCreate
from letta.schemas.openai.chat_completion_response import ChatCompletionResponse
from letta.schemas.tool import Tool
from letta.schemas.tool_execution_result import ToolExecutionResult
from letta.schemas.tool_rule import (
    ChildToolRule,
    ContinueToolRule,
    InitToolRule,
    MaxCountPerStepToolRule,
    ParentToolRule,
    RequiredBeforeExitToolRule,
    TerminalToolRule,
)
from letta.schemas.user import User
from scripted import Script, TapeEnd, serve, text_of

RULES = {
    "terminal": TerminalToolRule, "required_before_exit": RequiredBeforeExitToolRule, "max_count_per_step": MaxCountPerStepToolRule,
    "init": InitToolRule, "child": ChildToolRule, "parent": ParentToolRule, "continue": ContinueToolRule,
}
MANAGERS = ["agent_manager", "archive_manager", "block_manager", "run_manager", "message_manager", "passage_manager", "step_manager", "telemetry_manager"]
actor = User(name="n", organization_id="org-00000000-0000-4000-8000-000000000000")


class Client:
    """The provider's client."""

    def __init__(self, script):
        self.script = script

    def set_telemetry_context(self, **_):
        pass

    def build_request_data(self, **_):
        return {}

    async def request_async_with_telemetry(self, request_data, llm_config):
        return self.script.reply()

    async def convert_response_to_chat_completion(self, event, messages, llm_config):
        calls = [
            {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])}}
            for call in event.get("tool_calls") or []
        ]
        message = {"role": "assistant", "content": text_of(event["content"]), "tool_calls": calls or None}
        finish = event.get("finish_reason") or ("tool_calls" if calls else "stop")
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        return ChatCompletionResponse(id="r", created=0, model="m", usage=usage, choices=[{"index": 0, "message": message, "finish_reason": finish}])


class Agent(original.LettaAgentV3):
    async def _execute_tool(self, target_tool, tool_args, **_):
        for call in self.reply().get("tool_calls") or []:
            nth, event = self.script.results.get(call["id"], (None, None))
            if call["name"] == target_tool.name and nth is not None and nth not in self.script.executed:
                self.script.executed.append(nth)
                return ToolExecutionResult(status="error" if event.get("is_error") else "success", func_return=text_of(event["content"]))
        raise TapeEnd

    def reply(self):
        return self.script.events[self.script.handed[-1]]

    async def _handle_ai_response(self, *, tool_calls, **more):
        refused, build = [], original._build_rule_violation_result
        original._build_rule_violation_result = lambda name, *rest: refused.append(name) or build(name, *rest)
        try:
            messages, goes_on, reason = await super()._handle_ai_response(tool_calls=tool_calls, **more)
        finally:
            original._build_rule_violation_result = build
        at = self.script.handed[-1]
        for call in tool_calls:
            if call.function.name in refused:
                refused.remove(call.function.name)
                self.actions.append({"at": at, "kind": "deny", "code": "tool rule violation", "tool_call_id": call.id})
        if not tool_calls and goes_on:
            self.actions.append({"at": at, "kind": "inject", "code": "required_before_exit"})
        return messages, goes_on, reason


def agent_of(script, config, actions):
    rules = []
    for rule in config.get("tool_rules", []):
        fields = {key: value for key, value in rule.items() if key != "type"}
        rules.append(RULES[rule["type"]](**fields))
    names = script.tools("never_called", *[rule.tool_name for rule in rules], *[name for rule in rules for name in getattr(rule, "children", [])])
    tools = [Tool(name=name, json_schema={"name": name, "description": name, "parameters": {"type": "object", "properties": {}, "required": []}}) for name in dict.fromkeys(names)]
    state = AgentState(
        id="agent-00000000-0000-4000-8000-000000000000", name="a", tool_rules=rules, message_ids=["message-00000000-0000-4000-8000-000000000000"],
        system="s", agent_type="letta_v1_agent", llm_config=LLMConfig(model="m", model_endpoint_type="openai", context_window=100000, parallel_tool_calls=not rules),
        memory=Memory(blocks=[]), blocks=[], tools=tools, sources=[], tags=[],
    )
    agent = Agent(state, actor)
    for name in MANAGERS:
        setattr(agent, name, AsyncMock())
    agent.run_manager.get_run_by_id = AsyncMock(return_value=MagicMock(status="running"))
    agent.message_manager.get_messages_by_ids_async = AsyncMock(return_value=[])
    agent.credit_verification_service = AsyncMock()
    agent.llm_client, agent.script, agent.actions = Client(script), script, actions
    return agent


def drive(given):
    config, script, actions = given["config"], Script(given["events"]), []
    limits = {"max_steps": config["max_steps"]} if "max_steps" in config else {}
    for turn in range(len(script.users)):
        user = script.start(turn)
        asked = MessageCreate(role=MessageRole.user, content=given["events"][user]["content"])
        agent, before = agent_of(script, config, actions), len(script.handed)
        try:
            code = asyncio.run(agent.step([asked], run_id="run-0", **limits)).stop_reason.stop_reason
        except TapeEnd:
            # The run goes on after a reply that was sent back, and the recording has no other.
            if actions and actions[-1]["kind"] == "inject" and actions[-1]["at"] == script.handed[-1]:
                break
            continue
        stepped = len(script.handed) > before
        if code != "end_turn" or not stepped:
            actions.append({"at": script.end_of_round() if stepped else user, "kind": "halt", "code": code})
            break
    return {**script.answer(actions), "steps": script.requests}


if __name__ == "__main__":
    serve(drive)
