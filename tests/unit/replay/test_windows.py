"""The messages after a compaction, counted as they are sent."""

from __future__ import annotations

import pytest

from tests.unit.replay.small_sessions import calls, log, notice, prompt, returned, says
from ullage.context.entries import Attachment, TurnEnded, UserPrompt
from ullage.replay.windows import entries_after, shown_text, written_text

SESSION = log(
    prompt("one"),  # 1
    says("two"),  # 2
    prompt("three"),  # 3
    calls("Read", {"file_path": "a.py"}),  # 4
    returned("first"),  # 5
    returned("second"),  # 6, of the same message
    notice("and a notice"),  # 7, too
    TurnEnded("end_turn"),  # 8, no message
    says("six"),  # 9
    says("seven"),  # 10
)


@pytest.mark.parametrize(
    ("after_seq", "messages", "expected"),
    [
        (0, 1, [1]),
        (0, 3, [1, 2, 3]),
        (3, 1, [4]),
        (3, 2, [4, 5, 6, 7]),
        (3, 3, [4, 5, 6, 7, 9]),
        (5, 2, [6, 7, 9]),
        (0, 60, [1, 2, 3, 4, 5, 6, 7, 9, 10]),
        (10, 60, []),
    ],
)
def test_a_window_is_so_many_messages(after_seq: int, messages: int, expected: list[int]) -> None:
    assert [logged.seq for logged in entries_after(SESSION, after_seq, messages)] == expected


def test_what_is_written_are_texts_and_every_string_of_an_input() -> None:
    reply = calls("multi", {"path": "a.py", "edits": [{"new_string": "x"}, {"new_string": "y"}], "count": 3, "all": True})
    assert written_text(reply) == "a.py\nx\ny"
    assert written_text(says("words")) == "words"


def test_attachments_are_shown_with_their_prompt() -> None:
    assert shown_text(UserPrompt("p", "look", (Attachment("a.py", "its text"),))) == "look\nits text"
    assert shown_text(TurnEnded("end_turn")) == ""
