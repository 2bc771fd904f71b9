"""The gauge beside a real server's own count, such as llama.cpp's `llama-server`.

    .venv/bin/python -m bench.gauge URL

Ullage's server asks through a small proxy here, which keeps each request and holds its reply back until the gauge had time to be counted.
Then the same request is counted by the real server. What the gauge said just before the reply, and just after it, stands beside that.
How such a server is made without a model to download: GAUGE.md.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench.bare_client import BareClient, start_server
from bench.latency import environment, server_command

HELD = 4.0
"""Seconds that a reply is held back. Ullage asks for a count at once, and again after 3 s at the earliest."""
SHORT = 60
"""Tokens of a reply: what a model without sense says does not matter."""
SHORT_REPLY = "output limit"
FIXED = ("system", "rules", "tools")
COUNT = "/v1/messages/count_tokens"

FILES = {
    "digits.txt": "".join(f"{number * 7919 % 100_000:05d} {number * 104_729 % 1_000_003}\n" for number in range(550)),
    "prose.txt": "The tank holds what it holds, and the dip stick says how much of it is left. " * 120,
    "large.txt": "".join(f"{number * 7919 % 100_000:05d},{number * 31 % 97},{number * 104_729 % 1_000_003}\n" for number in range(1_500)),
}


@dataclass
class Proxy:
    """Stands between, on a port of its own. `bodies` are the requests for a reply, `counts` how often a count was asked for."""

    url: str
    bodies: list[bytes] = field(default_factory=list[bytes])
    counts: int = 0
    port: int = 0

    def start(self) -> None:
        """Serves from now on, until the process ends."""
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:
                pass

            def do_GET(self) -> None:
                self._answer(*proxy.ask(self.path, None))

            def do_POST(self) -> None:
                self._answer(*proxy.take(self.path, self.rfile.read(int(self.headers["content-length"]))))

            def _answer(self, status: int, kind: str, body: bytes) -> None:
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                with suppress(ConnectionError):  # who asked is gone
                    self.wfile.write(body)

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = server.server_address[1]
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def take(self, path: str, body: bytes) -> tuple[int, str, bytes]:
        """One request of Ullage's."""
        self.counts += path == COUNT
        if path == "/v1/messages":
            self.bodies.append(body)
            time.sleep(HELD)
            body = json.dumps({**json.loads(body), "max_tokens": SHORT}).encode()
        return self.ask(path, body)

    def ask(self, path: str, body: bytes | None) -> tuple[int, str, bytes]:
        """What the real server answers."""
        address = urlsplit(self.url)
        real = HTTPConnection(address.hostname or "127.0.0.1", address.port)
        try:
            real.request("GET" if body is None else "POST", path, body, {"content-type": "application/json"})
            answer = real.getresponse()
            return answer.status, answer.headers.get_content_type(), answer.read()
        finally:
            real.close()

    def counted(self, prompt: str) -> str:
        """Tokens of the newest request that ends with this prompt, by the real server."""
        body = next((each for each in map(json.loads, reversed(self.bodies)) if _last_words(each) == prompt), None)
        if body is None:
            return "not asked"
        asked = {key: body[key] for key in ("model", "system", "tools", "messages") if key in body}
        return str(json.loads(self.ask(COUNT, json.dumps(asked).encode())[2])["input_tokens"])


def _last_words(body: Mapping[str, Any]) -> str:
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else content[-1].get("text", "")


class Watched:
    """What Ullage's server tells: the newest gauge, the last one before the reply began, and notices."""

    def __init__(self) -> None:
        self.gauge: Mapping[str, Any] = {}
        self.before: Mapping[str, Any] = {}
        self.notices: list[str] = []
        self.idle = asyncio.Event()

    def take(self, _: int, message: Mapping[str, Any]) -> None:
        """One notification."""
        update: Mapping[str, Any] = message.get("params", {}).get("update", {})
        item: Mapping[str, Any] = update.get("item", {})
        if update.get("kind") == "gauge":
            self.gauge = update["gauge"]
        elif item.get("kind") == "notice":
            self.notices.append(item["text"])
        elif item.get("kind") in ("assistant", "thinking") and not self.before:
            self.before = self.gauge
        elif update.get("kind") == "state" and update["state"] == "idle":
            self.idle.set()


class Walk:
    """One walk through a session, and what is to be written of it."""

    def __init__(self, proxy: Proxy, folder: Path) -> None:
        self.rows: list[Sequence[str]] = []
        self._proxy = proxy
        self._folder = folder
        self._seen = Watched()
        self._client: BareClient
        self._session: str | None = None

    async def start(self) -> None:
        """Starts Ullage's server, and opens the session."""
        self._proxy.counts = 0
        self._seen = Watched()
        seen = self._seen
        self._client = await start_server(server_command(), environment(), lambda read, message: seen.take(read, message))
        settings = {"model": {"provider": "anthropic", "name": "local", "baseUrl": f"http://127.0.0.1:{self._proxy.port}"}}
        await self._client.initialize(self._folder, self._folder.parent / "state", settings)
        opened = await self._client.ask("ullage/session/open", {"sessionId": self._session} if self._session else {})
        self._session = opened["sessionId"]
        seen.gauge = opened["gauge"]
        await asyncio.sleep(1.5)  # what the endpoint tells of the model comes after the snapshot

    async def stop(self) -> None:
        """The editor is closed."""
        await self._client.close()

    async def say(self, what: str, text: str, *files: str) -> None:
        """One prompt to its end."""
        self._seen.before = {}
        self._seen.idle.clear()
        self._seen.notices.clear()
        self._proxy.bodies.clear()
        attachments = [{"kind": "file", "uri": (self._folder / name).as_uri()} for name in files]
        await self._client.ask("ullage/session/prompt", {"sessionId": self._session, "text": text, "attachments": attachments})
        await self._seen.idle.wait()
        await asyncio.sleep(HELD)
        self.tell(f"{what}: before the reply", self._seen.before or self._seen.gauge, self._proxy.counted(text))
        self.tell(f"{what}: after it", self._seen.gauge, "; ".join(text for text in self._seen.notices if SHORT_REPLY not in text))

    async def compact(self) -> None:
        """By click."""
        self._seen.idle.clear()
        await self._client.ask("ullage/session/compact", {"sessionId": self._session})
        await self._seen.idle.wait()
        await asyncio.sleep(HELD)
        self.tell("compacted", self._seen.gauge, "")

    def show(self, what: str) -> None:
        """The gauge as it is."""
        self.tell(what, self._seen.gauge, f"{self._proxy.counts} counts asked for")

    def tell(self, what: str, gauge: Mapping[str, Any], beside: str) -> None:
        """One row."""
        sizes = {each["name"]: each["tokens"] for each in gauge["categories"]}
        fixed = " + ".join(str(sizes.get(name, 0)) for name in FIXED)
        number = f"{'~' if gauge['estimated'] else ''}{gauge['used']}"
        self.rows.append((what, number, beside, fixed, str(gauge["size"])))
        sys.stdout.write("| " + " | ".join(self.rows[-1]) + " |\n")
        sys.stdout.flush()


async def main(url: str) -> None:
    """All of it."""
    proxy = Proxy(url.rstrip("/"))
    proxy.start()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve() / "workspace"
        folder.mkdir()
        for name, content in FILES.items():
            (folder / name).write_text(content)
        (folder / "AGENTS.md").write_text("Be brief. Say what you did, and what is left to do.\n" * 20)
        sys.stdout.write("| when | gauge | the server's count, or what was said | system + rules + tools | window |\n")
        sys.stdout.write("| --- | ---: | ---: | ---: | ---: |\n")
        walk = Walk(proxy, folder)
        await walk.start()
        walk.show("opened, nothing said")
        await walk.say("Hello", "Hello")
        await walk.say("prose attached", "Read this.", "prose.txt")
        await walk.say("digits attached", "And this.", "digits.txt")
        await walk.stop()
        await walk.start()
        walk.show("after a restart")
        await walk.say("a word", "Go on.")
        await walk.compact()
        await walk.stop()
        await walk.start()
        walk.show("after a restart")
        await walk.say("first after the compaction", "Go on.")
        await walk.say("large file attached", "Read all of this.", "large.txt")
        await walk.say("more than the window", "And once more.", "large.txt")
        await walk.stop()
        await walk.start()
        walk.show("after a restart")
        await walk.stop()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
