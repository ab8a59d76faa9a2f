"""How often a limit that is shipped for a guard's number kills more than promised.

    python3 benches/guard/certificates.py WHENSTOP POPULATION.jsonl FOLDER [CORPORA [TASKS [PROMISED]]]

POPULATION is a trace file with many tasks (`whenstop-dev synth --runs 20000 --seed 7 --out FILE`). It is the world: what
each limit kills there is what it truly kills. CORPORA times, TASKS of its tasks are drawn with all of their runs;
`whenstop tune --signal --max-killed PROMISED` names a limit of the guard of `whenstop rules new --number`, or none; and
the limit is broken if it kills more than promised in the world: the mean over tasks with a success of the share of
successes killed, counted here from `rows.csv`.
"""

import csv
import json
import random
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

LIMITS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]


def tasks_of(path):
    """The lines of all runs of each task."""
    tasks = defaultdict(list)
    for line in path.open(encoding="utf-8"):
        if line.startswith('{"type":"run"'):
            run = tasks[json.loads(line)["task_id"]]
        run.append(line)
    return tasks


def killed_in(folder):
    """For each stack, the mean over tasks of the share of their successes that is killed."""
    shares = defaultdict(lambda: defaultdict(list))
    with (folder / "rows.csv").open(newline="", encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            if row["outcome"] == "success":
                shares[row["stack"]][row["task_id"]].append(int(row["killed_high"]))
    means = {stack: [sum(killed) / len(killed) for killed in tasks.values()] for stack, tasks in shares.items()}
    return {stack: sum(tasks) / len(tasks) for stack, tasks in means.items()}


def main(program, population, folder, corpora=200, n_tasks=150, promised=0.05):
    """Prints each limit's true share, how often it was shipped, and how many of the shipped were broken."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    guard = folder / "score.py"
    guard.write_bytes(subprocess.run([program, "rules", "new", "--language", "python", "--number"], check=True, capture_output=True).stdout)
    asked = ["--guard", f"mine={sys.executable} {guard}", "--signal", "guard:mine.score", "--limits", ",".join(map(str, LIMITS))]
    world = [program, "tune", population, *asked, "--out", str(folder / "world"), "--quiet", "--embed-text", "none"]
    subprocess.run(world, stdout=subprocess.DEVNULL)
    truth = killed_in(folder / "world")
    tasks = tasks_of(Path(population))
    names = sorted(tasks)
    shipped = defaultdict(int)
    for seed in range(int(corpora)):
        drawn = random.Random(seed).sample(names, int(n_tasks))
        corpus = folder / "corpus.jsonl"
        corpus.write_text("".join(line for task in drawn for line in tasks[task]), encoding="utf-8")
        command = [program, "tune", str(corpus), *asked, "--max-killed", str(promised), "--format", "json", "--quiet"]
        answer = json.loads(subprocess.run(command, capture_output=True).stdout)
        shipped[answer["ship"]] += 1
    broken = sum(n for stack, n in shipped.items() if stack is not None and truth[stack] > float(promised))
    for stack, share in truth.items():
        print(f"{stack}: kills {100 * share:.2f} % of successes; shipped {shipped[stack]} times")
    print(f"nothing shipped {shipped[None]} times; broken {broken} of {sum(shipped.values())}")


main(*sys.argv[1:])
