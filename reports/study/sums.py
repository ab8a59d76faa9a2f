#!/usr/bin/env python3
"""Replays each collection under every strategy (`whenstop compare`) and adds the rows up by task.

    python3 sums.py --data DATA --work WORK --whenstop PROGRAM --half open|held [NAME ...]

DATA is what extract.py wrote. WORK gets HALF/NAME.runs.csv (a line a run: task, model, outcome, length) and HALF/NAME.sums.csv
(a line for each task, model, length class and strategy that acted on, or could not be read on, some run). Only numbers and
public names of tasks and models are kept.
"""

import argparse
import csv
import json
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
STUDY = tomllib.loads((HERE / "study.toml").read_text())
LONG = STUDY["classes"]["length"]
# How to read a collection whose outcome, task or model is not where whenstop looks by itself.
OPTIONS = {"toolathlon": ["--outcome", "pass"], "drift": ["--outcome", "utility", "--model", "pipeline_name"],
           "agentdojo-luna": ["--outcome", "evaluation.utility", "--task", "task_id", "--model", "pipeline_name"]}
# Task (t) and model (m) in a run's id, where the recording does not name them.
IDS = {"toolathlon": r"(?P<m>[^_]+)_(?P<t>.+)$", "drift": r"(?:runs/)?(?P<m>[^/]+)/(?P<t>[^/]+/[^/]+)/",
       "mcpmark": r"(?:mcp_servers/)?(?P<t>[^/]+)/[^/]+/run-\d+/(?P<u>[^/]+)/messages$",
       "multi-swe-java": r"(?:evaluation/java/verified/)?\d+_SWE-agent_(?P<m>[^/]+)/trajs/(?P<t>.+)$",
       "agentdojo-luna": r".*?/(?P<t>[a-z]+/t\d+)/[^/]+/seed_"}
RUNS = ["source", "half", "class", "task", "model", "outcome", "steps", "tokens"]
SUMS = ["source", "half", "class", "long", "task", "model", "strategy", "unread_successes", "unread_failures", "acted", "killed_low",
        "killed_high", "ended_low", "ended_high", "net_low", "net_high", "unbounded", "spent_low", "spent_high"]


def class_of(source, suite):
    kind = source["class"]
    by_suite = STUDY["classes"]["suites"]
    return by_suite.get(f"{source['name']}/{suite}", by_suite.get(source["name"], kind))


def compare(program, folder, out, options, threads):
    command = [program, "compare", folder, "--stacks", "preset:all", "--stacks", "system:all", "--stacks", HERE / "stacks.toml", "--all",
               "--embed-text", "none", "--out", out, "--threads", threads, *options]
    started = time.monotonic()
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    # 3: a file that cannot be read is told, and the rest stands; it is counted below.
    if done.returncode not in (0, 3):
        sys.exit(f"{command}: {done.stderr}")
    (out / "table.txt").write_text(done.stdout)
    (out / "stderr.txt").write_text(done.stderr)
    return time.monotonic() - started


def add(source, half, rows, runs_file, sums_file):
    name, pattern = source["name"], IDS.get(source["name"])
    pattern = re.compile(pattern) if pattern else None
    runs, sums = {}, {}
    reader = csv.reader(rows.open(encoding="utf8", errors="surrogateescape", newline=""))
    head = {column: place for place, column in enumerate(next(reader))}
    c = [head[column] for column in ("run_id", "task_id", "suite", "model", "stack", "outcome", "steps_recorded", "tokens_recorded",
                                     "unknown", "killed_low", "killed_high", "true_stop_low", "true_stop_high", "steps_low", "steps_high", "profile")]
    for row in reader:
        run, task, suite, model, stack, outcome, recorded, tokens, unknown, killed_low, killed_high, ended_low, ended_high, low, high, profile = (row[i] for i in c)
        about = runs.get(run)
        if about is None:
            found = pattern.match(run) if pattern else None
            parts = found.groupdict() if found else {}
            if parts.get("t"):
                task = parts["t"] + ("/" + parts["u"] if parts.get("u") else "")
            elif suite and task:
                task = f"{suite}/{task}"
            about = runs[run] = (class_of(source, suite), task or run, parts.get("m") or model or "unnamed", outcome, int(recorded), tokens)
        if outcome not in ("success", "failure") or recorded == "0":
            continue
        success, steps = outcome == "success", int(recorded)
        name_of = f"{stack} ({profile})" if profile and "(" not in stack else stack
        unread = "unread" in unknown
        if not unread and low == recorded and high == recorded and killed_high == "0" and ended_high == "0":
            continue
        key = (about[0], int(steps > LONG), about[1], about[2], name_of)
        total = sums.get(key)
        if total is None:
            total = sums[key] = [0, 0, 0, 0, 0, 0, 0, 0.0, 0.0, 0, 0, 0]
        if unread:
            total[0 if success else 1] += 1
            continue
        total[2] += 1
        total[3] += int(killed_low)
        total[4] += int(killed_high)
        total[5] += int(ended_low)
        total[6] += int(ended_high)
        spent = int(low) / steps if steps else 1
        if success:
            net_low = net_high = -spent if killed_low == "1" else 0
            unbounded = killed_low != killed_high or high == ""
        else:
            net_high = max(0.0, 1 - spent)
            net_low = 1 - int(high) / steps if high and steps else 0
            unbounded = high == ""
        total[7] += net_low
        total[8] += net_high
        total[9] += unbounded
        total[10] += int(low)
        total[11] += int(high) if high else int(low)
    with runs_file.open("w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(RUNS)
        for _, (kind, task, model, outcome, steps, tokens) in sorted(runs.items()):
            writer.writerow([name, half, kind, task, model, {"success": 1, "failure": 0}.get(outcome, ""), steps, tokens])
    with sums_file.open("w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(SUMS)
        for (kind, long, task, model, stack), total in sorted(sums.items()):
            total[7], total[8] = round(total[7], 6), round(total[8], 6)
            writer.writerow([name, half, kind, long, task, model, stack, *total])
    return len(runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--whenstop", default="whenstop")
    parser.add_argument("--half", choices=["open", "held"], required=True)
    parser.add_argument("--threads", default="2")
    parser.add_argument("--keep", action="store_true", help="keep the rows of each comparison")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    (args.work / args.half).mkdir(parents=True, exist_ok=True)
    for source in STUDY["source"]:
        name = source["name"]
        if args.names and name not in args.names or not args.names and source["class"] == "budget-forced":
            continue
        folder, out = args.data / args.half / name, args.work / args.half / f"{name}.out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        seconds = compare(args.whenstop, folder, out, OPTIONS.get(name, []), args.threads)
        base = args.work / args.half / name
        count = add(source, args.half, out / "rows.csv", base.with_name(name + ".runs.csv"), base.with_name(name + ".sums.csv"))
        report = out / "report.html"
        if report.exists():
            report.rename(base.with_name(name + ".report.html"))
        shutil.copy(out / "summary.csv", base.with_name(name + ".summary.csv"))
        shutil.copy(out / "table.txt", base.with_name(name + ".table.txt"))
        if not args.keep:
            shutil.rmtree(out)
        cpu = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"{args.half} {name}: {count} runs, {seconds:.0f} s, CPU so far {cpu.ru_utime + cpu.ru_stime:.0f} s, most memory {cpu.ru_maxrss / 1024:.0f} MB", flush=True)


if __name__ == "__main__":
    main()
