#!/usr/bin/env python3
"""H9: do the bounds hold where the future is known?

    python3 h9.py --data DATA --work WORK --whenstop PROGRAM [--half open|held]

General-AgentBench ran the same task with growing budgets: when a budget is used up, the host asks for the final answer and grades
it; under the next budget the same conversation goes on instead. Pairs of successive budgets are kept whose later recording holds
all of the earlier one but its last two messages, the host's demand and the answer. So of one state two futures are recorded.
- The cap is lifted: from the earlier recording alone (it ends at its cap), against the outcome under the next budget.
- A message is injected, or a warning given, where the earlier budget ended: from the later recording alone, against the outcome of the
  earlier one, in which the host did say something there.
- A plain stop at that place, from the later recording alone; what its work was worth is the earlier recording's grade.
"""

import argparse
import csv
import json
import pathlib
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict

HERE = pathlib.Path(__file__).resolve().parent
STACKS = """[[stack]]
name = "cap lifted"
cap = { steps = 100000 }

[[stack]]
name = "stop"
any = [{ signal = "metric", metric = "budget", at_least = 1 }]
"""
WARNERS = ["deerflow", "openclaw on", "hermes-agent"]


def runs(folder):
    for path in sorted(folder.glob("*.jsonl")):
        run = None
        for line in path.open(encoding="utf8"):
            entry = json.loads(line)
            if entry["type"] == "run":
                budget = int(re.search(r"/budget_(\d+)k/", entry["run_id"])[1])
                run = {"head": entry, "budget": budget, "messages": []}
            elif entry["type"] == "message":
                run["messages"].append(entry)
            else:
                run["success"] = entry["success"]
                yield run


def same(a, b):
    """Ids of calls are given anew by some services."""
    calls = [[(call["name"], call["arguments"]) for call in message.get("tool_calls") or []] for message in (a, b)]
    return a["role"] == b["role"] and a.get("content") == b.get("content") and calls[0] == calls[1]


def pairs(folder):
    groups = defaultdict(list)
    for run in runs(folder):
        head = run["head"]
        groups[(head["suite"], head["model"], head["task_id"])].append(run)
    for key in sorted(groups):
        ladder = sorted(groups[key], key=lambda run: run["budget"])
        for earlier, later in zip(ladder, ladder[1:]):
            shared = 0
            for a, b in zip(earlier["messages"], later["messages"]):
                if not same(a, b):
                    break
                shared += 1
            yield key, earlier, later, shared


def write(path, name, task, run, success, end, fork=None):
    with path.open("a", encoding="utf8") as out:
        print(json.dumps({**run["head"], "run_id": name, "task_id": task}), file=out)
        for place, message in enumerate(run["messages"]):
            if place == fork:
                print(json.dumps({"type": "metrics", "values": {"budget": 1}}), file=out)
            print(json.dumps(message), file=out)
        print(json.dumps({"type": "outcome", "success": success, "end": end}), file=out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--whenstop", default="whenstop")
    parser.add_argument("--half", choices=["open", "held"], action="append")
    args = parser.parse_args()
    halves = args.half or ["open", "held"]
    work = args.work / "h9"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    (work / "stacks.toml").write_text(STACKS)
    shapes, truth = defaultdict(Counter), {}
    for half in halves:
        for number, (key, earlier, later, shared) in enumerate(pairs(args.data / half / "general-agentbench-budget")):
            shape = shapes[(half, key[0], key[1])]
            shape["pairs"] += 1
            left = len(earlier["messages"]) - shared
            if left == 0 and len(later["messages"]) == shared:
                shape["same"] += 1
                continue
            if left != 2 or "unknown" in (earlier["success"], later["success"]) or earlier["messages"][shared]["role"] != "user" or len(later["messages"]) == shared:
                shape["not continued"] += 1
                continue
            shape["continued"] += 1
            shape[f"{'success' if earlier['success'] else 'failure'} to {'success' if later['success'] else 'failure'}"] += 1
            name = f"{half}/{number}"
            truth[name] = (half, *key, earlier["success"], later["success"], earlier["budget"])
            write(work / "earlier.jsonl", name, key[2], earlier, earlier["success"], "cap")
            write(work / "later.jsonl", name, key[2], later, later["success"], "cap", shared)
    own = [f"--guard={word}={sys.executable} {HERE / 'h9_guard.py'} {word}" for word in ("warn", "inject")]
    for name, more in (("earlier", []), ("later", own)):
        done = subprocess.run([args.whenstop, "compare", work / f"{name}.jsonl", "--stacks", work / "stacks.toml", *more, "--all", "--embed-text", "none",
                               "--threads", "2", "--out", work / f"{name}.out"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode not in (0, 3):
            sys.exit(done.stderr)
        (work / f"{name}.txt").write_text(done.stdout + done.stderr)
    found = defaultdict(list)
    for name, stacks, which in (("earlier", ["cap lifted"], 5), ("later", ["inject", "warn", "stop"], 4)):
        for row in csv.DictReader((work / f"{name}.out" / "rows.csv").open()):
            # A stop at the very end of the later recording has nothing left to stop.
            if row["stack"] in stacks and not (row["stack"] == "stop" and not row["stop_point"]):
                about = truth[row["run_id"]]
                found[(about[0], about[1], row["stack"])].append((int(row["outcome_low"]), int(row["outcome_high"]), int(about[which]), row["exactness"], row["task_id"]))
    (HERE / "tables").mkdir(exist_ok=True)
    with (HERE / "tables/h9.csv").open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["half", "suite", "intervention", "pairs", "tasks", "inside", "share_inside", "known_exactly", "bound_low", "bound_high", "true_rate", "position"])
        for (half, suite, stack), rows in sorted(found.items()):
            low, high, real = (sum(row[i] for row in rows) / len(rows) for i in range(3))
            inside = sum(row[0] <= row[2] <= row[1] for row in rows)
            out.writerow([half, suite, stack, len(rows), len({row[4] for row in rows}), inside, f"{inside / len(rows):.4f}", sum(row[0] == row[1] for row in rows),
                          f"{low:.4f}", f"{high:.4f}", f"{real:.4f}", f"{(real - low) / (high - low):.4f}" if high > low else ""])
    with (HERE / "tables/h9-pairs.csv").open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        columns = ["pairs", "continued", "same", "not continued", "failure to failure", "failure to success", "success to failure", "success to success"]
        out.writerow(["half", "suite", "model", *columns])
        for key, shape in sorted(shapes.items()):
            out.writerow([*key, *(shape[column] for column in columns)])
    print((HERE / "tables/h9.csv").read_text())


if __name__ == "__main__":
    main()
