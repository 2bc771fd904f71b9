"""RESULTS.md: a section for each kind of measurement, each written anew by its own run and left alone by the others."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Sequence
from pathlib import Path

FILE = Path(__file__).parent / "RESULTS.md"
HEAD = """# Results

Written by `npm run bench` with `start`, `scans`, `team`, `cluster`, `peers` or `policies`: figures to look at,
each from one run on one machine. The last two sections are written by hand.
"""
SECTIONS = ("start", "scans", "team", "cluster", "peers", "policies", "recorded", "examination")
"""In the order in which they stand."""


def write_section(name: str, text: str, file: Path = FILE) -> None:
    """Puts `text` in the place of that section, and leaves the others as they are."""
    known = sections(file.read_text(encoding="utf-8")) if file.exists() else {}
    known[name] = text.strip()
    parts = [f"<!-- {each} -->\n\n{known[each]}\n\n<!-- end of {each} -->\n" for each in SECTIONS if each in known]
    file.write_text("\n".join((HEAD, *parts)), encoding="utf-8")


def sections(document: str) -> dict[str, str]:
    """The sections of a document by name."""
    found = re.finditer(r"<!-- (\w+) -->\n(.*?)\n<!-- end of \1 -->", document, re.DOTALL)
    return {each[1]: each[2].strip() for each in found}


def machine() -> str:
    """The kind of machine, without its name, and whether the measurement had precedence before other programs."""
    niceness = os.nice(0) if hasattr(os, "nice") else 0
    precedence = f", at niceness {niceness}" if niceness else ""
    return f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}{precedence}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown: the first column left, the others right."""
    lines = [head, ["---", *(["---:"] * (len(head) - 1))], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
