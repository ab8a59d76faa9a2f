#!/usr/bin/env python3
"""Write crates/frameworks/src/python/unicode/: which characters this interpreter calls printable and alphanumeric.

Usage: python3 unicode_tables.py crates/frameworks/src/python/unicode
The tables in the repository are CPython 3.11's (Unicode 14.0).
"""
import sys
import textwrap
import unicodedata
from pathlib import Path


def borders(holds):
    """The code points at which `holds` changes, beginning with false; surrogates, which Rust's `char` has
    not, go with what is before them."""
    found, before = [], False
    for code in range(0x110000):
        if not 0xD800 <= code <= 0xDFFF and holds(chr(code)) != before:
            found.append(code)
            before = not before
    return found


def write(name, codes):
    """Writes code points as the items of a Rust array, to be included."""
    items = textwrap.fill(", ".join(f"{code:#x}" for code in codes), 118)
    Path(sys.argv[1], f"{name}.in").write_text(f"[\n{items}\n]\n")


write("unprintable", borders(lambda c: not c.isprintable()))
write("alphanumeric", borders(str.isalnum))
write("zeros", [code for code in range(0x110000) if unicodedata.decimal(chr(code), -1) == 0])
