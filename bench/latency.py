"""How long the server takes: process start to `initialize`, prompt to request, chunk to notification, the context view.

    .venv/bin/python -m bench.latency [MESSAGES ...]

Over the real wire on both sides: a bare client on stdio, a model endpoint on a loopback socket.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.bare_client import start_server
from bench.stamping_api import StampingApi
from ullage.context.blocks import Text, Usage
from ullage.context.entries import AssistantReply, TurnEnded, UserPrompt
from ullage.store.folder import folder_of
from ullage.store.log_store import LogStore

PROMPTS = 60
STARTS = 7
OPENED = 10
"""How often the context view is asked for."""


def fill(folder: Path, messages: int) -> None:
    """A session with that many messages, as a user left it."""
    store = LogStore.open(folder)
    session = store.create_session("bench", 0.0)
    entries: list[UserPrompt | AssistantReply | TurnEnded] = []
    for turn in range(messages // 2):
        entries.append(UserPrompt(f"p{turn}", f"Question {turn}: " + "what does the tank hold? " * 5))
        usage = Usage(40_000, 100)
        entries.append(AssistantReply(f"r{turn}", (Text(f"Answer {turn}: " + "it holds what it holds. " * 5),), "bench", "end_turn", usage))
        entries.append(TurnEnded("end_turn"))
    store.append_many(session.id, entries, 1.0)
    store.close()


async def measure(messages: int) -> None:
    """Measures with a session of that many messages, and prints a line a figure."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve() / "workspace"
        folder.mkdir()
        state = Path(temporary).resolve() / "state"
        fill(folder_of(folder, state), messages)
        async with StampingApi() as api:
            sent: list[int] = []
            notified: list[float] = []
            opened: list[float] = []
            idle = asyncio.Event()

            def heard(read: int, message: Mapping[str, Any]) -> None:
                if message["method"] != "ullage/session/update":
                    return
                update: Mapping[str, Any] = message["params"]["update"]
                if update.get("kind") == "append":
                    notified.extend((read - int(stamp)) / 1e6 for stamp in str(update["text"]).replace("@", " ").split())
                if update.get("kind") == "state" and update["state"] == "idle":
                    idle.set()

            model = {"provider": "anthropic", "name": "claude-opus-5-5", "baseUrl": f"http://127.0.0.1:{api.port}"}
            # A compaction would ask for a summary before the first prompt is sent, and leave few of the messages in view.
            settings = {"model": model, "compaction": {"auto": False}}
            client = await start_server(server_command(), environment(), heard)
            await client.initialize(folder, state, settings)
            session = (await client.ask("ullage/session/open", {}))["sessionId"]
            for number in range(PROMPTS):
                idle.clear()
                sent.append(time.perf_counter_ns())
                await client.ask("ullage/session/prompt", {"sessionId": session, "text": f"And number {number}?"})
                await idle.wait()
                if number >= PROMPTS - OPENED:  # it has grown since: nothing of the answer is known
                    began = time.perf_counter_ns()
                    await client.ask("ullage/session/context", {"sessionId": session})
                    opened.append((time.perf_counter_ns() - began) / 1e6)
            await client.close()
            waits = [(arrived - asked) / 1e6 for asked, arrived in zip(sent, api.arrivals, strict=True)]
            show(f"prompt to request, {messages:,} messages (first: {waits[0]:.0f} ms)", waits[1:])
            show(f"chunk to notification, {messages:,} messages", notified)
            show(f"context view, {messages:,} messages", opened)


async def measure_start() -> None:
    """Process start to the answer of `initialize`."""
    times: list[float] = []
    for _ in range(STARTS):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary).resolve() / "workspace"
            folder.mkdir()
            began = time.perf_counter_ns()
            client = await start_server(server_command(), environment(), lambda read, message: None)
            await client.initialize(folder, folder.parent / "state", {"model": {"provider": "practice"}})
            times.append((time.perf_counter_ns() - began) / 1e6)
            await client.close()
    show("process start to initialize", times)
    bare: list[float] = []
    for _ in range(STARTS):
        began = time.perf_counter_ns()
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", "pass")
        await process.wait()
        bare.append((time.perf_counter_ns() - began) / 1e6)
    show("for comparison: python that does nothing", bare)


def server_command() -> list[str]:
    """How the server is started."""
    return [sys.executable, "-m", "ullage", "serve"]


def environment() -> dict[str, str]:
    """The surroundings of the server: a key that nobody checks."""
    return {**os.environ, "ANTHROPIC_API_KEY": "bench"}


def show(what: str, milliseconds: Sequence[float]) -> None:
    """Median, 99th percentile and maximum."""
    ordered = sorted(milliseconds)
    p99 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    sys.stdout.write(f"{what}: median {ordered[len(ordered) // 2]:.2f} ms, p99 {p99:.2f} ms, max {ordered[-1]:.2f} ms (n={len(ordered)})\n")


async def main(sizes: Sequence[int]) -> None:
    """All figures."""
    await measure_start()
    for messages in sizes:
        await measure(messages)


if __name__ == "__main__":
    asyncio.run(main([int(each) for each in sys.argv[1:]] or [100, 1_000, 10_000]))
