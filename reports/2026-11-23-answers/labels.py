"""Grades a part of generated recordings in three ways, and counts how often what is printed is true.

usage: labels.py WHENSTOP [CORPORA]

A corpus: 400 tasks of 4 runs. The harder a task, the longer its runs and the rarer its successes. A run is graded by what
it is; grading 300 of 1,600 is done from the top of `labels --template` (`drawn`), by a hash (`random`), and the way
templates were ordered before: what stacks disagree on first, then what all stop, long runs first (`picked`).
"""

import csv, hashlib, io, json, math, random, subprocess, sys, tempfile
from pathlib import Path

LIMITS, GRADED, ALPHA = [5, 6, 7], 300, 0.05
STACKS = "".join(f'[[stack]]\nname = "s{n}"\nany = [{{ signal = "steps", at_least = {n} }}]\n' for n in LIMITS)


def tasks(rng, n, trials):
    """Yields (task, run, number of steps, success)."""
    for task in range(n):
        hard = rng.random()
        for trial in range(trials):
            success = rng.random() < 0.9 - 0.6 * hard
            mean = 1.6 + 1.9 * hard if success else 4.5 + 6.0 * hard
            steps = 2 + min(40, int(rng.expovariate(1 / mean)))
            yield f"t{task}", f"t{task}-{trial}", steps, success


def written(runs):
    lines = []
    for task, run, steps, _ in runs:
        lines.append(json.dumps({"type": "run", "run_id": run, "task_id": task}))
        for step in range(steps):
            calls = [{"id": str(step), "name": "look", "arguments": {"at": step}}] if step < steps - 1 else []
            usage = {"input": 900, "output": 40}
            lines.append(json.dumps({"type": "message", "role": "assistant", "content": f"step {step}", "tool_calls": calls, "usage": usage}))
            if calls:
                lines.append(json.dumps({"type": "message", "role": "tool", "tool_call_id": str(step), "content": f"seen {step}"}))
        lines.append(json.dumps({"type": "outcome", "end": "self_finish"}))
    return "\n".join(lines) + "\n"


def truth():
    runs = [run for seed in range(40) for run in tasks(random.Random(f"truth {seed}"), 400, 4)]
    successes = [run for run in runs if run[3]]
    return {f"s{n}": sum(run[2] > n for run in successes) / len(successes) for n in LIMITS}


def main():
    program, corpora = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 200
    real = truth()
    print("true share killed:", {name: round(share, 4) for name, share in real.items()}, flush=True)
    counts = {way: {"covered": [0, 0], "low": 0, "high": 0, "width": 0.0, "certified": 0, "broken": 0, "false ship": 0, "noticed": 0} for way in ("drawn", "random", "picked")}
    for corpus in range(corpora):
        with tempfile.TemporaryDirectory() as folder:
            at = Path(folder)
            runs = list(tasks(random.Random(f"corpus {corpus}"), 400, 4))
            (at / "runs.jsonl").write_text(written(runs))
            (at / "s.toml").write_text(STACKS)
            grade = {run: success for _, run, _, success in runs}
            steps = {run: steps for _, run, steps, _ in runs}

            def call(*arguments):
                done = subprocess.run([program, *arguments], cwd=at, capture_output=True, text=True)
                return done.returncode, done.stdout, done.stderr

            code, template, stderr = call("labels", "runs.jsonl", "--stacks", "s.toml", "--template", "-")
            assert code == 0, stderr
            drawn = [row["run_id"] for row in csv.DictReader(io.StringIO(template))]
            hashed = sorted(grade, key=lambda run: hashlib.sha256(run.encode()).hexdigest())
            n_stops = {run: sum(steps[run] > n for n in LIMITS) for run in grade}
            picked = sorted(grade, key=lambda run: ({0: 2, 3: 1}.get(n_stops[run], 0), -steps[run], run))
            for way, order in (("drawn", drawn), ("random", hashed), ("picked", picked)):
                (at / "l.csv").write_text("run_id,success\n" + "".join(f"{run},{str(grade[run]).lower()}\n" for run in order[:GRADED]))
                count = counts[way]
                _, told, stderr = call("compare", "runs.jsonl", "--stacks", "s.toml", "--labels", "l.csv", "--format", "json", "--max-killed", "0.04")
                told = json.loads(told)
                count["noticed"] += "were picked" in told["verdict"]
                ship = told.get("ship")
                count["false ship"] += ship is not None and real[ship] > 0.04
                for row in told["summary"]:
                    low = row.get("killed_rate_low")
                    high = row.get("killed_rate_high")
                    if row["stack"] not in real or low is None or high is None:
                        continue
                    count["covered"][1] += 1
                    count["covered"][0] += low <= real[row["stack"]] <= high
                    count["low"] += high < real[row["stack"]]
                    count["high"] += low > real[row["stack"]]
                    count["width"] += high - low
                code, told, _ = call("certify", "runs.jsonl", "--labels", "l.csv", "--signal", "steps >=", "--limits", "4..40", "--max-killed", str(ALPHA), "--format", "json")
                if code == 0:
                    limit = int(json.loads(told)["certified"].split()[-1])
                    count["certified"] += 1
                    count["broken"] += true_share(limit) > ALPHA
        if (corpus + 1) % 20 == 0 or corpus + 1 == corpora:
            show(corpus + 1, counts)


CACHE = {}


def true_share(limit):
    """The mean over tasks of the share of successes killed, as certified."""
    if limit not in CACHE:
        shares = []
        for seed in range(40):
            by_task = {}
            for task, _, steps, success in tasks(random.Random(f"truth {seed}"), 400, 4):
                if success:
                    by_task.setdefault(task, []).append(steps > limit)
            shares += [sum(killed) / len(killed) for killed in by_task.values()]
        CACHE[limit] = sum(shares) / len(shares)
    return CACHE[limit]


def show(n, counts):
    print(f"after {n} corpora; {GRADED} of 1,600 graded")
    print("way     covered %  below  above  mean width, points  certified  broken  false ship  picked noticed")
    for way, c in counts.items():
        hit, of = c["covered"]
        print(f"{way:7} {100 * hit / max(of, 1):9.1f} {c['low']:6} {c['high']:6} {100 * c['width'] / max(of, 1):19.2f} {c['certified']:10} {c['broken']:7} {c['false ship']:11} {c['noticed']:15}")
    sys.stdout.flush()


main()
