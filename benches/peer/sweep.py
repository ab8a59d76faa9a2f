"""The peers of the sweep bench: the same stacks over the same readings, in plain Python, in polars, and in numpy with the same trick.

    python3 -m venv /tmp/peers && /tmp/peers/bin/pip install numpy polars
    cargo bench --bench sweep -- 20000 5 /tmp/corpus
    /tmp/peers/bin/python benches/peer/sweep.py /tmp/corpus

Reads `readings.csv`, `limits.csv` and `stacks.csv` of the bench. Every way is held against what the engine said of each of the
sampled stacks it was tried on: stops, successes killed, tokens spent. Prints nanoseconds of this thread's processor time for a
stack and run, on one thread.
"""

import csv
import os
import sys
import time

os.environ["POLARS_MAX_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402
import polars as pl  # noqa: E402


def read(folder):
    """Readings by run, limits by signal, and the sampled stacks with what they come to."""
    table = pl.read_csv(f"{folder}/readings.csv")
    with open(f"{folder}/limits.csv") as file:
        limits = {row[0]: [float(limit) for limit in row[1:]] for row in csv.reader(file)}
    with open(f"{folder}/stacks.csv") as file:
        stacks = [
            ([int(choice) for choice in row["choices"].split()], (int(row["stops"]), int(row["killed"]), int(row["spent"])))
            for row in csv.DictReader(file)
        ]
    return table, limits, stacks


def timed(work):
    before = time.thread_time_ns()
    made = work()
    return time.thread_time_ns() - before, made


def python_fold(runs, names, limits, stack):
    """Step by step, rule by rule: what a short script does."""
    rules = [(at, limits[name][choice - 1]) for at, (name, choice) in enumerate(zip(names, stack)) if choice]
    tokens = names.index("tokens.total")
    stops = killed = spent = 0
    for success, steps in runs:
        last = len(steps) - 1
        for nth, step in enumerate(steps):
            if nth < last and any(step[at] is not None and step[at] >= limit for at, limit in rules):
                stops += 1
                killed += success
                break
        spent += step[tokens] or 0
    return stops, killed, spent


def polars_expressions(table, names, limits, stack):
    """One query a stack: the first step that meets any limit, by run."""
    rules = [pl.col(name) >= limits[name][choice - 1] for name, choice in zip(names, stack) if choice]
    fires = pl.any_horizontal(*rules).fill_null(False) if rules else pl.lit(False)
    stopped = (
        table.with_columns(end=(fires & (pl.col("is_last") == 0)) | (pl.col("is_last") == 1))
        .filter("end")
        .group_by("run", maintain_order=True)
        .first()
    )
    early = stopped["is_last"] == 0
    return int(early.sum()), int((early & (stopped["success"] == 1)).sum()), int(stopped["tokens.total"].fill_null(0).sum())


class Columns:
    """The engine's own trick: a column a limit, with what was spent when it fired, and whether that was early."""

    def __init__(self, table, names, limits):
        run = table["run"].to_numpy()
        starts = np.flatnonzero(np.r_[True, run[1:] != run[:-1]])
        ends = np.r_[starts[1:], len(run)]
        self.success = table["success"].to_numpy()[starts].astype(bool)
        tokens = table["tokens.total"].fill_null(0).to_numpy()
        self.recorded = tokens[ends - 1].astype(np.uint32)
        self.spent, self.early = [], []
        for name in names:
            readings = table[name].cast(pl.Float64).fill_null(float("-inf")).to_numpy()
            best = readings.copy()
            for start, end in zip(starts, ends):
                np.maximum.accumulate(readings[start:end], out=best[start:end])
            spent, early = [self.recorded], [np.zeros(len(starts), bool)]
            for limit in limits[name]:
                below = np.add.reduceat((best < limit).astype(np.int64), starts)
                fired = below < ends - starts - 1
                spent.append(np.where(fired, tokens[np.minimum(starts + below, ends - 1)], self.recorded).astype(np.uint32))
                early.append(fired)
            self.spent.append(spent)
            self.early.append(early)

    def told(self, spent, early):
        return int(np.count_nonzero(early)), int(np.count_nonzero(early & self.success)), int(spent.sum(dtype=np.uint64))

    def flat(self, stack):
        spent, early = self.spent[0][stack[0]], self.early[0][stack[0]]
        for axis, choice in enumerate(stack[1:], 1):
            spent, early = np.minimum(spent, self.spent[axis][choice]), early | self.early[axis][choice]
        return self.told(spent, early)

    def shared(self, prefix):
        """All stacks of the last axis on one prefix, which is worked out once."""
        spent, early = self.spent[0][prefix[0]], self.early[0][prefix[0]]
        for axis, choice in enumerate(prefix[1:], 1):
            spent, early = np.minimum(spent, self.spent[axis][choice]), early | self.early[axis][choice]
        last = len(self.spent) - 1
        return [
            self.told(np.minimum(spent, of), early | by) for of, by in zip(self.spent[last], self.early[last])
        ]


def main(folder):
    table, limits, stacks = read(folder)
    names = list(limits)
    columns = Columns(table, names, limits)
    n = len(columns.recorded)
    print(f"{n} graded runs, {table.height} steps; numpy {np.__version__}, polars {pl.__version__}, Python {sys.version.split()[0]}")
    by_run = table.group_by("run", maintain_order=True).agg(pl.col("success").first(), *names)
    runs = [(row[1], list(zip(*row[2:]))) for row in by_run.iter_rows()]

    def check(name, tried, way):
        ns, told = timed(lambda: [way(stack) for stack, _ in tried])
        wrong = [stack for (stack, expected), got in zip(tried, told) if got != expected]
        assert not wrong, f"{name} disagrees with the engine on {len(wrong)} of {len(tried)}, first {wrong[0]}"
        print(f"{name}: {ns / len(tried) / n:.3f} ns a stack and run, on {len(tried)} stacks, each as the engine says")

    spread = stacks[1 :: max(1, len(stacks) // 40)]
    for nth in range(3):
        check("plain Python fold", spread[nth::10], lambda stack: python_fold(runs, names, limits, stack))
        check("polars", spread, lambda stack: polars_expressions(table, names, limits, stack))
        check("numpy, same trick, flat", stacks, columns.flat)
        ns, told = timed(lambda: [columns.shared(stack[:-1]) for stack, _ in stacks])
        assert all(of[stack[-1]] == expected for (stack, expected), of in zip(stacks, told)), "numpy, shared prefixes"
        print(f"numpy, same trick, shared prefixes: {ns / len(stacks) / len(told[0]) / n:.4f} ns a stack and run")


main(sys.argv[1])
