"""The rules of the API, as replay checks them: each broken on its own, and none by the requests that the fold makes."""

from __future__ import annotations

import pytest

from tests.unit.context.validity import problems
from tests.unit.replay.small_sessions import log, prompt
from tests.unit.replay.working import working_session
from ullage.context.blocks import Block, Message, Role, Text, Thinking, ToolResult, ToolUse
from ullage.context.entries import AssistantReply
from ullage.context.view.projection import project
from ullage.context.view.request import Request
from ullage.replay.simulating.views import violations

USE = ToolUse("a", "read_file", {})


def message(role: Role, *blocks: Block) -> Message:
    return Message(role, blocks, (1,) * len(blocks))


HELLO = message("user", Text("Hello"))
ENTRIES = log(AssistantReply("r", (Thinking("One", "s"), Thinking("Two", "s"), Text("Said.")), "model", "end_turn", None), prompt("Hello"))


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([], "there are no messages"),
        ([message("assistant", Text("Hi")), HELLO], "the first message is not the user's"),
        ([HELLO, message("assistant", Text("Hi"))], "the last message is not the user's"),
        ([HELLO, HELLO], "messages 0 and 1 have the same role"),
        ([HELLO, message("assistant", USE), HELLO], "the results in message 2 are not those of the calls before it"),
        ([message("user", ToolResult("a", "x"))], "the results in message 0 are not those of the calls before it"),
        (
            [HELLO, message("assistant", USE), message("user", Text("!"), ToolResult("a", "x"))],
            "message 2 has a result after something else",
        ),
        (
            [HELLO, message("assistant", USE, USE), message("user", ToolResult("a", "x"), ToolResult("a", "x"))],
            "tool use ids are not unique",
        ),
        (
            [HELLO, message("assistant", ToolUse("a b", "x", {})), message("user", ToolResult("a b", "x"))],
            "a tool use id has other characters than the API takes",
        ),
        ([message("user", Text(" "))], "message 0 has an empty text"),
        ([HELLO, message("assistant", USE), message("user", ToolResult("a", ""))], "message 2 has an empty result"),
        ([message("user")], "message 0 is empty"),
        ([HELLO, message("assistant", Thinking("One", "s")), HELLO], "message 1 ends in thinking"),
        ([HELLO, message("assistant", Thinking("One", "s"), Text("Said.")), HELLO], "message 1 holds only a part of a reply's thinking"),
        ([HELLO, message("assistant", Thinking("One", ""), Text("Said.")), HELLO], "message 1 has thinking without a signature"),
        ([message("user", Thinking("One", "s"), Text("Hello"))], "message 0 is the user's and holds what only the model says"),
    ],
)
def test_each_rule(messages: list[Message], words: str):
    assert words in list(violations(messages, ENTRIES))


def test_what_the_fold_makes_breaks_none():
    view = project(working_session(turns=3).entries)
    messages = view.messages[:-1]
    assert list(violations(messages, view.entries)) == []
    assert problems(Request((), (), messages, ())) == []
