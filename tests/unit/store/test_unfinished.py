"""What is found of a reply that was being written when the process was killed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ullage.context.blocks import Text, Thinking
from ullage.store.plain_files import BlockPiece, UnfinishedFile, UnfinishedReply, unfinished_file

REPLY = UnfinishedReply("r1", "claude", 7)

pieces = st.lists(
    st.builds(BlockPiece, st.integers(0, 2), st.text(st.characters(exclude_categories=()), max_size=5), st.just(False)), max_size=8
)


def test_what_was_written_is_found(tmp_path: Path) -> None:
    writing = unfinished_file(tmp_path, "s1")
    writing.write(REPLY, [BlockPiece(0, "Let me ", is_thinking=True), BlockPiece(1, "One ")])
    writing.write(REPLY, [BlockPiece(1, "two\n"), BlockPiece(0, "see", is_thinking=True)])
    found = unfinished_file(tmp_path, "s1").read()
    assert found == UnfinishedReply("r1", "claude", 7, (Thinking("Let me see", ""), Text("One two\n")))
    assert unfinished_file(tmp_path, "s2").read() is None
    writing.remove()
    assert unfinished_file(tmp_path, "s1").read() is None
    assert list((tmp_path / "unfinished").iterdir()) == []


def test_the_next_reply_takes_the_place_of_what_was_left(tmp_path: Path) -> None:
    unfinished_file(tmp_path, "s1").write(REPLY, [BlockPiece(0, "old")])
    unfinished_file(tmp_path, "s1").write(UnfinishedReply("r2", "claude", 9), [BlockPiece(0, "new")])
    assert unfinished_file(tmp_path, "s1").read() == UnfinishedReply("r2", "claude", 9, (Text("new"),))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces, st.integers(0, 400))
def test_a_file_that_breaks_off_gives_what_stands_before(tmp_path: Path, written: list[BlockPiece], length: int) -> None:
    path = tmp_path / "a" / "s1.jsonl"
    file = UnfinishedFile(path)
    for piece in written:
        file.write(REPLY, [piece])
    whole = UnfinishedFile(path).read()
    if written:
        path.write_bytes(path.read_bytes()[:length])
    cut = UnfinishedFile(path).read()
    file.remove()
    if whole is None or cut is None:
        return
    assert (cut.id, cut.model, cut.after) == ("r1", "claude", 7)
    assert len(cut.blocks) <= len(whole.blocks)
    texts = {block.text for block in whole.blocks if isinstance(block, Text)}
    assert all(isinstance(block, Text) and any(text.startswith(block.text) for text in texts) for block in cut.blocks)


@pytest.mark.parametrize("text", ["", "\n", "{", "[]\n", '["r1"]\n', '["r1", "m", "7"]\n', "{}\n", "\xff\n", "null\n"])
def test_what_cannot_be_read_is_as_if_it_were_not_there(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.jsonl").write_text(text, "latin-1")
    assert UnfinishedFile(tmp_path / "a.jsonl").read() is None


@pytest.mark.parametrize("line", ["[]", "[0]", '["0", "a", false]', "[0, 1, false]", "{", '[0, "a", 1]'])
def test_a_damaged_line_ends_it(tmp_path: Path, line: str) -> None:
    path = tmp_path / "a.jsonl"
    UnfinishedFile(path).write(REPLY, [BlockPiece(0, "One ")])
    with path.open("a") as file:
        file.write(f'{line}\n[0, "three", false]\n')
    found = UnfinishedFile(path).read()
    assert found is not None
    assert found.blocks == (Text("One "),)


def test_where_nothing_can_be_kept_nothing_fails(tmp_path: Path) -> None:
    (tmp_path / "unfinished").write_text("a file")
    for file in (unfinished_file(tmp_path, "s1"), unfinished_file(None, "s1")):
        for _ in range(2):
            file.write(REPLY, [BlockPiece(0, "One ")])
        assert file.read() is None
        file.remove()
