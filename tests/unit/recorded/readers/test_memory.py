"""What of a transcript is in memory while it is read."""

from __future__ import annotations

import base64
import json
import os
import tracemalloc
from pathlib import Path

from ullage.context.entries import ToolReturned
from ullage.recorded.readers import read

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (640).to_bytes(4, "big") + (400).to_bytes(4, "big")
EACH = 500_000
"""Bytes of an image, and of what stands beside a result."""


def test_of_images_and_of_what_stands_beside_results_nothing_stays(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    with path.open("w") as file:
        for number in range(40):
            line = {"sessionId": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/work"}
            call: dict[str, object] = {"type": "tool_use", "id": f"c{number}", "name": "Look", "input": {}}
            reply: dict[str, object] = {"role": "assistant", "id": f"m{number}", "model": "claude-opus-4-5", "content": [call]}
            reply["usage"] = {"input_tokens": 5}
            file.write(json.dumps({**line, "type": "assistant", "uuid": f"a{number}", "message": reply}) + "\n")
            data = base64.b64encode(PNG + os.urandom(EACH)).decode()
            image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
            result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": [{"type": "text", "text": "Seen."}, image]}
            beside = {"type": "update", "content": "x" * EACH, "originalFile": "y" * EACH}
            told = {"message": {"role": "user", "content": [result]}, "toolUseResult": beside}
            file.write(json.dumps({**line, "type": "user", "uuid": f"u{number}", **told}) + "\n")
    tracemalloc.start()
    try:
        (transcript,) = read(path)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    results = [logged.entry.content for logged in transcript.entries if isinstance(logged.entry, ToolReturned)]
    assert len(results) == 40
    assert set(results) == {"Seen.\n[image, 640 x 400 pixels, 345 tokens]"}
    # A line is in memory as bytes, as text and as values.
    assert most < 15 * EACH < path.stat().st_size / 4
