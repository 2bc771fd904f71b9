"""A program of its own: enters the network of a process, and hands out sockets that belong there.

Started as `enter PROCESS DESCRIPTOR` by `doorway.py`. For each byte that comes it makes one socket, and it ends when nobody asks any more.
A socket stays in the network in which it was made: there it is bound, listens and connects. Linux only.
"""

from __future__ import annotations

import ctypes
import os
import socket
import sys

PORT = 3128
"""The port of the proxy in the sandbox's own network; the number that proxies often have."""

IPV4, IPV6 = b"4", b"6"
"""The bytes that ask for a socket of each kind."""

_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
"""`CLONE_NEWUSER` and `CLONE_NEWNET` of `linux/sched.h`."""

_OWNER_OF = 0xB701
"""The request for the namespace of users that owns another: `NS_GET_USERNS` of `linux/nsfs.h`."""


def main() -> None:
    """Enters the network of a process and hands out sockets. It enters the namespace of users that the network belongs to first: in it this
    process has the right to enter the network."""
    import fcntl  # the server takes `PORT` from here on every system, and Windows has no such module

    process, channel = int(sys.argv[-2]), socket.socket(fileno=int(sys.argv[-1]))
    network = os.open(f"/proc/{process}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    _enter(fcntl.ioctl(network, _OWNER_OF), _NEW_USER)
    _enter(network, _NEW_NETWORK)
    os.close(network)
    while asked := channel.recv(1):
        _hand_out(channel, asked)


def _hand_out(channel: socket.socket, asked: bytes) -> None:
    try:
        made = socket.socket(socket.AF_INET6 if asked == IPV6 else socket.AF_INET)
    except OSError:  # such as a machine without IPv6
        channel.send(b"-")
        return
    with made:
        socket.send_fds(channel, [b"+"], [made.fileno()])


def _enter(namespace: int, kind: int) -> None:
    system = ctypes.CDLL(None, use_errno=True)
    if system.setns(namespace, kind) != 0:
        raise OSError(ctypes.get_errno(), "a namespace cannot be entered")


if __name__ == "__main__":
    main()
