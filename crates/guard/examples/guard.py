# Stops a run whose last three steps asked for the same calls.
#   whenstop compare RUNS --guard mine='python3 guard.py'
import json
import sys

LIMIT = 3
streak, last = 0, None

for line in sys.stdin:
    event = json.loads(line)
    answer = {"answer": "continue"}
    if event["type"] == "hello":
        answer = {"protocol": 1, "points": ["after_tools"], "answers": ["stop"], "rules": ["same call"]}
    elif event["type"] == "run":
        streak, last = 0, None
    elif event["type"] == "message" and event["role"] == "assistant" and "lane" not in event:
        calls = [(call["name"], json.dumps(call["arguments"], sort_keys=True)) for call in event.get("tool_calls", [])]
        streak = streak + 1 if calls and calls == last else min(len(calls), 1)
        last = calls
    elif event["type"] == "point":
        answer = {"answer": "stop" if streak >= LIMIT else "continue", "reading": streak, "limit": LIMIT}
    if "id" in event:
        print(json.dumps({"id": event["id"], **answer}), flush=True)
