"""Which system calls are refused in the sandbox, as a program of the kernel's packet filter (seccomp, classic BPF).

It closes what namespaces leave open:

- Unix sockets. A socket in a folder reaches the server behind it whatever is mounted how, so no socket of that family can be made.
  A pair of connected stream sockets can (`asyncio`, Node and make need it), since no such socket can connect elsewhere. A pair of
  datagram sockets can send to any path, so it is refused.
- A user namespace of its own, in which a command would have all capabilities again.
- `io_uring`, which makes sockets without the calls that are looked at here; keyrings, `userfaultfd`, `bpf` and other ways into the
  kernel that builds and tests do not need.
- Files that run as their owner (the mode 4000): where the agent runs as root, a copy of a shell would be root's for everybody.

Numbers and layouts are those of Linux's headers (`asm/unistd_64.h`, `asm-generic/unistd.h`, `linux/seccomp.h`, `linux/bpf_common.h`).
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Instruction: TypeAlias = tuple[int, int, int, int]
"""An instruction of the filter: its code, the jumps if true and if false, and its operand."""

_LOAD = 0x20
_EQUAL = 0x15
_AT_LEAST = 0x35
_ANY_BIT = 0x45
_AND = 0x54
_RETURN = 0x06

_ALLOW = 0x7FFF0000
_KILL_PROCESS = 0x80000000
_FAIL = 0x00050000

_NUMBER = 0
_ARCHITECTURE = 4
_ARGUMENTS = 16

_X32_BIT = 0x40000000

AF_UNIX = 1
AF_INET = 2
AF_INET6 = 10
AF_NETLINK = 16
_SOCK_TYPE_MASK = 0xF
_SOCK_STREAM = 1
_SOCK_SEQPACKET = 5

_NEW_NAMESPACES = 0x7E020000
"""The flags that make new namespaces: `CLONE_NEWNS`, `NEWCGROUP`, `NEWUTS`, `NEWIPC`, `NEWUSER`, `NEWPID` and `NEWNET`."""

_SET_USER_ID = 0o4000
_CREATES = 0o100 | 0o20000000
"""`O_CREAT` and `__O_TMPFILE`: only with these the mode of an `open` means anything."""

_TERMINAL_INPUT = (0x5412, 0x541C)
"""`TIOCSTI` and `TIOCLINUX`, which type into a terminal."""


@dataclass(frozen=True, slots=True)
class Architecture:
    """One processor's way to number system calls."""

    audit: int
    """The kernel's name for the architecture that a call was made for: `AUDIT_ARCH_*`."""
    numbers: Mapping[str, int]
    has_x32: bool = False


_COMMON = {
    "clone3": 435,
    "fchmodat2": 452,
    "fsconfig": 431,
    "fsmount": 432,
    "fsopen": 430,
    "fspick": 433,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "io_uring_setup": 425,
    "mount_setattr": 442,
    "move_mount": 429,
    "open_tree": 428,
    "open_tree_attr": 467,
    "openat2": 437,
    "quotactl_fd": 443,
}

_X86_64 = Architecture(
    0xC000003E,
    _COMMON
    | {
        "acct": 163,
        "add_key": 248,
        "bpf": 321,
        "chmod": 90,
        "chroot": 161,
        "clock_settime": 227,
        "clone": 56,
        "creat": 85,
        "delete_module": 176,
        "fanotify_init": 300,
        "fchmod": 91,
        "fchmodat": 268,
        "finit_module": 313,
        "init_module": 175,
        "ioctl": 16,
        "ioperm": 173,
        "iopl": 172,
        "kexec_file_load": 320,
        "kexec_load": 246,
        "keyctl": 250,
        "mknod": 133,
        "mknodat": 259,
        "mount": 165,
        "open": 2,
        "open_by_handle_at": 304,
        "openat": 257,
        "perf_event_open": 298,
        "pivot_root": 155,
        "quotactl": 179,
        "reboot": 169,
        "request_key": 249,
        "setdomainname": 171,
        "sethostname": 170,
        "setns": 308,
        "settimeofday": 164,
        "socket": 41,
        "socketpair": 53,
        "swapoff": 168,
        "swapon": 167,
        "syslog": 103,
        "umount2": 166,
        "unshare": 272,
        "userfaultfd": 323,
        "vhangup": 153,
    },
    has_x32=True,
)

_AARCH64 = Architecture(
    0xC00000B7,
    _COMMON
    | {
        "acct": 89,
        "add_key": 217,
        "bpf": 280,
        "chroot": 51,
        "clock_settime": 112,
        "clone": 220,
        "delete_module": 106,
        "fanotify_init": 262,
        "fchmod": 52,
        "fchmodat": 53,
        "finit_module": 273,
        "init_module": 105,
        "ioctl": 29,
        "kexec_file_load": 294,
        "kexec_load": 104,
        "keyctl": 219,
        "mknodat": 33,
        "mount": 40,
        "open_by_handle_at": 265,
        "openat": 56,
        "perf_event_open": 241,
        "pivot_root": 41,
        "quotactl": 60,
        "reboot": 142,
        "request_key": 218,
        "setdomainname": 162,
        "sethostname": 161,
        "setns": 268,
        "settimeofday": 170,
        "socket": 198,
        "socketpair": 199,
        "swapoff": 225,
        "swapon": 224,
        "syslog": 116,
        "umount2": 39,
        "unshare": 97,
        "userfaultfd": 282,
        "vhangup": 58,
    },
)

ARCHITECTURES: Mapping[str, Architecture] = {"x86_64": _X86_64, "aarch64": _AARCH64}
"""The architectures by `platform.machine()`."""

_NOT_THERE = frozenset({"clone3", "io_uring_enter", "io_uring_register", "io_uring_setup", "openat2"})
"""Calls that are refused as if the kernel were too old for them, so that programs take the older way, whose arguments can be looked at."""

_LOOKED_AT = frozenset({"socket", "socketpair", "clone", "unshare", "ioctl", "open", "openat"})
_MODE_ARGUMENT = {"chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2, "mknod": 1, "mknodat": 2, "creat": 1}
"""The number of the argument that is the mode of a file, by call."""


def system_call_filter(machine: str | None = None) -> bytes | None:
    """The program for `bwrap --seccomp` on that machine (by default this one); None if its system calls are not known here."""
    architecture = ARCHITECTURES.get(machine or platform.machine())
    return None if architecture is None else b"".join(struct.pack("<HBBI", *line) for line in _program(architecture))


def _program(architecture: Architecture) -> list[Instruction]:
    lines = [_load(_ARCHITECTURE), (_EQUAL, 1, 0, architecture.audit), _ret(_KILL_PROCESS), _load(_NUMBER)]
    if architecture.has_x32:
        lines += [(_AT_LEAST, 0, 1, _X32_BIT), _fail(errno.ENOSYS)]
    for name, number in sorted(architecture.numbers.items()):
        body = _body(name)
        lines += [(_EQUAL, 0, len(body), number), *body]
    return [*lines, _ret(_ALLOW)]


def _body(name: str) -> list[Instruction]:
    """The instructions that decide about one call; they end in an answer on all ways."""
    if name in _MODE_ARGUMENT:
        return _refuse_bits(_MODE_ARGUMENT[name], _SET_USER_ID)
    if name not in _LOOKED_AT:
        return [_fail(errno.ENOSYS if name in _NOT_THERE else errno.EPERM)]
    if name == "socket":
        return _socket()
    if name == "socketpair":
        return _socket_pair()
    if name == "ioctl":
        return _one_of(1, _TERMINAL_INPUT, yes=_fail(errno.EPERM), no=_ret(_ALLOW))
    if name in ("open", "openat"):
        flags = 1 if name == "open" else 2
        return [_argument(flags), (_ANY_BIT, 1, 0, _CREATES), _ret(_ALLOW), *_refuse_bits(flags + 1, _SET_USER_ID)]
    return _refuse_bits(0, _NEW_NAMESPACES)


def _socket() -> list[Instruction]:
    """The instructions for `socket`: allowed are IPv4 and IPv6 (there is a loopback device and no other), and the routing part of netlink,
    which lists devices."""
    netlink = _one_of(2, (0,), yes=_ret(_ALLOW), no=_fail(errno.EAFNOSUPPORT))
    return [
        _argument(0),
        (_EQUAL, 1, 0, AF_INET),
        (_EQUAL, 0, 1, AF_INET6),
        _ret(_ALLOW),
        (_EQUAL, 0, 1, AF_UNIX),
        _fail(errno.EPERM),
        (_EQUAL, 0, len(netlink), AF_NETLINK),
        *netlink,
        _fail(errno.EAFNOSUPPORT),
    ]


def _socket_pair() -> list[Instruction]:
    return [
        _argument(0),
        (_EQUAL, 1, 0, AF_UNIX),
        _fail(errno.EPERM),
        _argument(1),
        (_AND, 0, 0, _SOCK_TYPE_MASK),
        (_EQUAL, 1, 0, _SOCK_STREAM),
        (_EQUAL, 0, 1, _SOCK_SEQPACKET),
        _ret(_ALLOW),
        _fail(errno.EPERM),
    ]


def _one_of(argument: int, values: Sequence[int], *, yes: Instruction, no: Instruction) -> list[Instruction]:
    tests: list[Instruction] = [(_EQUAL, len(values) - place, 0, value) for place, value in enumerate(values)]
    return [_argument(argument), *tests, no, yes]


def _refuse_bits(argument: int, bits: int) -> list[Instruction]:
    return [_argument(argument), (_ANY_BIT, 0, 1, bits), _fail(errno.EPERM), _ret(_ALLOW)]


def _load(offset: int) -> Instruction:
    return (_LOAD, 0, 0, offset)


def _argument(index: int) -> Instruction:
    """The instruction that loads an argument, of which the lower half: the kernel, too, reads these arguments as 32 bits."""
    return _load(_ARGUMENTS + 8 * index)


def _ret(answer: int) -> Instruction:
    return (_RETURN, 0, 0, answer)


def _fail(code: int) -> Instruction:
    return _ret(_FAIL | code)
