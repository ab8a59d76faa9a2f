"""Haystack's Agent with a scripted chat generator."""

from haystack import component
from haystack.components.agents import Agent
from haystack.components.agents.state import State
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.hooks import hook
from haystack.tools import Tool
from scripted import Script, TapeEnd, serve

PARAMETERS = {"type": "object", "properties": {"x": {}, "answer": {}}}


def generator(script):
    @component
    class Scripted:
        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[ChatMessage], tools=None, **more):
            event = script.reply()
            calls = [ToolCall(c["name"], c["arguments"] or {}, id=c["id"]) for c in event.get("tool_calls") or []]
            meta = {"finish_reason": event.get("finish_reason") or ("tool_calls" if calls else "stop")}
            return {"replies": [ChatMessage.from_assistant(event["content"] or None, tool_calls=calls, meta=meta)]}

    return Scripted()


def drive(given):
    config, script = given["config"], Script(given["events"])
    gone_on = steps = 0

    @hook
    def on_exit(state: State) -> None:
        nonlocal gone_on
        if gone_on < config.get("on_exit_continue", 0):
            gone_on += 1
            state.set("continue_run", True)

    @hook
    def before_llm(state: State) -> None:
        nonlocal steps
        if steps >= config["stop_run_after_steps"]:
            state.set("stop_run", "hook")
        steps += 1

    hooks = {}
    if "on_exit_continue" in config:
        hooks["on_exit"] = [on_exit]
    if "stop_run_after_steps" in config:
        hooks["before_llm"] = [before_llm]

    def tool(name):
        return Tool(name, name, PARAMETERS, lambda **arguments: script.result(name, arguments))

    options = {
        key: config[key] for key in ("max_agent_steps", "exit_conditions", "raise_on_tool_invocation_failure") if key in config
    }
    agent = Agent(
        chat_generator=generator(script),
        tools=[tool(name) for name in script.tools() or ([] if config.get("tools") is False else ["A"])],
        tool_concurrency_limit=1,
        hooks=hooks or None,
        **options,
    )
    actions, reasons, messages = [], [], []
    for turn in range(len(script.users)):
        user = script.start(turn)
        gone_on = steps = 0
        messages.append(ChatMessage.from_user(script.events[user]["content"]))
        try:
            result = agent.run(messages=messages)
        except TapeEnd:
            continue
        except Exception as error:
            if script.ended:
                continue
            asked = len(script.handed) > script.first
            action = {"at": user, "kind": "error", "code": type(error).__name__, "detail": str(error).split("\n")[0]}
            if not asked:
                action["before_request"] = True
            elif not script.ran_since_reply():
                action.update(at=script.handed[-1], before_tools=True)
            else:
                action["at"] = script.end_of_round()
            actions.append(action)
            reasons.append(action["code"])
            continue
        reason, messages = result["exit_reason"], result["messages"]
        reasons.append(reason)
        if reason == "text":
            continue
        at = script.end_of_round() if len(script.handed) > script.first else user
        action = {"at": at, "kind": "halt", "code": reason}
        if reason in ("max_agent_steps", "hook"):
            action["before_request"] = True
        actions.append(action)
    return script.answer(actions, exit_reasons=reasons)


if __name__ == "__main__":
    serve(drive)
