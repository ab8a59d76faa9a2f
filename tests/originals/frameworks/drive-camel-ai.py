"""CAMEL's ChatAgent.step with a scripted model, and TokenLimitTerminator alone, which the agent never asks."""

import json
import logging
import threading

from camel.agents import ChatAgent
from camel.models.stub_model import StubModel
from camel.terminators import ResponseWordsTerminator, TokenLimitTerminator
from camel.toolkits import FunctionTool
from camel.types import ChatCompletion, ModelType, TerminationMode
from scripted import Script, TapeEnd, serve

LINES = []


class Lines(logging.Handler):
    def emit(self, record):
        LINES.append(record.getMessage())


def listen():
    """The package names its loggers itself: the one of its agents, whatever it is called."""
    for name, log in list(logging.root.manager.loggerDict.items()):
        if name.endswith("agents.chat_agent") and isinstance(log, logging.Logger):
            log.addHandler(Lines())
            log.setLevel(logging.INFO)
            log.propagate = False


listen()


def completion(event):
    calls = [
        {"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": json.dumps(c["arguments"] or {})}}
        for c in event.get("tool_calls") or []
    ]
    message = {"role": "assistant", "content": event["content"], "tool_calls": calls or None}
    choice = {"index": 0, "finish_reason": "tool_calls" if calls else "stop", "message": message, "logprobs": None}
    usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
    whole = {"id": "made-up", "model": "stub", "object": "chat.completion", "created": 1, "choices": [choice], "usage": usage}
    return ChatCompletion.model_validate(whole)


def schema(name):
    parameters = {"type": "object", "properties": {"x": {}, "answer": {}}, "required": [], "additionalProperties": False}
    function = {"name": name, "description": name, "parameters": parameters}
    return {"type": "function", "function": function}


def terminators(config):
    made = []
    for one in config.get("response_terminators") or []:
        more = {"case_sensitive": one["case_sensitive"]} if "case_sensitive" in one else {}
        if one.get("mode") == "all":
            more["mode"] = TerminationMode.ALL
        made.append(ResponseWordsTerminator(dict(one["words"]), **more))
    return made


def refused(error, at=None):
    return {"at": at, "kind": "error", "code": type(error).__name__, "detail": str(error)}


def drive_terminator(given):
    config, actions = given["config"], []
    terminator = TokenLimitTerminator(config["token_limit"])
    try:
        if config.get("validate"):
            terminator._validate()
    except Exception as error:
        return {"actions": [refused(error)], "halted_at": None}
    for at, event in enumerate(given["events"]):
        if event["role"] == "user" and config.get("reset_by_user"):
            terminator.reset()
        if event["role"] != "assistant":
            continue
        usage = event.get("usage") or {}
        try:
            stops, why = terminator.is_terminated((usage.get("input") or 0) + (usage.get("output") or 0))
        except Exception as error:
            actions.append(refused(error, at))
            break
        if stops:
            actions.append({"at": at, "kind": "halt", "code": "TokenLimitTerminator", "detail": why})
    return {"actions": actions, "halted_at": actions[0]["at"] if actions else None}


def drive(given):
    if given.get("drive") == "terminator":
        return drive_terminator(given)
    config, script = given["config"], Script(given["events"])
    stop = threading.Event() if "stop_event_after" in config else None
    asked = 0

    class Scripted(StubModel):
        def _run(self, messages, response_format=None, tools=None):
            nonlocal asked
            event = script.reply()
            asked += 1
            if stop is not None and asked >= config["stop_event_after"]:
                stop.set()
            return completion(event)

    def tool(name):
        def function(**arguments):
            return script.result(name, arguments)

        function.__name__ = function.__doc__ = name
        return FunctionTool(function, openai_tool_schema=schema(name))

    external = config.get("external_tools", [])
    try:
        words = terminators(config)
        agent = ChatAgent(
            "sys",
            model=Scripted(ModelType.STUB),
            tools=[tool(name) for name in script.tools("A") if name not in external],
            external_tools=[schema(name) for name in external],
            response_terminators=words,
            stop_event=stop,
            **({"max_iteration": config["max_iteration"]} if "max_iteration" in config else {}),
        )
    except ValueError as error:
        return {"actions": [refused(error)], "halted_at": None, "model_calls": 0}
    actions, flags = [], []
    for turn in range(len(script.users)):
        user = script.start(turn)
        if turn and config.get("reset_between"):
            agent.reset()
        LINES.clear()
        asked = 0
        try:
            response = agent.step(script.events[user]["content"])
        except TapeEnd:
            continue
        except Exception as error:
            actions.append(refused(error, user))
            continue
        flags.append(response.terminated)
        reply = script.handed[-1]
        calls = script.events[reply].get("tool_calls")
        line = next((line for line in LINES if line.startswith("Max iteration")), None)
        said = [terminator for terminator in words if terminator._terminated]
        info = response.info or {}
        if "termination_triggered" in (info.get("termination_reasons") or []):
            action = {"kind": "halt", "code": "termination_triggered"}
        elif info.get("external_tool_call_requests"):
            action = {"kind": "halt", "code": "external_tool_call"}
        elif line:
            action = {"kind": "halt", "code": "max_iteration", "detail": line}
        elif not calls and said:
            action = {"kind": "halt", "code": "ResponseWordsTerminator", "detail": said[0]._termination_reason}
        else:
            continue
        ran = script.ran_since_reply()
        if calls and not ran and action["code"] != "max_iteration":
            action.update(at=reply, before_tools=True)
        elif action["code"] == "external_tool_call":
            action["at"] = max(ran)
        else:
            action["at"] = script.end_of_round() if calls else reply
        actions.append(action)
    return script.answer(actions, terminated=flags)


if __name__ == "__main__":
    serve(drive)
