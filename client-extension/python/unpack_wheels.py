"""Unpacks the wheels that the extension brings into the environment whose Python runs this file.

    python -I unpack_wheels.py wheels.json ullage-1.0.0-py3-none-any.whl

`wheels.json` stands beside its wheels: `{"target": "linux-x64", "pythons": {"3.12": ["a.whl"]}, "hashes": {"a.whl": "<sha256>"}}`
(`scripts/lib/wheels.py` writes it). Each wheel is held against its hash first. Only the standard library is used: an environment made
this way needs no pip, no ensurepip and no network. What wheels may bring beside packages (scripts, headers) the server does not use.
"""

import hashlib
import json
import sys
import sysconfig
import zipfile
from pathlib import Path

# Folders of a wheel's `.data` whose content belongs beside its packages.
BESIDE_PACKAGES = ("purelib", "platlib")


def main() -> int:
    """The exit code. What was unpacked is named on stdout, what failed on stderr."""
    index, itself = Path(sys.argv[1]), Path(sys.argv[2])
    brought = json.loads(index.read_text(encoding="utf-8"))
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    site_packages = Path(sysconfig.get_path("purelib"))
    for name in brought["pythons"][version]:
        sys.stdout.write(f"Unpacking {name.partition('-')[0]}\n")
        sys.stdout.flush()
        wheel = index.parent / name
        with wheel.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != brought["hashes"][name]:
            sys.stderr.write(f"hash mismatch: {name}\n")
            return 1
        unpack(wheel, site_packages)
    unpack(itself, site_packages)
    return 0


def unpack(wheel: Path, site_packages: Path) -> None:
    """Puts the packages of a wheel, and what says which version it is, into `site_packages`."""
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            top, _, rest = entry.filename.partition("/")
            if not top.endswith(".data"):
                archive.extract(entry, site_packages)
                continue
            kind, _, path = rest.partition("/")
            if kind in BESIDE_PACKAGES and path and not entry.is_dir():
                entry.filename = path
                archive.extract(entry, site_packages)


if __name__ == "__main__":
    sys.exit(main())
