#!/usr/bin/env python3
"""Inputs that once went wrong, under two builds: one row of a table for each, before and after.

    benches/faults/hostile.py BEFORE AFTER [NAME...] [--markdown FILE]

BEFORE and AFTER are programs; NAME is a row (C1, S1, …). Each row makes its input in a folder of its own and runs its commands
there, each within 60 seconds (--seconds) and 4 GB. A row says what came of it (exit code, first line of the error, or a count) and whether
it is what it should be. Rows about what is lost in silence go through the formats of `fixtures/readers`.

Exit code: 0 if AFTER does what it should in each row, 1 if not. Linux, standard library only.
"""

import argparse
import csv
import gzip
import io
import json
import os
import pathlib
import random
import re
import resource
import select
import shutil
import signal
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
import zlib

BYTES = 4 << 30
STACK = '[[stack]]\nname = "s"\nany = [{ signal = "steps", at_least = 2 }]\n'
READERS = pathlib.Path(__file__).resolve().parents[2] / "fixtures" / "readers"


class Told:
    """What a command came to."""

    def __init__(self, code, out, err, used):
        self.code, self.out, self.err = code, out, err
        self.cpu, self.megabytes = used.ru_utime + used.ru_stime, used.ru_maxrss // 1024

    def __str__(self):
        lines = [line for line in (self.err + "\n" + self.out).splitlines() if line.strip()]
        first = next((line for line in lines if re.match(r"error|warning|thread|memory", line)), "not a word of it")
        return f"exit {self.code}: {first.strip()[:150]}"

    @property
    def says(self):
        return bool(re.search(r"^(error|warning)", self.err + self.out, re.MULTILINE))


class Desk:
    """A folder, and a program that runs in it."""

    def __init__(self, program, folder, seconds):
        self.program, self.folder, self.seconds = program, pathlib.Path(folder), seconds
        self.stack = self.put("s.toml", STACK)

    def put(self, name, data):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    def read(self, name):
        return (self.folder / name).read_text()

    def clear(self):
        for path in self.folder.iterdir():
            if path != self.stack:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    def start(self, *arguments, **more):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        environment = {key: value for key, value in os.environ.items() if key not in ("CI", "GITHUB_ACTIONS", "RUST_BACKTRACE")}
        return subprocess.Popen([self.program, *arguments], cwd=self.folder, env={**environment, "RAYON_NUM_THREADS": "2"}, stdin=subprocess.DEVNULL,
                                preexec_fn=limit, start_new_session=True, **more)

    def run(self, command, *more):
        """The command, its words apart by blanks; further words as they are."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            child = self.start(*command.split(), *more, stdout=out, stderr=err)
            code, used = self.end(child)
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read(1 << 26).decode(errors="replace"))
        return Told(code, *texts, used)

    def end(self, child):
        """Waits for a command, and kills it when its time is over: its exit code, and what it used."""
        ends, is_late = time.monotonic() + self.seconds, False
        while True:
            pid, status, used = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if not is_late and time.monotonic() > ends:
                is_late = True
                os.killpg(child.pid, signal.SIGKILL)
            time.sleep(0.005)
        child.returncode = os.waitstatus_to_exitcode(status)
        if is_late:
            return f"none in {self.seconds} s", used
        return 128 - child.returncode if child.returncode < 0 else child.returncode, used


def run(name, steps=1, end=""):
    """A recording of our own format."""
    lines = [{"type": "run", "run_id": name}] + [{"type": "message", "role": "assistant", "content": "x"}] * steps
    return "".join(json.dumps(line) + "\n" for line in lines) + end


def calling(command):
    call = {"id": "1", "name": "bash", "arguments": {"command": command}}
    lines = [{"type": "run", "run_id": "long"}, {"type": "message", "role": "assistant", "content": "", "tool_calls": [call]},
             {"type": "message", "role": "tool", "tool_call_id": "1", "content": "x"}]
    return "".join(json.dumps(line) + "\n" for line in lines)


GATE = "ci check in --stacks s.toml --snapshot x.snap"
READING = ["compare in --stacks s.toml", "compare in --stacks s.toml --strict", "ci accept in --stacks s.toml --snapshot x.snap", GATE]


def told(desk):
    """What reading, strict reading, accepting and gating make of `in`."""
    return [desk.run(command) for command in READING]


def loud(answers):
    """Said by those that read, an error for those who ask."""
    reading, strict, accepting, gate = answers
    return reading.says and accepting.says and (strict.code, gate.code) == (3, 3)


def over(desk, cases):
    """Each case makes `in`; how many were silent in each command, and which are not told as they should be."""
    silent, wrong, first = [0] * 4, [], ""
    for name, make in cases:
        desk.clear()
        make(desk)
        answers = told(desk)
        silent = [count + (answer.code == 0 and not answer.says) for count, answer in zip(silent, answers)]
        if not loud(answers):
            wrong.append(f"{name} ({'/'.join(str(answer.code) for answer in answers)})")
        first = first or (str(answers[0]) if answers[0].says else "")
    names = ["compare", "--strict", "accept", "check"]
    text = f"silent of {len(cases)}: " + ", ".join(f"{name} {count}" for name, count in zip(names, silent))
    text += f"; {first}" if first else ""
    few = ", ".join(wrong) if len(wrong) < 4 else f"{len(wrong)}, as {wrong[0]}"
    return text + (f"; not an error to those who ask: {few}" if wrong else ""), not wrong


# ------------------------------------------------------------------------------------------- rows
def c1(desk):
    """`a;` 163,000 times in one call of `bash`, in six spellings and five commands"""
    long = "a;" * 163_000
    kinds = [long, "a&&" * 163_000 + "a", "a||" * 163_000 + "a", "a&" * 163_000, f"bash -c '{long}'", f"cat <<E\n$({long})\nE\n"]
    tries = [("corpus in --effects --format csv", kind) for kind in kinds] + [(command, long) for command in ("corpus in", READING[0], READING[2], GATE)]
    ended, shown = 0, None
    for command, kind in tries:
        desk.put("in/long.jsonl", calling(kind))
        desk.put("in/good.jsonl", run("good"))
        answer = desk.run(command)
        ended += answer.code not in (0, 100)
        shown = shown or answer
    return f"{ended} of {len(tries)} commands end; {shown if ended else 'all runs are read'}", ended == 0


def s1(desk):
    """A file of a folder that is not recognised, of 16 kinds of damage"""
    text = run("bad", 3)
    kinds = {
        "raw NUL": text.replace('"x"', '"\0"', 1), "NUL tail": text + "\0" * 4096, "UTF-16": text.encode("utf-16"),
        "first line lost": json.dumps({"messages": [{"role": "user", "content": "x"}]}, indent=1).split("\n", 1)[1],
        "cut in front": text[40:60], "git-lfs": "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "zeros": "\0" * 512,
        "single quotes": text.replace('"', "'"), "page": "<!DOCTYPE html><html><body>404</body></html>",
        "base64": "eyJ0eXBlIjoicnVuIn0K", "repr": "[{'role': 'user', 'content': None}]", "empty": "",
    }
    files = [(name, "bad.jsonl", data) for name, data in kinds.items()]
    files += [("bz2", "bad.jsonl.bz2", b"BZh91AY&SY\0\0"), ("xz", "bad.jsonl.xz", b"\xfd7zXZ\0\0\x04"), ("page .json", "bad.json", kinds["page"]), ("base64 .traj", "bad.traj", kinds["base64"])]

    def make(desk, file, data):
        desk.put("in/good.jsonl", run("good"))
        desk.put(f"in/{file}", data)

    return over(desk, [(name, lambda desk, file=file, data=data: make(desk, file, data)) for name, file, data in files])


def replaced(file, key, old, new, nth=0):
    """A recording of the fixtures with the nth `key` of that value (a pattern) given another."""
    text = (READERS / file).read_text()
    place = [found for found in re.finditer(rf'("{key}"\s*:\s*)({old})(?=[,}}\]\s])', text)][nth]
    return text[: place.start(2)] + new + text[place.end(2):]


def damaged(cases):
    def make(desk, file, *change):
        desk.put(f"in/{pathlib.Path(file).name}", replaced(file, *change))

    return [(f"{file.split('/')[0]} {change[0]} {change[2]}", lambda desk, file=file, change=change: make(desk, file, *change)) for file, *change in cases]


def s2(desk):
    """A part of a usage that is no number, in six formats and five spellings"""
    number, places = r"\d+(?:\.\d+)?", [
        ("api-log/good-anthropic.json", "cache_read_input_tokens"), ("api-log/good-anthropic.json", "cache_creation_input_tokens"), ("api-log/good-anthropic.json", "output_tokens"),
        ("api-log/good.jsonl", "cached_tokens"), ("api-log/good-litellm.jsonl", "response_cost"), ("api-log/good-responses-api.jsonl", "reasoning_tokens"),
        ("langsmith/good.jsonl", "cache_read"), ("langsmith/good.jsonl", "reasoning"), ("langsmith/good-nested.json", "prompt_tokens"), ("langsmith/good-nested.json", "completion_tokens"),
        ("openai-agents/good.json", "cached_tokens"), ("openai-agents/good.json", "reasoning_tokens"), ("langfuse/good.json", "input_cached_tokens"),
        ("trace/good.jsonl", "cache_read"), ("claude-code/good.jsonl", "cache_read_input_tokens"),
    ]
    values = ['"5,000"', "-5", "[1]", "true", "18446744073709551616"]
    return over(desk, damaged([(file, key, number, value) for file, key in places for value in values]))


def s3(desk):
    """16 records of an unknown type or role, in 15 formats"""
    return over(desk, damaged([
        ("claude-code/good.jsonl", "type", '"assistant"', '"asistant"'), ("trace/good.jsonl", "type", '"message"', '"mesage"', 2), ("gemini-cli/good-log.jsonl", "type", '"gemini"', '"gemni"', 3),
        ("openclaw/good.jsonl", "type", '"assistant.message"', '"asistant.message"'), ("copilot-cli/good.jsonl", "type", '"assistant.message"', '"asistant.message"'),
        ("agentica/good-1.4.jsonl", "type", '"assistant"', '"asistant"'), ("letta/good.af", "role", '"assistant"', '"asistant"'), ("openhands/good.jsonl", "kind", '"ActionEvent"', '"AktionEvent"'),
        ("codex/good.jsonl", "type", '"function_call"', '"function_cal"'), ("codex/good.jsonl", "role", '"assistant"', '"asistant"'), ("pi/good.jsonl", "type", '"message"', '"mesage"', 1),
        ("opencode/good.json", "role", '"assistant"', '"asistant"'), ("bashkit/good.json", "role", '"assistant"', '"asistant"'), ("inspect/good.json", "event", '"model"', '"modell"'),
        ("openai-agents/good.json", "type", '"response"', '"respons"'), ("api-log/good-anthropic.json", "role", '"user"', '"usr"'),
    ]))


def s4(desk):
    """Labels: a quote that never closes; a row of another width"""
    desk.put("x.jsonl", "".join(run(f"r{nth}") for nth in range(9)))
    answers = []
    for text in ["run_id,success\nr0,false\n\"r1,false\n" + "".join(f"r{nth},false\n" for nth in range(2, 9)), "run_id,task_id,success\nr0,false\n" + "".join(f"r{nth},t,false\n" for nth in range(1, 9))]:
        desk.put("l.csv", text)
        answers += [desk.run("compare x.jsonl --stacks s.toml --labels l.csv"), desk.run("compare x.jsonl --stacks s.toml --labels l.csv --strict")]
    good = all("l.csv:" in answer.err for answer in answers) and answers[1].code == answers[3].code == 3
    return "; ".join(f"({name}) {answers[at]}, strictly {answers[at + 1].code}" for name, at in (("a", 0), ("b", 2))), good


def s5(desk):
    """A snapshot without one of its 400 lines, whose run stops no more; without half of a stack's"""
    stacks = "".join(f'[[stack]]\nname = "{name}"\nany = [{{ signal = "steps", at_least = {least} }}]\n' for name, least in (("s", 2), ("u", 5)))
    desk.put("two.toml", stacks)
    steps = [3 if nth % 5 < 3 else 1 for nth in range(200)]
    desk.put("then.jsonl", "".join(run(f"r{nth}", count) for nth, count in enumerate(steps)))
    desk.put("now.jsonl", "".join(run(f"r{nth}", 2 if nth == 7 else count) for nth, count in enumerate(steps)))
    desk.run("ci accept then.jsonl --stacks two.toml --snapshot whole.snap")
    lines = desk.read("whole.snap").splitlines(keepends=True)
    of = [line for line in lines if line.startswith("s | ")]
    gone = next(line for line in of if " r7 " in line)
    desk.put("less.snap", "".join(line for line in lines if line != gone))
    desk.put("half.snap", "".join(line for line in lines if line not in [gone, *of[-100:]]))
    answers = [desk.run(f"ci check now.jsonl --stacks two.toml --snapshot {name}.snap") for name in ("whole", "less", "half")]
    good = answers[0].code == 100 and all(answer.code in (3, 100) for answer in answers[1:])
    return f"whole {answers[0].code}; a line less: {answers[1]}; half: exit {answers[2].code}", good


def s6(desk):
    """`report` on half of rows.csv, on its rows twice, on all but one"""
    desk.put("in.jsonl", "".join(run(f"r{nth}", nth % 4 + 1) for nth in range(20)))
    desk.run("compare in.jsonl --stacks s.toml --out out")
    rows = desk.read("out/rows.csv").splitlines(keepends=True)
    answers = []
    for kept in (rows[: len(rows) // 2], rows + rows[1:], rows[:-1]):
        desk.put("out/rows.csv", "".join(kept))
        answers.append(desk.run("report out"))
    return f"half: {answers[0]}; twice: exit {answers[1].code}; one less: exit {answers[2].code}", all(answer.code == 3 for answer in answers)


def archive_of(members, kind):
    made = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
            for name, text in members:
                file.writestr(name, text)
    else:
        with tarfile.open(fileobj=made, mode="w:gz" if kind == "tar.gz" else "w", format=tarfile.GNU_FORMAT) as file:
            for name, text in members:
                header = tarfile.TarInfo(name)
                header.size = len(text)
                file.addfile(header, io.BytesIO(text.encode()))
    return made.getvalue()


def b1(desk):
    """40 members in 1,900 folders each: tar.gz, zip"""
    said, good = [], True
    for kind in ("tar.gz", "zip"):
        desk.clear()
        desk.put("in/good.jsonl", run("good"))
        data = archive_of([(f"{nth}/" + "a/" * 1_900 + "x.jsonl", run(f"r{nth}")) for nth in range(40)], kind)
        desk.put(f"in/x.{kind}", data)
        answer = desk.run("corpus in --strict")
        said.append(f"{kind} of {len(data):,} bytes: {answer.cpu:.1f} s of CPU, {answer}")
        good = good and answer.cpu < 1 and answer.code == 3 and "at most 100" in answer.out + answer.err
    return "; ".join(said), good


def b2(desk):
    """20 GB (sparse), or /dev/zero, as each of the files that are read whole"""
    desk.put("in.jsonl", run("a"))
    desk.put("whenstop.toml", 'recordings = ["in.jsonl"]\nstacks = ["s.toml"]\n')
    desk.run("compare in.jsonl --stacks s.toml --out out")
    desk.run("ci accept in.jsonl --stacks s.toml --snapshot x.snap")
    places = [("out/rows.csv", "report out"), ("out/firings.csv", "report out"), ("out/manifest.json", "report out"), ("x.snap", "ci check in.jsonl --stacks s.toml --snapshot x.snap"),
              ("l.csv", "corpus in.jsonl --labels l.csv"), ("p.toml", "corpus in.jsonl --price p.toml"), ("t.toml", "compare in.jsonl --stacks t.toml"), ("whenstop.toml", "ci check --project whenstop.toml")]
    said, good, first = {}, True, ""
    for name, command in places:
        path = desk.folder / name
        kept = path.read_bytes() if path.exists() else None
        for kind in ("sparse", "device"):
            path.unlink(missing_ok=True)
            if kind == "sparse":
                with path.open("wb") as file:
                    file.truncate(20 << 30)
            else:
                path.symlink_to("/dev/zero")
            answer = desk.run(command)
            bounded = answer.code in (2, 3) and bool(re.search(r"longer than|may never end|never end", answer.err))
            said.setdefault("refused with a limit" if bounded else f"exit {answer.code}" + (" (out of memory)" if "alloc" in answer.err or "memory" in answer.err else ""), []).append(f"{path.name} {kind}")
            good, first = good and bounded, first or str(answer)
        path.unlink()
        if kept is not None:
            path.write_bytes(kept)
    return "; ".join(f"{what}: {len(names)} of {2 * len(places)}" for what, names in said.items()) + f"; {first}", good


def b3(desk):
    """Names with blanks as suite, model and agent, under `--redact`"""
    names = ["Jane Doe", "password: hunter2", "+49 151 1234567", "sk-live 12 9f8e7d"]
    passed = 0
    for name in names:
        head = json.dumps({"type": "run", "run_id": "r", "suite": name, "model": name, "agent": name})
        reply = json.dumps({"type": "message", "role": "assistant", "content": "done", "model": name})
        desk.put("x.jsonl", f"{head}\n{reply}\n")
        desk.run("convert x.jsonl --redact --salt s --out o.jsonl")
        passed += name in desk.read("o.jsonl")
    return f"{passed} of {len(names)} pass", passed == 0


def b4(desk):
    """`--embed-text none` with texts where a lane and an outcome should be"""
    desk.put("x.jsonl", '{"type":"run","run_id":"r"}\n{"type":"message","role":"assistant","content":"x","lane":"SECRET"}\n{"type":"outcome","success":"SECRET"}\n')
    answer = desk.run("compare x.jsonl --stacks s.toml --out o --embed-text none")
    quoting = [name for name in ("report.html", "manifest.json") if "SECRET" in desk.read(f"o/{name}")]
    return f"exit {answer.code}; quoted in {', '.join(quoting) or 'neither report.html nor manifest.json'}", answer.code == 0 and not quoting


def b5(desk):
    """A C library is linked (messages of libzstd in the program)"""
    linked = b"Operation made no progress over multiple calls" in pathlib.Path(desk.program).read_bytes()
    return "libzstd is linked" if linked else "no libzstd", True


def b6(desk):
    """Two archives in one file (tar, zip); a zip whose comment holds an end record"""
    def two(desk, kind):
        desk.put("in/good.jsonl", run("good"))
        desk.put(f"in/x.{kind}", archive_of([("a.jsonl", run("a"))], kind) + archive_of([("b.jsonl", run("b"))], kind))

    def comment(desk):
        desk.put("in/good.jsonl", run("good"))
        data = archive_of([("a.jsonl", run("a"))], "zip")
        desk.put("in/x.zip", data[:-2] + b"\x16\0" + b"PK\5\6" + bytes(18))

    return over(desk, [("tar", lambda desk: two(desk, "tar")), ("zip", lambda desk: two(desk, "zip")), ("comment", comment)])


def b7(desk):
    """Run ids that are commands to GitHub's runner; `check --report github=-`, `explain`, `corpus --runs`"""
    obeyed, lines = 0, []
    for name in ("::add-mask::x", "::stop-commands::x"):
        desk.put("x.jsonl", run(name, 3))
        desk.put("x.snap", "# whenstop stop points v2: stack | run | rule | stop | verdict\ns | a | - | end | unlabelled\n")
        for command in ("ci check x.jsonl --stacks s.toml --snapshot x.snap --report github=-", "corpus x.jsonl --runs", "explain x.jsonl --stacks s.toml"):
            answer = desk.run(command)
            found = [line for line in (answer.out + answer.err).splitlines() if re.match(r"\s*(::(add-mask|stop-commands)|##\[)", line)]
            obeyed += bool(found)
            lines += found
    return f"in {obeyed} of 6 outputs a line begins with it" + (f": `{lines[0].strip()[:60]}`" if lines else ""), obeyed == 0


def p1(desk):
    """Calls of one step under pydantic-ai; `a >f1 >f2 …`; `a \\| tee f1 f2 …`: CPU at 25k, 50k, 100k"""
    def step(n):
        calls = [{"id": str(nth), "name": "ls", "arguments": {"a": nth}} for nth in range(n)]
        lines = [{"type": "message", "role": "assistant", "content": "", "tool_calls": calls}]
        lines += [{"type": "message", "role": "tool", "tool_call_id": call["id"], "content": "x", "is_error": nth % 2 == 0} for nth, call in enumerate(calls)]
        return run("r", 0) + "".join(json.dumps(line) + "\n" for line in lines)

    cases = [("pydantic-ai", "compare x.jsonl --stacks preset:pydantic-ai", step), (">f", "corpus x.jsonl --effects --format csv", lambda n: calling("a" + "".join(f" >f{nth}" for nth in range(n)))),
             ("tee", "corpus x.jsonl --effects --format csv", lambda n: calling("echo a | tee" + "".join(f" f{nth}" for nth in range(n))))]
    said, good = [], True
    for name, command, make in cases:
        times = []
        for n in (25_000, 50_000, 100_000):
            desk.put("x.jsonl", make(n))
            times.append(desk.run(command).cpu)
        said.append(f"{name} " + ", ".join(f"{seconds:.1f}" for seconds in times) + " s")
        good = good and (times[2] < 0.5 or times[2] < 8 * max(times[0], 0.05))
    return "; ".join(said), good


def parquet(rows, empty="", **columns):
    """A table whose columns have one text or number for all rows: few bytes, however many there are. The last row of `empty` is null."""
    def number(n):
        out = b""
        while n > 127:
            out, n = out + bytes([n & 127 | 128]), n >> 7
        return out + bytes([n])

    signed = lambda n: number(n << 1 ^ n >> 63)
    text = lambda s: number(len(s)) + s

    def record(*fields):
        """Thrift's compact form: (id, type, bytes) in order."""
        out, last = b"", 0
        for at, kind, data in fields:
            out, last = out + bytes([at - last << 4 | kind]) + data, at
        return out + b"\0"

    int32, int64, binary, several, within = 5, 6, 8, 9, 12
    many = lambda kind, *items: bytes([len(items) << 4 | kind]) + b"".join(items)

    def page(kind, raw, head):
        packed = zlib.compress(raw, 9, 31)
        return record((1, int32, signed(kind)), (2, int32, signed(len(raw))), (3, int32, signed(len(packed))), head) + packed, len(raw)

    out, chunks, schema = b"PAR1", [], [record((4, binary, text(b"schema")), (5, int32, signed(len(columns))))]
    for name, value in columns.items():
        full = rows - (name == empty)
        levels = number(full << 1) + b"\1" + (b"\2\0" if full < rows else b"")
        kind, shown = (5, struct.pack("<d", value)) if isinstance(value, float) else (6, len(value).to_bytes(4, "little") + value)
        first, first_raw = page(2, shown, (7, within, record((1, int32, signed(1)), (2, int32, signed(0)))))
        second, second_raw = page(0, len(levels).to_bytes(4, "little") + levels + b"\1" + number(full << 1) + b"\0",
                                  (5, within, record((1, int32, signed(rows)), (2, int32, signed(8)), (3, int32, signed(3)), (4, int32, signed(3)))))
        at, name = len(out), text(name.encode())
        out += first + second
        meta = record((1, int32, signed(kind)), (2, several, many(int32, signed(0), signed(8), signed(3))), (3, several, many(binary, name)), (4, int32, signed(2)), (5, int64, signed(rows)),
                      (6, int64, signed(first_raw + second_raw)), (7, int64, signed(len(first + second))), (9, int64, signed(at + len(first))), (11, int64, signed(at)))
        chunks.append(record((2, int64, signed(at)), (3, within, meta)))
        schema.append(record((1, int32, signed(kind)), (3, int32, signed(1)), (4, binary, name), *([(6, int32, signed(0))] if kind == 6 else [])))
    group = record((1, several, many(within, *chunks)), (2, int64, signed(len(out))), (3, int64, signed(rows)))
    footer = record((1, int32, signed(1)), (2, several, many(within, *schema)), (3, int64, signed(rows)), (4, several, many(within, group)))
    return out + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def p2(desk):
    """Parquet: 2,000 rows of 1,000 equal texts of 1 kB; 3 million rows of two short messages"""
    texts = json.dumps([{"role": "assistant", "content": "x" * 1_000}] * 1_000).encode()
    short = json.dumps([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]).encode()
    said, good = [], True
    for value, rows in ((texts, 2_000), (short, 3_000_000)):
        data = parquet(rows, messages=value)
        desk.put("x.parquet", data)
        answer = desk.run("corpus x.parquet --strict --map messages=messages")
        said.append(f"{len(data):,} bytes: {answer.cpu:.1f} s of CPU, {answer}")
        good = good and answer.code == 3 and "many times its size" in answer.err
    return "; ".join(said), good


def l1(desk):
    """The same ten runs twice: as a copy, zipped, gzipped, as five leftovers of editors"""
    text = "".join(run(f"r{nth}", 2) for nth in range(10))
    beside = {"copy.jsonl": text, "a.zip": archive_of([("a.jsonl", text)], "zip"), "a.jsonl.gz": gzip.compress(text.encode()), "a.jsonl~": text, "a.jsonl.bak": text, "a.jsonl.tmp": text, "a (1).jsonl": text}
    twice, told = [], 0
    for name, data in beside.items():
        desk.clear()
        desk.put("in/a.jsonl", text)
        desk.put(f"in/{name}", data)
        answer = desk.run("compare in --stacks s.toml --out o")
        counted = {row.split(",")[0] for row in desk.read("o/rows.csv").splitlines()[1:]} if answer.code == 0 else set()
        rows = len(desk.read("o/rows.csv").splitlines()) - 1 if answer.code == 0 else 0
        twice += [name] if rows != 10 else []
        told += "byte for byte" in answer.err
    return f"counted twice: {len(twice)} of {len(beside)} ({', '.join(twice) or 'none'}); told as copies: {told}", not twice and told == len(beside)


def l2(desk):
    """Outcomes that are none, and two that contradict"""
    talk = '"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]'
    chat = lambda field: lambda desk: desk.put("in/x.jsonl", "{" + talk + "," + field + "}\n")
    outcome = lambda success: json.dumps({"type": "outcome", "success": success}) + "\n"
    cases = [("resolved maybe", chat('"resolved":"maybe"')), ("reward 1.0 (ok)", chat('"reward":"1.0 (ok)"')), ("score 1e400", chat('"score":1e400')), ("reward NaN text", chat('"reward":"NaN"')),
             ("contradiction", lambda desk: desk.put("in/x.jsonl", run("b", 1, outcome(True) + outcome(False)))),
             ("a list in trace", lambda desk: desk.put("in/x.jsonl", run("b", 1, outcome([7]))))]
    cases += damaged([("openhands/output.jsonl", "resolved", "true|false", '"maybe"'), ("atif/lines.jsonl", "success", "true|false", '"maybe"')])
    text, good = over(desk, cases)
    said, short = [], b'[{"role":"assistant","content":"x"}]'
    tables = {"outcome NaN": {"outcome": b"NaN"}, "outcome maybe": {"outcome": b"maybe"}, "cost -1": {"cost": b"-1"}, "cost NaN": {"cost": b"NaN"}, "cost free": {"cost": b"free"},
              "outcome NaN, a number": {"outcome": float("nan")}, "cost NaN, a number": {"cost": float("nan")}, "cost -1, a number": {"cost": -1.0}, "no messages": {}}
    for name, column in tables.items():
        desk.clear()
        desk.put("in/x.parquet", parquet(3, "" if column else "messages", messages=short, **column))
        words = ",".join(f"{key}={key}" for key in ("messages", *column))
        answers = [desk.run(f"{command} --map {words}") for command in READING]
        said += [] if loud(answers) else [f"{name} ({'/'.join(str(answer.code) for answer in answers)})"]
    return text + f"; cells of Parquet that are no error to those who ask: {', '.join(said) or 'none'}", good and not said


def f1(desk):
    """A pipe as labels, stacks and prices; a link to /proc/kmsg in a folder"""
    desk.put("in/a.jsonl", run("a"))
    os.mkfifo(desk.folder / "x")
    answers = [desk.run(command) for command in ("corpus in --labels x", "compare in --stacks x", "corpus in --price x")]
    (desk.folder / "in/k.jsonl").symlink_to("/proc/kmsg")
    answers.append(desk.run("corpus in"))
    hangs = sum(isinstance(answer.code, str) for answer in answers)
    return f"{hangs} of 4 hang; {answers[0]}", hangs == 0 and all(answer.code in (2, 3) for answer in answers[:3])


def f2(desk):
    """A link in a folder to /proc/self; to /etc"""
    said, good = [], True
    for to in ("/proc/self", "/etc"):
        desk.clear()
        desk.put("in/a.jsonl", run("a"))
        (desk.folder / "in/x").symlink_to(to)
        begun = time.monotonic()
        answer = desk.run("corpus in")
        said.append(f"{to}: {time.monotonic() - begun:.1f} s, {answer}")
        good = good and "leads out of the folder" in answer.out + answer.err
    return "; ".join(said), good


def f3(desk):
    """`export s.toml --to langchain --out s.toml`"""
    before = desk.read("s.toml")
    answer = desk.run("export s.toml --to langchain --out s.toml")
    kept = desk.read("s.toml") == before
    desk.put("s.toml", before)
    return f"{answer}; the stack file is {'kept' if kept else 'overwritten'}", kept and answer.code == 2


def f4(desk):
    """`corpus --format md` with ids that are a mention and links"""
    names, bare = ["@octocat", "https://evil.example/x", "www.evil.example", "#12"], 0
    for name in names:
        desk.put("x.jsonl", run(name))
        bare += bool(re.search(rf"\| {re.escape(name)} \|", desk.run("corpus x.jsonl --runs --format md").out))
    return f"{bare} of {len(names)} stand bare", bare == 0


def f5(desk):
    """`convert --out FILE`, killed 34 times; what the next whole run leaves beside it"""
    desk.put("x.jsonl", "".join(run(f"r{nth}", 8) for nth in range(20_000)))
    dice, seen = random.Random(1), 0
    begun = time.monotonic()
    desk.run("convert x.jsonl --out o/all.jsonl")
    takes = time.monotonic() - begun
    for _ in range(34):
        child = desk.start("convert", "x.jsonl", "--out", "o/all.jsonl", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(dice.uniform(0, takes))
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    seen = len(os.listdir(desk.folder / "o")) - 1
    answer = desk.run("convert x.jsonl --out o/all.jsonl")
    left = [name for name in os.listdir(desk.folder / "o") if name != "all.jsonl"]
    return f"{seen} files after the kills, {len(left)} after the next run (exit {answer.code})", answer.code == 0 and not left


def f6(desk):
    """A project file whose stack file, labels or prices lie outside"""
    desk.put("p/a.jsonl", run("a"))
    desk.put("p/s.toml", desk.read("s.toml"))
    head, quoted, first = 'recordings = ["a.jsonl"]\n', [], ""
    for what, text in [("stacks", 'stacks = ["/etc/passwd"]\n'), ("labels", 'stacks = ["s.toml"]\n[reading]\nlabels = ["/etc/passwd"]\n'), ("prices", 'stacks = ["s.toml"]\n[reading]\nprice = "/etc/passwd"\n')]:
        desk.put("p/whenstop.toml", head + text)
        answer = desk.run("ci check --project p/whenstop.toml --fail-on stopped<=1")
        quoted += [what] if "root:" in answer.err + answer.out else []
        first = first or str(answer)
    return f"quotes it from {', '.join(quoted) or 'none'}; {first}", not quoted


def intact(desk, tries):
    """Each try is a name, a file that is read, and the command that is to write over it: which inputs were changed."""
    lost, first = [], ""
    for name, file, command in tries:
        desk.clear()
        desk.put("s.toml", STACK)
        desk.put("a.jsonl", run("a", 3))
        desk.put("l.csv", "run_id,success\na,true\n")
        desk.put("d/summary.csv", "run_id,success\na,true\n")
        desk.put("d/manifest.json", '{"mine": 1}\n')
        was = (desk.folder / file).read_bytes()
        answer = desk.run(command)
        if (desk.folder / file).read_bytes() != was:
            lost.append(name)
        first = first or (str(answer) if answer.code else "")
    return f"written over: {', '.join(lost) or 'none'} (of {len(tries)}); {first or 'not a word of it'}", not lost


def h1(desk):
    """An output whose place is a file that the command reads, or a file of somebody else's in the folder"""
    gate = "ci check a.jsonl --stacks s.toml --fail-on steps_spent_less_share>0.9 --report"
    return intact(desk, [
        ("recording by a report", "a.jsonl", f"{gate} md=a.jsonl"), ("stack file by a report", "s.toml", f"{gate} md=s.toml"),
        ("recording by a redacted copy", "a.jsonl", "convert a.jsonl --redact --out a.jsonl"), ("recording by a block for a pull request", "a.jsonl", "export s.toml a.jsonl --to openhands --nearest --format pr --out a.jsonl"),
        ("labels by the folder", "d/summary.csv", "compare a.jsonl --stacks s.toml --labels d/summary.csv --out d"), ("a manifest of another program", "d/manifest.json", "compare a.jsonl --stacks s.toml --out d"),
        ("stack file by the snapshot", "s.toml", "ci accept a.jsonl --stacks s.toml --snapshot s.toml"),
    ])


def h2(desk):
    """A project file of somebody else's that names a report outside its folder, by `..`, absolute, or through a link"""
    lost, first = [], ""
    for name in ("above", "absolute", "link"):
        desk.clear()
        victim = desk.put("home/.bashrc", "mine\n")
        desk.put("p/a.jsonl", run("a", 3))
        desk.put("p/s.toml", STACK)
        place = {"above": "../home/.bashrc", "absolute": str(victim), "link": "out/.bashrc"}[name]
        if name == "link":
            (desk.folder / "p/out").symlink_to(desk.folder / "home")
        desk.put("p/whenstop.toml", f'recordings = ["a.jsonl"]\nstacks = ["s.toml"]\ngates = ["steps_spent_less_share>0.9"]\n[reports]\nmd = "{place}"\n')
        answer = Desk(desk.program, desk.folder / "p", desk.seconds).run("ci check")
        lost += [name] if victim.read_text() != "mine\n" else []
        first = first or str(answer)
    return f"written over: {', '.join(lost) or 'none'} of 3; {first}", not lost


def h3(desk):
    """An edit that another program makes while `hook install` asks, answered with yes"""
    settings = desk.put("home/.claude/settings.json", '{"permissions": {"allow": ["Bash(ls:*)"]}}\n')
    desk.put("home/.claude/projects/p/x.jsonl", "")
    master, slave = os.openpty()
    environment = {**os.environ, "HOME": str(desk.folder / "home"), "XDG_STATE_HOME": str(desk.folder / "state"), "XDG_CONFIG_HOME": str(desk.folder / "home/.config"), "CLAUDE_CONFIG_DIR": str(desk.folder / "home/.claude"), "COLUMNS": "200"}
    environment.pop("CI", None)
    hook = desk.put("whenstop-hook", "#!/bin/sh\necho '{}'\n")
    hook.chmod(0o755)
    child = subprocess.Popen([desk.program, "hook", "install", "claude-code", "--stacks", "s.toml", "--program", hook], cwd=desk.folder, env=environment, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
    os.close(slave)
    seen, edited, deadline = b"", False, time.monotonic() + desk.seconds
    while child.poll() is None and time.monotonic() < deadline:
        if select.select([master], [], [], 0.2)[0]:
            try:
                seen += os.read(master, 65536)
            except OSError:
                break
        if not edited and b"[y/N]" in seen:
            settings.write_text('{"permissions": {"allow": ["Bash(ls:*)", "Bash(make:*)"]}}\n')
            edited = True
            os.write(master, b"y\n")
        elif edited and seen.count(b"[y/N]") > 1:
            os.write(master, b"n\n")
            edited = None
    child.kill()
    child.wait()
    os.close(master)
    kept = "make" in settings.read_text()
    if edited is False:
        last = seen.decode(errors="replace").strip().splitlines()
        return f"it did not ask: {last[-1] if last else ''}", False
    return f"the edit is {'kept' if kept else 'lost'}{'; it asks again' if edited is None else ''}", kept


def numbers(table):
    """Tokens, runs and steps in the first line of the table of formats."""
    lines = list(csv.DictReader(io.StringIO(table)))
    return tuple(lines[0].get(name) for name in ("tokens", "runs", "steps")) if lines else ("", "0", "0")


def h5(desk):
    """Containers and scalars of another type, in ten formats: what changes a number without a word"""
    group = r"\{[^{}]*\}"
    places = [
        ("codex/good.jsonl", "total_token_usage", group, "{}"), ("atif/good.json", "metrics", group, "{}", 1), ("chat/good.jsonl", "role", '"assistant"', "true"),
        ("trace/good.jsonl", "success", "true|false", "18446744073709551616"), ("openhands/good.jsonl", "id", '"e2"', "[1]"), ("inspect/good.json", "role", '"assistant"', "[1]"),
        ("opencode/good.json", "role", '"assistant"', "7"), ("claude-code/good.jsonl", "usage", group, "true"), ("trace/good.jsonl", "usage", group, "[]"),
        ("openai-agents/good.json", "role", '"assistant"', "true"), ("gemini-cli/good.json", "tokens", group, "3"),
    ]
    silent = []
    for name, make in damaged(places):
        desk.clear()
        file = next(file for file, *_ in places if name.startswith(file.split("/")[0] + " "))
        desk.put(f"whole/{pathlib.Path(file).name}", (READERS / file).read_bytes())
        make(desk)
        answer = desk.run("corpus in --strict --format csv")
        whole = desk.run("corpus whole --format csv").out
        # Tokens that are unknown are an empty cell: no number.
        (tokens, runs, steps), right = numbers(answer.out), numbers(whole)
        if answer.code == 0 and not answer.says and ((tokens and tokens != right[0]) or (runs, steps) != right[1:]):
            silent.append(name)
    return f"{len(silent)} of {len(places)} silent{': ' + ', '.join(silent) if silent else ''}", not silent


def growth(desk, make, command, n):
    """CPU seconds at n and at four times n."""
    seconds = []
    for size in (n, 4 * n):
        desk.clear()
        make(size)
        seconds.append(desk.run(command).cpu)
    return seconds


def h6(desk):
    """CPU at n and 4n: `{` in one call, files of a folder, stacks of a file, rules looked over"""
    def files(n):
        for nth in range(n):
            desk.put(f"in/{nth:06}.jsonl", run(f"{nth:06}"))

    def stacks(n):
        desk.put("in/a.jsonl", run("a", 3))
        desk.put("s.toml", "".join(f'[[stack]]\nname = "s{nth}"\nany = [{{ signal = "steps", at_least = {nth + 2} }}]\n' for nth in range(n)))

    cases = [
        ("`{`", lambda n: desk.put("in/a.jsonl", calling("{" * n)), "corpus in --effects --format csv", 12_500), ("files", files, "corpus in", 2_000),
        ("stacks", stacks, "compare in --stacks s.toml --format csv", 200), ("lint", stacks, "rules lint s.toml", 1_000),
    ]
    told, good = [], True
    for name, make, command, n in cases:
        small, large = growth(desk, make, command, n)
        # Four times the work, and as much again for what is beside it.
        good &= large < 8 * max(small, 0.1)
        told.append(f"{name} {small:.2f} → {large:.2f} s")
    return "; ".join(told), good


def h7(desk):
    """Names with line ends, ESC and a workflow command: as a line of code, on a terminal, in Markdown"""
    desk.put("s.toml", '[[stack]]\nname = "x\\nimport os; os.system(\'id\') #\\u001b[31m"\nany = [{ signal = "steps", at_least = 2 }]\n')
    desk.put("a.jsonl", run("r\n::stop-commands::1", 3))
    desk.put("b.jsonl", run("![i](http://x/y) @you", 3))
    wrong = []
    for host in ("smolagents", "langgraph", "openai-agents", "pydantic-ai", "autogen", "crewai", "browser-use", "claude-code"):
        answer = desk.run(f"export s.toml --to {host} --nearest")
        lines = answer.out.splitlines()
        wrong += [host] if any(line.startswith("import os; os.system") for line in lines) or "\x1b" in answer.out else []
    desk.run("ci check a.jsonl b.jsonl --stacks s.toml --snapshot none.snap --report md=r.md")
    shown = desk.read("r.md") if (desk.folder / "r.md").exists() else desk.run("ci check a.jsonl b.jsonl --stacks s.toml --fail-on steps_spent_less_share>0.9 --report md=r.md").out
    wrong += ["a workflow command"] if re.search(r"^::", shown, re.MULTILINE) else []
    wrong += ["an image"] if "![i](http" in shown else []
    return f"passes: {', '.join(wrong) or 'none'}", not wrong


def guard(point, run="pass"):
    """A guard, with what it does when a run begins and at each point, where `say` answers."""
    return f'''import json, sys, time, zlib

def say(**answer):
    print(json.dumps({{"id": event["id"], **answer}}), flush=True)

for line in sys.stdin:
    event = json.loads(line)
    if event["type"] == "hello":
        say(protocol=1, points=["after_tools"], answers=["stop"], rules=["x"])
    elif event["type"] == "run":
        {run}
    elif "id" in event:
        {point}
'''


def h8(desk):
    """A guard that ends on 278 of 400 runs, often ten times in a row, with 1, 2, 4 and 8 threads: rows of a table"""
    fails = 'fails = zlib.crc32(event["run_id"].encode()) % 40 < 28'
    desk.put("g.py", guard('(sys.exit(3) if fails else say(answer="continue"))', fails))
    desk.put("in/a.jsonl", "".join(run(f"r{nth}", 3) for nth in range(400)))
    seen = {}
    for threads in (1, 2, 4, 8):
        answer = desk.run(f"compare in --stacks s.toml --threads {threads} --format csv --guard", f"mine={sys.executable} g.py")
        seen[threads] = (answer.code, answer.out)
    alike = len(set(seen.values())) == 1
    return f"exit codes {'/'.join(str(code) for code, _ in seen.values())}; tables {'equal' if alike else 'differ'}", alike


def h9(desk):
    """A guard that answers nothing, when the program is ended by SIGQUIT, SIGTERM, SIGHUP: what is left of it"""
    left = []
    for kind in (signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
        desk.put("g.sh", f"echo $$ > pid\nexec sleep {desk.seconds}\n")
        desk.put("in/a.jsonl", run("a", 3))
        (desk.folder / "pid").unlink(missing_ok=True)
        child = desk.start("compare", "in", "--stacks", "s.toml", "--guard", "mine=sh g.sh", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        begun = time.monotonic()
        while not (desk.folder / "pid").exists() and time.monotonic() < begun + 20:
            time.sleep(0.05)
        time.sleep(0.2)
        pid = int(desk.read("pid") or 0)
        child.send_signal(kind)
        child.wait()
        time.sleep(0.5)
        status = pathlib.Path(f"/proc/{pid}/status")
        # One that has ended and was not yet asked for by whoever started it is no longer there.
        if status.exists() and "State:\tZ" not in status.read_text():
            left.append(kind.name)
            os.kill(pid, signal.SIGKILL)
    return f"outlives the program after {', '.join(left) or 'none of 3'}", not left


def h10(desk):
    """5,000 levels in an argument; 200,000 short messages (memory)"""
    desk.put("in/deep.jsonl", calling("x").replace('"x"', '{"a":' * 5000 + "1" + "}" * 5000, 1))
    deep = desk.run("corpus in")
    desk.clear()
    desk.put("in/long.jsonl", run("long", 200_000))
    long = desk.run("compare in --stacks s.toml")
    return f"deep: {deep}; long: exit {long.code}, {long.megabytes} MB", deep.code in (0, 3, 4) and long.code == 0 and long.megabytes < 200


def h11(desk):
    """A guard that fails on every run: accepting and `--strict`"""
    desk.put("g.py", guard('say(answer="no word")'))
    desk.put("in/a.jsonl", "".join(run(f"r{nth}", 3) for nth in range(20)))
    accepted = desk.run("ci accept in --stacks s.toml --snapshot x.snap --guard", f"mine={sys.executable} g.py")
    wrote = (desk.folder / "x.snap").exists()
    strict = desk.run("compare in --stacks s.toml --strict --guard", f"mine={sys.executable} g.py")
    good = not wrote and accepted.code != 0 and strict.code == 3
    return f"accept: exit {accepted.code}, snapshot {'written' if wrote else 'not written'}; --strict: {strict}", good


ROWS = {row.__name__.upper(): row for row in [c1, s1, s2, s3, s4, s5, s6, b1, b2, b3, b4, b5, b6, b7, p1, p2, l1, l2, f1, f2, f3, f4, f5, f6, h1, h2, h3, h5, h6, h7, h8, h9, h10, h11]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(ROWS)}")
    parser.add_argument("--seconds", type=int, default=60, help="time a command has; more on a busy machine")
    parser.add_argument("--markdown", type=pathlib.Path, help="write the table here too")
    options = parser.parse_args()
    if unknown := set(options.names) - set(ROWS):
        parser.error(f"no row {', '.join(sorted(unknown))}")
    lines, wrong = ["| # | what | before | after |", "| --- | --- | --- | --- |"], []
    print(*lines, sep="\n", flush=True)
    for name, row in ROWS.items():
        if options.names and name not in options.names:
            continue
        cells = []
        for program in (options.before, options.after):
            with tempfile.TemporaryDirectory() as folder:
                text, good = row(Desk(os.path.abspath(program), folder, options.seconds))
                cells.append(text.replace(folder, "…").replace("|", "\\|").replace("\n", " "))
        if not good:
            wrong.append(name)
            cells[-1] += " **(not as it should be)**"
        lines.append(f"| {name} | {row.__doc__} | {cells[0]} | {cells[1]} |")
        print(lines[-1], flush=True)
    if options.markdown:
        options.markdown.write_text("\n".join(lines) + "\n")
    if wrong:
        print(f"not as they should be: {', '.join(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
