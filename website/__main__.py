"""`python -m website [serve] [--port N]`: makes the site in .dev/site.

With `serve` it also shows it on this machine's loopback address, and makes it anew after a change.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import http.server
import sys
import threading
import time

import watchfiles

from website.building import DEFAULT_SITE, DEFAULT_WORK, BuildError, build
from website.gathering import BrokenLinkError
from website.pages import ROOT

WATCHED = ("docs", "website", "bench", "server/README.md", *(path.name for path in ROOT.glob("*.md")))


def main() -> int:
    parser = argparse.ArgumentParser(prog="npm run docs --", description="Makes the site of the documentation.")
    parser.add_argument("what", nargs="?", choices=["build", "serve"], default="build")
    parser.add_argument("--port", type=int, default=8000)
    given = parser.parse_args()
    if not 0 <= given.port <= 65_535:
        parser.error(f"--port takes a number up to 65535, not {given.port}")
    is_made = _make()
    if given.what == "build":
        return 0 if is_made else 1
    return _serve(given.port)


def _make() -> bool:
    since = time.monotonic()
    try:
        build(DEFAULT_WORK, DEFAULT_SITE)
    except (BrokenLinkError, BuildError) as error:
        print(error, file=sys.stderr)
        return False
    print(f"{len(list(DEFAULT_SITE.rglob('*.html')))} pages in {DEFAULT_SITE.relative_to(ROOT)}, {time.monotonic() - since:.1f} s")
    return True


def _serve(port: int) -> int:
    handler = functools.partial(_Quiet, directory=str(DEFAULT_SITE))
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    except OSError as error:
        print(f"Port {port} cannot be had: {error.strerror}. Choose another one with --port", file=sys.stderr)
        return 1
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_port}, until Ctrl+C")
    with contextlib.suppress(KeyboardInterrupt):
        for _ in watchfiles.watch(*(ROOT / each for each in WATCHED)):
            _make()
    return 0


class _Quiet(http.server.SimpleHTTPRequestHandler):
    """Without a line for each request; nothing is kept by the browser, since the next look is after a change."""

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


if __name__ == "__main__":
    raise SystemExit(main())
