"""Fetches the wheels of everything in requirements.lock for one target of VS Code, for each Python that is served.

    python wheels.py TARGET FOLDER [3.11 3.12 …]

pip fetches them, from whatever index and through whatever proxy it is set up for, and holds each against the hashes of the lock. It judges
the markers of the lock by the Python that runs it, so here they are judged first, for the target. Writes `wheels.json` beside the wheels
(its form: `client-extension/python/unpack_wheels.py`). Exit code 3: some package has no wheel for the target, and the server needs it; each
is named on stdout.
"""

import hashlib
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

LOCK = Path(__file__).resolve().parents[2] / "requirements.lock"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
NO_WHEEL = 3


@dataclass(frozen=True)
class Target:
    """What a target of VS Code is to pip: the platform tags that fit, best first, and what markers see."""

    platforms: tuple[str, ...]
    sys_platform: str
    machine: str
    without: str = "-"
    """What the server can do without and has no wheel here, as a pattern of names. Markers of a lock cannot tell musl from glibc."""


# VS Code needs glibc 2.28 and macOS 12 itself, so wheels may need as much. pip knows by itself that a newer macOS runs older wheels.
def _glibc(machine: str) -> tuple[str, ...]:
    newest = tuple(f"manylinux_2_{minor}_{machine}" for minor in range(28, 4, -1))
    return (*newest, f"manylinux2014_{machine}", f"manylinux2010_{machine}", f"manylinux1_{machine}")


def _musl(machine: str) -> tuple[str, ...]:
    return (f"musllinux_1_2_{machine}", f"musllinux_1_1_{machine}")


TARGETS = {
    # pywin32 takes 28 MB, and nothing of it is used (`mcp_servers/connection.py`).
    "win32-x64": Target(("win_amd64",), "win32", "AMD64", without="pywin32"),
    "win32-arm64": Target(("win_arm64",), "win32", "ARM64", without="pywin32"),
    "darwin-x64": Target(("macosx_12_0_x86_64",), "darwin", "x86_64"),
    "darwin-arm64": Target(("macosx_12_0_arm64",), "darwin", "arm64"),
    "linux-x64": Target(_glibc("x86_64"), "linux", "x86_64"),
    "linux-arm64": Target(_glibc("aarch64"), "linux", "aarch64"),
    "alpine-x64": Target(_musl("x86_64"), "linux", "x86_64"),
    # tree-sitter itself and four grammars have no musllinux wheel for ARM (November 2026); without it the others are of no use.
    "alpine-arm64": Target(_musl("aarch64"), "linux", "aarch64", without=r"tree-sitter(-.*)?"),
}


def main() -> int:
    """The exit code."""
    name, folder, *pythons = sys.argv[1:]
    target, wheels = TARGETS[name], Path(folder)
    wheels.mkdir(parents=True, exist_ok=True)
    served: dict[str, list[str]] = {}
    missing: set[str] = set()
    for python in pythons or PYTHONS:
        requirements = fitting(LOCK.read_text(encoding="utf-8"), target, python)
        without, found = fetch(requirements, target, python, wheels)
        missing |= without
        served[python] = found
    if missing:
        sys.stdout.write("\n".join(sorted(missing)))
        return NO_WHEEL
    used = {wheel for found in served.values() for wheel in found}
    for other in set(wheels.glob("*.whl")) - {wheels / wheel for wheel in used}:
        other.unlink()  # of an older lock
    hashes = {wheel: hashlib.sha256((wheels / wheel).read_bytes()).hexdigest() for wheel in sorted(used)}
    index = {"target": name, "pythons": served, "hashes": hashes}
    (wheels / "wheels.json").write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")
    return 0


def fitting(lock: str, target: Target, python: str) -> dict[str, str]:
    """Name of each package of the lock that `target` needs with `python`, and its line without the marker, with its hashes."""
    seen = environment(target, python)
    needed: dict[str, str] = {}
    for block in re.split(r"\n(?=\S)", lock.strip()):
        line, *hashes = block.replace("\\\n", "\n").split("\n")
        requirement = Requirement(line)
        if re.fullmatch(target.without, requirement.name):
            continue
        if requirement.marker is None or requirement.marker.evaluate(seen):
            needed[requirement.name] = " ".join([f"{requirement.name}{requirement.specifier}", *(part.strip() for part in hashes)])
    return needed


def environment(target: Target, python: str) -> dict[str, str]:
    """What markers see on `target` with `python`."""
    return {
        "implementation_name": "cpython",
        "os_name": "nt" if target.sys_platform == "win32" else "posix",
        "platform_machine": target.machine,
        "platform_python_implementation": "CPython",
        "platform_system": {"win32": "Windows", "darwin": "Darwin"}.get(target.sys_platform, "Linux"),
        "python_full_version": f"{python}.0",
        "python_version": python,
        "sys_platform": target.sys_platform,
    }


def fetch(needed: dict[str, str], target: Target, python: str, folder: Path) -> tuple[set[str], list[str]]:
    """The packages that have no wheel for `target` and `python`, and the file names of the wheels of all others, now in `folder`."""
    abi = "cp" + python.replace(".", "")
    left = dict(needed)
    while True:
        command = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--no-input", "--no-deps", "--require-hashes"]
        command += ["--only-binary", ":all:", "--implementation", "cp", "--python-version", python]
        command += [flag for tag in (abi, "abi3", "none") for flag in ("--abi", tag)]
        command += [flag for tag in target.platforms for flag in ("--platform", tag)]
        command += ["--dest", str(folder), "--requirement", "/dev/stdin" if sys.platform != "win32" else _written(folder, left)]
        result = subprocess.run(command, input="\n".join(left.values()), capture_output=True, text=True, check=False)
        if result.returncode == 0:
            return set(needed) - set(left), _named(result.stdout)
        lacking = re.search(r"No matching distribution found for ([\w.-]+?)==", result.stderr)
        if lacking is None or lacking[1] not in left:
            sys.exit(result.stdout[-2000:] + result.stderr[-4000:])
        del left[lacking[1]]


def _written(folder: Path, needed: dict[str, str]) -> str:
    path = folder / "needed.txt"
    path.write_text("\n".join(needed.values()), encoding="utf-8")
    return str(path)


def _named(output: str) -> list[str]:
    """The file names that pip says it saved or had already."""
    return sorted({Path(path.strip()).name for path in re.findall(r"(?:Saved|File was already downloaded) (\S.*\.whl)", output)})


if __name__ == "__main__":
    sys.exit(main())
