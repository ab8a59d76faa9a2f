"""The only exception type of this package."""

from __future__ import annotations


class Error(Exception):
    """Says ``what`` is wrong, ``where`` (a file, line and column, or None), and how to fix it (``help``)."""

    def __init__(self, what: str, where: str | None = None, help: str = "") -> None:
        super().__init__(what, where, help)
        self.what = what
        self.where = where
        self.help = help

    def __str__(self) -> str:
        where = f"\n  --> {self.where}" if self.where else ""
        return f"{self.what}{where}" + (f"\n   = help: {self.help}" if self.help else "")
