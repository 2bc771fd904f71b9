"""The practice model writes commit messages, too: of the names of the files."""

from __future__ import annotations

import pytest

from ullage.context.blocks import Message, SystemPart, Text
from ullage.context.commit_prompt import SYSTEM, NewFile, question
from ullage.context.view.request import Request
from ullage.models.model import Reply
from ullage.models.practice.practice_model import PracticeModel


@pytest.mark.parametrize(
    ("diff", "new", "message"),
    [
        ("diff --git a/src/tank.py b/src/tank.py\n+x\n", [], "Change tank.py"),
        ("diff --git a/a.py b/b.py\n+x\n", [NewFile("docs/c.md", "c")], "Change b.py and 1 other file"),
        ("", [NewFile("a", ""), NewFile("b", ""), NewFile("c", "")], "Change a and 2 other files"),
    ],
)
async def test_it_names_what_was_changed(diff: str, new: list[NewFile], message: str) -> None:
    told = question(diff, new, ["Earlier"])
    request = Request((SystemPart("system", SYSTEM),), (), (Message("user", (Text(told),), (0,)),), ())
    events = [event async for event in PracticeModel([], pace=0).stream(request, 1_000)]
    assert isinstance(events[-1], Reply)
    assert events[-1].blocks == (Text(message),)
