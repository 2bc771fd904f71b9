"""The wheels that a package of the extension brings: which ones a target needs, and how they are unpacked."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
UNPACKER = ROOT / "client-extension" / "python" / "unpack_wheels.py"
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


WHEELS = _load(ROOT / "scripts" / "lib" / "wheels.py")
HASH = "--hash=sha256:" + "0" * 64
LOCK = f"""\
anyio==4.16.0 \\
    {HASH} \\
    {HASH}
ctok==1.3.0 ; python_full_version >= '3.12' \\
    {HASH}
colorama==0.4.6 ; sys_platform == 'win32' \\
    {HASH}
pygit2==1.21.0 ; platform_machine in 'x86_64 AMD64 aarch64 arm64 ARM64' \\
    {HASH}
tree-sitter==0.26.1 \\
    {HASH}
tree-sitter-c==0.24.2 \\
    {HASH}
"""


@pytest.mark.parametrize(
    ("target", "python", "names"),
    [
        ("linux-x64", "3.11", ["anyio", "pygit2", "tree-sitter", "tree-sitter-c"]),
        ("linux-x64", "3.14", ["anyio", "ctok", "pygit2", "tree-sitter", "tree-sitter-c"]),
        ("win32-arm64", "3.11", ["anyio", "colorama", "pygit2", "tree-sitter", "tree-sitter-c"]),
        ("alpine-arm64", "3.12", ["anyio", "ctok", "pygit2"]),
        ("alpine-x64", "3.12", ["anyio", "ctok", "pygit2", "tree-sitter", "tree-sitter-c"]),
    ],
)
def test_markers_are_judged_for_the_target_and_not_for_this_machine(target: str, python: str, names: list[str]) -> None:
    needed = WHEELS.fitting(LOCK, WHEELS.TARGETS[target], python)
    assert list(needed) == names
    assert needed["anyio"] == f"anyio==4.16.0 {HASH} {HASH}"


def test_every_package_of_the_lock_is_read_with_its_hashes() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    needed = WHEELS.fitting(lock, WHEELS.TARGETS["linux-x64"], "3.13")
    assert len(needed) > 35
    assert all("==" in line and "--hash=sha256:" in line and "\\" not in line for line in needed.values())


@pytest.mark.parametrize("target", WHEELS.TARGETS)
@pytest.mark.parametrize("python", WHEELS.PYTHONS)
def test_no_package_lacks_what_connects_mcp_servers(target: str, python: str) -> None:
    """`cryptography` has a line for each of three kinds of machines: one holds, and it is the newest that has a wheel there."""
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    needed = WHEELS.fitting(lock, WHEELS.TARGETS[target], python)
    assert {"mcp", "pyjwt", "cryptography", "cffi"} <= needed.keys()
    older = {"win32-arm64": "46.0.3", "darwin-x64": "48.0.1"}
    newest = max(re.findall(r"^cryptography==([\d.]+)", lock, re.MULTILINE), key=lambda version: tuple(map(int, version.split("."))))
    assert needed["cryptography"].startswith(f"cryptography=={older.get(target, newest)} ")
    names = [WHEELS.Requirement(block.split(" \\\n")[0]) for block in re.split(r"\n(?=\S)", lock.strip())]
    seen = WHEELS.environment(WHEELS.TARGETS[target], python)
    holding = [each.name for each in names if each.marker is None or each.marker.evaluate(seen)]
    assert len(holding) == len(set(holding))


@pytest.mark.parametrize("lock, names", [("requirements-clouds.lock", ("bedrock", "vertex")), ("requirements-team.lock", ("postgres",))])
def test_a_lock_of_extras_is_what_they_name_and_nothing_that_is_inside(lock: str, names: tuple[str, ...]) -> None:
    """Versions that the tests have, so what the extension fetches is what was tried."""
    fetched, inside, tested = (_versions(name) for name in (lock, "requirements.lock", "requirements-dev.lock"))
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    named = dict(re.sub(r"\[.*?\]", "", each).split("==") for name in names for each in extras[name])
    assert named.items() <= fetched.items()
    assert not fetched.keys() & inside.keys()
    assert fetched.items() <= tested.items()


def _versions(lock: str) -> dict[str, str]:
    return dict(re.findall(r"^([\w.-]+)==([\w.]+)", (ROOT / lock).read_text(encoding="utf-8"), re.MULTILINE))


def test_wheels_are_unpacked_with_what_stands_in_their_data_folder(tmp_path: Path) -> None:
    done = _unpack(tmp_path, {"pkg/__init__.py": "x = 1", "pkg-1.data/purelib/beside.py": "y = 2", "pkg-1.data/scripts/run": "#!python"})
    assert done.returncode == 0, done.stderr
    assert done.stdout == "Unpacking pkg\n"
    assert {path.name for path in _packages(tmp_path).iterdir()} == {"pkg", "beside.py", "ullage"}


def test_a_wheel_that_is_damaged_is_not_unpacked(tmp_path: Path) -> None:
    done = _unpack(tmp_path, {"pkg/__init__.py": "x = 1"}, digest="0" * 64)
    assert done.returncode == 1
    assert "hash mismatch: pkg-1-py3-none-any.whl" in done.stderr
    assert not (_packages(tmp_path) / "pkg").exists()


def test_nothing_of_a_wheel_leaves_the_environment(tmp_path: Path) -> None:
    _unpack(tmp_path, {"../../../escaped.py": "", "pkg-1.data/purelib/../../../../escaped.py": "", "pkg/__init__.py": ""})
    assert [path for path in tmp_path.rglob("escaped.py") if not path.is_relative_to(_packages(tmp_path))] == []


def _packages(folder: Path) -> Path:
    names = {"base": str(folder / "environment"), "platbase": str(folder / "environment")}
    return Path(sysconfig.get_path("purelib", "venv", vars=names))


def _unpack(folder: Path, files: dict[str, str], *, digest: str | None = None) -> subprocess.CompletedProcess[str]:
    """Runs the program in an environment of its own, with one wheel of these files and an empty server."""
    subprocess.run([sys.executable, "-I", "-m", "venv", "--without-pip", str(folder / "environment")], check=True)
    wheel, itself = folder / "pkg-1-py3-none-any.whl", folder / "ullage-1-py3-none-any.whl"
    _write(wheel, files)
    _write(itself, {"ullage/__init__.py": ""})
    found = digest or hashlib.sha256(wheel.read_bytes()).hexdigest()
    index = folder / "wheels.json"
    index.write_text(json.dumps({"target": "any", "pythons": {VERSION: [wheel.name]}, "hashes": {wheel.name: found}}), encoding="utf-8")
    python = folder / "environment" / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    return subprocess.run([python, "-I", UNPACKER, index, itself], capture_output=True, text=True, check=False, timeout=60)


def _write(path: Path, files: dict[str, str]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
