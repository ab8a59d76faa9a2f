#!/usr/bin/env python3
"""Set the rows of two programs side by side.

    python3 reports/2026-11-25-house/rows.py BEFORE AFTER PATH...

Replays the recordings of each PATH under the example stacks, all presets and all systems with both programs, and
compares stop, rule, reading and limit of each row, by run, stack and profile. Prints for each PATH how many rows are
the same, and what differs: the fields, the stacks and how many rows; then, with --examples N, some of them.
"""

import argparse
import collections
import csv
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parents[2]
FIELDS = ("stop_point", "rule", "observed", "limit")
STACKS = ("fixtures/stacks/example.toml", "preset:all", "system:all")

csv.field_size_limit(1 << 26)


def rows(program, path, stacks):
    """Rows by run, stack and profile; `None` if there are none, with what was said."""
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run([program, "compare", path, "--stacks", stacks, "--out", out, "--quiet"],
                              capture_output=True, text=True, cwd=HERE)
        file = pathlib.Path(out) / "rows.csv"
        if not file.exists():
            return None, (done.stderr.strip().splitlines() or ["nothing"])[0]
        with open(file, newline="", encoding="utf-8") as text:
            return {(row["run_id"], row["stack"], row["profile"]): row for row in csv.DictReader(text)}, ""


def differing(before, after):
    """The fields that differ."""
    return tuple(name for name in FIELDS if before[name] != after[name])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--examples", type=int, default=0)
    parser.add_argument("--renamed", action="append", default=[], metavar="STACK/PROFILE=STACK/PROFILE")
    args = parser.parse_args()
    total, same, kinds, examples = 0, 0, collections.Counter(), collections.defaultdict(list)
    for path in args.paths:
        for stacks in STACKS:
            before, said = rows(args.before, os.path.abspath(path), stacks)
            after, said_after = rows(args.after, os.path.abspath(path), stacks)
            if before is None or after is None:
                print(f"{path} {stacks}: before {said or 'rows'}; after {said_after or 'rows'}")
                continue
            for pair in args.renamed:
                old, new = (tuple(name.split("/")) for name in pair.split("="))
                before = {(run, *(new if at == old else at)): row for (run, *at), row in before.items() for at in [tuple(at)]}
            both = before.keys() & after.keys()
            for key in sorted(both):
                fields = differing(before[key], after[key])
                if fields:
                    kind = (stacks, key[1], key[2], fields)
                    kinds[kind] += 1
                    examples[kind].append((path, key[0], [(before[key][name], after[key][name]) for name in FIELDS]))
            n_same = sum(not differing(before[key], after[key]) for key in both)
            total, same = total + len(both), same + n_same
            lone = [len(before.keys() - both), len(after.keys() - both)]
            print(f"{path} {stacks}: {n_same} of {len(both)} the same; only before {lone[0]}, only after {lone[1]}", flush=True)
            for name, only in (("before", before.keys() - both), ("after", after.keys() - both)):
                lacking = collections.Counter((stack, profile) for _, stack, profile in only)
                if lacking:
                    print(f"   only {name}:", ", ".join(f"{s} ({p}) {n}" for (s, p), n in lacking.most_common(8)))
    print(f"{same} of {total} rows the same")
    for (stacks, stack, profile, fields), n in kinds.most_common():
        print(f"{n:6} {stacks} {stack} ({profile}): {', '.join(fields)}")
        for path, run, pairs in examples[stacks, stack, profile, fields][:args.examples]:
            print(f"         {path} {run}: {pairs}")
    sys.exit(same != total)


if __name__ == "__main__":
    main()
