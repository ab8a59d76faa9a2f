"""What a point costs under a guard that does nothing, and what the same lines cost the same program without whenstop.

    cargo build --release --workspace --bins
    python3 benches/guard/cost.py target/release FOLDER [REPEATS]

Replays 25,000 generated runs. CPU is that of a process and of all that it started (getrusage): the least and the median
of the repeats, in microseconds a point.
"""

import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

programs, folder = Path(sys.argv[1]), Path(sys.argv[2])
repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 5
folder.mkdir(parents=True, exist_ok=True)
whenstop, nothing = str(programs / "whenstop"), Path(__file__).with_name("nothing.py")
guard, lines, runs = f"{sys.executable} {nothing}", folder / "lines.jsonl", folder / "runs.jsonl"
(folder / "steps.toml").write_text('[[stack]]\nname = "steps"\nany = [{ signal = "steps", at_least = 100000 }]\n')


def cpu(command, **more):
    """Seconds of CPU and on the clock."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, **more)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - begun


def compare(threads, *given):
    return lambda: cpu([whenstop, "--threads", threads, "compare", str(runs), "--quiet", *given])


if not runs.exists():
    synth = ["synth", "--runs", "25000", "--seed", "1", "--kind", "quiet", "--out", str(runs)]
    subprocess.run([programs / "whenstop-dev", *synth], check=True)
if not lines.exists():
    compare("1", "--guard", f"seen=sh -c 'tee -a {lines} | {guard}'")()
points = sum(1 for line in lines.open() if line.startswith('{"id"') and '"type":"point"' in line)
print(f"{points:,} points, {lines.stat().st_size / 1e6:.0f} MB of lines", flush=True)

stack, asked = ("--stacks", str(folder / "steps.toml")), ("--guard", f"nothing={guard}")
cases = {
    "a stack, one thread": compare("1", *stack),
    "the guard, one thread": compare("1", *asked),
    "a stack, two threads": compare("2", *stack),
    "the guard, two threads": compare("2", *asked),
    "its program alone": lambda: cpu([sys.executable, str(nothing)], stdin=lines.open()),
}
seen = {name: [] for name in cases}
for _ in range(repeats):
    for name, case in cases.items():
        seen[name].append(case())
for name, values in seen.items():
    of = [sorted(value[nth] * 1e6 / points for value in values) for nth in (0, 1)]
    words = (f"{what} {min(all_):6.2f} µs, median {statistics.median(all_):6.2f}" for what, all_ in zip(("CPU", "clock"), of))
    print(f"{name:24}", "; ".join(words))
