"""What of an installation decides the figures, so that a scheduler's workers can be held against this process."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import ullage
from ullage.installed_policies import installed

_COUNT_OR_READ = ("ctok", "tree-sitter")
"""Packages that some systems lack, and that decide what is counted or found."""


@dataclass(frozen=True, slots=True)
class Installation:
    """What of an installation decides the figures. Two that are equal make the same figures of the same transcripts."""

    version: str
    code: str
    """A sum over the files of the package."""
    python: str
    packages: tuple[str, ...]
    """Names and versions of the packages that decide figures beside it."""
    policies: tuple[str, ...]
    """Policies that other packages bring, each with its package and the package's version."""


@cache
def installation() -> Installation:
    """The installation that this process runs from."""
    of_others = tuple(f"{name} of {package}" for name, package in sorted(installed().packages.items()))
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return Installation(ullage.__version__, _sum_of_files(), python, tuple(map(_named, _COUNT_OR_READ)), of_others)


def difference(theirs: Installation, ours: Installation) -> str:
    """What is different between two installations, in words for the user; empty if nothing is."""
    if theirs.version != ours.version:
        return f"has Ullage {theirs.version}, and here it is {ours.version}"
    if theirs.code != ours.code:
        return f"has Ullage {theirs.version} with other code than here"
    if theirs.python != ours.python:
        return f"runs Python {theirs.python}, and here it is {ours.python}"
    if theirs != ours:
        there, here = (", ".join((*each.packages, *each.policies)) for each in (theirs, ours))
        return f"has other packages ({there}) than there are here ({here})"
    return ""


def _sum_of_files() -> str:
    root = Path(ullage.__file__).parent
    whole = blake2b(digest_size=16)
    for file in sorted(path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
        text = file.read_bytes()
        whole.update(f"{file.relative_to(root).as_posix()}\0{len(text)}\0".encode())
        whole.update(text)
    return whole.hexdigest()


def _named(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"no {package}"
