#!/usr/bin/env python3
"""Answers H1 to H6 and H8 from the two tables of per-task sums, and writes tables/*.csv.

    python3 analysis.py [--open-only]

Reads runs.csv.gz and sums.csv.gz beside this file; no recording and no whenstop.
"""

import argparse
import csv
import gzip
import math
import pathlib
import re
import tomllib
from collections import Counter, defaultdict

from bounds import UP, holm, lower, p_above, p_below, upper

HERE = pathlib.Path(__file__).resolve().parent
STUDY = tomllib.loads((HERE / "study.toml").read_text())
OWN = re.findall(r'^name = "(.*)"$', (HERE / "stacks.toml").read_text(), re.M)
GUARDS, CAPS = STUDY["strategies"]["guards"], STUDY["strategies"]["caps"]
RULES = [name for name in OWN if name not in GUARDS]
HARMLESS, TOLERATED, USEFUL = 0.01, 0.05, 0.02
LEAST_TASKS = 8
CLASSES = ["assistants", "attacked", "code", "terminal", "mcp", "reasoning", "search", "research", "games", "replication"]
LENGTHS = {0: "up to 20", 1: "over 20", 2: "all"}
# The summary class: work that is neither attacked nor a game. It is in no family of tests.
WORK = "all work"
# Classes in no family of tests: a summary, and what was added after the registration.
APART = [WORK, "replication"]


def own_name(name):
    """Variants carry their profile in the rows; here they have the name of stacks.toml."""
    base = re.sub(r" \([^()]*\)$", "", name)
    return base if base in OWN else name


def cells(kind, long):
    """The cells that a run counts in: its class by length, and whole; and the same for the summary class."""
    kinds = [kind] if kind in ("attacked", "games", "replication") else [kind, WORK]
    return [(name, length) for name in kinds for length in (long, 2)]


def price(tasks):
    """What a success costs, in runs of its own length: one over the success rate (mean over tasks). None without a success."""
    rate = sum(sum(ok for ok, _ in runs) / len(runs) for runs in tasks.values()) / len(tasks)
    return 1 / rate if rate else None


def values_of(row):
    """The sums of a line of sums.csv.gz, as numbers."""
    return [float(row[c]) for c in ("unread_successes", "unread_failures", "acted", "killed_low", "killed_high", "ended_low", "ended_high", "net_low",
                                    "net_high", "unbounded", "spent_low", "spent_high")]


def add(sums, task, values):
    sums[task] = [a + b for a, b in zip(sums[task], values)] if task in sums else values


class Data:
    """Runs by cell and task, and sums by cell, strategy and task. A cell is a class and a length."""

    def __init__(self, halves):
        self.tasks, self.by_source = (defaultdict(lambda: defaultdict(list)) for _ in range(2))
        self.sources, self.source_sums = defaultdict(set), defaultdict(lambda: defaultdict(dict))
        self.models = defaultdict(lambda: defaultdict(list))
        with gzip.open(HERE / "runs.csv.gz", "rt", newline="") as file:
            for row in csv.DictReader(file):
                if row["half"] in halves and row["outcome"] and int(row["steps"]):
                    task, run = row["task"], (int(row["outcome"]), int(row["steps"]))
                    self.sources[row["class"]].add(row["source"])
                    self.by_source[(row["class"], int(run[1] > STUDY["classes"]["length"]), row["source"])][task].append(run)
                    for cell in cells(row["class"], int(run[1] > STUDY["classes"]["length"])):
                        self.tasks[cell][task].append(run)
                    self.models[(row["source"], row["model"])][task].append((int(row["outcome"]), int(row["steps"])))
        self.sums = defaultdict(lambda: defaultdict(dict))
        self.model_sums = defaultdict(lambda: defaultdict(dict))
        self.strategies = set()
        with gzip.open(HERE / "sums.csv.gz", "rt", newline="") as file:
            for row in csv.DictReader(file):
                if row["half"] not in halves:
                    continue
                name = own_name(row["strategy"])
                self.strategies.add(name)
                values = values_of(row)
                keys = [(self.sums, cell) for cell in cells(row["class"], int(row["long"]))]
                keys += [(self.model_sums, (row["source"], row["model"])), (self.source_sums, (row["class"], int(row["long"]), row["source"]))]
                for table, key in keys:
                    add(table[key][name], row["task"], values)


def cell_of(tasks, sums):
    """One cell of the board: counts and, by task, the means that the bounds are for."""
    count = Counter()
    killed_low, killed_high, net_low, net_high = Counter(), Counter(), Counter(), Counter()
    unbounded, cost = False, price(tasks)
    for task, runs in tasks.items():
        s = sums.get(task) or [0] * 12
        successes = sum(outcome for outcome, _ in runs) - s[0]
        judged = len(runs) - s[0] - s[1]
        count.update(runs=len(runs), tasks=1, judged=judged, judged_successes=successes, tasks_judged=judged > 0, tasks_with_success=successes > 0,
                     acted=s[2], killed_low=s[3], killed_high=s[4], ended_low=s[5], ended_high=s[6], failures=judged - successes)
        if successes > 0:
            killed_low[round(s[3] / successes, 9)] += 1
            killed_high[round(s[4] / successes, 9)] += 1
        if judged > 0:
            unbounded = unbounded or s[9] > 0
            if cost:
                lost = s[3] * (1 - cost)
                net_low[round(max(-cost, (s[7] + lost) / judged), 9)] += 1
                net_high[round((s[8] + lost) / judged, 9)] += 1
    return count, killed_low, killed_high, net_low, net_high, unbounded, cost


def mean(values):
    n = sum(values.values())
    return sum(x * k for x, k in values.items()) / n if n else None


def scaled(values, cost):
    """Net saved shares, between -cost and 1, as values between 0 and 1."""
    result = Counter()
    for x, n in values.items():
        result[min(1.0, max(0.0, round((x + cost) / (1 + cost), 9)))] += n
    return result


def random_stop(tasks, stops):
    """Killed share by task if each step ended its run with the guard's own frequency of stops."""
    steps = sum(n for runs in tasks.values() for _, n in runs)
    hazard = stops / steps if steps else 0
    shares = [sum(1 - (1 - hazard) ** (n - 1) for ok, n in runs if ok) / sum(ok for ok, _ in runs) for runs in tasks.values() if any(ok for ok, _ in runs)]
    return sum(shares) / len(shares) if shares else None


def board(data, part):
    rows = []
    for kind in [*CLASSES, WORK]:
        for long in (0, 1) if kind != WORK else (0, 1, 2):
            tasks = data.tasks.get((kind, long))
            if not tasks:
                continue
            for name in GUARDS + CAPS + RULES:
                sums = data.sums[(kind, long)].get(name, {})
                count, k_low, k_high, n_low, n_high, unbounded, cost = cell_of(tasks, sums)
                row = {"part": part, "class": kind, "length": LENGTHS[long], "strategy": name,
                       "kind": "guard" if name in GUARDS else "cap" if name in CAPS else "rule", "runs": count["runs"], "tasks": count["tasks"],
                       "judged": int(count["judged"]), "judged_successes": int(count["judged_successes"]), "tasks_with_success": count["tasks_with_success"],
                       "acted": int(count["acted"]), "killed_low": int(count["killed_low"]), "killed_high": int(count["killed_high"]),
                       "ended_low": int(count["ended_low"]), "ended_high": int(count["ended_high"]), "failures": int(count["failures"])}
                if count["tasks_with_success"] >= LEAST_TASKS:
                    row |= {"kill_mean_low": mean(k_low), "kill_mean_high": mean(k_high), "kill_bound_low": lower(k_low), "kill_bound_high": upper(k_high),
                            "p_harmless": p_below(k_high, HARMLESS), "p_tolerated": p_below(k_high, TOLERATED), "p_kills": p_above(k_low, HARMLESS),
                            "random_stop_kills": random_stop(tasks, count["killed_low"] + count["ended_low"])}
                if count["tasks_judged"] >= LEAST_TASKS and cost:
                    low, high, mark = scaled(n_low, cost), scaled(n_high, cost), (USEFUL + cost) / (1 + cost)
                    row |= {"cost_of_success": cost, "net_mean_low": None if unbounded else mean(n_low), "net_mean_high": mean(n_high),
                            "net_bound_low": None if unbounded else (1 + cost) * lower(low) - cost, "net_bound_high": (1 + cost) * upper(high) - cost,
                            "p_useful": 1.0 if unbounded else p_above(low, mark), "p_useless": p_below(high, mark)}
                rows.append(row)
    judge(rows)
    for row in rows:
        if row["harm"] == "kills" or row["use"] in ("useful", "useless"):
            row["rests_on"] = rests_on(data, row)
    return rows


def rests_on(data, row):
    """The collections without which a verdict is lost (5 %, not adjusted)."""
    found, long = [], int(row["length"] == LENGTHS[1])
    for left_out in sorted(data.sources[row["class"]]):
        tasks, sums = defaultdict(list), {}
        for source in data.sources[row["class"]] - {left_out}:
            key = (row["class"], long, source)
            for task, runs in data.by_source.get(key, {}).items():
                tasks[task] += runs
            for task, values in data.source_sums.get(key, {}).get(row["strategy"], {}).items():
                add(sums, task, values)
        count, k_low, _, n_low, n_high, unbounded, cost = cell_of(tasks, sums) if tasks else (Counter(), Counter(), None, None, None, True, None)
        lost = row["harm"] == "kills" and (count["tasks_with_success"] < LEAST_TASKS or p_above(k_low, HARMLESS) > 0.05)
        mark = (USEFUL + cost) / (1 + cost) if cost else None
        lost = lost or row["use"] == "useless" and (not cost or p_below(scaled(n_high, cost), mark) > 0.05)
        lost = lost or row["use"] == "useful" and (not cost or unbounded or p_above(scaled(n_low, cost), mark) > 0.05)
        if lost:
            found.append(left_out)
    return " ".join(found)


def judge(rows):
    """Holm within each family, over the shipped guards and their variants in every class and length."""
    guards = [row for row in rows if row["kind"] == "guard" and row["judged"] and row["class"] not in APART]
    for p, adjusted in (("p_harmless", "h1"), ("p_tolerated", "h1_5"), ("p_kills", "h1_kills"), ("p_useful", "h2"), ("p_useless", "h2_useless")):
        family = [row for row in guards if row.get(p) is not None]
        for row, value in zip(family, holm([row[p] for row in family])):
            row[adjusted] = value
    for row in rows:
        row["harm"] = "not judged" if not row["judged"] else "too few tasks" if row.get("p_kills") is None else ""
        row["use"] = "not judged" if not row["judged"] else "too few tasks" if row.get("p_useful") is None else ""
        if row["class"] in APART:
            row["harm"] = row["use"] = "summary" if row["class"] == WORK else "replication"
        if row["kind"] == "guard" and not row["harm"]:
            row["harm"] = "harmless" if row["h1"] <= 0.05 else "kills" if row["h1_kills"] <= 0.05 else "unresolved"
        if row["kind"] == "guard" and not row["use"]:
            row["use"] = "useful" if row["h2"] <= 0.05 else "useless" if row["h2_useless"] <= 0.05 else "unresolved"


# --- H3: families of limits -----------------------------------------------------------------------------------------------

LIMITS = [3, 4, 5, 8, 10]
STEPS = [5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120, 150, 200, 250]


def by_steps(tasks, cap):
    """Killed and net saved share by task of a plain budget."""
    killed, net, cost = {}, {}, price(tasks) or 1
    for task, runs in tasks.items():
        successes = sum(ok for ok, _ in runs)
        if successes:
            killed[task] = sum(1 for ok, n in runs if ok and n > cap) / successes
        net[task] = sum(1 - cap / n - (cost if ok else 0) for ok, n in runs if n > cap) / len(runs)
    return killed, net


def by_rule(tasks, sums):
    killed, net, cost = {}, {}, price(tasks) or 1
    for task, runs in tasks.items():
        s = sums.get(task) or [0] * 12
        successes = sum(ok for ok, _ in runs)
        if successes:
            killed[task] = s[3] / successes
        net[task] = (s[7] + s[3] * (1 - cost)) / len(runs)
    return killed, net


def family(data, cell, name):
    """Every limit of a family, from the most to the least aggressive."""
    tasks, sums = data.tasks[cell], data.sums[cell]
    if name == "steps":
        return [(f"{cap} steps", *by_steps(tasks, cap)) for cap in STEPS]
    return [(f"{limit} {name}", *by_rule(tasks, sums.get(f"{limit} {name}", {}))) for limit in LIMITS]


def counted(values):
    return Counter(round(value, 9) for value in values)


def certified(options, most=TOLERATED, level=0.95):
    """The most aggressive limit of which every gentler one is certified too (fixed sequence, gentlest first)."""
    chosen = None
    for option in reversed(options):
        if len(option[1]) < LEAST_TASKS or p_below(counted(option[1].values()), most) > 1 - level:
            break
        chosen = option[0]
    return chosen


def h3(dev, test):
    rows, families = [], STUDY["hypothesis"][2]["families"]
    for cell in sorted(cell for cell in test.tasks if cell[1] == 2 and cell[0] not in APART):
        picked, cost = {}, price(test.tasks[cell])
        for name in families:
            choice = certified(family(dev, cell, name)) if cell in dev.tasks else None
            if choice:
                picked[name] = next(option for option in family(test, cell, name) if option[0] == choice)
        for a, b in ((0, 1), (0, 2), (1, 2)):
            a, b = families[a], families[b]
            row = {"class": cell[0], "length": LENGTHS[cell[1]], "first": picked[a][0] if a in picked else "none certified", "second": picked[b][0] if b in picked else "none certified"}
            if a in picked and b in picked:
                # A difference of two net saved shares lies between -(1 + cost) and 1 + cost.
                width = 2 * (1 + (cost or 1))
                difference = counted((picked[a][2][task] - picked[b][2][task]) / width + 0.5 for task in picked[a][2])
                row |= {"tasks": sum(difference.values()), "first_net": mean(counted(picked[a][2].values())), "second_net": mean(counted(picked[b][2].values())),
                        "first_killed": mean(counted(picked[a][1].values())), "second_killed": mean(counted(picked[b][1].values())),
                        "difference": width * (mean(difference) - 0.5), "low": width * (lower(difference) - 0.5), "high": width * (upper(difference) - 0.5),
                        "p": min(1.0, 2 * min(p_above(difference, 0.5), p_below(difference, 0.5)))}
            rows.append(row)
    tested = [row for row in rows if "p" in row]
    for row, value in zip(tested, holm([row["p"] for row in tested])):
        row["adjusted"] = value
        row["verdict"] = "unresolved" if value > 0.05 else "first saves more" if row["difference"] > 0 else "second saves more"
    return rows


# --- H4: who loops --------------------------------------------------------------------------------------------------------

LOOPS = "5 equal results in a row"


def traits(model, table):
    for entry in table:
        if re.search(entry["pattern"], model, re.I):
            return entry["new"], entry["large"]
    return None, None


def odds(strata):
    """Mantel-Haenszel odds ratio with an interval by the jackknife over tasks (0.5 is added nowhere: empty strata say nothing)."""
    def ratio(parts):
        top, bottom = sum(p[0] for p in parts), sum(p[1] for p in parts)
        return math.log(top / bottom) if top > 0 and bottom > 0 else None
    parts = [(a * d / (a + b + c + d), b * c / (a + b + c + d)) for a, b, c, d in strata if a + b and c + d]
    whole = ratio(parts)
    if whole is None:
        return None, None, None
    top, bottom = sum(p[0] for p in parts), sum(p[1] for p in parts)
    left = [math.log((top - p[0]) / (bottom - p[1])) for p in parts if top - p[0] > 0 and bottom - p[1] > 0]
    if len(left) < len(parts):
        return math.exp(whole), None, None
    m = sum(left) / len(left)
    error = math.sqrt((len(left) - 1) / len(left) * sum((x - m) ** 2 for x in left))
    return math.exp(whole), math.exp(whole - 1.96 * error), math.exp(whole + 1.96 * error)


def h4(data):
    table = tomllib.loads((HERE / "models.toml").read_text())["model"]
    rows = []
    for source in sorted({source for source, _ in data.models}):
        for trait in ("new", "large"):
            strata = defaultdict(lambda: [0, 0, 0, 0])
            for (of, model), tasks in data.models.items():
                new, large = traits(model, table)
                value = new if trait == "new" else large
                if of != source or value is None:
                    continue
                sums = data.model_sums[(of, model)].get(LOOPS, {})
                for task, runs in tasks.items():
                    looped = (sums.get(task) or [0] * 12)
                    hits = looped[3] + looped[5]
                    cell = strata[task]
                    cell[0 if value else 2] += hits
                    cell[1 if value else 3] += len(runs) - hits
            yes = [sum(s[i] for s in strata.values()) for i in range(4)]
            if not yes[0] + yes[1] or not yes[2] + yes[3]:
                continue
            ratio, low, high = odds(list(strata.values()))
            rows.append({"source": source, "trait": "released 2025 or later" if trait == "new" else "large", "tasks": len(strata), "runs_with": yes[0] + yes[1],
                         "loops_with": yes[0], "share_with": yes[0] / (yes[0] + yes[1]), "runs_without": yes[2] + yes[3], "loops_without": yes[2],
                         "share_without": yes[2] / (yes[2] + yes[3]), "odds_ratio": ratio, "low": low, "high": high})
    return rows


# --- H5: from one model to another ----------------------------------------------------------------------------------------

def model_family(data, key, name):
    tasks, sums = data.models[key], data.model_sums[key]
    if name == "steps":
        return [(f"{cap} steps", *by_steps(tasks, cap)) for cap in STEPS]
    return [(f"{limit} {name}", *by_rule(tasks, sums.get(f"{limit} {name}", {}))) for limit in LIMITS]


def h5(dev, test):
    rows = []
    names = ["steps", "equal calls in a row", "equal results in a row"]
    for source in sorted({source for source, _ in dev.models}):
        keys = sorted(key for key in dev.models if key[0] == source)
        for name in names:
            pairs = broken = trained = 0
            worst = 0.0
            for key in keys:
                choice = certified(model_family(dev, key, name), level=0.90)
                if choice is None:
                    continue
                trained += 1
                for other in keys:
                    if other == key or other not in test.models:
                        continue
                    killed = next(option for option in model_family(test, other, name) if option[0] == choice)[1]
                    if len(killed) < LEAST_TASKS:
                        continue
                    rate = sum(killed.values()) / len(killed)
                    pairs += 1
                    broken += rate > TOLERATED
                    worst = max(worst, rate)
            if pairs:
                low, high = lower(Counter({1: broken, 0: pairs - broken})), upper(Counter({1: broken, 0: pairs - broken}))
                rows.append({"source": source, "family": name, "models_certified": trained, "pairs": pairs, "broken": broken, "share": broken / pairs,
                             "low": low, "high": high, "worst_kill": worst})
    return rows


def h6(data):
    rows = []
    for cell in sorted(cell for cell in data.tasks if cell[1] == 2 and cell[0] not in APART):
        tasks = data.tasks[cell]
        oracle = sum(sum(1 - ok for ok, _ in runs) / len(runs) for runs in tasks.values()) / len(tasks)
        options = [(name, *by_rule(tasks, data.sums[cell].get(name, {}))) for name in RULES if not name.endswith(" steps") and "failed" not in name]
        options += family(data, cell, "steps")
        nets = [(mean(counted(net.values())), name, killed) for name, killed, net in options]
        best = max(nets, key=lambda entry: (entry[0], entry[1]))
        safe = [entry for entry in nets if len(entry[2]) >= LEAST_TASKS and p_below(counted(entry[2].values()), TOLERATED) <= 0.05 / len(nets)]
        top = max(safe, key=lambda entry: (entry[0], entry[1])) if safe else None
        rows.append({"class": cell[0], "length": LENGTHS[cell[1]], "tasks": len(tasks), "runs": sum(map(len, tasks.values())), "oracle": oracle,
                     "best_in_hindsight": best[1], "its_net": best[0], "its_killed": mean(counted(best[2].values())),
                     "best_certified": top[1] if top else "none", "certified_net": top[0] if top else None, "gap": oracle - (top[0] if top else 0), "tried": len(nets)})
    return rows


def h8(data):
    rows = []
    for source in sorted({source for source, _ in data.models}):
        keys = sorted(key for key in data.models if key[0] == source and len(data.models[key]) >= LEAST_TASKS)
        if len(keys) < 3:
            continue
        for name in GUARDS + CAPS + RULES:
            plain, stopped = [], []
            for key in keys:
                tasks, sums = data.models[key], data.model_sums[key].get(name, {})
                if any(s[0] or s[1] for s in sums.values()):
                    break
                plain.append(sum(sum(ok for ok, _ in runs) / len(runs) for runs in tasks.values()) / len(tasks))
                stopped.append(sum((sum(ok for ok, _ in runs) - (sums.get(task) or [0] * 12)[4]) / len(runs) for task, runs in tasks.items()) / len(tasks))
            if len(plain) < len(keys) or plain == stopped:
                continue
            pairs = [(i, j) for i in range(len(keys)) for j in range(i) if plain[i] != plain[j]]
            agree = sum((plain[i] - plain[j]) * (stopped[i] - stopped[j]) > 0 for i, j in pairs)
            against = sum((plain[i] - plain[j]) * (stopped[i] - stopped[j]) < 0 for i, j in pairs)
            change = max(range(len(keys)), key=lambda i: plain[i] - stopped[i])
            rows.append({"source": source, "strategy": name, "models": len(keys), "tau": (agree - against) / len(pairs) if pairs else None, "pairs": len(pairs), "flipped": against,
                         "largest_loss": plain[change] - stopped[change], "of_model": keys[change][1]})
    return rows


def most_saved(data):
    """For each guard the most that its net saving can be on work over 20 steps, for all guards together (Bonferroni)."""
    cell, rows = (WORK, 1), []
    for name in GUARDS:
        count, _, k_high, _, n_high, _, cost = cell_of(data.tasks[cell], data.sums[cell].get(name, {}))
        if count["judged"]:
            rows.append((name, count, k_high, n_high, cost))
    level = 1 - 0.05 / len(rows)
    return [{"strategy": name, "runs": int(count["judged"]), "tasks": int(count["tasks_judged"]), "acted": int(count["acted"]), "mean": mean(n_high),
             "at_most": (1 + cost) * upper(scaled(n_high, cost), level) - cost, "kills_at_most": upper(k_high, level)} for name, count, k_high, n_high, cost in rows]


# agent-loop-guard compares whole texts and needs minutes a run where they are long: not asked there.
NOT_ASKED = {"mcpmark": ["agent-loop-guard 0.1.1"]}


def others(data):
    """Guards of others, by collection and length, over both halves; Holm within this table."""
    if not (HERE / "others.csv.gz").exists():
        return []
    sums = defaultdict(lambda: defaultdict(dict))
    with gzip.open(HERE / "others.csv.gz", "rt", newline="") as file:
        for row in csv.DictReader(file):
            add(sums[(row["class"], int(row["long"]), row["source"])][row["strategy"]], row["task"], values_of(row))
    rows = []
    for key in sorted(key for key in data.by_source if key[2] in STUDY["strategies"]["of_others_on"]):
        for name in STUDY["strategies"]["of_others"]:
            if name in NOT_ASKED.get(key[2], []):
                continue
            tasks = data.by_source[key]
            count, k_low, k_high, n_low, n_high, unbounded, cost = cell_of(tasks, sums[key].get(name, {}))
            row = {"source": key[2], "length": LENGTHS[key[1]], "strategy": name, "runs": count["runs"], "judged": int(count["judged"]),
                   "judged_successes": int(count["judged_successes"]), "tasks_with_success": count["tasks_with_success"], "acted": int(count["acted"]),
                   "killed_low": int(count["killed_low"]), "killed_high": int(count["killed_high"])}
            if count["tasks_with_success"] >= LEAST_TASKS:
                row |= {"kill_bound_low": lower(k_low), "kill_bound_high": upper(k_high), "p_kills": p_above(k_low, HARMLESS)}
            if count["tasks_judged"] >= LEAST_TASKS and cost:
                low, high = scaled(n_low, cost), scaled(n_high, cost)
                row |= {"net_bound_low": None if unbounded else (1 + cost) * lower(low) - cost, "net_bound_high": (1 + cost) * upper(high) - cost,
                        "p_useless": p_below(high, (USEFUL + cost) / (1 + cost))}
            rows.append(row)
    for p, word in (("p_kills", "kills"), ("p_useless", "useless")):
        tested = [row for row in rows if row.get(p) is not None]
        for row, value in zip(tested, holm([row[p] for row in tested])):
            row[word] = word if value <= 0.05 else "unresolved"
    return rows


def stop_line(lengths):
    """LoopBrake's rule: of n lengths of successes, in order, the k-th, k = ceil((n + 1)(1 - 0.05)); None if there are too few."""
    k = math.ceil((len(lengths) + 1) * 0.95)
    return lengths[k - 1] if 0 < k <= len(lengths) else None


def loopbrake(dev, test):
    rows = []
    for kind in CLASSES:
        if kind in APART:
            continue
        lengths = sorted(n for runs in dev.tasks.get((kind, 2), {}).values() for ok, n in runs if ok)
        cap, joined = stop_line(lengths), test.tasks.get((kind, 2), {})
        if cap is None:
            continue
        cost = price(joined) or 1
        killed, net = by_steps(joined, cap)
        rows.append({"class": kind, "successes_seen": len(lengths), "limit": cap, "tasks": len(joined), "tasks_with_success": len(killed), "kill_mean": mean(counted(killed.values())),
                     "kill_low": lower(counted(killed.values())), "kill_high": upper(counted(killed.values())), "net_mean": mean(counted(net.values())),
                     "net_low": (1 + cost) * lower(scaled(counted(net.values()), cost)) - cost, "net_high": (1 + cost) * upper(scaled(counted(net.values()), cost)) - cost})
    return rows


def write(name, rows):
    columns = list(dict.fromkeys(column for row in rows for column in row))
    with (HERE / "tables" / f"{name}.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        for row in rows:
            writer.writerow([f"{value:.6g}" if isinstance(value, float) else "" if value is None else value for value in (row.get(c) for c in columns)])
    print(f"tables/{name}.csv: {len(rows)} lines", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--open-only", action="store_true", help="the open half in both roles, while the study is made")
    args = parser.parse_args()
    (HERE / "tables").mkdir(exist_ok=True)
    dev = Data({"open"})
    if args.open_only:
        test = both = dev
    else:
        test, both = Data({"held"}), Data({"open", "held"})
    rows = board(test, "held")
    if not args.open_only:
        rows += board(both, "both")
    write("board", rows)
    write("h3", h3(dev, test))
    write("h4", h4(test if args.open_only else both))
    write("h5", h5(dev, test))
    write("h6", h6(test))
    write("h8", h8(test if args.open_only else both))
    write("loopbrake", loopbrake(dev, test))
    write("most-saved", most_saved(both))
    write("others", others(both))


if __name__ == "__main__":
    main()
