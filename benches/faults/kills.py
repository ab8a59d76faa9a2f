#!/usr/bin/env python3
"""Kills whenstop at random moments while it writes, and looks at what it left.

    benches/faults/kills.py [--kills 1000] [--slow] [--seed 1] [--program target/release/whenstop]

The kills go in turn to `compare --out`, `convert --out`, `accept`, `report`, `labels`, `hook install` and `tune --out`, all over the
same files again and again, with two kinds of input in turn. After each kill every file must be whole: byte for byte one of the two results.
The files of a folder must all come from one of them, or the folder must hold `INCOMPLETE`, and `report` must refuse it.

Moments are uniform over the time a whole run takes. `--slow` runs the program under `strace`, which delays every write,
open and rename by 2 ms, so that most kills come while files are written.

Also, as root on Linux: a full disk and a read-only one (`--disks`), each a small tmpfs.
"""

import argparse, os, pathlib, random, shutil, signal, subprocess, sys, tempfile, time

RUN = """{"type":"run","run_id":"run-%d","task_id":"t%d"}
{"type":"message","role":"assistant","content":"","tool_calls":[{"id":"1","name":"ls","arguments":{}}]}
{"type":"message","role":"tool","tool_call_id":"1","content":"a"}
{"type":"message","role":"assistant","content":"done"}
{"type":"outcome","success":%s,"end":"self_finish"}
"""
STACK = '[[stack]]\nname = "%s"\nany = [{ signal = "steps", at_least = 1 }]\n'
SLOW = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=write,openat,rename,renameat2",
        "-e", "inject=write,openat,rename,renameat2:delay_enter=2000"]


def prepare(desk, run):
    for name, leave_out in [("a", 0), ("b", 1)]:
        (desk / f"traces-{name}").mkdir()
        for path in sorted(TRACES.rglob("*.jsonl*"))[leave_out:]:
            shutil.copy(path, desk / f"traces-{name}")
    for name, success in [("a", "true"), ("b", "false")]:
        ungraded = "".join(RUN % (n, n % 5, success) for n in range(20)).replace(f'"success":{success},', "")
        (desk / f"{name}-ungraded.jsonl").write_text(ungraded.replace("run-", f"{name}-"))
        (desk / f"{name}.jsonl").write_text("".join(RUN % (n, n % 5, success) for n in range(20)))
        (desk / f"{name}.toml").write_text(STACK % name)
        for part in "12":
            run(["compare", f"{name}.jsonl", "--stacks", f"{name}.toml", "--shard", f"{part}/2", "--out", f"{name}-part{part}"])


def reset(desk, what, to):
    if what in BEFORE:
        path = desk / (to + FILES[what])
        path.unlink(missing_ok=True)
        if BEFORE[what] is not None:
            path.write_text(BEFORE[what])


# Commands that write one file, and what it is called; the rest write a folder.
FILES = {"accept": ".snap", "labels": ".to-fill.csv", "hook": ".json"}
# Files that the command refuses to replace, or adds to: what stands there before.
BEFORE = {"labels": None, "hook": "{}\n"}
# What `tune` finds something to ship in: half of the bundled recordings each.
TRACES = pathlib.Path(__file__).resolve().parents[2] / "traces"

COMMANDS = {
    "compare": lambda x, to: ["compare", f"{x}.jsonl", "--stacks", f"{x}.toml", "--out", to],
    "convert": lambda x, to: ["convert", f"{x}.jsonl", "--out", to],
    "accept": lambda x, to: ["ci", "accept", f"{x}.jsonl", "--stacks", f"{x}.toml", "--snapshot", to + ".snap"],
    "report": lambda x, to: ["report", f"{x}-part1", f"{x}-part2", "--out", to],
    "labels": lambda x, to: ["labels", f"{x}-ungraded.jsonl", "--template", to + ".to-fill.csv"],
    "hook": lambda x, to: ["hook", "install", "claude-code", "--stacks", f"{x}.toml", "--config", to + ".json", "--program", "/bin/true",
                           "--mode", "observe" if x == "a" else "nudge", "--yes"],
    "tune": lambda x, to: ["tune", f"traces-{x}", "--max-killed", "0.9", "--out", to],
}


def seen(path):
    """The files anybody sees, with their bytes."""
    if path.is_file():
        return {path.name: path.read_bytes()}
    if not path.is_dir():
        return {}
    return {p.name: p.read_bytes() for p in sorted(path.iterdir()) if not p.name.startswith(".")}


def target(desk, what, to):
    return desk / (to + FILES.get(what, ""))


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--kills", type=int, default=1000)
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--slow", action="store_true")
    args.add_argument("--disks", action="store_true")
    args.add_argument("--program", default="target/release/whenstop")
    args = args.parse_args()
    program = os.path.abspath(args.program)
    environment = {k: v for k, v in os.environ.items() if k != "CI"}
    with tempfile.TemporaryDirectory() as folder:
        desk = pathlib.Path(folder)
        environment.update(HOME=folder, XDG_CONFIG_HOME=folder + "/config", XDG_DATA_HOME=folder + "/data")
        prepare(desk, lambda command: subprocess.run([program] + command, cwd=desk, env=environment, capture_output=True, check=True))
        failed = disks(program, desk, environment) if args.disks else kills(args, program, desk, environment)
    sys.exit(1 if failed else 0)


def kills(args, program, desk, environment):
    dice = random.Random(args.seed)
    prefix = SLOW if args.slow else []
    start = lambda command: subprocess.Popen(prefix + [program] + command, cwd=desk, env=environment, start_new_session=True,
                                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    whole, takes = {}, {}
    for what, command in COMMANDS.items():
        begun = time.monotonic()
        for x in "ab":
            # Some results name the folder that they are written to.
            reset(desk, what, what)
            assert start(command(x, what)).wait() == 0, command(x, what)
            written = target(desk, what, what)
            whole[what, x] = list(seen(written).items())
            shutil.rmtree(written) if written.is_dir() else written.unlink()
        takes[what] = (time.monotonic() - begun) / 2
        names = lambda x: [n for n, _ in whole[what, x]] if what not in FILES else []
        assert names("a") == names("b") and whole[what, "a"] != whole[what, "b"], what
    count = {key: 0 for key in ["killed", "old", "new", "none", "half", "TORN", "MIXED"]}
    for nth in range(args.kills):
        # `tune` takes many times as long as the rest.
        quick = [name for name in COMMANDS if name != "tune"]
        what = "tune" if nth % 20 == 19 else quick[nth % len(quick)]
        x = dice.choice("ab")
        reset(desk, what, what)
        child = start(COMMANDS[what](x, what))
        time.sleep(dice.uniform(0, takes[what] * 1.05))
        count["killed"] += child.poll() is None
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()
        found = seen(target(desk, what, what))
        half = found.pop("INCOMPLETE", None) is not None
        results = {y: dict(whole[what, y]) for y in "ab"}
        if what in FILES:
            name = what + FILES[what]
            results = {y: {name: bytes for bytes in results[y].values()} for y in "ab"}
            if BEFORE.get(what) is not None:
                results["before"] = {name: BEFORE[what].encode()}
        torn = [n for n, b in found.items() if b not in [result.get(n) for result in results.values()]]
        if torn:
            count["TORN"] += 1
            print("torn:", what, torn)
        elif half:
            count["half"] += 1
            if what in ("compare", "report", "tune"):
                told = subprocess.run([program, "report", what], cwd=desk, env=environment, capture_output=True, text=True)
                if told.returncode != 3 or "half written" not in told.stderr:
                    count["MIXED"] += 1
                    print("not refused:", told.returncode, told.stderr)
        elif found == results[x]:
            count["new"] += 1
        elif found in results.values():
            count["old"] += 1
        elif not found:
            count["none"] += 1
        else:
            count["MIXED"] += 1
            print("mixed:", what, sorted(found))
    # A last whole run leaves nothing behind.
    for what, command in COMMANDS.items():
        reset(desk, what, what)
        assert subprocess.run([program] + command("a", what), cwd=desk, env=environment, capture_output=True).returncode == 0
        written = seen(target(desk, what, what))
        if list(written.values()) != [bytes for _, bytes in whole[what, "a"]]:
            count["MIXED"] += 1
            print("the next run is another:", what)
        left = [p.name for p in (desk / what).glob(".whenstop-new-*")] if what not in FILES else []
        if left:
            count["MIXED"] += 1
            print("left behind:", left)
    print(f"{args.kills} kills{' under strace' if args.slow else ''}:", ", ".join(f"{n} {k}" for k, n in count.items()))
    return count["TORN"] + count["MIXED"]


def disks(program, desk, environment):
    failed = 0
    disk = desk / "disk"
    disk.mkdir()
    run = lambda command: subprocess.run([program] + command, cwd=desk, env=environment, capture_output=True, text=True)
    for what, command in COMMANDS.items():
        for size in [0, 4, 40, 120, 300]:
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk], check=True)
            try:
                assert run(command("a", "disk/out")).returncode == 0
                before = seen(target(desk, what, "disk/out"))
                room = os.statvfs(disk)
                fill = max(0, room.f_bavail * room.f_frsize - size * 1024)
                (disk / "fill").write_bytes(b"x" * fill)
                told = run(command("b", "disk/out"))
                after = seen(target(desk, what, "disk/out"))
                same, done = before == after, told.returncode == 0
                ok = (done and not same) or (told.returncode == 3 and same and "cannot write" in told.stderr)
                print(f"full disk, {size} kB left, {what}: exit {told.returncode}, files {'as before' if same else 'replaced'}",
                      "" if ok else "WRONG " + told.stderr)
                failed += not ok
                subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
                told = run(command("a", "disk/out"))
                ok = told.returncode == 3 and "cannot write" in told.stderr and seen(target(desk, what, "disk/out")) == after
                if size == 0:
                    print(f"read-only disk, {what}: exit {told.returncode}", "" if ok else "WRONG " + told.stderr)
                failed += not ok
            finally:
                subprocess.run(["umount", disk], check=True)
    return failed


if __name__ == "__main__":
    main()
