"""mini-swe-agent's DefaultAgent with a scripted model and environment; its clock is moved on by each model call."""

import os
import types

os.environ["MSWEA_SILENT_STARTUP"] = "1"

import minisweagent.agents.default as module
from minisweagent.exceptions import FormatError, Submitted
from minisweagent.models import GlobalModelStats
from scripted import Script, TapeEnd, serve

SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
GLOBAL = ("MSWEA_GLOBAL_COST_LIMIT", "MSWEA_GLOBAL_CALL_LIMIT")


class Model:
    def __init__(self, script, clock, seconds, stats):
        self.script, self.clock, self.seconds, self.stats = script, clock, seconds, stats

    def query(self, messages, **more):
        event = self.script.reply()
        self.clock[0] += self.seconds
        cost = event.get("cost_usd") or 0.0
        # As the models of the package do: a call is booked before its reply is read.
        self.stats.add(cost)
        calls = event.get("tool_calls") or []
        if not calls:
            raise FormatError({"role": "user", "content": "no command", "extra": {"cost": cost}})
        actions = [{"command": call["arguments"]["command"], "tool_call_id": call["id"]} for call in calls]
        return {"role": "assistant", "content": event["content"], "extra": {"actions": actions, "cost": cost}}

    def format_message(self, **message):
        return message

    def format_observation_messages(self, message, outputs, variables=None):
        return [{"role": "tool", "content": output["output"]} for output in outputs]

    def get_template_vars(self, **more):
        return {}

    def serialize(self):
        return {}


class Environment:
    def execute(self, action, cwd=""):
        if action["command"].strip() == SUBMIT:
            raise Submitted({"role": "exit", "content": "", "extra": {"exit_status": "Submitted", "submission": ""}})
        return {"output": "ok", "returncode": 0, "exception_info": ""}

    def get_template_vars(self, **more):
        return {}

    def serialize(self):
        return {}


def drive(given):
    config, script, clock = dict(given["config"]), Script(given["events"]), [0.0]
    module.time = types.SimpleNamespace(time=lambda: clock[0])
    seconds = config.pop("seconds_per_model_call", 0)
    for name in GLOBAL:
        os.environ[name] = str(config.pop(name, 0))
    model = Model(script, clock, seconds, GlobalModelStats())
    agent = module.DefaultAgent(model, Environment(), system_template="", instance_template="{{task}}", **config)
    script.start(0)
    actions, status = [], None
    try:
        status = agent.run(script.events[0]["content"])["exit_status"]
    except TapeEnd:
        status = "script end"
    except RuntimeError as error:
        status = type(error).__name__
        actions.append({"at": script.handed[-1], "kind": "error", "code": status, "detail": str(error)})
    if status in ("LimitsExceeded", "TimeExceeded"):
        at = script.end_of_round() if script.handed else 0
        actions.append({"at": at, "kind": "halt", "code": status, "before_request": True})
    if status == "RepeatedFormatError":
        actions.append({"at": script.handed[-1], "kind": "halt", "code": status})
    return script.answer(actions, exit_status=status, cost=round(agent.cost, 9))


if __name__ == "__main__":
    serve(drive)
