# Answers with a number: the share of the last ten calls that had been asked for before. Limits are found for it here:
#   whenstop tune RUNS --guard mine='python3 score.py' --signal guard:mine.score --limits 0.2..0.9
import json
import sys

asked = []

for line in sys.stdin:
    event = json.loads(line)
    answer = {"answer": "continue"}
    if event["type"] == "hello":
        answer = {"protocol": 1, "points": ["after_tools"], "answers": ["reading"], "rules": ["score"]}
    elif event["type"] == "run":
        asked = []
    elif event["type"] == "message" and event["role"] == "assistant" and "lane" not in event:
        for call in event.get("tool_calls", []):
            same = json.dumps([call["name"], call["arguments"]], sort_keys=True)
            asked.append((same, any(same == before for before, _ in asked)))
    elif event["type"] == "point":
        answer = {"answer": "reading", "reading": sum(is_known for _, is_known in asked[-10:]) / 10}
    if "id" in event:
        print(json.dumps({"id": event["id"], **answer}), flush=True)
