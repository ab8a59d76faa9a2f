"""LlamaIndex's FunctionAgent, ReActAgent and AgentWorkflow with a scripted function-calling model."""

import asyncio
import json

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context
from scripted import Script, TapeEnd, serve


class NoMore(Exception):
    """The recording has no further reply; an ordinary exception, so that the workflow ends."""


def react_text(event):
    if event["content"].startswith("RAW:"):
        return event["content"].removeprefix("RAW:")
    for call in event.get("tool_calls") or []:
        arguments = json.dumps(call["arguments"] or {})
        return f"Thought: I need a tool.\nAction: {call['name']}\nAction Input: {arguments}"
    return f"Thought: I can answer.\nAnswer: {event['content']}" if event["content"] else ""


def model_of(script, react, seen):
    def reply(messages):
        if "maximum number of iterations" in (messages[-1].content or ""):
            seen["extra"] = True
            return None
        try:
            return script.reply()
        except TapeEnd:
            raise NoMore from None

    class Scripted(MockFunctionCallingLLM):
        @property
        def metadata(self):
            return LLMMetadata(is_function_calling_model=True, is_chat_model=True)

        async def achat(self, messages, **more):
            event = reply(messages)
            text = "made up" if event is None else react_text(event) if react else event["content"]
            return ChatResponse(message=ChatMessage(role="assistant", content=text))

        async def achat_with_tools(self, tools, user_msg=None, chat_history=None, **more):
            event = reply(chat_history)
            if event is None:
                return ChatResponse(message=ChatMessage(role="assistant", content="made up"), raw={"calls": []})
            calls = [
                ToolSelection(tool_id=c["id"], tool_name=c["name"], tool_kwargs=c["arguments"] or {})
                for c in event.get("tool_calls") or []
            ]
            return ChatResponse(message=ChatMessage(role="assistant", content=event["content"]), raw={"calls": calls})

        def get_tool_calls_from_response(self, response, error_on_no_tool_call=True, **more):
            return (response.raw or {}).get("calls", [])

    return Scripted()


def drive(given):
    config, script = given["config"], Script(given["events"])
    kind = config.get("agent", "FunctionAgent")
    direct = config.get("return_direct", [])
    seen = {}
    model = model_of(script, kind == "ReActAgent", seen)

    def tool(name):
        def function(x: object = None, answer: object = None) -> str:
            arguments = {key: value for key, value in (("x", x), ("answer", answer)) if value is not None}
            return script.result(name, arguments)

        return FunctionTool.from_defaults(fn=function, name=name, description=name, return_direct=name in direct)

    def build():
        tools = [tool(name) for name in script.tools("A") if name != "handoff"]
        method = {"early_stopping_method": config["early_stopping_method"]} if "early_stopping_method" in config else {}
        if kind != "AgentWorkflow":
            maker = ReActAgent if kind == "ReActAgent" else FunctionAgent
            return maker(tools=tools, llm=model, streaming=False, **method)
        own = {"early_stopping_method": config["agent_early_stopping_method"]} if "agent_early_stopping_method" in config else {}
        names = config.get("agents", ["one"])
        agents = [
            FunctionAgent(
                name=name, description=name, tools=tools, llm=model, streaming=False,
                can_handoff_to=[other for other in names if other != name], **own,
            )
            for name in names
        ]  # fmt: skip
        return AgentWorkflow(agents=agents, root_agent=names[0], **method)

    async def run():
        actions = []
        try:
            agent = build()
        except Exception as error:
            return [{"at": None, "kind": "error", "code": type(error).__name__, "detail": str(error).split("\n")[0]}]
        shared = Context(agent) if config.get("share_context") else None
        for turn in range(len(script.users)):
            user = script.start(turn)
            seen.clear()
            more = {}
            if "max_iterations_by_run" in config:
                more["max_iterations"] = config["max_iterations_by_run"][turn]
            elif "max_iterations" in config:
                more["max_iterations"] = config["max_iterations"]
            if "run_early_stopping_method" in config:
                more["early_stopping_method"] = config["run_early_stopping_method"]
            if shared is not None:
                more["ctx"] = shared
            executed = len(script.executed)
            try:
                result = await agent.run(user_msg=script.events[user]["content"], **more)
            except Exception as error:
                if script.ended:
                    continue
                action = {"kind": "error", "code": type(error).__name__, "detail": str(error)}
                result = None
            else:
                if seen.get("extra"):
                    action = {"kind": "force_final", "code": "generate"}
                elif script.events[script.handed[-1]].get("tool_calls"):
                    output = str(result.response.content if hasattr(result.response, "content") else result.response)
                    action = {"kind": "halt", "code": "return_direct", "final_output": output}
                else:
                    continue
            if len(script.handed) == script.first:
                action.update(at=user, before_request=True)
            elif action["kind"] == "halt":
                action["at"] = script.end_of_round()
            else:
                action["at"] = script.handed[-1]
                if script.events[script.handed[-1]].get("tool_calls") and not script.ran_since_reply():
                    action["before_tools"] = True
            actions.append(action)
            assert len(script.executed) >= executed
        return actions

    return script.answer(asyncio.run(run()))


if __name__ == "__main__":
    serve(drive)
