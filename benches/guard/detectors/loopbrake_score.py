"""The stuck score of LoopBrake, which stops above its line: the calls made, or another method, such as `max 0.9`."""
import json
import sys

from loopbrake.signals import Step, method

HELLO = {"protocol": 1, "reads": ["calls", "results", "texts", "errors"], "answers": ["reading"]}
scores = method(*(sys.argv[1:] or ["steps"]))

for line in map(json.loads, sys.stdin):
    answer = HELLO if line["type"] == "hello" else {"answer": "continue"}
    if line["type"] == "run":
        calls, steps = {}, []
    elif line.get("role") == "assistant" and "lane" not in line:
        for call in line.get("tool_calls", []):
            calls[call["id"]] = f"{call['name']} {json.dumps(call['arguments'])}"
    elif line.get("role") == "tool" and "lane" not in line:
        steps.append(Step(calls[line["tool_call_id"]], line["content"], line.get("is_error"), tokens=0))
    elif line["type"] == "point" and steps:
        answer = {"answer": "reading", "reading": scores(steps)[-1][0]}
    if "id" in line:
        print(json.dumps({"id": line["id"], **answer}), flush=True)
