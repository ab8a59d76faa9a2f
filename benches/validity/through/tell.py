"""Asks the program, and counts what it says."""

import csv
import json
import math
import subprocess
from collections import defaultdict


class Program:
    """The program, called in one folder."""

    def __init__(self, path, folder):
        self.path, self.folder, self.calls = str(path), folder, 0

    def call(self, *arguments, ok=(0, 100)):
        self.calls += 1
        command = [self.path, *map(str, arguments), "--threads", "1"]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        if ok and done.returncode not in ok:
            raise SystemExit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
        return done

    def json(self, *arguments):
        return json.loads(self.call(*arguments, "--format", "json").stdout)

    def rows(self, recordings, stacks):
        """The rows of a comparison."""
        self.call("compare", recordings, "--stacks", stacks, "--out", "out", "--embed-text", "none", "--quiet")
        with open(self.folder / "out" / "rows.csv", newline="") as file:
            yield from csv.DictReader(file)


def estimates(told, stack):
    """The estimates of one stack by name, over all runs."""
    return {one["name"]: one for one in told["estimates"] if one["stack"] == stack and one["suite"] is None and one["model"] is None}


def held(one, truth):
    """Whether an estimate's interval holds the truth, on which side it does not, how wide it is, and the estimate."""
    if one is None or one.get("low") is None or one.get("high") is None:
        return None
    side = "below" if one["high"] < truth else "above" if one["low"] > truth else ""
    return [side == "", side, one["high"] - one["low"], one.get("value")]


class Tally:
    """Counts events by measure."""

    def __init__(self):
        self.counts = defaultdict(lambda: {"drawn": 0, "answered": 0, "events": 0, "below": 0, "above": 0, "width": [], "values": []})

    def note(self, measure, answer):
        """`answer`: `None`, whether it happened, or what `held` says."""
        count = self.counts[measure]
        count["drawn"] += 1
        if answer is None:
            return
        event, side, width, value = answer if isinstance(answer, list) else (answer, "", None, None)
        count["answered"] += 1
        count["events"] += bool(event)
        if side:
            count[side] += 1
        if width is not None and math.isfinite(width):
            count["width"].append(width)
        if value is not None:
            count["values"].append(value)

    def lines(self, cell, promises, befores):
        for measure, count in self.counts.items():
            kind, low, high = promises.get(measure, ("told", 0.0, 1.0))
            n, events = count["answered"], count["events"]
            share = events / n if n else None
            error = math.sqrt(share * (1 - share) / n) if n else None
            outside = ""
            if n and n >= 100:
                # A coverage errs on the safe side upwards, an alarm or a broken promise downwards.
                slack = 2 * max(error, math.sqrt(low * (1 - low) / n) if 0 < low < 1 else 0, math.sqrt(high * (1 - high) / n) if 0 < high < 1 else 0)
                below, above = ("rough", "safe") if kind == "covers" else ("safe", "rough")
                outside = below if share < low - slack else above if share > high + slack else ""
            digits = lambda number: "" if number is None else f"{number:.4f}"
            width, values = count["width"], sorted(count["values"])
            yield {
                "cell": cell, "measure": measure, "kind": kind, "low": low, "high": high,
                "before": befores.get(measure, ""), "share": digits(share), "monte_carlo_error": digits(error),
                "events": events, "answered": n, "drawn": count["drawn"], "below": count["below"], "above": count["above"],
                "mean_width": digits(sum(width) / len(width)) if width else "",
                "repeated_width": digits(quantile(values, 0.975) - quantile(values, 0.025)) if values else "", "side": outside,
            }


def quantile(values, share):
    """Of sorted values, linear between two of them."""
    at = share * (len(values) - 1)
    low = int(at)
    return values[low] + (at - low) * (values[min(low + 1, len(values) - 1)] - values[low])
