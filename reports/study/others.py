#!/usr/bin/env python3
"""Replays five released guards of others, asked as stacks of commands, on three collections: others.csv.gz, sums as in sums.py.

    python3 others.py --data DATA --work WORK --whenstop PROGRAM --python PYTHON

PYTHON is an interpreter with the five packages that study.toml names (`of_others`). LoopBrake's limit is what its rule gives
on the open half of the collection's class; the other guards run at their defaults. One of them, agent-loop-guard, compares whole texts:
it takes minutes for a hundred runs.
"""

import argparse
import csv
import gzip
import json
import math
import pathlib
import shutil
import subprocess
import sys

import sums

HERE = pathlib.Path(__file__).resolve().parent
GUARDS = HERE.parents[1] / "tests/originals/guards"
NAMES = {"loopbrake 0.6.0": "loopbrake_guard.py", "agent-loop-breaker-py 0.1.0": "agent_loop_breaker_guard.py", "agent-loop-guard 0.1.1": "agent_loop_guard_guard.py",
         "agent-watchdog 0.1.5": "agent_watchdog_guard.py", "agentguard-predict 0.4.1": "agentguard_predict_guard.py"}


# agent-loop-guard compares whole texts and needs minutes a run where they are long: not asked there.
NOT_ASKED = {"mcpmark": ["agent-loop-guard 0.1.1"]}


def stop_line(lengths):
    """LoopBrake's rule: of n lengths of successes, in order, the k-th, k = ceil((n + 1)(1 - 0.05)); None if there are too few."""
    k = math.ceil((len(lengths) + 1) * 0.95)
    return lengths[k - 1] if 0 < k <= len(lengths) else None


def lengths_of(kind):
    """The lengths of a class's successes on the open half, in order."""
    with gzip.open(HERE / "runs.csv.gz", "rt", newline="") as file:
        return sorted(int(row["steps"]) for row in csv.DictReader(file) if row["half"] == "open" and row["class"] == kind and row["outcome"] == "1")


def stack(name, command):
    """A stack of one command. The time limit is far beyond what any point takes, so that a busy machine gives the same bytes."""
    return f"[[stack]]\nname = {json.dumps(name)}\ncommand = {json.dumps(command)}\ntime_limit = 300\n\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--whenstop", default="whenstop")
    parser.add_argument("--python", default=sys.executable)
    args = parser.parse_args()
    work = args.work / "others"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    lines = []
    for name in sums.STUDY["strategies"]["of_others_on"]:
        source = next(source for source in sums.STUDY["source"] if source["name"] == name)
        for half in ("open", "held"):
            out = work / f"{half}-{name}"
            asked = {guard: script for guard, script in NAMES.items() if guard not in NOT_ASKED.get(name, [])}
            stacks = work / f"{half}-{name}.toml"
            stacks.write_text("".join(stack(guard, [args.python, str(GUARDS / script)] + [str(stop_line(lengths_of(source["class"])))] * guard.startswith("loopbrake"))
                                      for guard, script in asked.items()))
            command = [args.whenstop, "compare", args.data / half / name, "--stacks", stacks, "--all", "--embed-text", "none",
                       "--threads", "2", "--out", out, *sums.OPTIONS.get(name, [])]
            done = subprocess.run([*map(str, command)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
            if done.returncode not in (0, 3):
                sys.exit(done.stderr)
            (out / "table.txt").write_text(done.stdout + done.stderr)
            table = work / f"{half}-{name}.sums.csv"
            sums.add(source, half, out / "rows.csv", work / f"{half}-{name}.runs.csv", table)
            head, *more = table.read_text().splitlines(keepends=True)
            lines += more if lines else [head, *more]
            print(f"{half} {name}: {len(more)} sums", flush=True)
    with (HERE / "others.csv.gz").open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write("".join(lines).encode())


if __name__ == "__main__":
    main()
