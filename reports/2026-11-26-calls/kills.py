#!/usr/bin/env python3
"""Counts the successes in code that four agents' rules kill, with and without vorflux.

    python3 kills.py WHENSTOP DATA [held|open|both]

DATA is what `reports/study/extract.py` wrote. Of the runs with more than 20 steps: the successes on which every rule of
the preset could be read and their tasks, those it surely killed and those it may have killed, and the runs left out.
Also, for vorflux alone, the runs that each strategy stops, and that it cannot be evaluated on. Standard library only.
"""

import collections
import csv
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PRESETS = ["qwen-code", "cline", "openhands", "opencode"]
CODE = ["sweagent-lite-x3", "multi-swe-java", "vorflux", "aider-swe-bench", "mini-swe-gemini3", "coder-lite", "unipat-glm5",
        "general-agentbench"]

csv.field_size_limit(1 << 26)


def rows(program, folder):
    stacks = [word for stack in [*(f"preset:{name}" for name in PRESETS), HERE / "five.toml"] for word in ("--stacks", stack)]
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run([program, "compare", folder, *map(str, stacks), "--all", "--embed-text", "none", "--out", out, "--quiet"],
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode not in (0, 3):
            sys.exit(f"{folder}: {done.stderr}")
        with (pathlib.Path(out) / "rows.csv").open(encoding="utf8", errors="surrogateescape", newline="") as text:
            yield from csv.DictReader(text)


def main():
    program, data = sys.argv[1], pathlib.Path(sys.argv[2])
    which = sys.argv[3] if len(sys.argv) > 3 else "held"
    counts, tasks = collections.Counter(), collections.defaultdict(set)
    for half in ("open", "held") if which == "both" else (which,):
        for name in CODE:
            if not (data / half / name).is_dir():
                continue
            for row in rows(program, data / half / name):
                if name == "general-agentbench" and row["suite"] != "swebench":
                    continue
                stack, unread = row["stack"], "unread" in row["unknown"]
                if name == "vorflux":
                    counts["vorflux", stack, "not evaluable" if unread else "stopped" if row["stopped_high"] == "1" else "not stopped"] += 1
                if int(row["steps_recorded"]) <= 20 or row["outcome"] != "success":
                    continue
                for group in ("all", "without vorflux") if name != "vorflux" else ("all", "vorflux alone"):
                    key = (group, stack)
                    if unread:
                        counts[key, "left out"] += 1
                        continue
                    counts[key, "successes"] += 1
                    counts[key, "killed"] += int(row["killed_low"])
                    counts[key, "killed at most"] += int(row["killed_high"])
                    tasks[key].add(row["task_id"])
    print("group,strategy,tasks,successes,killed,killed_at_most,left_out")
    for group, stack in sorted(tasks):
        key = (group, stack)
        print(group, stack, len(tasks[key]), *(counts[key, name] for name in ("successes", "killed", "killed at most", "left out")), sep=",")
    print("\nvorflux,strategy,runs")
    for key in sorted(key for key in counts if key[0] == "vorflux"):
        print(key[2], key[1], counts[key], sep=",")


if __name__ == "__main__":
    main()
