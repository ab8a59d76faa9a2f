#!/usr/bin/env python3
"""Prints, for every collection, how its calls and results belong together, as CSV.

    python3 table.py WHENSTOP ../shared DATA > table.csv

DATA is what `reports/study/extract.py` wrote. Each folder is read with `whenstop corpus --format json`; a folder's line
is left out only if no run of it was read, and then named on stderr. Standard library only.
"""

import csv
import json
import pathlib
import subprocess
import sys

COUNTS = ["replies_with_calls", "calls", "calls_without_requests", "runs_without_requests", "host_calls",
          "results_without_call", "second_results"]


def collections(shared, data):
    """(name, paths) of every collection."""
    for folder in ("corpora", "corpora-2", "corpora-3/repro", "graded", "parquet", "sessions"):
        for path in sorted((shared / folder).iterdir()):
            if path.is_dir() or path.suffix == ".parquet":
                yield f"{folder}/{path.name}", [path]
    for name in sorted({path.name for half in ("open", "held") for path in (data / half).iterdir()}):
        yield f"study/{name}", [data / half / name for half in ("open", "held") if (data / half / name).is_dir()]


def main():
    program, shared, data = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["collection", "format", "runs", "steps", *COUNTS])
    for name, paths in collections(shared, data):
        sums = {}
        for path in paths:
            read = subprocess.run([program, "corpus", "--format", "json", path], capture_output=True, text=True)
            formats = json.loads(read.stdout)["formats"] if read.stdout.startswith("{") else []
            if not any(counts["runs"] for counts in formats):
                print(f"{path}: no run read: {read.stderr.splitlines()[:1]}", file=sys.stderr)
            for counts in formats:
                found = [counts["runs"], counts["steps"], *(counts["calls"][count] for count in COUNTS)]
                sums[counts["format"]] = [a + b for a, b in zip(sums.get(counts["format"], [0] * len(found)), found)]
        for format, counts in sums.items():
            if counts[0]:
                out.writerow([name, format, *counts])
        sys.stdout.flush()


if __name__ == "__main__":
    main()
