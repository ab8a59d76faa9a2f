"""Strands: an agent called with limits, a swarm with real hand-offs, a graph; all on scripted models."""

import asyncio
import json
import logging
import time

from scripted import Script, TapeEnd, ToolFailed, serve
from strands import Agent
from strands.models import Model
from strands.multiagent import GraphBuilder, Swarm
from strands.tools.tools import PythonAgentTool

logging.disable(logging.CRITICAL)
SWARM = ("max_handoffs", "max_iterations", "execution_timeout", "repetitive_handoff_detection_window", "repetitive_handoff_min_unique_agents")


class NoMore(Exception):
    """The recording has no further reply; an ordinary exception, so that the run ends."""


def scripted_model(script, on_reply=lambda: None):
    class Scripted(Model):
        stateful = False

        def update_config(self, **config):
            pass

        def get_config(self):
            return {"model_id": "scripted"}

        def structured_output(self, *arguments, **more):
            raise NotImplementedError

        async def stream(self, *arguments, **more):
            try:
                event = script.reply()
            except TapeEnd:
                raise NoMore from None
            on_reply()
            calls = event.get("tool_calls") or []
            yield {"messageStart": {"role": "assistant"}}
            if event["content"] or not calls:
                yield {"contentBlockStart": {"start": {}}}
                yield {"contentBlockDelta": {"delta": {"text": event["content"]}}}
                yield {"contentBlockStop": {}}
            for call in calls:
                yield {"contentBlockStart": {"start": {"toolUse": {"name": call["name"], "toolUseId": call["id"]}}}}
                yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(call["arguments"] or {})}}}}
                yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "tool_use" if calls else "end_turn"}}
            used = event.get("usage")
            if used:
                usage = {"inputTokens": used["input"], "outputTokens": used["output"], "totalTokens": used["input"] + used["output"]}
                yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 1}}}

    return Scripted()


def tool(script, name):
    def called(use, **more):
        try:
            text, status = script.result(name, use["input"]), "success"
        except ToolFailed as error:
            text, status = str(error), "error"
        return {"toolUseId": use["toolUseId"], "status": status, "content": [{"text": text}]}

    spec = {"name": name, "description": name, "inputSchema": {"json": {"type": "object", "properties": {}}}}
    return PythonAgentTool(name, spec, called)


def before_request(script, user, kind, code, **more):
    at = script.end_of_round() if len(script.handed) > script.first else user
    return {"at": at, "kind": kind, "code": code, "before_request": True, **more}


def agent_with_limits(config, script):
    agent = Agent(model=scripted_model(script), tools=[tool(script, name) for name in script.tools("A")], callback_handler=None)
    for turn in range(len(script.users)):
        user = script.start(turn)
        more = {"limits": config["limits"]} if "limits" in config else {}
        try:
            result = agent(script.events[user]["content"], **more)
        except NoMore:
            continue
        except TypeError as error:
            return script.answer([{"at": None, "kind": "error", "code": type(error).__name__, "detail": str(error)}])
        if result.stop_reason.startswith("limit_"):
            return script.answer([before_request(script, user, "halt", result.stop_reason)])
    return script.answer([])


def group(script, made, reason):
    """A swarm or a graph over one task; why it ended is in its log or in its error."""
    user = script.start(0)
    try:
        result = made(script.events[user]["content"])
        status, nodes = result.status.value, result
    except NoMore:
        return script.answer([])
    except Exception as error:
        return script.answer([before_request(script, user, "halt", str(error))], status="failed", nodes_run=len(made.state.execution_order))
    ran = len(nodes.node_history if hasattr(nodes, "node_history") else nodes.execution_order)
    actions = [before_request(script, user, "halt", reason())] if status == "failed" else []
    return script.answer(actions, status=status, nodes_run=ran)


def names_of(script, wanted):
    names = [event.get("name") for event in script.events if event["role"] == "assistant"]
    return list(dict.fromkeys([name for name in names if name] + wanted))


def swarm(config, script):
    # The swarm notes its start on the true clock, so the scripted one goes on from there.
    real, clock = time.time, [time.time()]
    seconds = config.get("seconds_per_model_call")

    def on_reply():
        clock[0] += seconds or 0

    called = [c["arguments"].get("agent_name") for e in script.events for c in e.get("tool_calls") or [] if c["name"] == "handoff_to_agent"]
    model = scripted_model(script, on_reply)
    agents = [Agent(name=name, agent_id=name, model=model, tools=[], callback_handler=None) for name in names_of(script, called)]
    made = Swarm(agents, **{key: config[key] for key in SWARM if key in config})
    # The reason is only logged: the check itself is listened to.
    said = []
    check = type(made.state).should_continue if made.state else None

    def listened(state, **limits):
        goes_on, why = check(state, **limits)
        said.append(why)
        return goes_on, why

    type(made.state).should_continue = listened
    try:
        if seconds is not None:
            time.time = lambda: clock[0]
        return group(script, made, lambda: said[-1])
    finally:
        time.time = real
        type(made.state).should_continue = check


def graph(config, script):
    builder, names = GraphBuilder(), names_of(script, [])
    model = scripted_model(script)
    for name in names:
        builder.add_node(Agent(name=name, agent_id=name, model=model, callback_handler=None), name)
    for left, right in zip(names, names[1:]):
        builder.add_edge(left, right)
    builder.set_entry_point(names[0])
    if "max_node_executions" in config:
        builder.set_max_node_executions(config["max_node_executions"])
    made = builder.build()
    said = []
    check = type(made.state).should_continue

    def listened(state, **limits):
        goes_on, why = check(state, **limits)
        said.append(why)
        return goes_on, why

    type(made.state).should_continue = listened
    try:
        return group(script, made, lambda: said[-1])
    finally:
        type(made.state).should_continue = check


def drive(given, table):
    kind = {"swarm": swarm, "graph": graph}.get(table.rsplit("/", 1)[1], agent_with_limits)
    return kind(given["config"], Script(given["events"]))


if __name__ == "__main__":
    asyncio.set_event_loop(asyncio.new_event_loop())
    serve(drive)
