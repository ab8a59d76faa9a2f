"""Asks `whenstop` for its first answer on many collections, and whether each place says the same.

usage: answers.py WHENSTOP OUT.tsv PATH...        (from the root of the repository, for fixtures/)

For each collection: `compare` with the example stacks, all presets, all systems, and `tune` at 2, 5 and 10 %, with and without a
price of a lost success. One line each: collection, command, exit code, whether the terminal, the page (report.html), its Markdown
(summary.md) and the JSON say the same, and the answer. A command that writes no page (nothing could be said) has `-` there.
"""

import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

COMPARE = [["--stacks", "fixtures/stacks/example.toml"], ["--stacks", "preset:all"], ["--stacks", "system:all"]]
TOLERATED = "--max-killed"
BEFORE = "--max-fes"  # what it was called at first
TUNE = [
    [TOLERATED, rate, *dollars]
    for rate in ("0.02", "0.05", "0.1")
    for dollars in ([], ["--lost-success-costs", "4"])
]


def squeezed(text):
    return " ".join(text.split())


def run(arguments):
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=900)
    return done.returncode, done.stdout


def spelled(program, options):
    """The options as this program calls them."""
    if TOLERATED in options and TOLERATED not in run([program, "tune", "--help"])[1]:
        return [BEFORE if option == TOLERATED else option for option in options]
    return options


def first(told):
    """The first paragraph of what was printed."""
    return squeezed(told.split("\n\n")[0])


def on_page(folder):
    page = folder / "report.html"
    if not page.exists():
        return None
    found = re.search(r'<h1 id="verdict"[^>]*>(.*?)</h1>', page.read_text(), re.DOTALL)
    return squeezed(html.unescape(re.sub(r"<[^>]*>", "", found.group(1)))) if found else ""


def in_markdown(folder):
    page = folder / "summary.md"
    if not page.exists():
        return None
    found = re.search(r"^\*\*(.*?)\*\*", page.read_text(), re.DOTALL | re.MULTILINE)
    return squeezed(found.group(1).replace("\\", "")) if found else ""


def in_json(told):
    try:
        value = json.loads(told)
    except json.JSONDecodeError:
        return None
    return squeezed(value["verdict"]) if isinstance(value, dict) and "verdict" in value else None


def same(answer, other):
    if other is None:
        return "-"
    bare = lambda text: text.replace("`", "").rstrip(".")
    return "same" if bare(other) == bare(answer) else f"OTHER: {other}"


def ask(program, path, command, options, out):
    scratch = Path(tempfile.mkdtemp())
    try:
        arguments = [program, command, path, *spelled(program, options), "--quiet", "--threads", "1"]
        code, told = run([*arguments, "--out", str(scratch / "out")])
        answer = first(told)
        as_json = run([*arguments, "--format", "json"])[1] if "/shared/" not in path else ""
        places = [same(answer, place) for place in (on_page(scratch / "out"), in_markdown(scratch / "out"), in_json(as_json))]
        shown = answer.replace(str(scratch), "").replace(path, "PATH")
        print(path, command, " ".join(options), code, *places, shown, sep="\t", file=out, flush=True)
    finally:
        shutil.rmtree(scratch)


def main():
    program, table, *paths = sys.argv[1:]
    with open(table, "w") as out:
        for path in paths:
            for options in COMPARE:
                ask(program, path, "compare", options, out)
            for options in TUNE:
                ask(program, path, "tune", options, out)


main()
