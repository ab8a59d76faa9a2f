"""Drives the program, and nothing but the program, over corpora of known truth.

usage: python3 benches/validity/through WHENSTOP FOLDER [--only CELL,CELL...] [--corpora N] [--first N]

Writes FOLDER/program.csv: how often each printed number held, beside what an outside check saw before (`before`).
What was asked of each corpus is kept in FOLDER/answers/CELL.jsonl, so that an interrupted run goes on where it was;
with `--first`, a part of the corpora can be asked elsewhere, and the answers put together.
"""

import csv
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import compared
import kills
import labelled
import rounds
import tuned
from tell import Program, Tally

CELLS = {cell.name: cell for cell in tuned.CELLS + compared.CELLS + kills.CELLS + labelled.CELLS + rounds.CELLS}


def answers(cell, program, path, corpora, first):
    """The answers on so many corpora, those of an earlier run included."""
    known = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    with open(path, "a") as file:
        for seed in range(len(known), corpora):
            known.append(cell.ask(program, first + seed))
            file.write(json.dumps(known[-1]) + "\n")
            file.flush()
    return known[:corpora]


def main():
    options = dict(zip(sys.argv[3::2], sys.argv[4::2]))
    program, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    corpora, first = int(options.get("--corpora", 200)), int(options.get("--first", 0))
    names = options["--only"].split(",") if "--only" in options else list(CELLS)
    (folder / "answers").mkdir(parents=True, exist_ok=True)
    table = folder / "program.csv"
    for name in names:
        cell = CELLS[name]
        with tempfile.TemporaryDirectory() as scratch:
            asked = Program(program, Path(scratch))
            told = answers(cell, asked, folder / "answers" / f"{name}.jsonl", corpora, first)
            tally = Tally()
            cell.settle(asked, told, tally)
        lines = list(tally.lines(name, cell.promises, cell.befores))
        kept = [line for line in read(table) if line["cell"] != name]
        order = {name: at for at, name in enumerate(CELLS)}
        with open(table, "w", newline="") as file:
            out = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
            out.writeheader()
            out.writerows(sorted(kept + lines, key=lambda line: order.get(line["cell"], len(order))))
        for line in lines:
            print(*(f"{key} {line[key]}" for key in line if line[key] != ""), sep="  ", flush=True)


def read(path):
    if not path.exists():
        return []
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


main()
