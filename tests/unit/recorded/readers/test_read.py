"""Which reader is taken, and what becomes of files that are no transcripts or are damaged."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.recorded.readers.recorded import Claude, codex, drawn, mended, text, written
from ullage.recorded.readers import NotATranscript, files, read


@pytest.fixture
def session() -> bytes:
    claude = Claude()
    claude.user("Grüße")
    claude.assistant("m1", text("Hi."))
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in claude.lines).encode()


@pytest.mark.parametrize(
    ("ending", "pack"),
    [("jsonl", bytes), ("jsonl.gz", gzip.compress), ("jsonl.xz", lzma.compress), ("jsonl.bz2", bz2.compress), ("txt", gzip.compress)],
)
def test_plain_and_compressed_files_are_told_by_their_content(tmp_path: Path, session: bytes, ending: str, pack: Callable[[bytes], bytes]):
    path = tmp_path / f"a.{ending}"
    path.write_bytes(pack(session))
    (transcript,) = read(path)
    assert drawn(transcript) == ["user: Grüße", "assistant: Hi."]
    assert transcript.repairs == ()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is empty"),
        (b"\n \n", "holds no JSON lines"),
        (b"\x7fELF\x00\x01\n\xff\xfe" * 50, "holds no JSON lines"),
        (b"Dear diary\nToday\n", "holds no JSON lines"),
        (b"[1]\n2\nnull\n", "holds no JSON lines"),
        (b'{"role": "user", "content": "Hi"}\n', "its lines are those of no program"),
        (b'{"type": ["user"], "payload": {}, "message": {}}\n', "its lines are those of no program"),
        (b"[" * 100_000, "holds no JSON lines"),
        (b"9" * 10_000, "holds no JSON lines"),
        (b"\x1f\x8b" + bytes(40), "holds no JSON lines"),
        (b"\xfd7zXZ\x00" + bytes(40), "holds no JSON lines"),
        (b"BZh9" + bytes(40), "holds no JSON lines"),
        (b"\x28\xb5\x2f\xfd" + bytes(40), "compressed by zstd, and only gzip, xz and bzip2"),
        (b"PK\x03\x04" + bytes(40), "compressed as a zip archive"),
    ],
)
def test_other_files_are_refused_with_the_reason(tmp_path: Path, content: bytes, reason: str):
    path = tmp_path / "other.jsonl"
    path.write_bytes(content)
    with pytest.raises(NotATranscript, match=reason) as refused:
        read(path)
    assert str(path) in str(refused.value)


def test_a_folder_and_a_missing_file(tmp_path: Path):
    with pytest.raises(NotATranscript, match="is a folder"):
        read(tmp_path)
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "nothing.jsonl")


def damaged(folder: Path, content: bytes) -> dict[str, int]:
    path = folder / "a.jsonl"
    path.write_bytes(content)
    (transcript,) = read(path)
    assert drawn(transcript) == ["user: Grüße", "assistant: Hi."]
    return mended(transcript)


@pytest.mark.parametrize(
    ("prefix", "suffix", "expected"),
    [
        (b"\xef\xbb\xbf", b"", {}),
        (b"\r\n\n", b"\n", {}),
        (b"not JSON\n[1]\n", b"", {"lines that are no JSON object": 2}),
        (b"", b'{"type": "user", "mess', {"last lines that are cut off": 1}),
        (b"", b"\0" * 4096, {"last lines that are cut off": 1}),
        (b'{"a": "\xff"}\n', b"", {"lines with bytes that are no UTF-8": 1, 'lines of the unknown kind "(none)"': 1}),
    ],
)
def test_what_is_damaged_around_the_lines_is_counted(
    tmp_path: Path, session: bytes, prefix: bytes, suffix: bytes, expected: dict[str, int]
):
    assert damaged(tmp_path, prefix + session + suffix) == expected


def test_a_compressed_file_that_is_cut_gives_what_came_before(tmp_path: Path, session: bytes):
    # Two streams one after the other, the second one cut: where in a stream the cut lies decides how much of it can be read.
    assert damaged(tmp_path, lzma.compress(session) + lzma.compress(session)[:40]) == {
        "places where the compressed file is cut or damaged": 1
    }


def test_a_line_beyond_all_measure_is_passed_over(tmp_path: Path, session: bytes, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(files, "LONGEST_LINE", 2_000)
    giant = b'{"type": "user", "x": "' + b"y" * 9_000 + b'"}\n'
    assert damaged(tmp_path, giant + session + giant[:-1]) == {"lines over 64 MiB": 2}


def test_a_file_of_the_other_program_after_lines_that_say_nothing(tmp_path: Path):
    path = written(tmp_path, [{"x": 1}, codex("session_meta", id="c1")])
    assert read(path)[0].source == "codex"
