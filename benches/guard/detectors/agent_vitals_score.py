"""How sure Agent Vitals is of a failure, which it reports above 0; in a `build` workflow, a loop or a confabulation."""
import json
import sys

from agent_vitals import AgentVitals

HELLO = {"protocol": 1, "reads": ["calls", "results", "texts", "errors", "tokens"], "answers": ["reading"]}

for line in map(json.loads, sys.stdin):
    answer = HELLO if line["type"] == "hello" else {"answer": "continue"}
    if line["type"] == "run":
        monitor, found, so_far = AgentVitals(workflow_type="build"), set(), {"total_tokens": 0, "error_count": 0}
    elif line.get("role") == "assistant" and "lane" not in line:
        said = f"{line['content']} {[(call['name'], call['arguments']) for call in line.get('tool_calls', [])]}"
        so_far["total_tokens"] += sum(line.get("usage", {}).get(kind, 0) for kind in ("input", "output"))
    elif line.get("role") == "tool" and "lane" not in line:
        found.add(line["content"])
        so_far["error_count"] += line.get("is_error", False)
    elif line["type"] == "point":
        now = monitor.step(findings_count=len(found), coverage_score=0.0, output_text=said, **so_far)
        answer = {"answer": "reading", "reading": max(now.loop_confidence, now.confabulation_confidence)}
    if "id" in line:
        print(json.dumps({"id": line["id"], **answer}), flush=True)
