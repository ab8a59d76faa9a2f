#!/usr/bin/env python3
"""Counts again, sharing nothing with whenstop or with the other scripts here: three collections, five strategies, task by task.

    python3 recount.py --mirror MIRROR

Reads the recordings from the mirrors by itself, replays five rules by itself, and compares with sums.csv.gz.
"""

import argparse
import collections
import csv
import gzip
import json
import os
import re
import subprocess

RULES = ["20 steps", "5 equal calls in a row", "5 equal results in a row", "5 equal calls", "3 equal results"]


def blobs(folder, commit, under):
    listing = subprocess.run(["git", "-C", folder, "ls-tree", "-r", commit, under], capture_output=True, text=True, check=True).stdout
    wanted = [line.split("\t") for line in listing.splitlines()]
    feed = "".join(about.split()[2] + "\n" for about, _ in wanted).encode()
    data = subprocess.run(["git", "-C", folder, "cat-file", "--batch"], input=feed, capture_output=True, check=True).stdout
    at = 0
    for _, path in wanted:
        end = data.index(b"\n", at)
        head = data[at:end].split()
        at = end + 1
        if len(head) == 3:
            size = int(head[2])
            yield path, data[at:at + size]
            at += size + 1


def agentdojo(mirror):
    for path, text in blobs(os.path.join(mirror, "sequrity-ai+agentdojo/repo"), "7ee80b495601259176d0af7585cae17501fcc9a6", "runs"):
        part = path.split("/")
        if len(part) != 6 or part[4] != "none":
            continue
        run = json.loads(text)
        steps = []
        for message in run["messages"]:
            if message["role"] == "assistant":
                steps.append(([(call["function"], call["args"]) for call in message.get("tool_calls") or []], []))
            elif message["role"] == "tool" and steps:
                content = message.get("content")
                if isinstance(content, list):
                    content = "\n".join(piece.get("content") or piece.get("text") or "" for piece in content)
                steps[-1][1].append((content or "") + "|" + str(message.get("error") or ""))
        yield part[2] + "/" + part[3], run["utility"], steps


def traj(text):
    return [([("", step.get("action") or "")], [step.get("observation") or ""]) for step in json.loads(text)["trajectory"]]


def sweagent(mirror):
    folder, commit = os.path.join(mirror, "nus-apr+auto-code-rover/repo"), "3536ac292e3062ffb3f6e98457958e2b803228d6"
    files = dict(blobs(folder, commit, "results/swe-agent-results"))
    for path, text in files.items():
        if path.endswith(".traj"):
            place, name = os.path.split(path)
            yield "swe-bench/" + name[:-5], name[:-5] in json.loads(files[place + "/final_report.json"])["resolved"], traj(text)


def coder(mirror):
    folder, commit = os.path.join(mirror, "NL2Code+CodeR/repo"), "d63468344bc215bbabb8f0c1ba4af24897a946df"
    report = dict(blobs(folder, commit, "results.json"))["results.json"].decode()
    solved = set(re.findall(r'"([^"]+)"', report[report.index('"resolved"') + 10:].split("]")[0]))
    for path, text in blobs(folder, commit, "trajs"):
        name = os.path.basename(path)[:-5]
        yield "swe-bench-lite/" + name, name in solved, traj(text)


def stops(steps):
    """After how many steps each rule ends the run; a rule is looked at after a step's tools have answered."""
    found = {"20 steps": 20} if len(steps) > 20 else {}
    seen, seen_results = collections.Counter(), collections.Counter()
    before = before_results = None
    row = row_results = 0
    # A rule that is met after the tools of the last step stops nothing: the run is over.
    for number, (calls, results) in enumerate(steps[:-1], 1):
        if not calls:
            before = before_results = None
            row = row_results = 0
            continue
        call = json.dumps(calls, sort_keys=True)
        both = (call, json.dumps(results))
        row = row + 1 if call == before else 1
        row_results = row_results + 1 if both == before_results else 1
        before, before_results = call, both
        seen[call] += 1
        seen_results[both] += 1
        for rule, hit in (("5 equal calls in a row", row >= 5), ("5 equal results in a row", row_results >= 5), ("5 equal calls", seen[call] >= 5),
                          ("3 equal results", seen_results[both] >= 3)):
            if hit:
                found.setdefault(rule, number)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", required=True)
    args = parser.parse_args()
    here = os.path.dirname(os.path.abspath(__file__))
    printed = collections.defaultdict(lambda: [0, 0, 0, 0])
    names = {"agentdojo": agentdojo, "sweagent-lite-x3": sweagent, "coder-lite": coder}
    with gzip.open(os.path.join(here, "sums.csv.gz"), "rt", newline="") as file:
        for line in csv.DictReader(file):
            if line["source"] in names and line["strategy"] in RULES:
                sum_ = printed[line["source"], line["strategy"], line["task"]]
                for place, column in enumerate(("acted", "killed_low", "ended_low", "spent_low")):
                    sum_[place] += int(line[column])
    different = compared = 0
    for source, reader in names.items():
        counted = collections.defaultdict(lambda: [0, 0, 0, 0])
        runs = 0
        for task, success, steps in reader(args.mirror):
            if not steps:
                continue
            runs += 1
            for rule, at in stops(steps).items():
                of = counted[source, rule, task]
                for place, more in enumerate((1, int(success), int(not success), at)):
                    of[place] += more
        keys = {key for key in printed if key[0] == source} | set(counted)
        compared += len(keys)
        for key in sorted(keys):
            if counted.get(key, [0] * 4) != printed.get(key, [0] * 4):
                different += 1
                if different <= 12:
                    print("differs:", *key, "counted", counted.get(key), "printed", printed.get(key))
        print(f"{source}: {runs} runs, {len(keys)} sums by task and strategy")
    print(f"{different} differences in {compared} sums of runs stopped, successes killed, failures ended and steps spent")
    return 1 if different else 0


if __name__ == "__main__":
    raise SystemExit(main())
