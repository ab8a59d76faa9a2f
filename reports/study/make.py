#!/usr/bin/env python3
"""The whole study, from local mirrors of the sources to tables.

    python3 make.py --mirror MIRROR --work EMPTY-FOLDER --whenstop PROGRAM     # everything: 36 minutes, 4 GB
    python3 make.py --tables                                                   # from the committed sums alone: half a minute

Standard library only. What each step takes is printed, and in ARTIFACT.md.
"""

import argparse
import pathlib
import resource
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent


def step(script, *words):
    started, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, HERE / script, *map(str, words)], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"== {script} {' '.join(map(str, words[-2:]))}: {time.monotonic() - started:.0f} s, CPU {cpu:.0f} s, most memory so far {after.ru_maxrss / 1024:.0f} MB", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--whenstop", default="whenstop")
    parser.add_argument("--python", default=sys.executable, help="an interpreter with the five guards of others")
    parser.add_argument("--tables", action="store_true", help="only what follows from the committed sums")
    args = parser.parse_args()
    if not args.tables:
        if not args.mirror or not args.work:
            parser.error("--mirror and --work are needed, or --tables")
        data = args.work / "data"
        step("extract.py", "--mirror", args.mirror, "--data", data)
        for half in ("open", "held"):
            step("sums.py", "--data", data, "--work", args.work, "--whenstop", args.whenstop, "--half", half)
        step("gather.py", "--work", args.work)
        step("restart.py", "--data", data, "--whenstop", args.whenstop)
        step("others.py", "--data", data, "--work", args.work, "--whenstop", args.whenstop, "--python", args.python)
        step("recount.py", "--mirror", args.mirror)
    step("analysis.py")


if __name__ == "__main__":
    main()
