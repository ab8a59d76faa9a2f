"""What `tune` promises of the rule it ships, and what it says about it on tasks left out."""

from collections import defaultdict
from dataclasses import replace

from tell import held
from worlds import World, rule, seeded, write

GRID = "".join(
    f'[[axis]]\nsignal = "{signal}"\nat_least = {limits}\noptional = true\n'
    for signal, limits in [("call_result.count", [2, 3, 4, 5]), ("errors.count", [2, 3, 4, 6]), ("steps", [8, 12, 16, 20, 26, 32, 40])]
)
PRICES = "".join(f"[model-{nth}]\ninput = 3.0\noutput = 15.0\n" for nth in range(4))
TRUTH = 2000


class Tuned:
    """One world, one way of tuning."""

    def __init__(self, name, world, tasks, alpha, *options, before=None, line="tuned"):
        self.name, self.world, self.tasks, self.alpha, self.options, self.line = name, world, tasks, alpha, options, line
        self.befores = before or {}
        self.promises = {"broken": ("fails", 0.0, 0.1), "killed": ("covers", 0.93, 1.0), "saved": ("covers", 0.93, 1.0)}
        if line == "grid":  # says that its savings do not allow for the choice
            self.promises |= {"broken": ("fails", 0.0, 0.05), "saved": ("told", 0.0, 1.0)}

    def ask(self, program, seed):
        write(program.folder / "runs.jsonl", self.world.runs(seeded(self.name, seed), self.tasks), self.world.named)
        (program.folder / "grid.toml").write_text(GRID)
        (program.folder / "prices.toml").write_text(PRICES)
        presets = [] if self.line == "best preset" else ["--no-presets"]
        told = program.json("tune", "runs.jsonl", "--max-killed", self.alpha, *presets, *self.options)
        if self.line == "grid":
            return from_grid(told)
        line = next((line for line in told.get("beside", []) if line["what"] == self.line), None)
        ship = told.get("ship")
        answer = {"verdict": told["verdict"], "rule": None}
        if line and (ship if self.line == "tuned" else line["rule"] != "none"):
            answer |= {key: line[key] for key in ("killed", "saved")}
            answer["rule"] = [ship["from_step"], *ship["rules"]] if self.line == "tuned" else [line["rule"]]
            answer["refused"] = ship.get("held_out_parts_refused", 0) if ship else None
        return answer

    def settle(self, program, answers, tally):
        """Rates every rule that was shipped on many more tasks of the same world."""
        rules = sorted({tuple(answer["rule"]) for answer in answers if answer["rule"]}, key=repr)
        truths = {}
        if rules:
            world = replace(self.world, named=True, copies=1)
            write(program.folder / "truth.jsonl", world.runs(seeded(self.name, "truth"), TRUTH))
            if self.line != "best preset":
                named = {f"r{nth}": of for nth, of in enumerate(rules)}
                text = "".join(f'[[stack]]\nname = "{name}"\nany = [{", ".join(rule(one, start) for one in of)}]\n' for name, (start, *of) in named.items())
                (program.folder / "rules.toml").write_text(text)
                truths = rated(program.rows("truth.jsonl", "rules.toml"), named)
            else:
                named = {of[0]: of for of in rules}
                for name, of in named.items():
                    rows = [row | {"stack": name} for row in program.rows("truth.jsonl", f"preset:{name}")]
                    truths |= rated(rows, {name: of})
        for answer in answers:
            truth = truths.get(tuple(answer["rule"])) if answer["rule"] else None
            by_task, saved = truth or (None, None)
            if self.line != "best preset":  # which has no certificate
                tally.note("broken", None if truth is None else by_task > self.alpha)
            tally.note("killed", truth and held(answer["killed"], by_task))
            tally.note("saved", truth and held(answer["saved"], saved))
            tally.note("refused", answer["rule"] is None)


def from_grid(told):
    """What a grid ships: what it kills at most, as one of all that were tried, and what it saves."""
    ship = told.get("ship")
    answer = {"verdict": told["verdict"], "rule": None}
    if ship:
        line = next(line for line in told["sweep"] if line["stack"] == ship)
        answer |= {"rule": [0, *ship.split(" or ")], "killed": {"low": 0.0, "high": line["killed_at_most"]}}
        answer["saved"] = {"low": line["saved_share_low"], "high": line["saved_share_high"]}
    return answer


def rated(rows, named):
    """By rule: the mean over tasks of what is killed of their successes, and what is saved usefully of all tokens."""
    sums = {of: [0.0, 0.0, defaultdict(lambda: [0, 0])] for of in named.values()}
    for row in rows:
        of = sums[named[row["stack"]]]
        success, killed = row["outcome"] == "success", int(row["killed_low"] or 0)
        tokens, until = float(row["tokens_recorded"]), float(row["tokens_at_stop"] or row["tokens_recorded"])
        of[0] += tokens
        if success:
            task = of[2][row["task_id"]]
            task[0] += killed
            task[1] += 1
        if not killed:
            of[1] += tokens - until
    return {
        tuple(name): (sum(a / b for a, b in tasks.values()) / len(tasks), saved / tokens)
        for name, (tokens, saved, tasks) in sums.items()
    }


PLAIN = World()
CELLS = [
    Tuned("tune-recorders", replace(PLAIN, other=0.045), 140, 0.05, before={"broken": "21.5–31.4"}),
    Tuned("tune-unnamed", replace(PLAIN, named=False, alike=True, trials=(6, 6)), 40, 0.1, before={"broken": "20.0", "killed": "68.7", "saved": "81.3"}),
    Tuned("tune-unnamed-declared", replace(PLAIN, named=False, trials=(1, 1)), 100, 0.1, "--task", "run"),
    Tuned("tune-models", replace(PLAIN, models=True), 80, 0.1, before={"killed": "82.7", "saved": "98.0", "broken": "5.0"}),
    Tuned("tune-unlike-70", replace(PLAIN, spread=0.8), 70, 0.1, before={"killed": "83.9", "saved": "96.4", "broken": "2.0"}),
    Tuned("tune-unlike-45", replace(PLAIN, spread=0.8), 45, 0.1, before={"killed": "90–98", "saved": "94–99", "broken": "3.0"}),
    Tuned("tune-flags-160", replace(PLAIN, trials=(3, 3)), 160, 0.1, before={"killed": "85.6", "saved": "93.8", "broken": "0"}),
    Tuned("tune-unequal", replace(PLAIN, spread=0.8, trials=(1, 50), mean=6.0, most=40), 60, 0.1, before={"killed": "88.4", "saved": "90.4", "broken": "1.6"}),
    Tuned("tune-longer-succeed", replace(PLAIN, lean=0.8), 70, 0.1, before={"killed": "90–98", "saved": "94–99", "broken": "1.1"}),
    Tuned("tune-longer-fail", replace(PLAIN, lean=-0.8), 70, 0.1, before={"killed": "90–98", "saved": "94–99", "broken": "2.7"}),
    Tuned("tune-ties", replace(PLAIN, grain=5), 70, 0.1, before={"killed": "90–98", "saved": "94–99", "broken": "1.3"}),
    Tuned("tune-doubled", replace(PLAIN, trials=(2, 2), copies=2), 70, 0.1, before={"killed": "90–98", "saved": "94–99", "broken": "1.3"}),
    Tuned("tune-priced", replace(PLAIN, models=True), 80, 0.1, "--price", "prices.toml", "--lost-success-costs", "0.05", before={"killed": "85.0", "broken": "0"}),
    Tuned("tune-grid", replace(PLAIN, trials=(3, 3)), 160, 0.1, "--grid", "grid.toml", before={"killed": "68.0", "saved": "82.0", "broken": "4.0"}, line="grid"),
    Tuned("tune-learn", replace(PLAIN, trials=(3, 3)), 330, 0.1, "--learn", before={"killed": "53.8", "saved": "60.0", "broken": "0"}),
    Tuned("tune-best-preset", replace(PLAIN, spread=0.8), 70, 0.1, before={"killed": "76.6", "saved": "90.6"}, line="best preset"),
]
