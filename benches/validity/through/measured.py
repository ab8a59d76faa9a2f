"""`compare --against` on pairs of known truth: how often it finds an error that is none, one that is, and how many tasks it asks for.

usage: python3 benches/validity/through/measured.py WHENSTOP OUT.csv [PAIRS]

Every run takes up to eight steps, each of which solves the task with a chance of its own; AFTER is made under a limit of four
steps with its notice before the last. `error` points of the successes are lost beyond the replay. All pairs of a setting are
classes of one comparison (`--by suite`).
"""

import csv
import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

STACK = '[[stack]]\nname = "cap4"\ncap = { steps = 4 }\ntold = true\nnotice = 1\n'
LIMIT, MOST = 4, 8


def run(rng, chance, last_chance, limit):
    """Steps, and whether the run succeeds. From the notice on a told agent has `last_chance`."""
    for step in range(1, limit + 1):
        if rng.random() < (last_chance if step == LIMIT else chance):
            return step, True
    return limit, False


def record(pair, task, trial, side, steps, success):
    messages = [{"role": "user", "content": "go"}] + [{"role": "assistant", "content": "reply"}] * steps
    name = f"{side}-{pair}-{task}-{trial}"
    return json.dumps({"id": name, "task_id": f"t{task}", "suite": f"p{pair:04}", "model": "m", "success": success, "messages": messages})


def successes_share(chances):
    """Successes before, and runs that reach the notice, of one run a task."""
    return sum(1 - (1 - c) ** MOST for c in chances), sum((1 - c) ** (LIMIT - 1) for c in chances)


def draw(folder, name, tasks, trials, spread, error, pairs, first=0):
    chances = [0.12 + spread * 0.2 * ((at + 0.5) / tasks - 0.5) for at in range(tasks)]
    successes, reached = successes_share(chances)
    less = error * successes / reached
    rng = random.Random(f"{name}/{tasks}/{trials}/{error}/{first}")
    with open(folder / "before.jsonl", "w") as before, open(folder / "after.jsonl", "w") as after:
        for pair in range(pairs):
            for task, chance in enumerate(chances):
                for trial in range(trials):
                    before.write(record(pair, task, trial, "b", *run(rng, chance, chance, MOST)) + "\n")
                    after.write(record(pair, task, trial, "a", *run(rng, chance, max(0.0, chance - less), LIMIT)) + "\n")


def ask(program, folder):
    (folder / "told.toml").write_text(STACK)
    command = [program, "compare", "before.jsonl", "--stacks", "told.toml", "--against", "after.jsonl", "--by", "suite", "--format", "json", "--quiet"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    told = json.loads(done.stdout)
    return [(line, words) for line, words in zip(told["against"], told["sentences"]) if line["class"] is not None]


def found(line, what):
    return line[f"{what}_low"] is not None and not line[f"{what}_low"] <= 0 <= line[f"{what}_high"]


def needed(words):
    asked = re.search(r"([\d,]+) tasks", words) if "cannot be told" in words else None
    return int(asked[1].replace(",", "")) if asked else None


def settle(name, tasks, trials, spread, error, answers):
    compared = [(line, words) for line, words in answers if not line["refused"]]
    share = lambda what: sum(found(line, what) for line, _ in compared) / len(compared)
    asked = sorted(filter(None, (needed(words) for _, words in compared)))
    return {
        "setting": name, "tasks": tasks, "trials": trials, "spread": spread, "true_error": error, "pairs": len(answers),
        "compared": len(compared), "error_found": f"{share('error'):.4f}", "control_found": f"{share('control'):.4f}",
        "came_true": f"{sum(line['verdict'] == 'came_true' for line, _ in compared) / len(compared):.4f}",
        "half_width_mean": f"{sum(line['error_high'] - line['error_low'] for line, _ in compared) / 2 / len(compared):.4f}",
        "tasks_needed_median": asked[len(asked) // 2] if asked else "",
    }


# Settings in which the limit does what was predicted, then those in which it does not.
FALSE = [(tasks, trials, spread) for tasks, trials in [(50, 1), (50, 2), (100, 1), (200, 1), (200, 2)] for spread in (0.0, 1.0)]
TRUE = [(tasks, trials, error) for tasks in (200, 500, 2000) for trials in (1, 2, 4) for error in (0.03, 0.05)]


def main():
    program, out = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2])
    pairs = int(sys.argv[3]) if len(sys.argv) > 3 else 400
    lines = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        # The smallest corpora are where intervals by the normal distribution fail first: they get the most pairs.
        settings = [("as predicted", tasks, trials, spread, 0.0, pairs * 4 if tasks * trials == 50 else pairs) for tasks, trials, spread in FALSE]
        settings += [("more lost", tasks, trials, 1.0, error, max(40, min(pairs, pairs * 400 // (tasks * trials)))) for tasks, trials, error in TRUE]
        for name, tasks, trials, spread, error, n in settings:
            answers = []
            block = min(400, max(1, 40_000 // (tasks * trials)))
            for first in range(0, n, block):
                draw(folder, name, tasks, trials, spread, error, min(block, n - first), first)
                answers += ask(program, folder)
            lines.append(settle(name, tasks, trials, spread, error, answers))
            print(*lines[-1].values(), sep="  ", flush=True)
    with open(out, "w", newline="") as file:
        table = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(lines)


main()
