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
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from bench.results import machine, table
from bench.sessions import Generated, Message, generated
from ullage.replay.cluster.connecting import connected
from ullage.replay.cluster.shares import shares_of
from ullage.replay.cluster.work import work_on_cluster
from ullage.replay.file_work import FileWork, ReplayOptions, file_work

SESSIONS = 10_000
SIZES = ((1, 1), (16, 10))
"""How many messages a session has at least (up to 3 more), and for how many of the sessions one of this size stands: so one worker takes
half a minute for each."""
BEGAN = 1_770_000_000
"""Unix seconds of the first message."""
OPTIONS = ReplayOptions(policies=("claude-code",))
LARGE = (("words", 10), ("words", 100), ("files", 500), ("screenshots", 500))
"""What one transcript is full of, and its megabytes: files are results of 10 kB with a copy of the whole file beside, as Claude Code has
them."""
ROUNDS = 3
"""In each all sessions are worked on by all in turn, so that what else the machine does troubles all alike."""
SCREENSHOT_BYTES = 300_000
"""Of an image, before it becomes base64 text."""


def lines(messages: Iterator[Message] | Sequence[Message], session: str) -> Iterator[str]:
    """Messages as the lines of a transcript of Claude Code."""
    before = None
    for number, message in enumerate(messages):
        at = datetime.fromtimestamp(BEGAN + message["at"], UTC).isoformat().replace("+00:00", "Z")
        if "compacts" in message:
            yield from _compaction(message["compacts"], at, f"u{number}", before, session)
            before = f"u{number}"
            continue
        told: dict[str, Any] = {"role": message["role"], "content": message["content"]}
        if message["role"] == "assistant":
            told |= {"id": f"m{number}", "model": "claude-opus-4-5", "stop_reason": message["stop_reason"], "usage": message["usage"]}
        line = {"type": message["role"], "uuid": f"u{number}", "parentUuid": before, "sessionId": session, "cwd": "/work/app"}
        yield json.dumps({**line, "isSidechain": False, "timestamp": at, "message": told}) + "\n"
        before = f"u{number}"


def _compaction(tokens: int, at: str, name: str, before: str | None, session: str) -> Iterator[str]:
    """As Claude Code writes it: where it was, then the summary."""
    line = {"sessionId": session, "cwd": "/work/app", "isSidechain": False, "timestamp": at}
    boundary = {"subtype": "compact_boundary", "compactMetadata": {"trigger": "auto", "preTokens": tokens}}
    yield json.dumps({**line, "type": "system", "uuid": f"{name}b", "parentUuid": None, "logicalParentUuid": before, **boundary}) + "\n"
    told = {"role": "user", "content": [{"type": "text", "text": SUMMARY}]}
    yield json.dumps({**line, "type": "user", "uuid": name, "parentUuid": f"{name}b", "isCompactSummary": True, "message": told}) + "\n"


def lay_down(folder: Path, sessions: int, messages: int) -> tuple[Path, ...]:
    """So many transcripts, of so many messages at least. Of 400 each has the same words under another name, which costs nothing less to
    read."""
    texts = ["".join(lines(generated(messages + number % 4, number), _NAMED)) for number in range(min(sessions, 400))]
    for number in range(sessions):
        (folder / f"s{number:06}.jsonl").write_text(texts[number % 400].replace(_NAMED, f"s{number}"), encoding="utf-8")
    return tuple(sorted(folder.glob("s*.jsonl")))


_NAMED = "the session"


def with_files(messages: Iterator[Message], *, screenshots: bool = False) -> Iterator[Message]:
    """Messages as of an agent that works in a browser on a large project: results of 10 kB, half of them with a picture if asked for."""
    random = Random(1)  # noqa: S311 - nothing secret comes of it
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (1280).to_bytes(4, "big") + (800).to_bytes(4, "big")
    for number, message in enumerate(messages):
        for block in message["content"]:
            if block["type"] == "tool_result":
                text = "\n".join(f"{each:>6}→{block['content'][:200]}" for each in range(60))
                block["content"] = [{"type": "text", "text": text}]
                if screenshots and number % 4 == 2:  # results come with even numbers
                    data = base64.b64encode(head + random.randbytes(SCREENSHOT_BYTES)).decode()
                    source = {"type": "base64", "media_type": "image/png", "data": data}
                    block["content"].append({"type": "image", "source": source})
        yield message


COMPACTED_AT = 150_000
SUMMARY = (
    "The user wants src/cache/queue_1.py to return early. Tests of src/token/budget_7.py fail. Never touch the fixtures in tests/data.\n"
    * 60
)


def with_compactions(messages: Iterator[Message]) -> Iterator[Message]:
    """Messages as of an agent that compacts: no request has more than `COMPACTED_AT` tokens and what one message adds. A message that says
    `compacts` stands for the compaction before it."""
    gone = 0
    for message in messages:
        usage = message.get("usage")
        if usage is None:
            yield message
            continue
        read, written = usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"]
        if read + written - gone > COMPACTED_AT:
            yield {"compacts": read + written - gone, "at": message["at"]}
            gone = read + written - len(SUMMARY) // 4
        sent = read + written - gone
        found = min(max(read - gone, 0), sent)
        yield {**message, "usage": {**usage, "cache_read_input_tokens": found, "cache_creation_input_tokens": sent - found}}


def large(folder: Path, megabytes: int, kind: str = "words", *, compacts: bool = True) -> Path:
    """One transcript of that size. Beside results of one that is not of words the program wrote the whole files, as Claude Code does."""
    path = folder / f"{kind}{megabytes}{'' if compacts else ' never compacted'}.jsonl"
    messages = Generated(1).messages()
    if kind != "words":
        messages = with_files(messages, screenshots=kind == "screenshots")
    if compacts:
        messages = with_compactions(messages)
    with path.open("w", encoding="utf-8") as file:
        for line in lines(messages, "large"):
            if kind != "words" and '"tool_result"' in line:
                beside = {"type": "text", "file": {"filePath": "/work/app/a.py", "content": line[:40_000], "numLines": 9, "totalLines": 9}}
                line = json.dumps({**json.loads(line), "toolUseResult": beside}, ensure_ascii=False) + "\n"
            file.write(line)
            if file.tell() > megabytes * 1_000_000:
                return path
    raise AssertionError  # the session is endless


@dataclass(frozen=True, slots=True)
class _Taken:
    """Seconds of one round: to start, to work, and of the processors that worked; of a cluster also of the process that asked."""

    starting: float
    working: float
    processor: float
    asking: float = 0.0


def section(date: str, sessions: int) -> str:
    """Measures, and gives the section of RESULTS.md."""
    parts = [f"## Replay over workers, {date}"]
    for messages, each_of in SIZES:
        parts += _speed(sessions // each_of, messages, sessions)
    with tempfile.TemporaryDirectory() as temporary:
        memory = [(f"{megabytes} MB of {kind}", _memory(large(Path(temporary), megabytes, kind))) for kind, megabytes in LARGE]
    large_ones = (
        "What one worker took at most for one transcript, with the packages that it loads. Its limit is 500 MB. What would pass it "
        "is given back, and read by a process of its own:"
    )
    return "\n\n".join((*parts, large_ones, table(["transcript", "memory"], [[*each] for each in memory])))


def _speed(sessions: int, messages: int, asked: int) -> tuple[str, str]:
    """How much quicker more workers are, in words and as a table."""
    loads = [os.getloadavg()[0]]
    cores = os.cpu_count() or 1
    counts = [count for count in (1, 2, 4, 8) if count <= max(cores, 4)]
    names = {0: "one process, no scheduler", **{count: f"{count} worker{'s' if count > 1 else ''}" for count in counts}}
    taken: dict[int, list[_Taken]] = {count: [] for count in names}
    possible: list[float] = []
    with tempfile.TemporaryDirectory() as temporary:
        paths = lay_down(Path(temporary), sessions, messages)
        size = sum(path.stat().st_size for path in paths)
        for number in range(ROUNDS):
            began, used = time.perf_counter(), time.process_time()
            expected = [file_work(path, OPTIONS) for path in paths]
            taken[0].append(_Taken(0.0, time.perf_counter() - began, time.process_time() - used))
            possible.append(taken[0][-1].working / _side_by_side(paths, cores))
            for count in counts:
                taken[count].append(_on_workers(paths, count, expected))
            loads.append(os.getloadavg()[0])
            sys.stderr.write(f"round {number + 1} of {ROUNDS}: {' '.join(f'{each[-1].working:.1f}' for each in taken.values())} s\n")
    one = taken[1]
    rows = [
        [
            names[count],
            f"{median(of_one.working / each.working for each, of_one in zip(rounds, one, strict=True)):.2f}",
            " ".join(f"{of_one.working / each.working:.2f}" for each, of_one in zip(rounds, one, strict=True)),
            f"{sum(each.processor for each in rounds) / sum(each.processor for each in one):.2f}",
            f"{sum(each.asking for each in rounds) / sum(each.processor for each in one):.2f}" if count else "–",
            f"{median(each.starting for each in rounds):.1f} s" if count else "–",
        ]
        for count, rounds in taken.items()
    ]
    told = ", ".join(f"{load:.1f}" for load in loads)
    clock, processor = (sum(getattr(each, name) for each in one) / ROUNDS for name in ("working", "processor"))
    about = (
        f"`npm run bench -- cluster {asked}`: {sessions:,} generated sessions of {messages} to {messages + 3} messages "
        f"({size / 1e6:,.0f} MB), one policy, on {machine()}, in {ROUNDS} rounds, each of all sessions by all in turn. The load was {told} "
        f"before and after the rounds, with this run's own. The figures of all were equal. One worker took {clock:.0f} s of the clock and "
        f"{processor:.0f} s of a processor. {cores} processes with a share of the files each and nothing between them were "
        f"{median(possible):.2f} times as quick as one such process: more is not to be had on this machine."
    )
    head = ["", "speed-up (median)", "by round", "processor time beside one worker", "of whoever asks and the scheduler", "to start"]
    return about, table(head, rows)


def _side_by_side(paths: Sequence[Path], count: int) -> float:
    """Seconds of the clock that so many processes take, each with its share of the files."""
    parts = [[path for number, path in enumerate(paths) if number // 4 % count == part] for part in range(count)]
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
        list(pool.map(_work_through, [paths[:count]] * count, [WARMING_SECONDS] * count))
        began = time.perf_counter()
        list(pool.map(_work_through, parts))
        return time.perf_counter() - began


WARMING_SECONDS = 2.0
"""That each process works at least before it is measured, so that each takes one piece."""


def _work_through(paths: Sequence[Path], seconds: float = 0.0) -> None:
    began = time.perf_counter()
    for path in paths:
        file_work(path, OPTIONS)
    while time.perf_counter() - began < seconds:
        file_work(paths[0], OPTIONS)


def _on_workers(paths: Sequence[Path], count: int, expected: Sequence[FileWork]) -> _Taken:
    began = time.perf_counter()
    with connected("local", count) as client:
        started, used = time.perf_counter(), sum(client.run(time.process_time).values())
        work, asking = partial(file_work, options=OPTIONS), time.process_time()
        done = list(work_on_cluster(client, tuple(shares_of(paths, count)), work, _unfinished, _quiet, _left))
        ended, asking = time.perf_counter(), time.process_time() - asking
        processor = sum(client.run(time.process_time).values()) - used
    if [each.rows for each in done] != [each.rows for each in expected]:
        raise AssertionError("the figures depend on who made them")
    return _Taken(started - began, ended - started, processor, asking)


def _memory(path: Path) -> str:
    """The most that a worker had in memory with this transcript."""
    with connected("local", 1) as client:
        (done,) = work_on_cluster(client, tuple(shares_of([path])), partial(file_work, options=OPTIONS), _unfinished, _quiet, _left)
        if done.failures:
            return f"given back at {next(iter(client.run(_peak).values())):,.0f} MB"
        return f"{next(iter(client.run(_peak).values())):,.0f} MB"


def _peak() -> float:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1_000 * 1.024


def _unfinished(reason: str) -> FileWork:
    return FileWork(failures=(reason,))


def _left(number: int) -> FileWork:
    return FileWork(failures=(f"{number} is too large for a worker",))


def _quiet(done: int, total: int) -> None:
    """Nobody looks."""
