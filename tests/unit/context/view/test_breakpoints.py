from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from ullage.context.blocks import Block, Message, RedactedThinking, Role, Text, Thinking, ToolResult, ToolUse
from ullage.context.view.request import LOOK_BACK, Breakpoint, place


def message(role: Role, *blocks: Block) -> Message:
    return Message(role, blocks, (1,) * len(blocks))


def user(blocks: int = 1) -> Message:
    return message("user", *[Text("x")] * blocks)


def assistant(blocks: int = 1) -> Message:
    return message("assistant", *[Text("x")] * blocks)


def check(messages: Sequence[Message], *expected: tuple[int, int]) -> None:
    assert place(messages) == tuple(Breakpoint(*mark) for mark in expected)


def test_the_ends_of_the_last_two_user_messages_are_marked():
    check([])
    check([user(2)], (0, 1))
    check([user(), assistant(), user(3)], (0, 0), (2, 2))
    check([user(), assistant(), user(), assistant(), user()], (2, 0), (4, 0))


def test_a_gap_wider_than_the_look_back_is_bridged_from_its_newer_end():
    check([user(), assistant(18), user(1)], (0, 0), (2, 0))
    check([user(), assistant(19), user(1)], (0, 0), (1, 0), (2, 0))
    check([user(), assistant(), user(40)], (0, 0), (2, 20), (2, 39))


def test_a_gap_before_the_last_two_is_bridged_where_there_is_none_between_them():
    check([user(), assistant(30), user(), assistant(), user()], (1, 11), (2, 0), (4, 0))
    check([user(), assistant(30), user(), assistant(30), user()], (2, 0), (3, 11), (4, 0))


def test_thinking_and_empty_texts_are_never_marked():
    ends_in_nothing = message("user", ToolResult("t", "ok"), Text(" "))
    check([ends_in_nothing], (0, 0))
    sealed = message("assistant", ToolUse("t", "bash", {}), *[Thinking("", "s"), RedactedThinking("d")] * 15)
    check([user(), sealed, user()], (0, 0), (2, 0))


messages = st.lists(
    st.tuples(st.integers(1, 60), st.integers(1, 60)).map(lambda sizes: (user(sizes[0]), assistant(sizes[1]))), min_size=1, max_size=5
).map(lambda pairs: [message for pair in pairs for message in pair][:-1])


@given(messages)
def test_what_the_request_before_wrote_is_found(messages: list[Message]):
    """Every request goes on from the one before by a reply and a user message."""
    written = place(messages[:-2])
    marks = place(messages)
    assert len(marks) <= 3
    assert not written or written[-1] in marks


@given(messages)
def test_a_mark_reaches_what_is_before_it(messages: list[Message]):
    marks = place(messages)
    distances = [later - earlier for earlier, later in zip(positions(messages, marks), positions(messages, marks)[1:], strict=False)]
    assert len(marks) < 3 or min(distances) <= LOOK_BACK


def positions(messages: Sequence[Message], marks: Sequence[Breakpoint]) -> list[int]:
    return [sum(len(message.blocks) for message in messages[: mark.message]) + mark.block for mark in marks]
