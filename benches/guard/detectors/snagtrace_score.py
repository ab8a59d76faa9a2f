"""The greatest `min_repeats` up to 6 at which snagtrace finds a fault; its own is 3. Wrong arguments always are one."""
import json
import sys

from snagtrace import ArgSchemaDetector, Doctor, LoopDetector, Span

HELLO = {"protocol": 1, "reads": ["calls", "results", "texts", "errors"], "answers": ["reading"]}
doctors = {n: Doctor([LoopDetector(min_repeats=n), ArgSchemaDetector()]) for n in range(2, 7)}

for line in map(json.loads, sys.stdin):
    answer = HELLO if line["type"] == "hello" else {"answer": "continue"}
    if line["type"] == "run":
        calls, spans = {}, []
    elif line.get("role") == "assistant" and "lane" not in line:
        calls.update((call["id"], call) for call in line.get("tool_calls", []))
    elif line.get("role") == "tool" and "lane" not in line:
        call = calls[line["tool_call_id"]]
        failed = {"status": "error", "error": line["content"]} if line.get("is_error") else {}
        spans.append(Span(len(spans) + 1, tool=call["name"], args={"arguments": call["arguments"]}, **failed))
    elif line["type"] == "point":
        answer = {"answer": "reading", "reading": max([0] + [n for n in doctors if doctors[n].diagnose(spans).faults])}
    if "id" in line:
        print(json.dumps({"id": line["id"], **answer}), flush=True)
