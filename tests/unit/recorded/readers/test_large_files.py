"""A file is read part by part: what it takes in memory grows with what the session holds, not with the bytes of the file."""

from __future__ import annotations

import base64
import json
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.unit.recorded.readers import test_cline, test_gemini_cli, test_pi
from tests.unit.recorded.readers.recorded import Line
from ullage.context.blocks import Json
from ullage.recorded.readers import read

PICTURE = base64.b64encode(base64.b64decode(test_pi.PIXEL) + bytes(150_000)).decode()
"""An image of one pixel that takes 200 kB in the file, and a few words in the session."""


def of_pi(images: int) -> Iterator[str]:
    pi = test_pi.Pi()
    image: Json = {"type": "image", "data": PICTURE, "mimeType": "image/png"}
    for _ in range(images):
        pi.message("user", [image])
        yield from (f"{json.dumps(line)}\n" for line in pi.lines)
        pi.lines.clear()


def of_gemini_cli(images: int) -> Iterator[str]:
    yield json.dumps(test_gemini_cli.ABOUT)[:-1] + ', "messages": [\n'
    image: Json = {"inlineData": {"mimeType": "image/png", "data": PICTURE}}
    yield ",\n".join([json.dumps(test_gemini_cli.user("u", "Look"))])
    for number in range(images):
        yield ",\n" + json.dumps(test_gemini_cli.user(f"u{number}", [image]), indent=2)
    yield "]}"


def of_cline(images: int) -> Iterator[str]:
    image: Line = {"type": "image", "source": {"type": "base64", "data": PICTURE}}
    yield "[" + json.dumps(test_cline.user(image, ts=1))
    for _ in range(images - 1):
        yield "," + json.dumps(test_cline.user(image, ts=1))
    yield "]"


def peak(path: Path, parts: Iterator[str]) -> int:
    """Bytes in memory at most while the file is read."""
    with path.open("w") as file:
        file.writelines(parts)
    tracemalloc.start()
    (session,) = read(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(session.entries) >= 10
    return most


@pytest.mark.parametrize(("name", "written"), [("a.jsonl", of_pi), ("session-1.json", of_gemini_cli), ("a.json", of_cline)])
def test_a_file_three_times_as_large_takes_hardly_more_memory(tmp_path: Path, name: str, written: Callable[[int], Iterator[str]]):
    small = peak(tmp_path / name, written(20))  # 4 MB
    large = peak(tmp_path / name, written(60))
    assert large < small + 1_000_000
    assert large < 8_000_000
