"""What page.md is filled in with: counts, lists and tables, all read from tables/*.csv and study.toml."""

import collections
import csv
import gzip
import pathlib
import re
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
STUDY = tomllib.loads((HERE / "study.toml").read_text())
CLASSES = ["assistants", "code", "terminal", "mcp", "reasoning", "search", "research", "games", "attacked"]


def table(name):
    with (HERE / "tables" / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def markdown(head, rows):
    is_number = re.compile(r"[-–]?[\d,.–/ ]*( of [\d,]+)?( \(.*\))?$")
    columns = [[str(row[at]) for row in rows] for at in range(len(head))]
    align = ["---:" if at and all(is_number.match(cell) for cell in cells) else "---" for at, cells in enumerate(columns)]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in [head, align, *rows])


def percent(value, digits=1):
    if value in ("", None):
        return "–"
    shown = f"{float(value) * 100:.{digits}f}"
    return "0" if float(shown) == 0 and float(value) == 0 else shown.replace("-0.0", "0.0") if float(shown) == 0 else shown


def many(n, noun):
    return f"{n:,} {noun}" + ("" if n == 1 else "s")


def listed(words):
    words = list(words)
    return " and ".join(words) if len(words) < 3 else ", ".join(words[:-1]) + " and " + words[-1]


def places(rows):
    """`guard` in this class and that."""
    names = collections.defaultdict(list)
    for row in rows:
        names[row["strategy"]].append(f"{row['class']} {row['length']}" + (f" (rests on {row['rests_on'].replace(' ', ', ')})" if row["rests_on"] else ""))
    return "\n".join(f"- `{name}`: {'; '.join(where)}." for name, where in names.items())


def sources():
    runs, successes, tasks, long = (collections.Counter() for _ in range(4))
    seen = collections.defaultdict(set)
    with gzip.open(HERE / "runs.csv.gz", "rt", newline="") as file:
        for row in csv.DictReader(file):
            if row["outcome"] and int(row["steps"]):
                runs[row["source"]] += 1
                successes[row["source"]] += int(row["outcome"])
                seen[row["source"]].add(row["task"])
                long[row["source"]] += int(row["steps"]) > STUDY["classes"]["length"]
    for source, names in seen.items():
        tasks[source] = len(names)
    return runs, successes, tasks, long


def collections_table(runs, successes, tasks, long):
    rows = []
    for source in STUDY["source"]:
        name = source["name"]
        where = f"[{source['repository']}](https://github.com/{source['repository']}/tree/{source['commit']})"
        if name in runs:
            rows.append([name, where, source["class"], source["licence"], f"{runs[name]:,}", f"{successes[name]:,}", f"{tasks[name]:,}", f"{long[name]:,}"])
        else:
            rows.append([name, where, source["class"], source["licence"], "H9 alone", "–", "–", "–"])
    return markdown(["collection", "repository, at its commit", "class", "licence", "graded runs", "successes", "tasks", "over 20 steps"], rows)


def cells_table(rows):
    shown = [row for row in rows if row["part"] == "held" and row["strategy"] == "openclaw off (default)" and row["class"] in [*CLASSES, "replication"]]
    shown.sort(key=lambda row: ([*CLASSES, "replication"].index(row["class"]), row["length"] != "up to 20"))
    return markdown(["class, steps", "runs", "tasks", "successes", "tasks with a success"],
                    [[f"{row['class']}, {row['length']}", f"{int(row['runs']):,}", row["tasks"], f"{int(row['judged_successes']):,}", row["tasks_with_success"]] for row in shown])


def h3_table():
    rows = [row for row in table("h3") if row["tasks"]]
    return markdown(["class", "first", "second", "first saves, %", "second saves, %", "difference, 95 %", "verdict"],
                    [[row["class"], row["first"], row["second"], percent(row["first_net"]), percent(row["second_net"]), f"{percent(row['low'])} to {percent(row['high'])}", row["verdict"]]
                     for row in rows])


def h4_table():
    rows = [row for row in table("h4") if int(row["loops_with"]) + int(row["loops_without"])]
    return markdown(["collection", "trait", "with it: loops of runs", "without", "odds ratio within a task (95 %)"],
                    [[row["source"], row["trait"], f"{row['loops_with']} of {int(row['runs_with']):,} ({percent(row['share_with'])} %)",
                      f"{row['loops_without']} of {int(row['runs_without']):,} ({percent(row['share_without'])} %)",
                      (f"{float(row['odds_ratio']):.2f} ({float(row['low']):.2f} to {float(row['high']):.2f})" if row["low"] else f"{float(row['odds_ratio']):.2f}" if row["odds_ratio"] else "not estimable")]
                     for row in rows])


def h5_table():
    return markdown(["collection", "family", "models with a certified limit", "pairs", "broken", "share, 95 %, %", "worst kill, %"],
                    [[row["source"], row["family"], row["models_certified"], row["pairs"], row["broken"], f"{percent(row['share'])} ({percent(row['low'])}–{percent(row['high'])})", percent(row["worst_kill"])]
                     for row in table("h5")])


def h6_table():
    return markdown(["class", "tasks", "oracle saves, %", "best in hindsight", "saves net, %", "kills, %", "best certified at 5 %", "saves net, %"],
                    [[row["class"], row["tasks"], percent(row["oracle"]), row["best_in_hindsight"], percent(row["its_net"]), percent(row["its_killed"]), row["best_certified"],
                      percent(row["certified_net"])] for row in sorted(table("h6"), key=lambda row: CLASSES.index(row["class"]))])


def h7_table():
    rows = [row for row in table("h7") if row["half"] == "held"]
    shown = []
    for source in dict.fromkeys(row["source"] for row in rows):
        of = [row for row in rows if row["source"] == source and row["trials"]]
        cheapest = sorted((row for row in of if row["steps_a_success_restart"]), key=lambda row: float(row["steps_a_success_restart"]))[:3]
        best = max((row for row in of if row["low"]), key=lambda row: float(row["gain"]), default=None)
        for row in [*cheapest, *([best] if best and best not in cheapest else [])]:
            shown.append([source, row["strategy"], f"{row['stopped']} of {row['trials']}", *(percent(row[f"success_{way}"]) for way in ("untouched", "stop", "restart")),
                          *(f"{float(row[f'steps_a_success_{way}']):.1f}" for way in ("untouched", "stop", "restart")),
                          f"{float(row['gain']) * 100:.2f} ({float(row['low']) * 100:.2f} to {float(row['high']) * 100:.2f})" if row["low"] else f"{float(row['gain']) * 100:.2f}"])
    return markdown(["collection", "strategy", "stopped", "success, %", "with stops", "with a second try", "steps a success", "with stops", "with a second try", "gain, points (95 %)"], shown)


def h8_table(kind):
    names = STUDY["strategies"][kind]
    rows = sorted((row for row in table("h8") if row["strategy"] in names and int(row["flipped"])), key=lambda row: -int(row["flipped"]) / max(1, int(row["pairs"])))
    return markdown(["collection", "strategy", "models", "tau", "pairs that change places", "largest loss, points", "of"],
                    [[row["source"], row["strategy"], row["models"], f"{float(row['tau']):.2f}", f"{row['flipped']} of {row['pairs']}", f"{float(row['largest_loss']) * 100:.0f}", row["of_model"]]
                     for row in rows[:8]])


def h9_table():
    return markdown(["half", "suite", "intervention", "pairs", "tasks", "inside the bound", "bound, %", "true rate, %", "place in the bound"],
                    [[row["half"], row["suite"], row["intervention"], row["pairs"], row["tasks"], f"{row['inside']} of {row['pairs']}",
                      f"{percent(row['bound_low'], 0)} to {percent(row['bound_high'], 0)}", percent(row["true_rate"]), f"{float(row['position']):.2f}" if row["position"] else "–"] for row in table("h9")])


def loopbrake_table():
    return markdown(["class", "successes seen", "limit, steps", "killed, % (95 %)", "net saved, % (95 %)"],
                    [[row["class"], row["successes_seen"], row["limit"], f"{percent(row['kill_mean'])} ({percent(row['kill_low'])} to {percent(row['kill_high'])})",
                      f"{percent(row['net_mean'])} ({percent(row['net_low'])} to {percent(row['net_high'])})"] for row in table("loopbrake")])


def others_table():
    rows = table("others")
    return markdown(["collection", "steps", "guard", "judged runs", "acted", "successes killed", "killed, 95 %, %", "net saved at most, %", "verdict"],
                    [[row["source"], row["length"], row["strategy"], row["judged"], row["acted"],
                      (row["killed_low"] if row["killed_low"] == row["killed_high"] else f"{row['killed_low']}–{row['killed_high']}") + f" of {row['judged_successes']}",
                      f"{percent(row['kill_bound_low'])} to {percent(row['kill_bound_high'])}" if row["kill_bound_high"] else "–", percent(row["net_bound_high"]),
                      ", ".join(word for word in dict.fromkeys((row.get("kills"), row.get("useless"))) if word) or "too few tasks" if int(row["judged"]) else "not judged"] for row in rows])


def most_table():
    rows = sorted(table("most-saved"), key=lambda row: float(row["at_most"]))
    return markdown(["guard", "judged runs", "acted", "net saved at most, %", "killed at most, %"],
                    [[row["strategy"], f"{int(row['runs']):,}", f"{int(row['acted']):,}", percent(row["at_most"]), percent(row["kills_at_most"])] for row in rows])


def marks(rows, found):
    runs, successes, tasks, long = sources()
    held = [row for row in rows if row["part"] == "held" and row["kind"] == "guard" and row["class"] in CLASSES]
    harm, use = (collections.Counter(row[word] for row in held) for word in ("harm", "use"))
    kills, useless = ([row for row in held if row[word] == value] for word, value in (("harm", "kills"), ("use", "useless")))
    tolerated = collections.defaultdict(list)
    for row in held:
        if row["h1_5"] and float(row["h1_5"]) <= 0.05:
            tolerated[f"{row['class']} {row['length']}"].append(row["strategy"])
    most = {row["strategy"]: row for row in table("most-saved")}
    # What follows a plain stop is known; what follows a warning, a question or a refusal is not, and has no lower end.
    summary = {row["strategy"]: row for row in rows if row["part"] == "both" and row["class"] == "all work" and row["length"] == "over 20"}
    plain = [name for name, row in most.items() if int(row["acted"]) and summary[name]["net_mean_low"]]
    idle = [name for name, row in most.items() if not int(row["acted"])]
    h6 = {row["class"]: row for row in table("h6")}
    h5 = table("h5")
    h7 = [row for row in table("h7") if row["half"] == "held" and row["trials"]]
    h8 = [row for row in table("h8") if row["strategy"] in STUDY["strategies"]["guards"]]
    h9, forks = table("h9"), table("h9-pairs")
    of_games = sum(int(row["runs"]) for row in rows if row["part"] == "both" and row["class"] == "games" and row["strategy"] == "openclaw off (default)")
    repeated = {row["strategy"]: row for row in rows if row["part"] == "both" and row["class"] == "replication" and row["length"] == "over 20"}
    games = sum(n for name, n in long.items() if name == "balrog")
    of_class = collections.Counter()
    for source in STUDY["source"]:
        of_class[source["class"]] += long[source["name"]]
    return {
        "title": STUDY["title"], "runs": f"{sum(runs.values()):,}", "collections": len(runs), "long": f"{sum(long.values()) - games:,}",
        "tasks": f"{sum(tasks.values()):,}", "guards": len(STUDY["strategies"]["guards"]), "caps": len(STUDY["strategies"]["caps"]),
        "collections_table": collections_table(runs, successes, tasks, long), "cells_table": cells_table(rows),
        "cells": sum(harm[word] for word in ("harmless", "kills", "unresolved")), "harmless": harm["harmless"], "kills": harm["kills"], "unresolved": harm["unresolved"],
        "useful": use["useful"], "useless": use["useless"], "use_unresolved": use["unresolved"], "not_judged": harm["not judged"], "too_few": harm["too few tasks"],
        "kills_list": places(kills), "useless_list": places(useless),
        "kills_resting": sum(bool(row["rests_on"]) for row in kills),
        "tolerated": "; ".join(f"{name}: {listed(f'`{guard}`' for guard in guards)}" for name, guards in tolerated.items()),
        "most_table": most_table(), "plain": listed(f"`{name}`" for name in plain), "plain_most": percent(max(float(most[name]["at_most"]) for name in plain)),
        "idle": listed(f"`{name}`" for name in idle), "idle_most": percent(max(float(most[name]["at_most"]) for name in idle)),
        "any_most": percent(max(float(row["at_most"]) for row in most.values())), "any_most_of": max(most.values(), key=lambda row: float(row["at_most"]))["strategy"],
        "most_runs": f"{max(int(row['runs']) for row in most.values()):,}",
        "h3_table": h3_table(), "h3_decided": sum(row["verdict"] not in ("", "unresolved") for row in table("h3")), "h3_n": sum(bool(row["tasks"]) for row in table("h3")),
        "h4_table": h4_table(), "h5_table": h5_table(), "h5_pairs": f"{sum(int(row['pairs']) for row in h5):,}", "h5_broken": sum(int(row["broken"]) for row in h5),
        "h6_table": h6_table(), "h6_tried": h6["code"]["tried"], "oracle_code": percent(h6["code"]["oracle"], 0), "certified_code": percent(h6["code"]["certified_net"]), "certified_code_rule": h6["code"]["best_certified"],
        "certified_none": listed(name for name in CLASSES if h6.get(name, {}).get("best_certified") == "none"),
        "h7_table": h7_table(), "h7_n": len(h7), "h7_more": sum(row["verdict"] == "more successes" for row in h7), "h7_fewer": sum(row["verdict"] == "fewer successes" for row in h7),
        "h8_table": h8_table("guards"), "h8_caps": h8_table("caps"), "h8_n": len(h8), "h8_flips": sum(int(row["flipped"]) > 0 for row in h8),
        "h9_table": h9_table(), "h9_continued": f"{sum(int(row['continued']) for row in forks):,}",
        "h9_rescued": sum(int(row["failure to success"]) for row in forks), "h9_failures": f"{sum(int(row['failure to success']) + int(row['failure to failure']) for row in forks):,}",
        "h9_lost": sum(int(row["success to failure"]) for row in forks), "h9_successes": f"{sum(int(row['success to failure']) + int(row['success to success']) for row in forks):,}",
        "attacked": f"{runs['agentdojo-attacked'] + runs['drift'] + runs['agentdojo-luna']:,}", "games": f"{of_games:,}", "h9_pairs": f"{sum(int(row['pairs']) for row in h9):,}", "h9_inside": f"{sum(int(row['inside']) for row in h9):,}",
        "loopbrake_over": sum(float(row["kill_mean"]) > 0.05 for row in table("loopbrake")), "loopbrake_n": len(table("loopbrake")),
        "loopbrake_saves": sum(float(row["net_mean"]) > 0 for row in table("loopbrake")), "others_kill": sum(row["kills"] == "kills" for row in table("others")),
        "others_useless": sum(row["useless"] == "useless" for row in table("others")), "others_n": sum(bool(row["kills"]) for row in table("others")),
        "loopbrake_table": loopbrake_table(), "others_table": others_table(),
        "replicated_qwen": f"{repeated['qwen-code']['killed_high']} of {repeated['qwen-code']['judged_successes']}",
        "replicated_qwen_bound": percent(repeated["qwen-code"]["kill_bound_high"]), "replicated_random": percent(repeated["qwen-code"]["random_stop_kills"]),
        "n_kills": f"{sum(map(len, found.values())):,}",
        "long_classes": listed(f"{name} {n:,}" for name, n in of_class.most_common() if n and name not in ("games", "by suite")),
        "hosts": "\n".join(f"- [{host['name']}](hosts/{host['file']}.md): {host['asks']}" for host in tomllib.loads((HERE / "hosts.toml").read_text())["host"]),
    }
