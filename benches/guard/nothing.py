"""A guard that does nothing: it parses every line and answers every question."""

import json
import sys

for line in sys.stdin:
    event = json.loads(line)
    if "id" in event:
        hello = {"protocol": 1, "reads": ["tokens", "errors"], "answers": ["stop"]}
        print(json.dumps({"id": event["id"], **(hello if event["type"] == "hello" else {"answer": "continue"})}), flush=True)
