"""Sets the answers of two programs side by side, as Markdown: first where either says "Ship", then all of them.

usage: beside.py BEFORE.tsv AFTER.tsv        (what answers.py wrote)
"""

import re
import sys

HIDDEN = "/shared/"


def read(path):
    lines = (line.rstrip("\n").split("\t") for line in open(path))
    return {(collection(line[0]), line[1], line[2]): line[3:] for line in lines}


def collection(path):
    return path.split(HIDDEN, 1)[1] if HIDDEN in path else path


def number(pattern, answer):
    found = re.search(pattern, answer)
    return found[1] if found else ""


def facts(line):
    """The rule shipped, the range of what it saves, and what a success costs."""
    answer = line[-1]
    if not answer.startswith("Ship"):
        return ("Safe, but not worth shipping" if answer.startswith("Safe") else "nothing is shipped"), "", ""
    rule = number(r"`([^`]*)`", answer)
    saved = number(r"save[sd] ([\d.]+ %(?: of the \w+)?(?: \([\d.–]+\))?)", answer)
    cost = number(r"a success costs ([\d.]+ % (?:less|more)(?: \([\d.–]+\))?(?:, which may be chance)?)", answer)
    return f"`{rule}`", saved, cost or "not said"


def main():
    before, after = map(read, sys.argv[1:])
    print("| recordings | command | before | saved | a success costs | after | saved | a success costs |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for key, one in before.items():
        other = after[key]
        if one[-1].startswith("Ship") or other[-1].startswith("Ship"):
            print("|", " | ".join([key[0], f"{key[1]} {key[2]}", *facts(one), *facts(other)]), "|")
    print()
    print("| recordings | command | exit | page | before | exit | page | after |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    page = lambda line: "other" if line[1].startswith("OTHER") else line[1]
    for key, one in before.items():
        other = after[key]
        cells = [key[0], f"{key[1]} {key[2]}", one[0], page(one), one[-1], other[0], page(other), other[-1]]
        print("|", " | ".join(cell.replace("|", "\\|") for cell in cells), "|")


main()
