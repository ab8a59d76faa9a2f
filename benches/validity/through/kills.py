"""What `compare` says a stack kills at most: how often one is certified that kills more, and how often one that may be is shipped."""

import math

from tell import Program
from worlds import Run, seeded, stack, write

LIMIT = 0.05  # what is tolerated
FALSE = 0.0501  # the true rate of a stack that may not be certified
TRUE = 0.014  # of one that should be


class Kills:
    """Stacks of known true rates on tasks of known shape.

    `rates`: the true share of a task's successes that each stack kills. `related`: `chain` (one limit on `steps`, tighter and
    tighter), `unlike` (rules of their own, each with its own tasks), or `nested` (rules of their own that happen to kill what
    the one before kills).
    """

    def __init__(self, name, rates, tasks, trials=(2, 2), related="unlike", icc=0.3, success=0.6, heavy=False, ships=None):
        self.name, self.rates, self.tasks, self.trials, self.related = name, rates, tasks, trials, related
        self.icc, self.success, self.heavy, self.befores = icc, success, heavy, {}
        self.promises = {"false certificate": ("fails", 0.0, 0.05)}
        if ships is not None:
            self.promises["ships"] = ("covers", ships, 1.0)

    def ask(self, program, seed):
        rng = seeded(self.name, seed)
        write(program.folder / "runs.jsonl", [run for task in range(self.tasks) for run in self.task(rng, task)])
        (program.folder / "stacks.toml").write_text("".join(self.stack(nth) for nth in range(len(self.rates))))
        told = program.json("compare", "runs.jsonl", "--stacks", "stacks.toml", "--max-killed", str(LIMIT))
        bounds = {line["stack"]: line["killed_at_most"] for line in told["summary"]}
        return {"bounds": [bounds[f"s{nth}"] for nth in range(len(self.rates))], "ship": told["ship"]}

    def stack(self, nth):
        if self.related == "chain":
            return stack(f"s{nth}", f"steps >= {self.limit(nth)}")
        return stack(f"s{nth}", f'tool.named >= 1, tool = "t{nth}"')

    def limit(self, nth):
        """The chain goes from cautious to bold: from a high limit to a low one."""
        return 3 + len(self.rates) - nth

    def task(self, rng, task):
        """The runs of one task: at least one success, and failures."""
        n = max(1, round(rng.uniform(*self.trials) if self.trials[0] != self.trials[1] else self.trials[0]))
        own = [latent(rng, rng.gauss(0, 1), n, self.icc) for _ in range(1 if self.related != "unlike" else len(self.rates))]
        for trial in range(n):
            kills = [own[nth % len(own)][trial] < rate for nth, rate in enumerate(self.rates)]
            yield self.run(rng, task, trial, True, kills)
        share = (1 - self.success) / self.success
        failures = n * share
        failures = math.floor(failures) + (rng.random() < failures % 1)
        for trial in range(failures):
            stopped = rng.random() < 0.6
            yield self.run(rng, task, n + trial, False, [stopped] * len(self.rates))

    def run(self, rng, task, trial, success, stops):
        name = f"{task}-{trial}"
        # A killed success is longer than the limit by one step; a failure by eight.
        more = 40 if self.heavy and task == 0 else 1 if success else 8
        if self.related == "chain":
            boldest = next((nth for nth, stop in enumerate(stops) if stop), None)
            steps = 3 if boldest is None else self.limit(boldest) + more
            return Run(name, f"t{task}", steps, success)
        run = Run(name, f"t{task}", 3 + more if any(stops) or not success else 3, success)
        run.tools = [[] for _ in range(run.steps)]
        run.tools[1] = [f"t{nth}" for nth, stop in enumerate(stops) if stop]
        return run

    def settle(self, _program: Program, answers, tally):
        for answer in answers:
            certified = [bound is not None and bound <= LIMIT for bound in answer["bounds"]]
            tally.note("false certificate", any(is_certified and rate > LIMIT for is_certified, rate in zip(certified, self.rates)))
            tally.note("ships", answer["ship"] is not None)


def latent(rng, task, n, icc):
    """`n` numbers, uniform one by one, alike within a task."""
    normal = (math.sqrt(icc) * task + math.sqrt(1 - icc) * rng.gauss(0, 1) for _ in range(n))
    return [0.5 * math.erfc(-value / math.sqrt(2)) for value in normal]


def falling(n, last=FALSE):
    """`n` rates of a chain, the last of which is false."""
    return [last * (nth + 1) / n for nth in range(n - 1)] + [last]


CELLS = [
    Kills("kills-one", [FALSE], 150),
    Kills("kills-one-20-trials", [FALSE], 100, trials=(20, 20)),
    Kills("kills-chain-8", [*falling(4), 0.06, 0.08, 0.1, 0.12], 150, related="chain"),
    Kills("kills-unlike-10", [FALSE] * 10, 150),
    Kills("kills-unlike-60", [FALSE] * 60, 150),
    Kills("kills-unlike-mixed", [0.0, 0.01, 0.02, FALSE, FALSE, 0.2], 150),
    Kills("kills-nested-in-the-sample", [0.02, 0.03, 0.04, FALSE, 0.0505, 0.052, 0.055, 0.06], 150, related="nested"),
    Kills("kills-unequal-tasks", [FALSE], 120, trials=(1, 30)),
    Kills("kills-success-2", [FALSE], 80, trials=(1, 1), success=0.02),
    Kills("kills-success-98", [FALSE], 150, success=0.98),
    Kills("kills-heavy-task", [FALSE], 150, heavy=True),
    Kills("kills-clustered", [FALSE], 150, trials=(4, 4), icc=0.95),
    Kills("kills-true-100", [TRUE], 100, icc=0.05, ships=0.30),
    Kills("kills-true-150", [TRUE], 150, icc=0.05, ships=0.55),
    Kills("kills-true-200", [TRUE], 200, icc=0.05, ships=0.75),
]
