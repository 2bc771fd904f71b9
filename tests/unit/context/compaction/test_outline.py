"""Outlines by grammar and without one, and the parts around given lines."""

from __future__ import annotations

import pytest

from ullage.context.compaction.outline import outline, parts

PYTHON = """import os

class Tank:
    level: int

    def read(self):
        if self.level:
            return 1

async def main():
    pass
"""
TYPESCRIPT = """import x from 'x';
export interface Tank { level: number }
export const read = async (tank: Tank) => {
  for (const a of b) {
  }
};
export default class Gauge {
  private async refresh(): Promise<void> {
    if(this.level) {
    }
  }
}
"""
RUST = "use std::fs;\npub struct Tank;\nimpl Tank {\n    pub fn read(&self) -> u32 {\n        1\n    }\n}\n"
GO = "package tank\n\ntype Tank struct {\n}\n\nfunc (t *Tank) Read() int {\n\tif t == nil {\n\t}\n}\n"
QUOTING = 'def a():\n    """\n    class Quoted:\n    """\n\n\ndef b():\n    pass\n\n\nclass C:\n    pass\n'
C = "struct tank { int level; };\n\nint fill(struct tank *t)\n{\n  return t->level;\n}\n\nstatic void drain(void)\n{\n}\n"
MARKDOWN = "# Tanks\ntext\n## Gauges\n```\ndef no(): pass\n```\n### Levels\n"
PLAIN = "alpha\n  indented\nbeta\n\ngamma\n"


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("tank.py", PYTHON, [3, 6, 10]),
        ("tank.ts", TYPESCRIPT, [2, 3, 7, 8]),
        ("tank.rs", RUST, [2, 3, 4]),
        ("tank.go", GO, [1, 3, 6]),
        ("quoting.py", QUOTING, [1, 7, 11]),
        ("tank.c", C, [1, 3, 8]),
        ("tank.md", MARKDOWN, [1, 3, 7]),
        ("words", PLAIN, [1, 3, 5]),
        ("empty", "", []),
    ],
)
def test_lines_that_define_something(path: str, text: str, expected: list[int]):
    assert [int(line.partition(":")[0]) for line in outline(path, text, 1_000).splitlines()] == expected


def test_methods_give_way_to_classes_where_room_is_short():
    text = "".join(f"class Tank{number}:\n    def read(self):\n        pass\n" for number in range(20))
    shown = outline("a.py", text, 200)
    assert "class Tank19:" in shown
    assert "def read" not in shown


def test_without_room_there_is_no_outline():
    assert outline("a.py", PYTHON, 3) == ""


NUMBERED = "\n".join(f"line {number}" for number in range(1, 201))


@pytest.mark.parametrize(
    ("near", "within", "without"),
    [
        ([100], "line 100", "line 10\n"),
        ([], "line 1\n", "line 100"),
        ([9_999], "line 200", "line 1\n"),
        ([-3], "line 1\n", "line 200"),
    ],
)
def test_parts_are_around_the_lines(near: list[int], within: str, without: str):
    shown = parts(NUMBERED, near, 200)
    assert within in shown
    assert without not in shown


def test_parts_that_meet_are_one():
    assert parts(NUMBERED, [100, 102], 200).count("lines ") == 1
    assert parts(NUMBERED, [10, 150], 200).count("lines ") == 2


def test_a_line_that_does_not_fit_is_left_out():
    assert parts("x" * 100_000, [1], 100) == ""


def test_lines_are_counted_as_an_editor_does():
    text = "def a(): pass\n\f\ndef b():\u2028 pass\ndef c(): pass\n"
    assert outline("a.py", text, 1_000).splitlines()[-1] == "4: def c(): pass"
