"""What stops the server's event loop, and for how long: a cheap request every 50 ms while something large or odd arrives.

    .venv/bin/python -m bench stalls [SCENARIO ...]

A real server process over a pipe, a Messages API on a loopback socket. The cheap request is a snapshot of an empty session. The
longest step is what one step of the loop took on the processor, so without what other programs and threads took; a round is all that is
done between two looks at what has come, on the clock. Server and bench are seconds of the processor: the client and the API, which share a
process, run beside the server. Stop is the time from `cancel` to its answer and to the state `idle`; behind a flood, to its answer, from
when its last byte went into the pipe. Without names all scenarios run and STALLS.md is written.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.bytes_api import Answer, BytesApi, call_events, events, text_events
from bench.quick_client import Pulse, QuickClient, Refused, framed
from bench.results import machine, table
from ullage.context.blocks import Text, Usage
from ullage.context.compaction_entries import Compaction, Summarised
from ullage.context.entries import AssistantReply, ToolReturned, TurnEnded, UserPrompt
from ullage.store import folder as ullage_folder
from ullage.store.folder import folder_of
from ullage.store.log_store import LogStore

FILE = Path(__file__).parent / "STALLS.md"
PATIENCE = 60.0
"""Seconds after which a scenario counts as not done."""


@dataclass
class Place:
    """A server with its client, an API and an empty session for the pulse."""

    client: QuickClient
    api: BytesApi
    folder: Path
    seen: Path
    calm: str = ""
    notes: list[str] = field(default_factory=list[str])

    async def new(self) -> str:
        """A new session."""
        return (await self.client.ask("ullage/session/new", {}))["sessionId"]

    async def prompt(self, session: str, text: str = "Go.") -> None:
        """Begins a turn."""
        self.client.states[session] = "asked"
        await self.client.ask("ullage/session/prompt", {"sessionId": session, "text": text})

    async def turn(self, session: str, text: str = "Go.") -> None:
        """A whole turn."""
        await self.prompt(session, text)
        await self.client.until_state(session, "idle")

    async def stop(self, session: str) -> None:
        """Stops the turn; how long that takes is noted."""
        began = time.perf_counter()
        self.client.states[session] = "asked to stop"
        await self.client.ask("ullage/session/cancel", {"sessionId": session})
        answered = time.perf_counter() - began
        await self.client.until_state(session, "idle")
        self.notes.append(f"stop {1e3 * answered:.0f}/{1e3 * (time.perf_counter() - began):.0f} ms")

    async def look(self) -> dict[str, Any]:
        """What the server saw of its loop since the last look."""
        self.seen.unlink(missing_ok=True)
        os.kill(self.client.transport.get_pid(), signal.SIGUSR1)
        while not self.seen.exists():  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.01)
        return json.loads(self.seen.read_text())


@asynccontextmanager
async def place(fill: Callable[[Path], None] | None = None) -> AsyncGenerator[Place]:
    """A server on a folder of its own; `fill` makes its sessions."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve() / "workspace"
        folder.mkdir()
        (folder / "tank.py").write_text("CAPACITY = 100\n")
        state = Path(temporary) / "state"
        if fill is not None:
            fill(folder_of(folder, state))
        seen = Path(temporary) / "seen.json"
        async with BytesApi() as api:
            command = [sys.executable, "-m", "bench.watched_server", str(seen)]
            environment = {**os.environ, "ANTHROPIC_API_KEY": "bench"}
            _, client = await asyncio.get_running_loop().subprocess_exec(QuickClient, *command, stderr=None, env=environment)
            settings = {
                "model": {"provider": "anthropic", "name": "claude-opus-5-5", "baseUrl": f"http://127.0.0.1:{api.port}"},
                "bash": {"sandbox": "off"},
                "store": {"location": str(state)},
            }
            await client.initialize(folder, state, settings)
            here = Place(client, api, folder, seen)
            here.calm = await here.new()
            yield here
            await client.close()


Scenario = Callable[[Place], Awaitable[None]]


async def calls(here: Place, count: int, *, stop: bool) -> None:
    """A reply with so many calls that read, or stopped half a second into it."""
    session = await here.new()
    blocks = [event for index in range(count) for event in call_events(index, "read_file", ['{"path": "tank.py"}'])]
    here.api.queue.append(events(blocks, "tool_use"))
    await here.prompt(session)
    if stop:
        await asyncio.sleep(0.5)
        await here.stop(session)
    await here.client.until_state(session, "idle")


async def stopped_calls(here: Place) -> None:
    """Ten thousand calls, and Stop at half a second."""
    await calls(here, 10_000, stop=True)


async def burst(here: Place) -> None:
    """A hundred thousand small pieces of text at once."""
    session = await here.new()
    here.api.queue.append(events(text_events("word " for _ in range(100_000))))
    await here.turn(session)


async def stopped_burst(here: Place) -> None:
    """The same, stopped half a second into it."""
    session = await here.new()
    here.api.queue.append(events(text_events("word " for _ in range(300_000))))
    await here.prompt(session)
    await asyncio.sleep(0.5)
    await here.stop(session)


async def small_input(here: Place) -> None:
    """A tool's input in a hundred thousand pieces."""
    session = await here.new()
    pieces = ['{"path": "tank.py", "x": "', *("word " for _ in range(100_000)), '"}']
    here.api.queue.append(events(call_events(0, "read_file", pieces), "tool_use"))
    await here.turn(session)


async def huge_input(here: Place) -> None:
    """A tool's input of 20 MB in pieces of 64 kB."""
    session = await here.new()
    pieces = ['{"path": "tank.py", "x": "', *("word " * 13_000 for _ in range(300)), '"}']
    here.api.queue.append(events(call_events(0, "read_file", pieces), "tool_use"))
    await here.turn(session)


async def huge_text(here: Place) -> None:
    """A text of 20 MB in one piece."""
    session = await here.new()
    here.api.queue.append(events(text_events(["word " * 4_000_000])))
    await here.turn(session)


def squeezed(begin: bytes, again: bytes, megabytes: int, end: bytes) -> bytes:
    """So many megabytes of the same, gzipped some at a time: who measures has to go on meanwhile."""
    packing = zlib.compressobj(wbits=31)
    piece = again * (1_000_000 // len(again))
    return b"".join([packing.compress(begin), *(packing.compress(piece) for _ in range(megabytes)), packing.compress(end), packing.flush()])


async def bomb(here: Place) -> None:
    """A gzipped stream of 500 kB that is 500 MB long."""
    session = await here.new()
    stream = await asyncio.to_thread(squeezed, b": ", b"x", 500, b"\n\n")
    here.api.queue.append(Answer((stream,), {"content-type": "text/event-stream", "content-encoding": "gzip"}))
    await here.turn(session)


async def bomb_of_json(here: Place) -> None:
    """The same as one message."""
    session = await here.new()
    message = await asyncio.to_thread(squeezed, b'{"type": "message", "content": [', b"1,", 400, b"1]}")
    here.api.queue.append(Answer((message,), {"content-type": "application/json", "content-encoding": "gzip"}))
    await here.turn(session)


def document(here: Place, megabytes: float) -> tuple[str, str]:
    """Opens a document of that size; its URI and its text."""
    line = "    tank = fill(tank, limit=100)  # the value is checked before it is stored\n"
    text = line * int(megabytes * 1e6 / len(line))
    uri = (here.folder / "large.py").as_uri()
    item = {"uri": uri, "languageId": "python", "version": 1, "text": text}
    here.client.notify("textDocument/didOpen", {"textDocument": item})
    return uri, text


def key(line: int, character: int, text: str = "x") -> dict[str, Any]:
    """A key that is typed there."""
    at = {"line": line, "character": character}
    return {"range": {"start": at, "end": at}, "text": text}


async def typing(here: Place) -> None:
    """Three hundred keys into the middle of a document of 5 MB."""
    uri, text = document(here, 5)
    middle = text.count("\n") // 2
    for number in range(300):
        changed = {"textDocument": {"uri": uri, "version": 2 + number}, "contentChanges": [key(middle, number)]}
        here.client.notify("textDocument/didChange", changed)
        await asyncio.sleep(0.005)
    await here.new()


async def typing_whole(here: Place) -> None:
    """Twenty keys, each with the whole text of 5 MB."""
    uri, text = document(here, 5)
    for number in range(20):
        changed = {"textDocument": {"uri": uri, "version": 2 + number}, "contentChanges": [{"text": f"{number}{text}"}]}
        here.client.notify("textDocument/didChange", changed)
        await asyncio.sleep(0.1)
    await here.new()


async def many_changes(here: Place) -> None:
    """A hundred thousand changes in one message."""
    uri, _ = document(here, 1)
    changes = [key(number % 10_000, 4) for number in range(100_000)]
    here.client.notify("textDocument/didChange", {"textDocument": {"uri": uri, "version": 2}, "contentChanges": changes})
    await stopped_behind(here)


async def large_document(here: Place) -> None:
    """A document of 60 MB is opened."""
    document(here, 60)
    await stopped_behind(here)


async def stopped_behind(here: Place) -> None:
    """A stop that was sent after all that; when it is answered is noted, from its last byte in the pipe and from when it was sent."""
    began = time.perf_counter()
    answer = asyncio.ensure_future(here.client.ask("ullage/session/cancel", {"sessionId": here.calm}))
    await asyncio.sleep(0)  # so that it is sent
    handed = await here.client.all_handed()
    await answer
    answered = time.perf_counter()
    here.notes.append(f"stop {1e3 * (answered - handed):.0f} ms, {1e3 * (answered - began):.0f} ms since it was sent")


async def unknown_notifications(here: Place) -> None:
    """A hundred thousand notifications that nobody knows."""
    here.client.send_bytes(framed({"jsonrpc": "2.0", "method": "foreign/thing", "params": {"a": 1}}) * 100_000)
    await stopped_behind(here)


async def unknown_requests(here: Place) -> None:
    """Fifty thousand requests that nobody knows."""
    here.client.send_bytes(framed({"jsonrpc": "2.0", "id": "x", "method": "foreign/thing", "params": {"a": 1}}) * 50_000)
    await stopped_behind(here)


async def known_requests(here: Place) -> None:
    """Ten thousand requests for a list of sessions at once."""
    here.client.send_bytes(framed({"jsonrpc": "2.0", "id": "x", "method": "ullage/session/list", "params": {}}) * 10_000)
    await stopped_behind(here)


async def deep_json(here: Place) -> None:
    """A message of a million brackets, and one of a hundred thousand within."""
    for deep in (1_000_000, 900, 100_000):
        body = b'{"jsonrpc": "2.0", "method": "foreign/thing", "params": ' + b"[" * deep + b"]" * deep + b"}"
        here.client.send_bytes(f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
    await here.new()


async def wide_json(here: Place) -> None:
    """A notification of 20 MB of small objects."""
    things = [{"a": number, "b": [number]} for number in range(800_000)]
    here.client.notify("foreign/thing", {"things": things})
    await stopped_behind(here)


async def long_prompt(here: Place) -> None:
    """A prompt of 20 MB, then one that is short."""
    session = await here.new()
    try:
        await here.turn(session, "word " * 4_000_000)
        here.notes.append("taken")
    except Refused as error:
        here.notes.append(f"refused: {str(error)[:60]}…")
    async with asyncio.timeout(5):
        await here.turn(session, "Are you there?")


async def large_prompt(here: Place) -> None:
    """A prompt of 400,000 characters."""
    session = await here.new()
    await here.turn(session, "word " * 80_000)


async def unread(here: Place) -> None:
    """A client that does not read its pipe while 100,000 pieces and 100 snapshots come."""
    session = await here.new()
    before = (await here.look())["rss"]
    here.client.stop_reading()
    here.api.queue.append(events(text_events("word " * 20 for _ in range(100_000))))
    prompt = {"jsonrpc": "2.0", "id": "p", "method": "ullage/session/prompt", "params": {"sessionId": session, "text": "Go."}}
    here.client.send(prompt)
    await asyncio.sleep(5)
    for _ in range(100):
        here.client.send({"jsonrpc": "2.0", "id": "s", "method": "ullage/session/snapshot", "params": {"sessionId": session}})
    await asyncio.sleep(5)
    after = (await here.look())["rss"]
    here.notes.append(f"{(after - before) / 1024:.0f} MB kept")
    here.client.read_again()
    await here.client.until_state(session, "idle")


async def many_sessions(here: Place) -> None:
    """A hundred sessions at once, three turns each with 200 pieces."""
    await here.turn(await here.new())  # what is loaded with the first call is loaded
    made = [await here.new() for _ in range(100)]
    began = time.perf_counter()

    async def work(session: str) -> None:
        for _ in range(3):
            here.api.queue.append(events(text_events("word " for _ in range(200))))
            await here.turn(session)

    await asyncio.gather(*(work(session) for session in made))
    here.notes.append(f"{300 / (time.perf_counter() - began):.0f} turns/s")


def long_log(folder: Path, turns: int = 33_333) -> None:
    """A session of three entries a turn, and after it many that are empty."""
    with closing(LogStore.open(folder)) as store:
        session = store.create_session("long", 0.0)
        entries: list[Any] = []
        for turn in range(turns):
            reply = AssistantReply(f"r{turn}", (Text(f"Answer {turn}: it holds what it holds."),), "bench", "end_turn", Usage(5_000, 10))
            entries += [UserPrompt(f"p{turn}", f"Question {turn}: what does the tank hold?"), reply, TurnEnded("end_turn")]
        for start in range(0, len(entries), 10_000):
            store.append_many(session.id, entries[start : start + 10_000], 1.0)


def compacted_log(folder: Path) -> None:
    """The same, all but its end summarised."""
    long_log(folder)
    with closing(LogStore.open(folder)) as store:
        session = next(each for each in store.sessions() if each.title == "long")
        last = store.load(session.id)[-1].seq
        told = Summarised(last - 30, "The record. " * 500, last - 30)
        store.append(session.id, Compaction("c1", "manual", "digest", last, (), None, told, (), "", "", "ullage", 5_000, 2_000), 2.0)


def many_logs(folder: Path) -> None:
    """Ten thousand sessions."""
    with closing(LogStore.open(folder)) as store:
        for number in range(10_000):
            made = store.create_session(f"Session {number}", float(number))
            store.append(made.id, UserPrompt("p", "What does the tank hold?"), float(number))
            store.release(made.id)


async def _long_session(here: Place) -> str:
    listed = (await here.client.ask("ullage/session/list", {}))["sessions"]
    return next(each["sessionId"] for each in listed if each["title"] == "long")


async def opening(here: Place) -> None:
    """A session of 100,000 entries is opened."""
    await here.client.ask("ullage/session/open", {"sessionId": await _long_session(here)})


async def long_session(here: Place) -> None:
    """Turns of a session of 100,000 entries."""
    session = await _long_session(here)
    await here.client.ask("ullage/session/open", {"sessionId": session})
    await here.turn(session)
    times: list[float] = []
    for _ in range(10):
        began = time.perf_counter()
        await here.turn(session)
        times.append(time.perf_counter() - began)
    here.notes.append(f"a turn {1e3 * sorted(times)[5]:.0f} ms")


async def undoing(here: Place) -> None:
    """In a session of 100,000 entries a summary of all of them is undone, made again and undone, each followed by a turn."""
    session = {"sessionId": await _long_session(here)}
    await here.client.ask("ullage/session/open", session)
    await here.turn(session["sessionId"])
    for what in ("undoCompaction", "redoCompaction", "undoCompaction"):
        began = time.perf_counter()
        await here.client.ask(f"ullage/session/{what}", {**session, "fit": True})
        here.notes.append(f"{what.removesuffix('Compaction')} {time.perf_counter() - began:.1f} s")
        await here.turn(session["sessionId"])


async def scrolling(here: Place) -> None:
    """All items of such a session are scrolled through."""
    session = {"sessionId": await _long_session(here)}
    shown = await here.client.ask("ullage/session/open", session)
    pages = 0
    while shown["earlier"]:
        shown = await here.client.ask("ullage/session/items", {**session, "before": shown["items"][0]["id"], "limit": 200})
        pages += 1
    here.notes.append(f"{pages} pages of 200")


async def lists(here: Place) -> None:
    """Ten thousand sessions are listed, ten times."""
    for _ in range(10):
        await here.client.ask("ullage/session/list", {})


async def searches(here: Place) -> None:
    """Searches of 100,000 entries, for words that are everywhere, nowhere and very many. The first makes the index."""
    times: list[float] = []
    many = " ".join(f"{number} hold{number}" for number in range(1_000))
    for words in ("tank", "the", "question answer", "holds " * 2_000, many, "nowhere", '"' * 1_000):
        began = time.perf_counter()
        await here.client.ask("ullage/workspace/search", {"query": words, "limit": 200})
        times.append(time.perf_counter() - began)
    here.notes.append(f"the first {times[0]:.1f} s, later ones up to {1e3 * max(times[1:]):.0f} ms")


def large_log(folder: Path) -> None:
    """200 MB in 20 sessions."""
    with closing(LogStore.open(folder)) as store:
        for session in [store.create_session(f"Session {number}", 0.0) for number in range(20)]:
            for first in range(0, 1_000, 50):
                results = [
                    ToolReturned(f"t{first + n}", "bash", f"{n} litres " * 1_000, is_error=False, characters=10_000) for n in range(50)
                ]
                store.append_many(session.id, results, 1.0)


async def gone(here: Place, left: int | None) -> None:
    """The log is removed, or cut off after so many bytes, and turns go on until it is saved: only then can a session be made."""
    session = await here.new()
    await here.turn(session)
    kept = folder_of(here.folder, here.folder.parent / "state")
    if left is None:
        shutil.rmtree(kept)
    else:
        os.truncate(ullage_folder.database(kept), left)
    began = time.perf_counter()
    await here.turn(session)
    saved = asyncio.create_task(here.new())
    times: list[float] = []
    while not saved.done():
        since = time.perf_counter()
        await here.turn(session)
        times.append(time.perf_counter() - since)
    here.notes.append(f"saved after {time.perf_counter() - began:.1f} s, a turn meanwhile {1e3 * sorted(times)[len(times) // 2]:.0f} ms")


SCENARIOS: Mapping[str, tuple[str, Scenario, Callable[[Path], None] | None]] = {
    "calls-1000": ("1,000 calls that read in one reply", lambda here: calls(here, 1_000, stop=False), None),
    "calls-10000": ("10,000 of them", lambda here: calls(here, 10_000, stop=False), None),
    "calls-stopped": ("10,000 of them, stopped at 0.5 s", stopped_calls, None),
    "burst": ("100,000 small pieces of text in a burst", burst, None),
    "burst-stopped": ("300,000 of them, stopped at 0.5 s", stopped_burst, None),
    "input": ("a tool's input in 100,000 pieces", small_input, None),
    "huge-input": ("a tool's input of 20 MB", huge_input, None),
    "huge-text": ("a text of 20 MB in one piece", huge_text, None),
    "bomb": ("a gzip bomb of 500 MB, a stream", bomb, None),
    "bomb-json": ("a gzip bomb of 400 MB, a message", bomb_of_json, None),
    "typing": ("300 keys into a document of 5 MB", typing, None),
    "typing-whole": ("20 keys with the whole text of 5 MB each", typing_whole, None),
    "changes": ("100,000 changes in one message", many_changes, None),
    "large-document": ("a document of 60 MB is opened", large_document, None),
    "notifications": ("100,000 unknown notifications", unknown_notifications, None),
    "requests": ("50,000 unknown requests", unknown_requests, None),
    "lists-at-once": ("10,000 requests for a list at once", known_requests, None),
    "deep-json": ("a message of a million brackets", deep_json, None),
    "wide-json": ("an unknown notification of 20 MB", wide_json, None),
    "prompt": ("a prompt of 20 MB", long_prompt, None),
    "large-prompt": ("a prompt of 400,000 characters", large_prompt, None),
    "unread": ("a client that does not read its pipe", unread, None),
    "sessions": ("100 sessions at once", many_sessions, None),
    "opening": ("opening a session of 100,000 entries", opening, long_log),
    "long": ("turns at 100,000 entries", long_session, long_log),
    "undo": ("undo and redo at 100,000 entries", undoing, compacted_log),
    "scrolling": ("scrolling through 100,000 entries", scrolling, compacted_log),
    "lists": ("a list of 10,000 sessions, ten times", lists, many_logs),
    "searches": ("searches of 100,000 entries", searches, long_log),
    "removed": ("a log of 200 MB is removed while it is open", lambda here: gone(here, None), large_log),
    "cut-off": ("a log of 200 MB is cut off to 150 MB", lambda here: gone(here, 150_000_000), large_log),
}


async def measure(name: str) -> list[str]:
    """A row of the table."""
    what, scenario, fill = SCENARIOS[name]
    async with place(fill) as here:
        await asyncio.sleep(1.0)
        await here.look()
        pulse = Pulse(here.client, "ullage/session/snapshot", {"sessionId": here.calm})
        began, ours = time.perf_counter(), time.process_time()
        try:
            async with asyncio.timeout(PATIENCE):
                await scenario(here)
        except TimeoutError:
            here.notes.append(f"not done in {PATIENCE:.0f} s")
        except Refused as error:
            here.notes.append(f"refused: {error}")
        took = time.perf_counter() - began
        await pulse.stop()
        seen = await here.look()
        ours = time.process_time() - ours
    waits = sorted(pulse.waits)
    middle, p99 = waits[len(waits) // 2], waits[min(len(waits) - 1, int(len(waits) * 0.99))]
    for processor, wall, step in seen["steps"][:4]:
        sys.stderr.write(f"    {1e3 * processor:6.0f} ms ({1e3 * wall:.0f}): {step}\n")
    cheap = f"{1e3 * middle:.0f} / {1e3 * p99:.0f} / {1e3 * waits[-1]:.0f} ms"
    rounds = f"{1e3 * seen['rounds'][2]:.0f} / {1e3 * seen['rounds'][3]:.0f} ms"
    busy = f"{seen['process']:.1f} / {ours:.1f} s"
    row = [what, cheap, f"{1e3 * seen['processor']:.0f} ms", rounds, busy, f"{took:.1f} s", "; ".join(here.notes)]
    sys.stdout.write(f"{name}: {' | '.join(row)}\n")
    sys.stdout.flush()
    return row


async def main(names: Sequence[str], today: str) -> None:
    """Measures; without names everything, into STALLS.md."""
    rows = [await measure(name) for name in names or SCENARIOS]
    if not names:
        head = (
            "what arrives",
            "cheap request: median / p99 / longest",
            "longest step",
            "rounds: p99 / longest",
            "server / bench",
            "took",
            "",
        )
        about = "\n".join((__doc__ or "").splitlines()[4:])
        text = f"# Stalls of the event loop\n\n`npm run bench -- stalls`. {about}\n\n{today}, {machine()}.\n\n{table(head, rows)}\n"
        FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:], datetime.now(UTC).date().isoformat()))
