#!/usr/bin/env python3
"""SECURITY.md, line by line: what it says, the command that tries it, and what came of it.

    benches/faults/security.py PROGRAM [--only WORD]

Each claim is quoted from SECURITY.md; a quotation that no longer stands there is an error. What takes a program of its own is
named: rows of `hostile.py`, `kills.py`, or a test. Exit code 1 if a claim is not seen. Linux, standard library only; `strace`
for two claims.
"""

import argparse
import io
import json
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import warnings
import xml.etree.ElementTree
import zipfile

from hostile import STACK, Desk, calling, guard, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = sys.executable
COMPARE = "compare in --stacks s.toml"
CLAIMS = []


def claim(quote, by=None):
    """A sentence of SECURITY.md and the function that tries it, or what else does."""

    def put(function):
        CLAIMS.append((quote, function))
        return function

    return put(by) if by else put


def guarded(desk, body):
    desk.put("g.py", guard(body))
    desk.put("in/a.jsonl", "".join(run(f"r{nth}", 3) for nth in range(3)))
    return desk.run(f"{COMPARE} --guard", f"mine={PYTHON} g.py")


def on_terminal(desk, *arguments):
    """What a command writes on a terminal."""
    master, slave = os.openpty()
    child = desk.start(*arguments, stdout=slave, stderr=slave)
    os.close(slave)
    out = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        out += piece
    child.wait()
    os.close(master)
    return out


def traced(desk, calls, command):
    trace = desk.folder / "trace"
    subprocess.run(["strace", "-f", "-o", trace, "-e", f"trace={calls}", desk.program, *command.split()], cwd=desk.folder, capture_output=True, timeout=desk.seconds)
    return trace.read_text()


def archive(members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        for name, data in members:
            packed.writestr(name, data)
    return out.getvalue()


# ------------------------------------------------------------------------------------------- trust
@claim("It runs nothing that it reads")
def _(desk):
    desk.put("in/$(touch pwned).jsonl", calling("touch pwned; $(touch pwned)"))
    trace = traced(desk, "execve", "corpus in --effects")
    return trace.count("execve(") == 1 and not (desk.folder / "pwned").exists(), f"{trace.count('execve(')} program started"


@claim("opens no network connection")
def _(desk):
    desk.put("in/a.jsonl", run("a", 3).replace('"x"', '"http://127.0.0.1:9/x"'))
    trace = traced(desk, "socket,connect", COMPARE + " --out o")
    return "AF_INET" not in trace, "no socket of the network"


@claim("a regular expression of yours may be slow, never exponential")
def _(desk):
    desk.put("s.toml", '[[stack]]\nname = "s"\nany = [{ signal = "text.match", regex = "(a+)+$", at_least = 1 }]\n')
    desk.put("in/a.jsonl", run("a", 3).replace('"x"', '"' + "a" * 5000 + '!"'))
    answer = desk.run(COMPARE)
    return answer.code == 0 and answer.cpu < 10, f"exit {answer.code}, {answer.cpu:.1f} s"


@claim("started without a shell")
def _(desk):
    desk.put("in/a.jsonl", run("a", 3))
    answer = desk.run(f"{COMPARE} --guard", "mine=true; touch pwned")
    return not (desk.folder / "pwned").exists(), str(answer)


@claim("their stderr reaches a terminal only escaped")
def _(desk):
    desk.put("g.py", "import sys\nsys.stderr.write('\\x1b]0;owned\\x07')\nsys.exit(3)\n")
    desk.put("in/a.jsonl", run("a", 3))
    out = on_terminal(desk, *COMPARE.split(), "--guard", f"mine={PYTHON} g.py")
    return b"\x1b]0" not in out and b"owned" in out, "the mark is shown escaped"


@claim("no guard of theirs is started without `--allow-commands`")
def _(desk):
    desk.put("in/a.jsonl", run("a", 3))
    desk.put("g.toml", '[[stack]]\nname = "g"\ncommand = ["touch", "pwned"]\n')
    desk.put("whenstop.toml", 'recordings = ["in"]\nstacks = ["g.toml"]\ngates = ["killed_at_most>0.05"]\n')
    answer = desk.run("ci check")
    return answer.code != 0 and not (desk.folder / "pwned").exists(), str(answer)


@claim("read back with the same checks as anything else")
def _(desk):
    desk.put("in/a.jsonl", run("a", 3))
    desk.run(f"{COMPARE} --out o")
    rows = desk.folder / "o/rows.csv"
    rows.write_bytes(rows.read_bytes().replace(b"\na", b"\n\"a", 1) + b"\xff\n")
    answer = desk.run("report o")
    return answer.code == 3, str(answer)


@claim("archives are unpacked there, readable by you alone")
def _(desk):
    desk.put("in/a.zip", archive([("a.jsonl", run("a", 3))]))
    trace = traced(desk, "mkdir,mkdirat", "corpus in")
    modes = re.findall(r"mkdir(?:at)?\(.*?(0\d+)\)", trace)
    return modes[:1] == ["0700"], f"the folder that holds all others: mode {modes[0] if modes else 'none'}"


@claim("`unsafe` is forbidden in this crate")
def _(_desk):
    return 'unsafe_code = "forbid"' in (ROOT / "Cargo.toml").read_text(), "Cargo.toml: unsafe_code = \"forbid\""


@claim("nothing is written beside it")
def _(desk):
    (desk.folder / "in").mkdir()
    base = sqlite3.connect(desk.folder / "in/opencode.db")
    base.executescript("create table session (id text, data text); create table message (id text, session_id text, data text); create table part (id text, message_id text, data text);")
    base.close()
    was = sorted(path.name for path in (desk.folder / "in").iterdir()), (desk.folder / "in/opencode.db").stat().st_mtime_ns
    answer = desk.run("corpus in")
    return was == (sorted(path.name for path in (desk.folder / "in").iterdir()), (desk.folder / "in/opencode.db").stat().st_mtime_ns), str(answer)


# ------------------------------------------------------------------------------------------- limits
@claim("64 MiB; anything longer is left out and reported")
def _(desk):
    desk.put("in/a.jsonl", run("a", 2) + '{"type":"message","role":"assistant","content":"' + "x" * (65 << 20) + '"}\n' + run("b", 2))
    answer = desk.run("corpus in")
    strict = desk.run("corpus in --strict")
    return "longer than" in answer.err + answer.out and strict.code == 3, f"{answer}; strictly {strict.code}"


@claim("128 levels; anything deeper is left out and reported")
def _(desk):
    desk.put("in/a.jsonl", run("a", 2) + '{"type":"message","role":"assistant","usage":' + "[" * 200 + "]" * 200 + ',"content":"x"}\n' + run("b", 2))
    answer = desk.run("corpus in")
    return answer.says, str(answer)


for quote in ("Arguments, bodies of notes and other values that are kept as they are written may be deeper", "up to 0.4 KB for each message besides its text"):
    claim(quote, "hostile.py H10")
for quote in ("512 MiB; 8,388,608; beyond that", "500 times its size, once that is above 64 MiB", "200 levels; a table with more"):
    claim(quote, "hostile.py P1 P2")
for quote in ("64 MiB and 500 times its packed size, at most 64 GiB; 1,000,000 members", "100 levels; 1,000 and one for each 20 packed bytes", "500 times its packed size, once it is above 64 MiB"):
    claim(quote, "hostile.py B1 B2 B3 B4 B5 B6 B7")


@claim("all are read; those after the first get a number in their name, and this is reported")
def _(desk):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        desk.put("in/a.zip", archive([("a.jsonl", run("a", 2)), ("a.jsonl", run("b", 2))]))
    answer = desk.run("corpus in")
    return answer.says and bool(re.search(r"trace +2 +2", answer.out)), str(answer)


@claim("| archives in archives | one level |")
def _(desk):
    inner = archive([("c.jsonl", run("c", 2))])
    middle = archive([("b.jsonl", run("b", 2)), ("inner.zip", inner)])
    desk.put("in/a.zip", archive([("a.jsonl", run("a", 2)), ("middle.zip", middle)]))
    answer = desk.run("corpus in --why")
    return "inner.zip" in answer.out + answer.err, str(answer)


@claim("other pipes and devices are refused")
def _(desk):
    os.mkfifo(desk.folder / "pipe")
    answers = [desk.run("corpus pipe"), desk.run("corpus /dev/zero")]
    return all(answer.code == 4 or answer.code == 3 for answer in answers), "; ".join(map(str, answers))


@claim("256 MiB; snapshots 2 GiB")
def _(desk):
    desk.put("in/a.jsonl", run("a", 2))
    with open(desk.folder / "l.csv", "wb") as file:
        file.truncate(257 << 20)
    answer = desk.run("corpus in --labels l.csv")
    return answer.code == 3, str(answer)


@claim("is not followed, and reported; a link to a file elsewhere is followed")
def _(desk):
    desk.put("other/b.jsonl", run("b", 2))
    desk.put("in/a.jsonl", run("a", 2))
    (desk.folder / "in/out").symlink_to(desk.folder / "other")
    (desk.folder / "in/c.jsonl").symlink_to(desk.folder / "other/b.jsonl")
    answer = desk.run("corpus in")
    return "leads out of the folder" in answer.err + answer.out and bool(re.search(r"trace +2 +2", answer.out)), str(answer)


@claim("its effect is unknown beyond that, and says so")
def _(desk):
    desk.put("in/a.jsonl", calling("ls " + "a" * (300 << 10)))
    answer = desk.run("corpus in --effects --format csv")
    return "unknown" in answer.out and answer.code == 0, answer.out.splitlines()[-1][-90:]


@claim("the first 1,000 are kept, the rest counted")
def _(desk):
    desk.put("in/a.jsonl", run("a", 2) + "".join(f"{{broken {nth}\n" for nth in range(1500)))
    answer = desk.run("corpus in --format json")
    told = json.loads(answer.out)
    return told["errors"] == 1500, f"errors {told['errors']}"


@claim("0 to 1,000,000,000 dollars; anything else is unknown, and reported")
def _(desk):
    desk.put("in/a.jsonl", run("a").replace('"content": "x"', '"content": "x", "cost_usd": 10000000000'))
    answer = desk.run("corpus in")
    return "cost" in answer.err + answer.out and answer.says, str(answer)


@claim("64 KiB, 10 seconds; then it is unknown on that run")
def _(desk):
    answer = guarded(desk, 'say(answer="continue", evidence="x" * 70000)')
    return "mine" in answer.err and answer.says, str(answer)


@claim("ten runs without an answer in time, a thousand failed runs")
def _(desk):
    desk.put("s.toml", f'[[stack]]\nname = "mine"\ncommand = ["{PYTHON}", "g.py"]\ntime_limit = 1\n')
    desk.put("g.py", guard("time.sleep(60)"))
    desk.put("in/a.jsonl", "".join(run(f"r{nth}", 3) for nth in range(40)))
    answer = desk.run(f"{COMPARE} --out o")
    return answer.code == 3 and not (desk.folder / "o/rows.csv").exists(), str(answer)


@claim("| threads | 256;")
def _(desk):
    desk.put("in/a.jsonl", run("a", 2))
    answer = desk.run(f"{COMPARE} --threads 300")
    return "256 are used" in answer.err, answer.err.splitlines()[0]


claim("Input that exceeds a limit loses only that line, run, member or file", "hostile.py S1 S2 S3")


@claim("A terminal** never receives a control character")
def _(desk):
    desk.put("in/a.jsonl", run("r\x1b]0;owned\x07\u202e", 3).replace('"x"', '"\\u001b[31m"'))
    bad = []
    for command in ("corpus in", "corpus in --unused", COMPARE, "explain in --stacks s.toml", "corpus in --effects"):
        out = on_terminal(desk, *command.split()).decode(errors="replace")
        bad += [command] if "\x1b]0" in out or "\u202e" in out else []
    return not bad, f"5 commands; {', '.join(bad) or 'none'} writes it"


@claim("JSON is printed with `\\u001b`")
def _(desk):
    desk.put("in/a.jsonl", run("r\x1b[31m", 3))
    answer = desk.run(f"{COMPARE} --format json")
    rows = desk.run("corpus in --format json")
    return "\x1b" not in answer.out + rows.out, "no ESC byte in JSON"


@claim("which puts a `'` before such cells")
def _(desk):
    desk.put("in/a.jsonl", run("=1+1", 3))
    desk.run(f"{COMPARE} --out o")
    desk.run("report o --out t --spreadsheet")
    rows = desk.read("t/rows.csv")
    return "'=1+1" in rows and "'=1+1" not in desk.read("o/rows.csv"), "`'=1+1` in the sheet, `=1+1` in the rows"


@claim("SVG** is well-formed XML whatever the names")
def _(desk):
    desk.put("s.toml", STACK.replace('"s"', '"<script>&\\u0001\\u001b"'))
    desk.put("in/a.jsonl", "".join(run(f"{nth}<&>", 3, json.dumps({"type": "outcome", "success": nth % 2 == 0}) + "\n") for nth in range(6)))
    desk.run(f"{COMPARE} --out o")
    drawn = sorted((desk.folder / "o").glob("*.svg"))
    for path in drawn:
        xml.etree.ElementTree.parse(path)
    return bool(drawn), f"{len(drawn)} parsed"


@claim("No line of text for people begins so")
def _(desk):
    desk.put("in/a.jsonl", run("r\n::stop-commands::x", 3))
    lines = [line for command in (COMPARE, "corpus in", "explain in --stacks s.toml") for answer in [desk.run(command)] for line in (answer.out + answer.err).splitlines()]
    return not any(line.startswith(("::", "##[")) for line in lines), f"{len(lines)} lines"


@claim("A page with `--embed-text none`** quotes no text")
def _(desk):
    desk.put("in/a.jsonl", run("a", 3, json.dumps({"type": "outcome", "success": False}) + "\n").replace('"x"', '"zebraword"'))
    desk.run(f"{COMPARE} --out o --embed-text none")
    return "zebraword" not in desk.read("o/report.html"), "the word is not in the page"


for quote in ("no markup, link, image or mention from a name", "**Snippets** of `export` hold a name as a comment on one line"):
    claim(quote, "hostile.py H7")
claim("a stack file that it names outside its folder is never quoted", "hostile.py F6")


@claim("an id that would not read back as itself is written as a JSON string")
def _(desk):
    desk.put("in/a.jsonl", run("a\n| b", 3))
    desk.run("ci accept in --stacks s.toml --snapshot x.snap")
    answer = desk.run("ci check in --stacks s.toml --snapshot x.snap")
    return '"a\\n' in desk.read("x.snap") and answer.code == 0, f"exit {answer.code}"


@claim("ends with exit 3. Only a reader that has gone away")
def _(desk):
    desk.put("in/a.jsonl", run("a", 3))
    with open("/dev/full", "w") as full:
        child = desk.start(*COMPARE.split(), stdout=full, stderr=subprocess.DEVNULL)
        code = child.wait()
    gone = desk.start(*COMPARE.split(), "--format", "csv", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    gone.stdout.close()
    said = gone.stderr.read()
    return code == 3 and gone.wait() in (0, -signal.SIGPIPE) and not said.startswith(b"error"), f"full: exit {code}; closed: exit {gone.returncode}"


claim("Nothing that a command reads is written over", "hostile.py H1, and tests/it/hostile/overwriting.rs for every pair of options")
claim("are written beside the old files and renamed at the end, all or none", "kills.py")
claim("stay in its folder, with links followed", "hostile.py H2")
claim("Not promised: whenstop that is ended by `kill -9` kills nothing", "hostile.py H9")


@claim("If two writers run at once, one is refused")
def _(desk):
    desk.put("in/a.jsonl", "".join(run(f"r{nth}", 30) for nth in range(3000)))
    children = [desk.start(*COMPARE.split(), "--out", "o", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(2)]
    told = [(child.stderr.read().decode(errors="replace"), child.wait()) for child in children]
    codes = sorted(code for _, code in told)
    whole = not (desk.folder / "o/INCOMPLETE").exists()
    return codes in ([0, 0], [0, 3], [0, 2]) and whole, f"exit {codes[0]} and {codes[1]}, the folder is whole"


# ------------------------------------------------------------------------------------------- hook, redaction, supply
claim("in folders of mode 0700 and files of mode 0600", "crates/hook/tests: modes, locks, pipes, damaged records")
claim("the hook waits at most 100 ms for its lock", "crates/hook/tests: modes, locks, pipes, damaged records")


@claim("No text of a message, argument, note, plan or judge passes")
def _(desk):
    text = calling("cat zebraword; echo zebraword").replace('"content": "x"', '"content": "zebraword again"')
    desk.put("in/a.jsonl", text)
    answer = desk.run("convert in --redact --salt 0123456789abcdef --out r.jsonl")
    return "zebraword" not in desk.read("r.jsonl"), str(answer)


@claim("Ids become 128 bits of BLAKE3 over the id")
def _(desk):
    desk.put("in/a.jsonl", run("secretid", 2))
    texts = []
    for salt in ("0123456789abcdef", "0123456789abcdef", "fedcba9876543210"):
        desk.run(f"convert in --redact --salt {salt} --out r{len(texts)}.jsonl")
        texts.append(desk.read(f"r{len(texts)}.jsonl"))
    return "secretid" not in texts[0] and texts[0] == texts[1] != texts[2], "equal with one salt, other with another"


@claim("`Cargo.lock` is committed")
def _(_desk):
    listed = subprocess.run(["git", "ls-files", "Cargo.lock", "deny.toml"], cwd=ROOT, capture_output=True, text=True).stdout.split()
    return listed == ["Cargo.lock", "deny.toml"] and "--locked" in (ROOT / "action.yml").read_text(), "Cargo.lock, deny.toml, --locked in action.yml"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--only", help="claims with this word")
    parser.add_argument("--seconds", type=int, default=60)
    options = parser.parse_args()
    text = " ".join((ROOT / "SECURITY.md").read_text().split())
    wrong = 0
    for quote, by in CLAIMS:
        if options.only and options.only not in quote:
            continue
        stands = " ".join(quote.split()) in text
        if isinstance(by, str):
            good, seen = stands, f"see {by}"
        else:
            with tempfile.TemporaryDirectory() as folder:
                good, seen = by(Desk(os.path.abspath(options.program), folder, options.seconds))
                seen = str(seen).replace(folder, "…")
        if not stands:
            seen = "no longer in SECURITY.md"
        wrong += not (good and stands)
        print(f"{'ok ' if good and stands else 'NOT'} {quote[:70]!r}: {seen[:160]}", flush=True)
    print(f"{len(CLAIMS)} claims, {wrong} not as they are said")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
