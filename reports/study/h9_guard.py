"""A guard for H9: it warns (or injects a message) where the recording says that the earlier budget was used up."""

import json
import sys

ANSWER = sys.argv[1]
reached = given = False
for line in sys.stdin:
    event = json.loads(line)
    kind, reply = event["type"], {"answer": "continue"}
    if kind == "hello":
        reply = {"protocol": 1, "reads": ["metrics"], "points": ["after_tools"], "answers": [ANSWER], "rules": ["budget"]}
    elif kind == "run":
        reached = given = False
    elif kind == "metrics":
        reached = True
    elif kind == "point" and reached and not given:
        given, reply = True, {"answer": ANSWER, "reading": 1, "limit": 1}
    if "id" in event:
        print(json.dumps({"id": event["id"], **reply}), flush=True)
