"""Recordings of which a part is graded: in the order of `labels --template`, at random, or picked."""

import csv
import hashlib
import io
import json

from tell import estimates, held
from worlds import Run, seeded, stack, stop_at, write


def harder(rng, tasks, trials):
    """The harder a task, the longer its runs and the rarer its successes; a run may end in words that suit its outcome."""
    for task in range(tasks):
        hard = rng.random()
        for trial in range(trials):
            success = rng.random() < 0.9 - 0.6 * hard
            mean = 1.6 + 1.9 * hard if success else 4.5 + 6.0 * hard
            steps = 2 + min(40, int(rng.expovariate(1 / mean)))
            run = Run(f"t{task}-{trial}", f"t{task}", steps, success)
            run.errors = [rng.random() < (0.06 if success else 0.22) for _ in range(steps - 1)]
            run.calls = [0 if rng.random() < 0.1 else step + 1 for step in range(steps - 1)]
            sure = rng.random() < (0.9 if success and steps < 8 else 0.3)
            run.says = "All tests pass now." if sure else "I could not find out more."
            yield run


def by_stops(run, stacks):
    """What the stacks disagree on first, then what all stop; long runs first."""
    stops = sum(stop_at(run, *rule) is not None for rule in stacks.values())
    return ({0: 2, len(stacks): 1}.get(stops, 0), -run.steps, run.name)


def hashed(run):
    return hashlib.sha256(run.name.encode()).hexdigest()


PICKED = {
    "stops": by_stops,
    "length": lambda run, _: (-run.steps, run.name),
    "ending": lambda run, _: (run.says != "All tests pass now.", hashed(run)),
}


class Labelled:
    """A corpus graded in part, in every order; each order is asked for what it kills, for a certificate and for a rule to ship."""

    def __init__(self, name, stacks, tasks, trials, graded, picked, tolerated, with_stacks=True, before=None):
        self.name, self.stacks, self.tasks, self.trials, self.graded = name, stacks, tasks, trials, graded
        self.picked, self.tolerated, self.with_stacks, self.befores = picked, tolerated, with_stacks, before or {}
        self.promises = {}
        for way in ("drawn", "random"):
            self.promises |= {f"{way} killed": ("covers", 0.93, 0.98), f"{way} saved": ("covers", 0.93, 0.98)}
        for way in ("drawn", "random", *picked):
            self.promises |= {f"{way} broken": ("fails", 0.0, 0.1), f"{way} false Ship": ("fails", 0.0, 0.025)}
        self.promises |= {f"{way} noticed where biased": ("covers", 0.95, 1.0) for way in picked}

    def ask(self, program, seed):
        runs = list(harder(seeded(self.name, seed), self.tasks, self.trials))
        write(program.folder / "runs.jsonl", runs, graded=False)
        text = "".join(stack(key, f"{signal} >= {limit}") for key, (signal, limit) in self.stacks.items())
        (program.folder / "stacks.toml").write_text(text)
        asked = ["--stacks", "stacks.toml"] if self.with_stacks else []
        template = program.call("labels", "runs.jsonl", *asked, "--template", "-").stdout
        drawn = [row["run_id"] for row in csv.DictReader(io.StringIO(template))]
        orders = {"drawn": drawn, "random": [run.name for run in sorted(runs, key=hashed)]}
        orders |= {way: [run.name for run in sorted(runs, key=lambda run: PICKED[way](run, self.stacks))] for way in self.picked}
        success = {run.name: str(run.success).lower() for run in runs}
        # What is drawn says so, by its place; of what was picked nothing says how.
        place = lambda way, nth: nth if way in ("drawn", "random") else ""
        lines = {way: [f"{name},{success[name]},{place(way, nth)}" for nth, name in enumerate(order[: self.graded], 1)] for way, order in orders.items()}
        return {way: self.told(program, of) for way, of in lines.items()}

    def told(self, program, lines):
        (program.folder / "labels.csv").write_text("\n".join(["run_id,success,drawn", *lines, ""]))
        graded = ["runs.jsonl", "--labels", "labels.csv"]
        told = program.json("compare", *graded, "--stacks", "stacks.toml", "--max-killed", self.tolerated)
        done = program.call("tune", *graded, "--signal", "steps >=", "--limits", "4..40", "--max-killed", "0.05", "--format", "json")
        answer = {"ship": told.get("ship"), "noticed": "were picked" in told["verdict"], "certified": None}
        if done.returncode == 0:
            answer["certified"] = int(json.loads(done.stdout)["ship"].split()[-1])
        for key in self.stacks:
            of = estimates(told, key)
            answer[key] = [{part: of[name].get(part) for part in ("low", "high")} for name in ("killed_rate", "tokens_saved_share")]
        return answer

    def settle(self, _program, answers, tally):
        limits = {f"steps-{limit}": ("steps", limit) for limit in {told["certified"] for answer in answers for told in answer.values()} - {None}}
        # Of the runs of a draw a task has fewer: the killed rate is the mean over tasks with a success among those.
        whole = truth_of(self.stacks | limits, self.trials)
        part = truth_of(self.stacks | limits, self.trials, self.graded / (self.tasks * self.trials))
        for answer in answers:
            for way, told in answer.items():
                truth, missed = whole if way in self.picked else part, False
                for key in self.stacks:
                    killed, saved = (held(one, real) for one, real in zip(told[key], (truth[key][2], truth[key][1])))
                    missed |= killed is not None and not killed[0]
                    tally.note(f"{way} killed", killed)
                    tally.note(f"{way} saved", saved)
                tally.note(f"{way} noticed", told["noticed"])
                if way in self.picked:
                    tally.note(f"{way} noticed where biased", told["noticed"] if missed else None)
                certified = told["certified"]
                tally.note(f"{way} certified", certified is not None)
                tally.note(f"{way} broken", None if certified is None else truth[f"steps-{certified}"][2] > 0.05)
                tally.note(f"{way} false Ship", told["ship"] is not None and truth[told["ship"]][2] > self.tolerated)


def truth_of(stacks, trials, share=1):
    """By stack: killed, saved on failures, and killed as the mean over tasks, of that share of the runs."""
    sums = {key: [0, 0, 0, 0, 0.0, 0] for key in stacks}
    by_task = {}
    for run in harder(seeded("labels", "truth"), 20_000, trials):
        by_task.setdefault(run.task, []).append(run)
    rng = seeded("labels", "share")
    for key, rule in stacks.items():
        of = sums[key]
        for runs in by_task.values():
            stops = [stop_at(run, *rule) for run in runs]
            for _ in range(1 if share == 1 else 20):
                killed = n = 0
                for run, stop in zip(runs, stops):
                    if share < 1 and rng.random() >= share:
                        continue
                    killed += run.success and stop is not None
                    n += run.success
                    of[2] += 0 if run.success or stop is None else run.steps - stop
                    of[3] += run.steps
                of[0] += killed
                of[1] += n
                if n:
                    of[4] += killed / n
                    of[5] += 1
    return {key: (killed / n, saved / steps, shares / tasks) for key, (killed, n, saved, steps, shares, tasks) in sums.items()}


THREE = {f"s{limit}": ("steps", limit) for limit in (5, 6, 7)}
FIVE = {"s12": ("steps", 12), "s20": ("steps", 20), "s30": ("steps", 30), "errors-2": ("errors.count", 2), "calls-3": ("call.count", 3)}
CELLS = [
    Labelled("labels-300-of-1600", THREE, 400, 4, 300, ["stops"], 0.04, before={"stops killed": "13.3", "stops broken": "86.7", "drawn killed": "13.3", "drawn broken": "86.7"}),
    Labelled("labels-200-of-800", THREE, 200, 4, 200, ["length", "ending"], 0.04),
    Labelled("labels-50-no-stacks", THREE, 100, 4, 50, ["length"], 0.04, with_stacks=False, before={"drawn killed": "0–58", "drawn saved": "70–92", "random killed": "96–100"}),
    Labelled("labels-50-one-stack", {"s7": ("steps", 7)}, 100, 4, 50, ["stops"], 0.04, before={"drawn killed": "0", "drawn saved": "63"}),
    Labelled("labels-50-five-stacks", FIVE, 100, 4, 50, ["stops", "length"], 0.04, before={"drawn killed": "0–64"}),
]


class Judged:
    """Labels by a judge whose rates are stated right or 0.05 wrong; what is printed beside the rate counts, too."""

    SENSITIVITY, SPECIFICITY = 0.9, 0.85

    def __init__(self, name, rate, wrong, before=None):
        self.name, self.rate, self.wrong = name, rate, wrong
        self.befores = {"stated alone": before} if before else {}
        self.promises = {"stated alone": ("covers", 0.93, 1.0) if wrong == 0 else ("told", 0, 1), "with what stands beside it": ("covers", 0.93, 1.0)}

    def ask(self, program, seed):
        rng = seeded(self.name, seed)
        runs = []
        for task in range(60):
            rate, killed = (rng.betavariate(mean * 7 / 3, (1 - mean) * 7 / 3) for mean in (self.rate, 0.1))
            for trial in range(5):
                success = rng.random() < rate
                stops = rng.random() < (killed if success else 0.4)
                labelled = rng.random() < (self.SENSITIVITY if success else 1 - self.SPECIFICITY)
                runs.append(Run(f"{task}-{trial}", f"t{task}", 12 if stops else 5, labelled))
        write(program.folder / "runs.jsonl", runs)
        (program.folder / "stacks.toml").write_text(stack("s", "steps >= 8"))
        told = []
        for specificity in (0, -0.05, 0.05):
            rates = ["--label-sensitivity", self.SENSITIVITY, "--label-specificity", round(self.SPECIFICITY + self.wrong + specificity, 2)]
            one = estimates(program.json("compare", "runs.jsonl", "--stacks", "stacks.toml", *rates), "s")["killed_rate_corrected"]
            told.append({part: one[part] for part in ("low", "high")})
            if not specificity:
                notes = " ".join(program.call("compare", "runs.jsonl", "--stacks", "stacks.toml", *rates, "--notes").stdout.split())
        return {"told": told, "beside": "the specificity is stated, not checked" in notes}

    def settle(self, _program, answers, tally):
        for answer in answers:
            told = [one for one in answer["told"] if one["low"] is not None]
            tally.note("stated alone", held(answer["told"][0], 0.1))
            tally.note("is noted", answer["beside"])
            hull = {"low": min(one["low"] for one in told), "high": max(one["high"] for one in told)} if told else None
            tally.note("with what stands beside it", held(hull, 0.1))


CELLS += [
    Judged("judge-60-right", 0.6, 0.0, "93.3"),
    Judged("judge-60-high", 0.6, 0.05, "88.3"),
    Judged("judge-60-low", 0.6, -0.05, "96.7"),
    Judged("judge-25-right", 0.25, 0.0, "100"),
    Judged("judge-25-high", 0.25, 0.05, "78.3"),
    Judged("judge-25-low", 0.25, -0.05, "83.3"),
]


class Proxied:
    """Outcomes from marks of the recordings, checked by hand in the order of the template."""

    def __init__(self, name, checked):
        self.name, self.checked, self.befores = name, checked, {}
        self.promises = {"killed": ("covers", 0.93, 1.0), "broken": ("fails", 0.0, 0.1)}

    def ask(self, program, seed):
        runs = list(harder(seeded(self.name, seed), 200, 3))
        rng = seeded(self.name, seed, "marks")
        handed = {run.name: rng.random() < (0.9 if run.success else 0.1) for run in runs}
        write_marked(program.folder / "runs.jsonl", runs, handed)
        (program.folder / "stacks.toml").write_text(stack("s7", "steps >= 7"))
        marks = ["--outcome-from", "handover=success,interrupted=failure"]
        template = program.call("labels", "runs.jsonl", "--stacks", "stacks.toml", *marks, "--template", "-").stdout
        order = [row["run_id"] for row in csv.DictReader(io.StringIO(template))][: self.checked]
        success = {run.name: run.success for run in runs}
        good, bad = [name for name in order if success[name]], [name for name in order if not success[name]]
        counts = [len(good), sum(handed[name] for name in good), len(bad), sum(not handed[name] for name in bad)]
        checked = ["--label-checked", ",".join(map(str, counts))]
        told = program.json("compare", "runs.jsonl", "--stacks", "stacks.toml", *marks, *checked)
        one = estimates(told, "s7")["killed_rate_corrected"]
        done = program.call("tune", "runs.jsonl", *marks, *checked, "--signal", "steps >=", "--limits", "4..40", "--max-killed", "0.1", "--format", "json")
        certified = int(json.loads(done.stdout)["ship"].split()[-1]) if done.returncode == 0 else None
        return {"killed": {part: one[part] for part in ("low", "high")}, "counts": counts, "certified": certified}

    def settle(self, _program, answers, tally):
        limits = {f"steps-{limit}": ("steps", limit) for limit in {answer["certified"] for answer in answers} - {None}}
        truth = truth_of({"s7": ("steps", 7)} | limits, 3)
        for answer in answers:
            tally.note("killed", held(answer["killed"], truth["s7"][0]))
            certified = answer["certified"]
            tally.note("broken", None if certified is None else truth[f"steps-{certified}"][2] > 0.1)
            tally.note("certified", certified is not None)


def write_marked(path, runs, handed):
    """Runs that end in a hand-over, or in an interruption by the user."""
    write(path, runs, graded=False)
    text = []
    for line in path.read_text().splitlines():
        if line.startswith('{"type": "run"'):
            name = json.loads(line)["run_id"]
        if '"content":"All tests' in line or '"content":"I could' in line:
            if handed[name]:
                line = line.replace('"usage"', '"tool_calls":[{"id":"end","name":"attempt_completion","arguments":{}}],"usage"')
                line += '\n{"type":"message","role":"tool","tool_call_id":"end","content":"ok"}'
            else:
                line = '{"type":"message","role":"user","content":"[Request interrupted by user]","origin":"interruption"}'
        text.append(line)
    path.write_text("\n".join(text) + "\n")


CELLS.append(Proxied("proxies-checked", 150))
