"""Recordings of known truth: drawn run by run, written as the program reads them."""

import json
import math
import random
from dataclasses import dataclass, field, replace


@dataclass
class Run:
    """A run as it was drawn; what the recordings say is made of it."""

    name: str
    task: str
    steps: int
    success: bool
    errors: list = field(default_factory=list)  # by step; empty where the recorder notes none
    calls: list = field(default_factory=list)  # the argument of each step's call
    tools: list = field(default_factory=list)  # by step, the names of its tools; empty for one `look`
    model: str | None = None
    says: str = "done"


@dataclass(frozen=True)
class World:
    """A kind of corpus."""

    spread: float = 0.4  # how much tasks differ in length, on the logarithm
    mean: float = 9.0  # median length of a success
    rate: float = 0.55  # share of successes
    icc: float = 0.3
    trials: tuple = (4, 4)  # runs of a task, uniform from the first to the second
    other: float = 0.0  # share of runs by a second recorder, without flags of errors and 2.5 times as long
    named: bool = True  # whether runs name their task
    alike: bool = False  # whether the runs of a task are of one length and end alike
    models: bool = False  # whether each task has its own model, of four
    lean: float = 0.0  # how much longer tasks succeed more (or less) often
    grain: int = 1  # lengths are multiples of it
    copies: int = 1  # how often every run is there
    most: int = 80

    def task(self, rng, name):
        """The runs of one task."""
        model = rng.randrange(4)
        z = rng.gauss(0, 1)
        length = (0.6, 0.9, 1.2, 1.8)[model] ** self.models * self.mean * math.exp(self.spread * z)
        mean = 1 / (1 + math.exp(-(math.log(self.rate / (1 - self.rate)) + self.lean * z)))
        icc = 0.9 if self.alike else self.icc
        rate = rng.betavariate(mean * (1 - icc) / icc, (1 - mean) * (1 - icc) / icc)
        own, alike = rng.gauss(0, 1), rng.random()
        for trial in range(rng.randint(*self.trials)):
            success = (alike if self.alike else rng.random()) < rate
            noise = own if self.alike else rng.gauss(0, 1)
            other = rng.random() < self.other
            longer = (1 if success else 1.7) * (2.5 if other else 1)
            steps = max(2, min(self.most, round(length * longer * math.exp(0.35 * noise))))
            steps = max(2, steps // self.grain * self.grain)
            fails, repeats = (0.06, 0.03) if success else (0.22, 0.15)
            run = Run(f"{name}-{trial}", name, steps, success, model=f"model-{model}" if self.models else None)
            run.errors = [] if other else [rng.random() < fails for _ in range(steps - 1)]
            run.calls = [0 if rng.random() < repeats else step + 1 for step in range(steps - 1)]
            for copy in range(self.copies):
                yield replace(run, name=f"{run.name}-{copy}")

    def runs(self, rng, tasks):
        salt = rng.getrandbits(32)
        return [run for nth in range(tasks) for run in self.task(rng, f"{salt:x}-{nth}")]


def stop_at(run, signal, limit):
    """The step after which `signal >= limit` stops a run early, by a program of its own; `None` if it does not."""
    seen, count = {}, 0
    for step in range(1, run.steps):
        call = run.calls[step - 1] if run.calls else step
        seen[call] = seen.get(call, 0) + 1
        count += bool(run.errors and run.errors[step - 1])
        reading = {"steps": step, "errors.count": count, "call.count": seen[call]}[signal]
        if reading >= limit:
            return step
    return None


TOKENS = 940


def lines(run, named=True, graded=True):
    """A run in the program's own trace format."""
    head = {"type": "run", "run_id": run.name}
    if named:
        head["task_id"] = run.task
    if run.model:
        head["model"] = run.model
    yield json.dumps(head)
    usage = '"usage":{"input":900,"output":40}'
    for step in range(run.steps - 1):
        call = run.calls[step] if run.calls else step + 1
        tools = run.tools[step] if run.tools and run.tools[step] else ["look"]
        asked = ",".join(
            f'{{"id":"{step}.{nth}","name":"{tool}","arguments":{{"at":{call}}}}}' for nth, tool in enumerate(tools)
        )
        yield f'{{"type":"message","role":"assistant","content":"step {step}","tool_calls":[{asked}],{usage}}}'
        flag = f',"is_error":{str(run.errors[step]).lower()}' if run.errors else ""
        for nth in range(len(tools)):
            yield f'{{"type":"message","role":"tool","tool_call_id":"{step}.{nth}","content":"seen {call}"{flag}}}'
    yield f'{{"type":"message","role":"assistant","content":{json.dumps(run.says)},{usage}}}'
    outcome = f'"success":{str(run.success).lower()},' if graded else ""
    yield f'{{"type":"outcome",{outcome}"end":"self_finish"}}'


def write(path, runs, named=True, graded=True):
    with open(path, "w") as file:
        for run in runs:
            file.write("\n".join(lines(run, named, graded)) + "\n")


def stack(name, *rules):
    """A stack of `SIGNAL >= LIMIT` rules, any of which stops; a rule may have options, `tool.named >= 1, tool = "x"`."""
    return f"[[stack]]\nname = {json.dumps(name)}\nany = [{', '.join(map(rule, rules))}]\n"


def rule(text, at_least=0):
    condition, *options = text.split(", ")
    signal, comparator, limit = condition.split()
    key = {">=": "at_least", "<=": "at_most"}[comparator]
    one = f"{{ {', '.join([f'signal = {json.dumps(signal)}', f'{key} = {limit}', *options])} }}"
    if not at_least:
        return one
    return f'{{ all = [{one}, {{ signal = "steps", at_least = {at_least} }}] }}'


def seeded(*parts):
    return random.Random(" ".join(map(str, parts)))
