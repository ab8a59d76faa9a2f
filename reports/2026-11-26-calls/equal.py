#!/usr/bin/env python3
"""Counts the runs with five equal calls in a row: `whenstop convert PATH... | python3 equal.py [N]`.

Equal are two calls of the agent with the same name and, as JSON, the same arguments, whichever steps they stand in. Runs
whose replies do not record what they ask for are counted apart. Standard library only.
"""

import collections
import json
import sys


def main():
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    streaks, requests, last = collections.Counter(), {}, (None, None)
    run = None
    for line in sys.stdin:
        entry = json.loads(line)
        if entry["type"] == "run":
            run, last = entry["run_id"], (None, 0)
            requests[run] = entry.get("requests", "recorded")
        elif entry.get("role") == "assistant" and "lane" not in entry:
            for call in entry.get("tool_calls", []):
                arguments = call.get("arguments")
                if isinstance(arguments, str):
                    try:
                        arguments = json.loads(arguments)
                    except ValueError:
                        pass
                this = (call["name"], json.dumps(arguments, sort_keys=True))
                last = (this, last[1] + 1 if this == last[0] else 1)
                streaks[run] = max(streaks[run], last[1])
    for kind, n in sorted(collections.Counter(requests.values()).items()):
        equal = sum(streaks[run] >= most for run, known in requests.items() if known == kind)
        print(f"requests {kind}: {most} equal calls in a row in {equal} of {n} runs")


if __name__ == "__main__":
    main()
