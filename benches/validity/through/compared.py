"""What `compare` prints of a stack: killed, saved, the cost of a success, the price at which it pays; what gates do with it."""

import re
from dataclasses import replace

from tell import estimates, held
from worlds import TOKENS, Run, World, seeded, stack, stop_at, write

STACKS = {"steps-20": ("steps", 20), "errors-2": ("errors.count", 2)}
TRUTH = 20_000


def truth_of(name, world, stacks):
    """By stack: killed (the mean over tasks with a success), saved, cost of a success, tokens unspent for each killed success,
    saved if a fifth failed."""
    rng = seeded(name, "truth")
    sums = {key: [0.0] * 8 for key in stacks}
    shares = {key: [] for key in stacks}
    for nth in range(TRUTH):
        runs = list(world.task(rng, str(nth)))
        successes = sum(run.success for run in runs)
        for key, (signal, limit) in stacks.items():
            of = sums[key]
            before = of[0]
            for run in runs:
                stop = stop_at(run, signal, limit)
                less = 0 if stop is None else run.steps - stop
                of[0] += run.success and stop is not None
                of[1] += run.success
                of[2] += run.steps
                of[3] += 0 if run.success else less
                of[4] += less
                of[5] += not run.success
                of[6] += run.steps if run.success else 0
                of[7] += 0 if run.success else run.steps
            if successes:
                shares[key].append((of[0] - before) / successes)
    told = {}
    for key, (killed, n, steps, saved, less, failures, of_successes, of_failures) in sums.items():
        fifth = 0.2 * saved / failures / (0.2 * of_failures / failures + 0.8 * of_successes / n)
        told[key] = (sum(shares[key]) / len(shares[key]), saved / steps, (steps - less) / (n - killed) / (steps / n), TOKENS * less / max(killed, 1), fifth)
    return told


class Compared:
    """One world under two stacks."""

    def __init__(self, name, world, tasks, stacks=STACKS, others_fail=False, before=None):
        self.name, self.world, self.tasks, self.stacks, self.befores = name, world, tasks, stacks, before or {}
        self.others_fail = others_fail
        covers = ("covers", 0.93, 1.0)
        self.promises = {f"{what} {key}": covers for key in stacks for what in ("killed", "saved", "cost", "cost not rough", "break-even", "saved at 20 %")}

    def ask(self, program, seed):
        write(program.folder / "runs.jsonl", self.world.runs(seeded(self.name, seed), self.tasks))
        text = "".join(stack(key, f"{signal} >= {limit}") for key, (signal, limit) in self.stacks.items())
        (program.folder / "stacks.toml").write_text(text)
        told = program.json("compare", "runs.jsonl", "--stacks", "stacks.toml")
        notes = ""
        if self.others_fail:
            notes = program.call("compare", "runs.jsonl", "--stacks", "stacks.toml", "--failure-rate", "0.2", "--notes").stdout
            notes = " ".join(notes.split())
        answer = {}
        for key in self.stacks:
            of = estimates(told, key)
            names = ("killed_rate", "tokens_saved_share", "tokens_cost_of_success", "tokens_break_even")
            answer[key] = [{part: of[name].get(part) for part in ("value", "low", "high", "method")} for name in names]
            at = re.search(rf"of the runs failed.*?`{key}` [\d.]+ % \(([\d.]+)–([\d.]+)\)", notes)
            answer[key].append({"low": float(at[1]) / 100, "high": float(at[2]) / 100} if at else None)
        return answer

    def settle(self, _program, answers, tally):
        truth = truth_of(self.name, self.world, self.stacks)
        for answer in answers:
            for key, told in answer.items():
                for what, one, real in zip(("killed", "saved", "cost", "break-even", "saved at 20 %"), told, truth[key]):
                    if what != "saved at 20 %" or self.others_fail:
                        tally.note(f"{what} {key}", held(one, real))
                    if what == "cost":
                        rough = "rough" in (one["method"] or "")
                        tally.note(f"cost rough {key}", rough)
                        tally.note(f"cost not rough {key}", None if rough else held(one, real))


LONG = World(spread=0.8)
CELLS = [
    Compared("compare-1-50-unlike", replace(LONG, trials=(1, 50)), 60, before={"cost steps-20": "86.6", "cost errors-2": "85.2", "saved steps-20": "95–96", "saved errors-2": "95–96", "killed steps-20": "95–99", "killed errors-2": "95–99"}),
    Compared("compare-1-50-longer-fail", replace(LONG, trials=(1, 50), lean=-0.8), 60),
    Compared("compare-longer-succeed", replace(LONG, lean=0.8), 60, before={"cost steps-20": "86.9", "cost errors-2": "93.1", "saved steps-20": "95–99", "saved errors-2": "95–99"}),
    Compared("compare-unlike", LONG, 60, others_fail=True, before={"saved at 20 % steps-20": "97–100", "saved at 20 % errors-2": "97–100", "break-even steps-20": "100", "break-even errors-2": "100", "cost steps-20": "96.0", "cost errors-2": "89.0", "saved steps-20": "97–98", "saved errors-2": "97–98"}),
    Compared("compare-unlike-200", LONG, 200, before={"cost steps-20": "90–97", "cost errors-2": "90–97"}),
]


class Many:
    """Stacks that are all alike: which is shipped, and whether the first sentence about it is true."""

    def __init__(self, name, stacks, killed, tasks, *options, before=None):
        self.name, self.stacks, self.killed, self.tasks, self.options = name, stacks, killed, tasks, options
        self.befores = {"false Ship": before} if before else {}
        self.promises = {"false Ship": ("fails", 0.0, 0.05)}

    def ask(self, program, seed):
        rng = seeded(self.name, seed)
        runs = []
        for task in range(self.tasks):
            rates = [rng.betavariate(self.killed * 7 / 3, (1 - self.killed) * 7 / 3) for _ in range(self.stacks)]
            for trial in range(5):
                runs.append(one_of_many(rng, task, trial, trial < 4, rates))
        write(program.folder / "runs.jsonl", runs)
        text = "".join(stack(f"s{nth}", f'tool.named >= 1, tool = "t{nth}"') for nth in range(self.stacks))
        (program.folder / "stacks.toml").write_text(text)
        told = program.json("compare", "runs.jsonl", "--stacks", "stacks.toml", "--max-killed", "0.05", *self.options)
        return {"ship": told.get("ship"), "verdict": told["verdict"]}

    def settle(self, _program, answers, tally):
        for answer in answers:
            tally.note("false Ship", answer["ship"] is not None and self.killed > 0.05)


def one_of_many(rng, task, trial, success, rates):
    """A run of eight steps, whose second asks for a tool for each stack that is to stop it."""
    run = Run(f"{task}-{trial}", f"t{task}", 8, success)
    run.tools = [[] for _ in range(8)]
    run.tools[1] = [f"t{nth}" for nth, rate in enumerate(rates) if rng.random() < (rate if success else 0.6)]
    return run


class Gate:
    """A gate on a corpus whose stacks are exactly on the limit, or beyond it."""

    def __init__(self, name, stacks, killed, tasks, gate, passes, before):
        self.name, self.stacks, self.killed, self.tasks, self.gate, self.passes = name, stacks, killed, tasks, gate, passes
        self.befores = {"wrong": before}
        self.promises = {"wrong": ("fails", 0.0, 0.025)}

    def ask(self, program, seed):
        rng = seeded(self.name, seed)
        runs = []
        for task in range(self.tasks):
            rates = [rng.betavariate(self.killed * 7 / 3, (1 - self.killed) * 7 / 3) for _ in range(self.stacks)]
            runs += [one_of_many(rng, task, trial, trial < 4, rates) for trial in range(5)]
        write(program.folder / "runs.jsonl", runs)
        text = "".join(stack(f"s{nth}", f'tool.named >= 1, tool = "t{nth}"') for nth in range(self.stacks))
        (program.folder / "stacks.toml").write_text(text)
        program.call("ci", "accept", "--all", "runs.jsonl", "--stacks", "stacks.toml", "--snapshot", "stops.snap")
        done = program.call("ci", "check", "runs.jsonl", "--stacks", "stacks.toml", "--snapshot", "stops.snap", "--fail-on", self.gate)
        return {"exit": done.returncode}

    def settle(self, _program, answers, tally):
        for answer in answers:
            tally.note("wrong", (answer["exit"] == 0) == self.passes)


CELLS += [
    Many("many-60", 60, 0.055, 200, before="14.5"),
    Many("many-10", 10, 0.06, 200, before="0"),
    Many("many-split", 60, 0.06, 200, "--split", "test", before="0"),
    Gate("gate-low-one", 1, 0.02, 60, "killed_rate_low>0.02", False, "1.7"),
    Gate("gate-low-eight", 8, 0.02, 60, "killed_rate_low>0.02", False, "2.5"),
    Gate("gate-high", 1, 0.055, 200, "killed_rate_high>0.05", True, "1.0"),
]
