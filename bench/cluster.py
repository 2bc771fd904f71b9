"""`ullage replay --scheduler local` on more and more workers, beside one process without a scheduler, and what a large transcript takes.

    .venv/bin/python -m bench cluster [SESSIONS]

Generated sessions lie on disk as transcripts of Claude Code and go through one policy. Told are ratios of one run, in turn on the same
machine: how much quicker so many workers are than one. Starting the workers is told beside it, since it does not grow with the sessions.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from bench.results import machine, table
from bench.sessions import Generated, Message, generated
from ullage.replay.cluster.connecting import connected
from ullage.replay.cluster.shares import shares_of
from ullage.replay.cluster.work import work_on_cluster
from ullage.replay.file_work import FileWork, Options, file_work

SESSIONS = 10_000
MESSAGES = 1
"""Of a session, and up to 3 more: so few that 10,000 take one worker about a minute."""
BEGAN = 1_770_000_000
"""Unix seconds of the first message."""
OPTIONS = Options(policies=("claude-code",))
LARGE = (("words", 10), ("screenshots", 100), ("screenshots", 500))
"""What one transcript is full of, and its megabytes."""
ROUNDS = 5
"""Parts of the sessions, each worked on by all in turn, so that what else the machine does troubles all alike."""
SCREENSHOT_BYTES = 300_000
"""Of an image, before it becomes base64 text."""


def lines(messages: Iterator[Message] | Sequence[Message], session: str) -> Iterator[str]:
    """Messages as the lines of a transcript of Claude Code."""
    before = None
    for number, message in enumerate(messages):
        at = datetime.fromtimestamp(BEGAN + message["at"], UTC).isoformat().replace("+00:00", "Z")
        told: dict[str, Any] = {"role": message["role"], "content": message["content"]}
        if message["role"] == "assistant":
            told |= {"id": f"m{number}", "model": "claude-opus-4-5", "stop_reason": message["stop_reason"], "usage": message["usage"]}
        line = {"type": message["role"], "uuid": f"u{number}", "parentUuid": before, "sessionId": session, "cwd": "/work/app"}
        yield json.dumps({**line, "isSidechain": False, "timestamp": at, "message": told}) + "\n"
        before = f"u{number}"


def lay_down(folder: Path, sessions: int) -> tuple[Path, ...]:
    """So many transcripts. Of 400 each has the same words under another name, which costs nothing less to read."""
    texts = ["".join(lines(generated(MESSAGES + number % 4, number), _NAMED)) for number in range(min(sessions, 400))]
    for number in range(sessions):
        (folder / f"s{number:06}.jsonl").write_text(texts[number % 400].replace(_NAMED, f"s{number}"), encoding="utf-8")
    return tuple(sorted(folder.glob("s*.jsonl")))


_NAMED = "the session"


def with_screenshots(messages: Iterator[Message]) -> Iterator[Message]:
    """Messages as of an agent that works in a browser on a large project: results of 10 kB, every fourth with a picture."""
    random = Random(1)  # noqa: S311 - nothing secret comes of it
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (1280).to_bytes(4, "big") + (800).to_bytes(4, "big")
    for number, message in enumerate(messages):
        for block in message["content"]:
            if block["type"] == "tool_result":
                text = "\n".join(f"{each:>6}→{block['content'][:200]}" for each in range(60))
                block["content"] = [{"type": "text", "text": text}]
                if number % 4 == 1:
                    data = base64.b64encode(head + random.randbytes(SCREENSHOT_BYTES)).decode()
                    source = {"type": "base64", "media_type": "image/png", "data": data}
                    block["content"].append({"type": "image", "source": source})
        yield message


def large(folder: Path, megabytes: int, kind: str = "words") -> Path:
    """One transcript of that size. Beside results of one with screenshots the program wrote the whole files, as Claude Code does."""
    path = folder / f"{kind}{megabytes}.jsonl"
    messages = Generated(1).messages()
    with path.open("w", encoding="utf-8") as file:
        for line in lines(messages if kind == "words" else with_screenshots(messages), "large"):
            if kind != "words" and '"tool_result"' in line:
                beside = {"type": "text", "file": {"filePath": "/work/app/a.py", "content": line[:40_000], "numLines": 9, "totalLines": 9}}
                line = json.dumps({**json.loads(line), "toolUseResult": beside}, ensure_ascii=False) + "\n"
            file.write(line)
            if file.tell() > megabytes * 1_000_000:
                return path
    raise AssertionError  # the session is endless


@dataclass(frozen=True, slots=True)
class _Taken:
    """Seconds of one round: to start, to work, and of the processors that worked."""

    starting: float
    working: float
    processor: float


def section(date: str, sessions: int) -> str:
    """Measures, and gives the section of RESULTS.md."""
    loads = [os.getloadavg()[0]]
    cores = os.cpu_count() or 1
    counts = [count for count in (1, 2, 4, 8) if count <= max(cores, 4)]
    names = {0: "one process, no scheduler", **{count: f"{count} worker{'s' if count > 1 else ''}" for count in counts}}
    taken: dict[int, list[_Taken]] = {count: [] for count in names}
    with tempfile.TemporaryDirectory() as temporary:
        paths = lay_down(Path(temporary), sessions)
        size = sum(path.stat().st_size for path in paths)
        for number in range(ROUNDS):
            some = paths[number * sessions // ROUNDS : (number + 1) * sessions // ROUNDS]
            began, used = time.perf_counter(), time.process_time()
            expected = [file_work(path, OPTIONS) for path in some]
            taken[0].append(_Taken(0.0, time.perf_counter() - began, time.process_time() - used))
            for count in counts:
                taken[count].append(_on_workers(some, count, expected))
            loads.append(os.getloadavg()[0])
            sys.stderr.write(f"round {number + 1} of {ROUNDS}: {' '.join(f'{each[-1].working:.1f}' for each in taken.values())} s\n")
        memory = [(f"{megabytes} MB of {kind}", _memory(large(Path(temporary), megabytes, kind))) for kind, megabytes in LARGE]
    one = taken[1]
    rows = [
        [
            names[count],
            f"{median(of_one.working / each.working for each, of_one in zip(rounds, one, strict=True)):.2f}",
            " ".join(f"{of_one.working / each.working:.2f}" for each, of_one in zip(rounds, one, strict=True)),
            f"{sum(each.processor for each in rounds) / sum(each.processor for each in one):.2f}",
            f"{median(each.starting for each in rounds):.1f} s" if count else "–",
        ]
        for count, rounds in taken.items()
    ]
    told = ", ".join(f"{load:.1f}" for load in loads)
    clock, processor = sum(each.working for each in one), sum(each.processor for each in one)
    about = (
        f"`npm run bench -- cluster {sessions}`: {sessions:,} generated sessions ({size / 1e6:,.0f} MB), one policy, on {machine()}, in "
        f"{ROUNDS} rounds, each in turn by all. The load was {told} before and after the rounds, with this run's own. The figures of all "
        f"were equal. One worker took {clock:.0f} s of the clock and {processor:.0f} s of a processor."
    )
    large_ones = (
        "What one worker took at most for one transcript, with the packages that it loads. Its limit is 500 MB. What would pass it is left "
        "out by name, and the worker goes on:"
    )
    head = ["", "speed-up (median)", "by round", "processor time beside one worker", "to start"]
    parts = (f"## Replay over workers, {date}", about, table(head, rows), large_ones)
    return "\n\n".join((*parts, table(["transcript", "memory"], [[*each] for each in memory])))


def _on_workers(paths: Sequence[Path], count: int, expected: Sequence[FileWork]) -> _Taken:
    began = time.perf_counter()
    with connected("local", count) as client:
        started, used = time.perf_counter(), sum(client.run(time.process_time).values())
        work = partial(file_work, options=OPTIONS)
        done = list(work_on_cluster(client, tuple(shares_of(paths)), work, _unfinished, _quiet))
        ended = time.perf_counter()
        processor = sum(client.run(time.process_time).values()) - used
    if [each.rows for each in done] != [each.rows for each in expected]:
        raise AssertionError("the figures depend on who made them")
    return _Taken(started - began, ended - started, processor)


def _memory(path: Path) -> str:
    """The most that a worker had in memory with this transcript."""
    with connected("local", 1) as client:
        (done,) = work_on_cluster(client, tuple(shares_of([path])), partial(file_work, options=OPTIONS), _unfinished, _quiet)
        if done.failures:
            return f"left out: {next(iter(client.run(_peak).values())):,.0f} MB"
        return f"{next(iter(client.run(_peak).values())):,.0f} MB"


def _peak() -> float:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1_000 * 1.024


def _unfinished(reason: str) -> FileWork:
    return FileWork(failures=(reason,))


def _quiet(done: int, total: int) -> None:
    """Nobody looks."""
