"""Looking into a finished package: what is missing, foreign, damaged or of no use in it is named."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import json
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts" / "lib"
PYTHON = "3.12"


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


_load("wheels")  # packed.py stands beside it and imports it
PACKED = _load("packed")

ELF_X64 = b"\x7fELF" + bytes(14) + (62).to_bytes(2, "little")
ELF_ARM = b"\x7fELF" + bytes(14) + (183).to_bytes(2, "little")
FAT = b"\xca\xfe\xba\xbe" + (2).to_bytes(4, "big") + b"".join(cpu.to_bytes(4, "big") + bytes(16) for cpu in (0x01000007, 0x0100000C))
PE_ARM = b"MZ" + bytes(58) + (64).to_bytes(4, "little") + b"PE\0\0" + (0xAA64).to_bytes(2, "little")


@dataclass(frozen=True)
class Made:
    """What goes into a package: the files of each wheel, by its file name, and what each asks for."""

    target: str = "linux-x64"
    wheels: dict[str, dict[str, bytes]] = field(
        default_factory=lambda: {
            "tank-1.2-cp312-cp312-manylinux_2_17_x86_64.whl": {
                "tank/_level.cpython-312-x86_64-linux-gnu.so": ELF_X64,
                "tank/__init__.py": b"",
            },
            "valve-3-py3-none-any.whl": {"valve.py": b""},
        }
    )
    asks: dict[str, list[str]] = field(
        default_factory=lambda: {"ullage": ["tank>=1", "pump ; sys_platform == 'win32'", "seal ; extra == 'x'"], "tank": ["valve==3"]}
    )
    markers: dict[str, str] = field(default_factory=dict[str, str])
    unlisted: tuple[str, ...] = ()
    spoiled: str = ""


def pack(folder: Path, made: Made) -> Path:
    """The package, as npm run package would make it."""
    built = {name: _wheel(name, files, made.asks) for name, files in made.wheels.items()}
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in built.items()}
    lock = "".join(_locked(name, digest, made) for name, digest in hashes.items())
    listed = [name for name in built if name not in made.unlisted]
    index = {"target": made.target, "pythons": {PYTHON: listed}, "hashes": {name: hashes[name] for name in listed}}
    vsix = folder / "ullage.vsix"
    with zipfile.ZipFile(vsix, "w") as archive:
        archive.writestr("extension/dist-server/requirements.lock", lock)
        archive.writestr(
            "extension/dist-server/ullage-1-py3-none-any.whl", _wheel("ullage-1-py3-none-any.whl", {"ullage/__init__.py": b""}, made.asks)
        )
        archive.writestr("extension/dist-server/wheels/wheels.json", json.dumps(index))
        for name, data in built.items():
            other = _wheel(name, {"other.py": b""}, made.asks) if name == made.spoiled else data
            archive.writestr(f"extension/dist-server/wheels/{name}", other)
    return vsix


def _locked(wheel: str, digest: str, made: Made) -> str:
    name, version = wheel.split("-")[:2]
    marker = f" ; {made.markers[name]}" if name in made.markers else ""
    return f"{name}=={version}{marker} \\\n    --hash=sha256:{digest}\n"


def _wheel(name: str, files: dict[str, bytes], asks: dict[str, list[str]]) -> bytes:
    project, version = name.split("-")[:2]
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for path, content in files.items():
            archive.writestr(path, content)
        needs = "".join(f"Requires-Dist: {each}\n" for each in asks.get(project, ()))
        archive.writestr(f"{project}-{version}.dist-info/METADATA", f"Name: {project}\nVersion: {version}\n{needs}")
    return data.getvalue()


def test_a_whole_package_has_no_fault(tmp_path: Path) -> None:
    assert list(PACKED.faults(pack(tmp_path, Made()))) == []


TANK, VALVE = Made().wheels
FOR_311 = "tank-1.2-cp311-cp311-manylinux_2_17_x86_64.whl"
FOR_NEWER = "tank-1.2-cp312-cp312-manylinux_2_39_x86_64.whl"
OF_MUSL = "tank/_level.cpython-312-x86_64-linux-musl.so"
WITH_EXTRA = ["valve==3", "seal ; extra == 'x'"]
FAULTS: dict[str, tuple[Callable[[Made], Made], str]] = {
    "what is needed is missing": (lambda made: _less(made, VALVE), "tank needs valve, which is not there"),
    "it is too old": (lambda made: _asking(made, "tank", "valve>=4"), "tank needs valve>=4, and 3 is there"),
    "an extra is missing": (lambda made: _asking(made, "ullage", "tank[x]", tank=WITH_EXTRA), "tank needs seal, which"),
    "it is not the lock's": (lambda made: replace(made, markers={"tank": "sys_platform == 'win32'"}), "tank 1.2 is not what the lock has"),
    "it is damaged": (lambda made: replace(made, spoiled=VALVE), f"{VALVE} is not what wheels.json has the hash of"),
    "one is too many": (lambda made: _asking(made, "tank", "valve==3 ; sys_platform == 'win32'"), "valve is there, and nothing needs it"),
    "one is on no list": (lambda made: replace(made, unlisted=(VALVE,)), "not those that wheels.json lists"),
    "it is for another Python": (lambda made: _instead(made, FOR_311), "tank has tags that do not fit"),
    "it is for a newer system": (lambda made: _instead(made, FOR_NEWER), "tank has tags that do not fit"),
    "it is for another machine": (lambda made: _files(made, {"tank/_level.abi3.so": ELF_ARM}), "is for aarch64"),
    "it is for no machine": (lambda made: _files(made, {"tank/_level.abi3.so": b"<html>"}), "is for no machine that is known"),
    "no Python finds it": (lambda made: _files(made, {OF_MUSL: ELF_X64}), "is not found by this Python"),
    "nothing is in it": (lambda made: _files(made, {"tank/readme.txt": b""}), "tank has nothing to import"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_wrong_is_named(tmp_path: Path, fault: str) -> None:
    change, said = FAULTS[fault]
    assert any(said in each for each in PACKED.faults(pack(tmp_path, change(Made())))), list(PACKED.faults(tmp_path / "ullage.vsix"))


def _less(made: Made, name: str) -> Made:
    return replace(made, wheels={each: files for each, files in made.wheels.items() if each != name})


def _asking(made: Made, name: str, what: str, **more: list[str]) -> Made:
    return replace(made, asks={**made.asks, name: [what], **more})


def _instead(made: Made, name: str) -> Made:
    return replace(made, wheels={name: made.wheels[TANK], VALVE: made.wheels[VALVE]})


def _files(made: Made, files: dict[str, bytes]) -> Made:
    return replace(made, wheels={TANK: files, VALVE: made.wheels[VALVE]})


@pytest.mark.parametrize(
    ("target", "tag", "file", "binary"),
    [
        ("darwin-x64", "cp311-abi3-macosx_10_9_universal2", "tank/_level.abi3.so", FAT),
        ("win32-arm64", "cp311-abi3-win_arm64", "tank/_level.pyd", PE_ARM),
        ("alpine-arm64", "cp312-cp312-musllinux_1_2_aarch64", "tank/_level.cpython-312-aarch64-linux-musl.so", ELF_ARM),
    ],
)
def test_each_system_has_its_own_names_and_machines(tmp_path: Path, target: str, tag: str, file: str, binary: bytes) -> None:
    wheels = {f"tank-1.2-{tag}.whl": {file: binary}, VALVE: Made().wheels[VALVE]}
    here = Made(target=target, wheels=wheels, asks={"ullage": ["tank"], "tank": ["valve"]})
    assert list(PACKED.faults(pack(tmp_path, here))) == []


def test_what_a_target_does_without_is_not_missed_and_nothing_else(tmp_path: Path) -> None:
    wheels = {"tank-1.2-py3-none-any.whl": {"tank.py": b""}}
    asks = {"ullage": ["tank", "tree-sitter", "tree-sitter-c"]}
    on_alpine = PACKED.faults(pack(tmp_path, Made(target="alpine-arm64", wheels=wheels, asks=asks)))
    assert list(on_alpine) == []
    elsewhere = PACKED.faults(pack(tmp_path, Made(target="alpine-x64", wheels=wheels, asks=asks)))
    assert [each.partition(": ")[2] for each in elsewhere] == [
        "ullage needs tree-sitter, which is not there",
        "ullage needs tree-sitter-c, which is not there",
    ]
