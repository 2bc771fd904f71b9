"""Looks into a .vsix and says what is wrong with the wheels in it, for each Python that they serve.

    python packed.py ullage-linux-x64-1.0.0.vsix

The server's own wheel names what it needs, each of those names more, and all of it has to be there: in a version that was asked for, with
the hash that the lock in the package has, under tags that this Python takes on this system, with compiled parts for this machine that this
Python finds by their names. Nothing else may be there. So what was left out is what `Target.without` says, and no more. Only linux-x64 can
be started where this runs (`tests/e2e/first-start.test.mjs`); of the others this is as much as can be known. Exit code 1: what is wrong is
on stdout.
"""

import hashlib
import io
import json
import re
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from email.parser import Parser
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.tags import Tag, compatible_tags, cpython_tags, mac_platforms
from packaging.utils import canonicalize_name, parse_wheel_filename
from wheels import TARGETS, Target, environment, fitting

SERVER = "extension/dist-server/"
WHEELS = SERVER + "wheels/"

# What the first bytes of a compiled file say of the machine it is for.
ELF, PE = {62: "x86_64", 183: "aarch64"}, {0x8664: "AMD64", 0xAA64: "ARM64"}
MACH, FAT, MACH_MACHINES = b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", {0x01000007: "x86_64", 0x0100000C: "arm64"}


@dataclass(frozen=True)
class Wheel:
    """One wheel of a package, as far as it is looked at."""

    name: str
    version: str
    tags: frozenset[Tag]
    digest: str
    requires: tuple[Requirement, ...]
    has_modules: bool
    compiled: tuple[tuple[str, frozenset[str]], ...]
    """Each compiled file: its path, and the machines that it is for."""


def main() -> int:
    """The exit code."""
    found = list(faults(Path(sys.argv[1])))
    sys.stdout.write("".join(f"{each}\n" for each in found))
    return 1 if found else 0


def faults(vsix: Path) -> Iterator[str]:
    """What is wrong with the wheels in that package, a sentence each."""
    with zipfile.ZipFile(vsix) as package:
        index = json.loads(package.read(WHEELS + "wheels.json"))
        lock = package.read(SERVER + "requirements.lock").decode()
        there = {Path(name).name: read(name, package.read(name)) for name in package.namelist() if name.endswith(".whl")}
    itself = [each for each in there.values() if each.name == "ullage"]
    listed = {wheel for wheels in index["pythons"].values() for wheel in wheels}
    if len(itself) != 1:
        yield "The server's own wheel is not there once"
        return
    if {name for name, wheel in there.items() if wheel.name != "ullage"} != listed or set(index["hashes"]) != listed:
        yield "The wheels that are there are not those that wheels.json lists"
        return
    for name in sorted(listed):
        if there[name].digest != index["hashes"][name]:
            yield f"{name} is not what wheels.json has the hash of"
    target = TARGETS[index["target"]]
    for python, names in index["pythons"].items():
        for fault in _faults_with(python, {each.name: each for each in (there[name] for name in names)}, itself[0], target, lock):
            yield f"{index['target']}, Python {python}: {fault}"


def _faults_with(python: str, wheels: dict[str, Wheel], itself: Wheel, target: Target, lock: str) -> Iterator[str]:
    locked = {canonicalize_name(name): line for name, line in fitting(lock, target, python).items()}
    taken = _tags(python, target)
    for wheel in wheels.values():
        line = locked.get(canonicalize_name(wheel.name), "")
        if f"=={wheel.version} " not in line or f"sha256:{wheel.digest}" not in line:
            yield f"{wheel.name} {wheel.version} is not what the lock has"
        if not wheel.tags & taken:
            yield f"{wheel.name} has tags that do not fit"
        if not wheel.has_modules:
            yield f"{wheel.name} has nothing to import"
        yield from _cannot_be_loaded(wheel, python, target)
    asked: set[tuple[str, str]] = set()
    waiting = [(itself, "")]
    while waiting:
        asking, extra = waiting.pop()
        for requirement in asking.requires:
            name = canonicalize_name(requirement.name)
            if not _holds(requirement, python, target, extra) or re.fullmatch(target.without, name):
                continue
            found = wheels.get(name)
            if found is None:
                yield f"{asking.name} needs {requirement.name}, which is not there"
                continue
            if not requirement.specifier.contains(found.version, prereleases=True):
                yield f"{asking.name} needs {requirement}, and {found.version} is there"
            new = {(name, each) for each in ("", *requirement.extras)} - asked
            waiting += [(found, each) for _, each in new]
            asked |= new
    for name in sorted(set(wheels) - {name for name, _ in asked}):
        yield f"{name} is there, and nothing needs it"


def _holds(requirement: Requirement, python: str, target: Target, extra: str) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({**environment(target, python), "extra": extra})


def _tags(python: str, target: Target) -> frozenset[Tag]:
    """What pip takes there."""
    version = tuple(int(part) for part in python.split("."))
    platforms = list(target.platforms)
    if target.sys_platform == "darwin":
        platforms = list(mac_platforms((12, 0), target.machine))
    interpreter = "cp" + python.replace(".", "")
    return frozenset((*cpython_tags(version, [interpreter], platforms), *compatible_tags(version, interpreter, platforms)))


def _cannot_be_loaded(wheel: Wheel, python: str, target: Target) -> Iterator[str]:
    """Compiled files for another machine, and those that this Python does not find by their names."""
    for path, machines in wheel.compiled:
        if target.machine not in machines:
            yield f"{path} of {wheel.name} is for {', '.join(sorted(machines)) or 'no machine that is known'}"
        stem, _, suffix = path.rpartition("/")[2].partition(".")
        if f".{suffix}" not in _suffixes(python, target) and path.endswith((".so", ".pyd")):
            yield f"{stem}.{suffix} of {wheel.name} is not found by this Python"


def _suffixes(python: str, target: Target) -> tuple[str, ...]:
    """The names that the import system of that Python looks for there (`importlib.machinery.EXTENSION_SUFFIXES`)."""
    short = python.replace(".", "")
    if target.sys_platform == "win32":
        return (f".cp{short}-{target.platforms[0]}.pyd", ".pyd")
    if target.sys_platform == "darwin":
        return (f".cpython-{short}-darwin.so", ".abi3.so", ".so")
    libc = "musl" if target.platforms[0].startswith("musllinux") else "gnu"
    return (f".cpython-{short}-{target.machine}-linux-{libc}.so", ".abi3.so", ".so")


def read(path: str, data: bytes) -> Wheel:
    """A wheel of those bytes, with that path in the package."""
    name, version, _, tags = parse_wheel_filename(Path(path).name)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = [each for each in archive.namelist() if not re.match(r"[^/]+\.dist-info/", each)]
        described = next(each for each in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", each))
        requires: list[Any] = Parser().parsestr(archive.read(described).decode()).get_all("Requires-Dist") or []
        binaries = [each for each in entries if re.search(r"\.(so(\.[\d.]+)?|pyd|dll|dylib)$", each)]
        compiled = tuple((each, _machines(archive.read(each))) for each in binaries)
    has_modules = any(each.endswith((".py", ".so", ".pyd")) for each in entries)
    return Wheel(name, str(version), tags, hashlib.sha256(data).hexdigest(), tuple(map(Requirement, requires)), has_modules, compiled)


def _machines(binary: bytes) -> frozenset[str]:
    """The machines that a compiled file is for, by its own first bytes."""
    if binary[:4] == b"\x7fELF":
        found = [ELF.get(int.from_bytes(binary[18:20], "little"))]
    elif binary[:2] == b"MZ":
        at = int.from_bytes(binary[60:64], "little")
        found = [PE.get(int.from_bytes(binary[at + 4 : at + 6], "little"))]
    elif binary[:4] == MACH:
        found = [MACH_MACHINES.get(int.from_bytes(binary[4:8], "little"))]
    elif binary[:4] == FAT:
        parts = range(int.from_bytes(binary[4:8], "big"))
        found = [MACH_MACHINES.get(int.from_bytes(binary[8 + 20 * part : 12 + 20 * part], "big")) for part in parts]
    else:
        found = []
    return frozenset(each for each in found if each is not None)


if __name__ == "__main__":
    sys.exit(main())
