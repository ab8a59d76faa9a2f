#!/usr/bin/env python3
"""Joins the tables that sums.py wrote into runs.csv.gz and sums.csv.gz beside this file: `python3 gather.py --work WORK [--half open]`."""

import argparse
import csv
import gzip
import io
import pathlib

from analysis import CAPS, GUARDS, OWN, own_name

HERE = pathlib.Path(__file__).resolve().parent
# Older profiles of the same presets are compared too, but have no row.
KEPT = {*GUARDS, *CAPS, *OWN}


def kept(line):
    return own_name(next(csv.reader(io.StringIO(line)))[6]) in KEPT


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--half", choices=["open", "held"], action="append")
    args = parser.parse_args()
    for kind in ("runs", "sums"):
        lines, head = [], ""
        for half in args.half or ["open", "held"]:
            for path in sorted((args.work / half).glob(f"*.{kind}.csv")):
                table = path.read_text().splitlines(keepends=True)
                head = table[0]
                lines += table[1:] if kind == "runs" else [line for line in table[1:] if kept(line)]
        with (HERE / f"{kind}.csv.gz").open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
            packed.write("".join([head, *lines]).encode())
        print(f"{kind}.csv.gz: {len(lines)} lines, {(HERE / f'{kind}.csv.gz').stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
