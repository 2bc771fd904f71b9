"""A package with policies of its own, and how tests install it: on `sys.path` with its metadata, as `pip install` would leave it."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

FOLDER = Path(__file__).parent


def install(into: Path) -> Path:
    """Puts the package into a folder for `sys.path`; gives the folder."""
    project = tomllib.loads((FOLDER / "pyproject.toml").read_text("utf-8"))["project"]
    into.mkdir(parents=True, exist_ok=True)
    shutil.copy(FOLDER / "example_policies.py", into)
    return install_metadata(into, project["name"], project["version"], project["entry-points"]["ullage.policies"])


def install_metadata(into: Path, name: str, version: str, points: dict[str, str]) -> Path:
    """What tells Python that a package is installed there, with its entry points; gives the folder."""
    info = into / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n")
    lines = [f"{point} = {value}" for point, value in points.items()]
    (info / "entry_points.txt").write_text("\n".join(["[ullage.policies]", *lines, ""]))
    return into
