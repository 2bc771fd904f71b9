"""Writing whole files: new ones freely, others only over text that was seen."""

from __future__ import annotations

import pytest

from tests.unit.tools.workplace import Workplace
from ullage.tools.tool import ToolCall
from ullage.workspace.text_file import text_sha256


async def test_a_new_file_is_made_with_its_folders(workplace: Workplace) -> None:
    outcome = await workplace.call("write_file", path="new/deep/a.py", content="x = 1\n")
    assert not outcome.is_error
    assert workplace.text("new/deep/a.py") == "x = 1\n"
    (touch,) = outcome.touched
    assert (touch.path, touch.kind, touch.sha256) == ("new/deep/a.py", "created", text_sha256("x = 1\n"))
    assert outcome.diff is not None
    assert (outcome.diff.old_text, outcome.diff.new_text) == ("", "x = 1\n")


async def test_a_file_that_was_deleted_since_it_was_seen_is_made_anew_and_that_is_said(workplace: Workplace) -> None:
    workplace.put({"a.py": "old\n"})
    await workplace.call("read_file", path="a.py")
    (workplace.root / "a.py").unlink()
    outcome = await workplace.call("write_file", path="a.py", content="new\n")
    assert outcome.content == "`a.py` was gone: somebody deleted or renamed it since you saw it. Created `a.py` (1 line)."


async def test_text_that_was_not_seen_is_shown_instead_of_overwritten(workplace: Workplace) -> None:
    workplace.put({"a.py": "precious\n"})
    refused = await workplace.call("write_file", path="a.py", content="new\n")
    assert refused.is_error
    assert "you have not read it" in refused.content
    assert "     1\tprecious" in refused.content
    assert workplace.text("a.py") == "precious\n"
    assert not (await workplace.call("write_file", path="a.py", content="new\n")).is_error
    assert workplace.text("a.py") == "new\n"


async def test_stale_text_is_not_overwritten(workplace: Workplace) -> None:
    workplace.put({"a.py": "old\n"})
    await workplace.call("read_file", path="a.py")
    workplace.put({"a.py": "changed by git\n"})
    refused = await workplace.call("write_file", path="a.py", content="new\n")
    assert refused.is_error
    assert "changed since you last saw it" in refused.content
    assert "changed by git" in refused.content
    assert workplace.text("a.py") == "changed by git\n"


async def test_unsaved_text_that_was_not_seen_is_not_overwritten(workplace: Workplace) -> None:
    workplace.put({"a.py": "disk\n"})
    await workplace.call("read_file", path="a.py")
    path = workplace.root / "a.py"
    workplace.editor.documents[path] = "disk\ntyped\n"
    refused = await workplace.call("write_file", path="a.py", content="new\n")
    assert refused.is_error
    assert workplace.editor.documents[path] == "disk\ntyped\n"


async def test_a_file_of_which_only_a_part_was_read_is_not_replaced(workplace: Workplace) -> None:
    workplace.put({"a.py": "line of text\n" * 5_000})
    await workplace.call("read_file", path="a.py", limit=3)
    refused = await workplace.call("write_file", path="a.py", content="new\n")
    assert refused.is_error
    assert "only a part" in refused.content
    assert len(refused.content) < 25_000


async def test_an_empty_file_may_be_filled(workplace: Workplace) -> None:
    workplace.put({"a.py": ""})
    assert not (await workplace.call("write_file", path="a.py", content="x\n")).is_error


async def test_the_same_text_is_not_written_again(workplace: Workplace) -> None:
    workplace.put({"a.py": "same\n"})
    await workplace.call("read_file", path="a.py")
    outcome = await workplace.call("write_file", path="a.py", content="same\n")
    assert "nothing was written" in outcome.content
    assert not outcome.touched


async def test_line_ends_are_kept(workplace: Workplace) -> None:
    workplace.put({"a.txt": "a\r\nb\r\n"})
    await workplace.call("read_file", path="a.txt")
    await workplace.call("write_file", path="a.txt", content="a\nc\n")
    assert (workplace.root / "a.txt").read_bytes() == b"a\r\nc\r\n"


@pytest.mark.parametrize("path", ["../outside.py", ".ullage/tool-results/a.txt", ".ullage/ullage.db"])
async def test_nothing_is_written_where_it_may_not_be(workplace: Workplace, path: str) -> None:
    outcome = await workplace.tools["write_file"].run(ToolCall("toolu_1", {"path": path, "content": "x"}))
    assert outcome.is_error
    assert not (workplace.root / path).exists()
