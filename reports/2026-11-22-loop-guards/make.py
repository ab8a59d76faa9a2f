#!/usr/bin/env python3
"""Makes the tables and figures of this page from the recordings.

    python3 make.py --whenstop ../../target/release/whenstop --shared ../../../shared

`--shared` is the folder with the recordings (`corpora`, `graded`, `sessions`). The tables of README.md stand between marks
and are written anew; the numbers in its sentences are read off them by a person.
"""

import argparse
import csv
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
GUARDS = HERE / "guards.toml"
GRADED = ["corpora/tau2", "corpora/tau-bench", "corpora/mini-swe-agent", "corpora/intercode",
          "graded/agentdojo", "graded/bashkit", "graded/mint", "graded/aider-swe-bench"]
SESSIONS = ["sessions/entire", "sessions/codex", "sessions/copilot-cli"]
LIMITS = "2,3,4,5,6,8,10,15,20,30"
# Of the guards, those whose table is given by corpus.
BY_CORPUS = ["openclaw on", "openclaw 2026.7 at 5/10/15", "qwen-code", "cline", "openhands", "kilo-code",
             "3 equal results", "5 equal results", "5 equal results in a row", "20 equal results"]

LONG = ["openclaw on", "openclaw 2026.7 on", "openclaw 2026.7 at 5/10/15", "openclaw 2026.7 at 2/5/8", "qwen-code", "cline",
        "3 equal results", "5 equal results", "3 equal results in a row", "5 equal results in a row", "20 equal results"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--whenstop", default=str(HERE.parents[1] / "target/release/whenstop"))
    parser.add_argument("--shared", type=pathlib.Path, default=HERE.parents[2] / "shared")
    args = parser.parse_args()
    work = pathlib.Path(tempfile.mkdtemp())

    def whenstop(*command):
        done = subprocess.run([args.whenstop, "--quiet", *map(str, command)], capture_output=True, text=True)
        # One session of 71 has a broken line: it is told, and the rest stands.
        if done.returncode not in (0, 3):
            sys.exit(f"{command}: {done.stderr}")
        return done.stdout

    paths = [args.shared / folder for folder in GRADED]
    told = whenstop("compare", *paths, "--stacks", GUARDS, "--all", "--embed-text", "none", "--out", work / "graded")
    write("graded", block(told))
    shutil.copy(work / "graded/frontier.png", HERE / "frontier.png")
    shutil.copy(work / "graded/summary.csv", HERE / "summary.csv")
    write("strata", strata(work / "graded/strata.csv"))
    write("long", long_runs(work / "graded/rows.csv"))

    rows = []
    for folder, path in zip(GRADED, paths):
        out = work / folder.replace("/", "-")
        whenstop("compare", path, "--stacks", GUARDS, "--all", "--embed-text", "none", "--out", out)
        rows.append((folder.split("/")[1], summary(out / "summary.csv")))
    write("by-corpus", by_corpus(rows))

    for signal in ["call_result.count", "call.count"]:
        out = work / signal
        told = whenstop("sweep", *paths, "--signal", signal, "--limits", LIMITS, "--out", out)
        write(signal, block(told))
        for figure in out.glob("sweep.png"):
            shutil.copy(figure, HERE / f"{signal}.png")

    for name, proposed in [("pr-on", "openclaw on"), ("pr-five", "5 equal results in a row")]:
        default = "openclaw off (default)"
        told = whenstop("report", work / "graded", "--format", "pr", "--default", default, "--proposed", proposed,
                        "--out", work / name)
        write(name, told)

    told = whenstop("compare", *[args.shared / folder for folder in SESSIONS], "--unit", "round", "--stacks", GUARDS,
                    "--all", "--embed-text", "none", "--out", work / "sessions")
    write("sessions", block(told))
    shutil.rmtree(work)


def block(text):
    return f"```text\n{text.strip()}\n```"


def summary(path):
    return {row["stack"]: row for row in csv.DictReader(path.open())}


def share(row, name, turned=False):
    low, high = row.get(f"{name}_min") or row.get(name), row.get(f"{name}_max") or row.get(name)
    if not low:
        return "–"
    low, high = float(low) * 100, float(high) * 100
    if turned:
        low, high = 100 - high, 100 - low
    return f"{low:.1f}" if f"{low:.1f}" == f"{high:.1f}" else f"{low:.1f}–{high:.1f}"


def by_corpus(rows):
    lines = ["| guard | " + " | ".join(f"{name} ({int(next(iter(table.values()))['runs'])})" for name, table in rows) + " |"]
    lines.append("| --- |" + " ---: |" * len(rows))
    for guard in BY_CORPUS:
        cells = []
        for _, table in rows:
            row = table.get(guard)
            cells.append("–" if row is None else f"{share(row, 'fes_rate')} / {share(row, 'missed_stop_rate', turned=True)}")
        lines.append(f"| {guard} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def long_runs(path):
    """The runs of 21 steps and more: only there can a rule of 20 repeats act at all."""
    found = {}
    for row in csv.DictReader(path.open()):
        if int(row["steps_recorded"]) >= 21 and row["outcome"] in ("success", "failure"):
            of = found.setdefault(row["stack"], {"success": 0, "failure": 0, "killed": 0, "perhaps": 0, "stopped": 0, "acts": 0})
            of[row["outcome"]] += 1
            of["killed"] += int(row["killed_low"])
            of["perhaps"] += int(row["killed_high"])
            of["stopped"] += int(row["true_stop_low"])
            of["acts"] += bool(row["stop_point"] or row["diverged_at"])
    lines = ["| guard | acts on | successes killed | failures ended |", "| --- | ---: | ---: | ---: |"]
    for guard in LONG:
        of = found[guard]
        killed = str(of["killed"]) if of["killed"] == of["perhaps"] else f"{of['killed']}–{of['perhaps']}"
        lines.append(f"| {guard} | {of['acts']} | {killed} of {of['success']} | {of['stopped']} of {of['failure']} |")
    return "\n".join(lines)


def strata(path):
    """The suites and models in which a plain stop kills most, of those with at least 8 successes."""
    found = []
    for row in csv.DictReader(path.open()):
        if row["stack"] in ("5 equal results in a row", "5 equal results", "3 equal results") and row.get("fes_rate"):
            of = int(float(row.get("judged_successes") or row.get("fes_rate_of") or 0))
            if of >= 8 and float(row["fes_rate"]) > 0:
                found.append((row["stack"], -float(row["fes_rate"]), row["suite"], row["model"], of))
    found.sort()
    lines = ["| stop | suite, model | successes killed |", "| --- | --- | ---: |"]
    for stack in ("3 equal results", "5 equal results", "5 equal results in a row"):
        for name, rate, suite, model, of in [entry for entry in found if entry[0] == stack][:5]:
            lines.append(f"| {name} | {suite or '–'}, {model or '–'} | {round(-rate * of)} of {of} |")
    return "\n".join(lines)


def write(name, text):
    page = HERE / "README.md"
    before = page.read_text()
    mark = re.compile(rf"(<!-- {re.escape(name)} -->\n).*?(<!-- /{re.escape(name)} -->)", re.S)
    after, n = mark.subn(lambda match: match.group(1) + text.strip() + "\n" + match.group(2), before)
    if n != 1:
        sys.exit(f"README.md has no place for {name}")
    page.write_text(after)


if __name__ == "__main__":
    main()
