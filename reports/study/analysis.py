#!/usr/bin/env python3
"""Answers H8 from the two tables of per-task sums: `python3 analysis.py` writes tables/h8.csv.

Reads runs.csv.gz and sums.csv.gz beside this file; no recording and no whenstop.
"""

import csv
import gzip
import pathlib
import re
import tomllib
from collections import defaultdict

HERE = pathlib.Path(__file__).resolve().parent
STUDY = tomllib.loads((HERE / "study.toml").read_text())
OWN = re.findall(r'^name = "(.*)"$', (HERE / "stacks.toml").read_text(), re.M)
GUARDS, CAPS = STUDY["strategies"]["guards"], STUDY["strategies"]["caps"]
RULES = [name for name in OWN if name not in GUARDS]
LEAST_TASKS = 8


def own_name(name):
    """Variants carry their profile in the rows; here they have the name of stacks.toml."""
    base = re.sub(r" \([^()]*\)$", "", name)
    return base if base in OWN else name


def values_of(row):
    """The sums of a line of sums.csv.gz, as numbers."""
    return [float(row[c]) for c in ("unread_successes", "unread_failures", "acted", "killed_low", "killed_high", "ended_low", "ended_high", "net_low",
                                    "net_high", "unbounded", "spent_low", "spent_high")]


def add(sums, task, values):
    sums[task] = [a + b for a, b in zip(sums[task], values)] if task in sums else values


class Data:
    """Runs, and sums by strategy, of each model in each collection, by task."""

    def __init__(self):
        self.models = defaultdict(lambda: defaultdict(list))
        with gzip.open(HERE / "runs.csv.gz", "rt", newline="") as file:
            for row in csv.DictReader(file):
                if row["outcome"] and int(row["steps"]):
                    self.models[(row["source"], row["model"])][row["task"]].append((int(row["outcome"]), int(row["steps"])))
        self.model_sums = defaultdict(lambda: defaultdict(dict))
        with gzip.open(HERE / "sums.csv.gz", "rt", newline="") as file:
            for row in csv.DictReader(file):
                add(self.model_sums[(row["source"], row["model"])][own_name(row["strategy"])], row["task"], values_of(row))


def h8(data):
    rows = []
    for source in sorted({source for source, _ in data.models}):
        keys = sorted(key for key in data.models if key[0] == source and len(data.models[key]) >= LEAST_TASKS)
        if len(keys) < 3:
            continue
        for name in GUARDS + CAPS + RULES:
            plain, stopped = [], []
            for key in keys:
                tasks, sums = data.models[key], data.model_sums[key].get(name, {})
                if any(s[0] or s[1] for s in sums.values()):
                    break
                plain.append(sum(sum(ok for ok, _ in runs) / len(runs) for runs in tasks.values()) / len(tasks))
                stopped.append(sum((sum(ok for ok, _ in runs) - (sums.get(task) or [0] * 12)[4]) / len(runs) for task, runs in tasks.items()) / len(tasks))
            if len(plain) < len(keys) or plain == stopped:
                continue
            pairs = [(i, j) for i in range(len(keys)) for j in range(i) if plain[i] != plain[j]]
            agree = sum((plain[i] - plain[j]) * (stopped[i] - stopped[j]) > 0 for i, j in pairs)
            against = sum((plain[i] - plain[j]) * (stopped[i] - stopped[j]) < 0 for i, j in pairs)
            change = max(range(len(keys)), key=lambda i: plain[i] - stopped[i])
            rows.append({"source": source, "strategy": name, "models": len(keys), "tau": (agree - against) / len(pairs) if pairs else None, "pairs": len(pairs), "flipped": against,
                         "largest_loss": plain[change] - stopped[change], "of_model": keys[change][1]})
    return rows


def write(name, rows):
    columns = list(dict.fromkeys(column for row in rows for column in row))
    with (HERE / "tables" / f"{name}.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        for row in rows:
            writer.writerow([f"{value:.6g}" if isinstance(value, float) else "" if value is None else value for value in (row.get(c) for c in columns)])
    print(f"tables/{name}.csv: {len(rows)} lines", flush=True)


def main():
    (HERE / "tables").mkdir(exist_ok=True)
    write("h8", h8(Data()))


if __name__ == "__main__":
    main()
