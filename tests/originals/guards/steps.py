"""The protocol of a guard for rules that are called once a tool call, or once a step: five packages of others use it.

A guard is a class: an object of it sees one run. `call` gets each tool call with its result, in order, and `step` each step
with its calls; what either returns is the answer: None, or a word with its details.
"""

import json
import sys


class Guard:
    hello = {}

    def __init__(self, run):
        """The run's header."""

    def call(self, name, arguments, output, is_error):
        return None

    def step(self, reply, calls):
        return None


def of_step(guard, reply, results):
    """The first answer that the guard gives in a step."""
    calls = []
    for nth, call in enumerate(reply.get("tool_calls") or []):
        by_id = [result for result in results if call.get("id") and result.get("tool_call_id") == call["id"]]
        result = by_id[0] if by_id else results[nth] if nth < len(results) else {}
        calls.append((call["name"], call["arguments"], result.get("content"), result.get("is_error")))
    answers = [guard.call(*call) for call in calls] + [guard.step(reply, calls)]
    return next((answer for answer in answers if answer), {"answer": "continue"})


def serve(kind):
    guard, reply, results = None, None, []
    # Packages that print belong on stderr: stdout is for answers.
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        event = json.loads(line)
        answer = {"answer": "continue"}
        if event["type"] == "hello":
            answer = {"protocol": 1, "answers": ["stop"], "reads": ["texts"], **kind.hello}
        elif event["type"] == "run":
            guard = kind(event)
        elif event["type"] == "message" and "lane" not in event:
            if event["role"] == "assistant":
                reply, results = event, []
            elif event["role"] == "tool":
                results.append(event)
        elif event["type"] == "point":
            answer = of_step(guard, reply, results)
        if "id" in event:
            print(json.dumps({"id": event["id"], **answer}), file=answers, flush=True)
