"""A session as one text: what is in it, and what is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fake_api import Call, Say, Think
from tests.unit.session.harness import stage
from ullage.context.entries import Logged, ToolReturned, UserPrompt
from ullage.session.history.export import exported

KEY = "sk-ant-" + "api03-" + "x" * 40


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path.resolve() / "project"
    made.mkdir()
    (made / "notes.md").write_text(f"A fence:\n```\ncode\n```\nThe key is {KEY}.\n")
    return made


async def test_markdown_has_what_the_user_saw(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue([Think("Look first."), Call("read_file", {"path": "notes.md"})], Say("It has **one** fence."))
        session = await here.new()
        await here.say(session, "What is in the notes?")
        text = await session.history.export(session.title, "markdown")
        assert text.startswith("# What is in the notes?\n")
        before, _, after = text.partition("<summary>read_file path: notes.md</summary>")
        assert "What is in the notes?" in before
        assert "Look first." in before
        assert "The key is [redacted: Anthropic key]." in after
        assert after.index("The key is") < after.index("It has **one** fence.")
        assert KEY not in text


async def test_json_lines_have_every_entry(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue([Call("read_file", {"path": "notes.md"})], Say("Done."))
        session = await here.new()
        await here.say(session, "Look")
        lines = (await session.history.export(session.title, "jsonl")).splitlines()
        assert [json.loads(line)["seq"] for line in lines] == [logged.seq for logged in session.entries]
        kinds = [json.loads(line)["entry"]["kind"] for line in lines]
        assert kinds.count("user_prompt") == 1
        assert kinds.count("tool_returned") == 1
        assert not any(KEY in line for line in lines)


@pytest.mark.parametrize("text", ["```", "a\n````\nb", "</details>", "", "\u2028 \x00"])
def test_no_result_ends_its_block(text: str) -> None:
    entries = [Logged(1, 0.0, UserPrompt("p", "Hi")), Logged(2, 1.0, ToolReturned("t", "bash", text, False, len(text)))]
    shown = exported("", entries, "markdown")
    block = shown[shown.index("</summary>") :].split("\n")
    fence = next(line for line in block if line.startswith("```"))
    assert block.count(fence) == 2
    assert shown.startswith("# New session\n")
