"""What the head of a Markdown file says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.session.instructions.heads import LONGEST_HEAD, read_head


@pytest.mark.parametrize(
    ("lines", "name", "expected"),
    [
        ("globs: *.ts,src/**/*.{js,jsx}", "globs", ("*.ts", "src/**/*.{js,jsx}")),
        ('globs: ["*.ts", "src/**/*.js"]', "globs", ("*.ts", "src/**/*.js")),
        ("paths:\n  - 'a/**'\n  - b/*.py # ours", "paths", ("a/**", "b/*.py")),
        ("paths:\n- a/**\n- b/**", "paths", ("a/**", "b/**")),
        ("globs:", "globs", ()),
        ("globs:\nalwaysApply: false", "globs", ()),
        ('globs: ["a,b", "c"]', "globs", ("a,b", "c")),
        ("globs: '{a,b},c'", "globs", ("{a,b}", "c")),
        ("description: Use it: always", "description", ("Use it: always",)),
        ('description: "a, b"', "description", ("a", "b")),
        ("applyTo: '**/*.ts,**/*.tsx'", "applyTo", ("**/*.ts", "**/*.tsx")),
    ],
)
def test_a_list(lines: str, name: str, expected: tuple[str, ...]) -> None:
    head = read_head(f"---\n{lines}\n---\nBody.\n")
    assert (head.items(name), head.body, head.trouble) == (expected, "Body.\n", "")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("description: Plain words # a note", "Plain words"),
        ("description: >\n  Over two\n  lines", "Over two lines"),
        ("description: |-\n  Over two\n  lines", "Over two\nlines"),
        ("description: begins here\n  and goes on", "begins here and goes on"),
        ("description: 'it holds: a colon'", "it holds: a colon"),
        ("Description: another name", ""),
    ],
)
def test_a_text(lines: str, expected: str) -> None:
    assert read_head(f"---\n{lines}\n---\n").text("description") == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [("[page]", "[page]"), ("[page] [style]", "[page] [style]"), ('"[page]"', "[page]"), ("<page> # note", "<page>"), ("", "")],
)
def test_what_is_written(line: str, expected: str) -> None:
    assert read_head(f"---\nargument-hint: {line}\n---\n").as_written("argument-hint") == expected


@pytest.mark.parametrize(
    ("value", "expected"), [("true", True), ("True", True), ("yes", True), ("false", False), ("", False), ("maybe", False)]
)
def test_a_flag(value: str, expected: bool) -> None:
    assert read_head(f"---\nalwaysApply: {value}\n---\n").flag("alwaysApply") is expected


@pytest.mark.parametrize(
    ("text", "body", "trouble"),
    [
        ("No head.\n---\nA line.\n", "No head.\n---\nA line.\n", ""),
        ("---\nname: a\nNo end", "---\nname: a\nNo end", "its head has no second line of ---"),
        ("---\n" + "a: b\n" * LONGEST_HEAD + "---\n", "---\n" + "a: b\n" * LONGEST_HEAD + "---\n", "its head has no second line of ---"),
        ("---\nname: a\n<<<<<<< ours\n---\nBody", "Body", "line 3 of its head cannot be read"),
        ("\ufeff---\nname: a\n---\nBody", "Body", ""),
        ("---\n---\nBody", "Body", ""),
        ("", "", ""),
    ],
)
def test_what_is_no_head_or_a_broken_one(text: str, body: str, trouble: str) -> None:
    head = read_head(text)
    assert (head.body, head.trouble) == (body, trouble)


@given(st.text(alphabet="-:#[]{}\"'>| \n\tab*,", max_size=200))
def test_no_text_fails(text: str) -> None:
    head = read_head(f"---\n{text}")
    assert all(isinstance(head.text(name), str) and "" not in head.items(name) for name in (*head.values, "other"))
