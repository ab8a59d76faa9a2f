#!/usr/bin/env python3
"""Write crates/frameworks/src/python/unicode.rs: which characters this interpreter calls printable and alphanumeric.

Usage: python3 unicode_tables.py > unicode.rs && rustfmt --edition 2024 unicode.rs
The tables in the repository are CPython 3.11's (Unicode 14.0).
"""
import unicodedata


def borders(holds):
    """The code points at which `holds` changes, beginning with false; surrogates, which Rust's `char` has
    not, go with what is before them."""
    found, before = [], False
    for code in range(0x110000):
        if not 0xD800 <= code <= 0xDFFF and holds(chr(code)) != before:
            found.append(code)
            before = not before
    return found


def table(name, doc, codes):
    return f"/// {doc}\npub(super) static {name}: [u32; {len(codes)}] = [{', '.join(f'{code:#x}' for code in codes)}];\n"


print(f"//! What CPython knows of characters: Unicode {unicodedata.unidata_version}. Written by")
print("//! `tests/originals/python/unicode_tables.py`; not to be edited by hand.\n")
print(table("UNPRINTABLE", "Where `str.isprintable()` ends and begins, in turn.", borders(lambda c: not c.isprintable())))
print(table("ALPHANUMERIC", "Where `str.isalnum()` begins and ends, in turn.", borders(str.isalnum)))
zeros = [code for code in range(0x110000) if unicodedata.decimal(chr(code), -1) == 0]
print(table("ZEROS", "The zeros of the decimal digits; each is followed by its one to nine.", zeros), end="")
