"""What a terminal of the client shows of a command: its text, what comes at the end, and the exit code."""

from __future__ import annotations

import re
import socket

import pytest
from acp import schema
from hypothesis import given
from hypothesis import strategies as st

from ullage.acp.terminals import LAST_CHARACTERS, PlainText, can_be_shown, exit_code, rest_of
from ullage.session.timeline.items import ToolCallItem, ToolStatus
from ullage.tools.bash import SandboxRefusals, exit_code_in, outcome
from ullage.tools.process import Finished


def shown(*pieces: str) -> str:
    plain = PlainText()
    return "".join(plain.of(piece) for piece in pieces)


@pytest.mark.parametrize(
    ("text", "remains"),
    [
        ("one\r\n\ttwo\n", "one\r\n\ttwo\n"),
        ("\x1b[1;31mred\x1b[0m", "\x1b[1;31mred\x1b[0m"),
        ("\x1b[2J\x1b[Hgone\x1b[?1049h", "gone"),
        ("\x1b]0;a title\x07x\x1b]52;c;aGk=\x1b\\y", "xy"),
        ("\x1bcreset\x07\x9b31m", "creset31m"),
        ("no end \x1b[3", "no end "),
    ],
)
def test_a_terminal_gets_line_ends_tabs_and_colours_alone(text: str, remains: str) -> None:
    assert shown(text) == remains


ALPHABET = st.text(alphabet="\x1b[];0123456789mJHc\x07\x9b\\\n\tab", max_size=40)


@given(st.lists(ALPHABET, max_size=6))
def test_however_it_comes_nothing_else_begins_a_sequence(pieces: list[str]) -> None:
    text = shown(*pieces)
    assert re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", re.sub(r"\x1b\[[0-9;:]*m", "", text)) is None


@pytest.mark.parametrize(
    ("result", "said", "rest"),
    [
        ("(no output)", "", "(no output)\n"),
        ("one", "one\n", ""),
        ("one", "one", "\n"),
        ("one\n(exit code 2)", "one\n", "(exit code 2)\n"),
        ("one\n(exit code 2)", "one", "\n(exit code 2)\n"),
        ("head … tail\n(exit code 2)", "all of it", "\n…\nhead … tail\n(exit code 2)\n"),
    ],
)
def test_at_its_end_comes_what_was_not_said_while_it_ran(result: str, said: str, rest: str) -> None:
    assert rest_of(result, said) == rest
    assert len(rest_of("x" * 10 * LAST_CHARACTERS, "y")) < LAST_CHARACTERS + 10


@pytest.mark.parametrize(
    ("code", "ended", "status", "seen"),
    [
        (0, "by itself", "completed", 0),
        (3, "by itself", "failed", 3),
        (-9, "by itself", "failed", 137),
        (-15, "by timeout", "failed", 124),
    ],
)
def test_a_terminal_ends_with_the_exit_code_of_the_command(code: int, ended: str, status: ToolStatus, seen: int) -> None:
    result = outcome(
        Finished("(exit code 7)", code, "by timeout" if ended == "by timeout" else "by itself", False), 60.0, SandboxRefusals(), str
    )
    call = ToolCallItem("t1", 0.0, "bash", "$ make", "execute", status, "{}", result.content)
    assert exit_code(call) == seen


def test_a_result_that_names_no_exit_code_is_a_failure() -> None:
    assert exit_code_in("The command could not be started: no such file") is None
    assert exit_code(ToolCallItem("t1", 0.0, "bash", "$ make", "execute", "failed", "{}", "No folder is open")) == 1


def test_terminals_are_used_where_the_client_has_them_and_the_system_can(monkeypatch: pytest.MonkeyPatch) -> None:
    assert can_be_shown(schema.ClientCapabilities(terminal=True))
    assert not can_be_shown(schema.ClientCapabilities(terminal=False))
    monkeypatch.delattr(socket, "AF_UNIX")
    assert not can_be_shown(schema.ClientCapabilities(terminal=True))
