"""A program of its own, which a client runs in one of its terminals: shows there what a command says that runs in Ullage's sandbox.

It is run by its file, isolated and without `site`, and imports little, since it starts with each command. Its argument is the path of a
Unix socket. On it, it says the secret that stands in the environment, and gets frames: a byte for the kind, four for the length, and
- `o`: text to be shown;
- `e`: the exit code of the command, as digits. With that it ends.

Whoever ends this program ends the command: the other end of the socket sees that it is gone (`terminals.py`).
"""

from __future__ import annotations

import os
import signal
import socket
import sys

VARIABLE = "ULLAGE_TERMINAL"
"""The environment variable that holds the secret."""

HEAD = 5
"""How many bytes stand before the content of a frame."""

LOST = 1
"""The exit code of this program if Ullage is gone."""


def frame(kind: bytes, content: bytes) -> bytes:
    """A frame as it goes over the socket."""
    return kind + len(content).to_bytes(HEAD - 1, "big") + content


def main() -> int:
    """Shows the output of one command until it ends; gives its exit code."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(sys.argv[1])
    connection.sendall(os.environ[VARIABLE].encode())
    with connection, connection.makefile("rb") as frames:
        while len(head := frames.read(HEAD)) == HEAD:
            content = frames.read(int.from_bytes(head[1:], "big"))
            if head[:1] == b"e":
                return int(content)
            rest = memoryview(content)
            while rest:
                rest = rest[os.write(1, rest) :]
    return LOST


if __name__ == "__main__":
    sys.exit(main())
