"""An environment of its own for each peer, from a lock file, in a folder that git ignores.

It is made again only where its lock changed. How the locks are made stands in `locks/README.md`.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".dev" / "bench-envs"
LOCKS = Path(__file__).parent / "locks"
LOCK_PYTHON = "3.12"
"""The one version on which all of them run: OpenHands needs it at least, aider at most."""
CHOSEN = "ULLAGE_BENCH_PYTHON"
"""The variable that names another interpreter."""


class NotSetUp(Exception):
    """An environment could not be made; `str()` says why."""


def find_python() -> str:
    """An interpreter of `LOCK_PYTHON`. Raises `NotSetUp`."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    kept = sorted(pyenv.glob(f"{LOCK_PYTHON}.*/bin/python"), reverse=True)
    candidates = [os.environ.get(CHOSEN, ""), sys.executable, f"python{LOCK_PYTHON}", *map(str, kept)]
    for candidate in filter(None, candidates):
        asked = _run([candidate, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"])
        if asked is not None and asked.returncode == 0 and (asked.stdout.strip() == LOCK_PYTHON or candidate == candidates[0]):
            return candidate
    raise NotSetUp(f"there is no Python {LOCK_PYTHON} here; {CHOSEN} may name one")


def environment_python(peer: str, python: str) -> Path:
    """The interpreter of the peer's environment, made if need be. Raises `NotSetUp`."""
    lock = LOCKS / f"{peer}.txt"
    place = FOLDER / peer
    inside = place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = place / "made-from"
    key = hashlib.sha256(lock.read_bytes()).hexdigest()
    if inside.exists() and stamp.exists() and stamp.read_text() == key:
        return inside
    sys.stdout.write(f"Making the environment of {peer}\n")
    stamp.unlink(missing_ok=True)
    pip = [str(inside), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "-r", str(lock)]
    for command in ([python, "-m", "venv", str(place)], pip):
        done = _run(_gently(command))
        if done is None or done.returncode != 0:
            raise NotSetUp(reason(done.stderr if done is not None else "the program could not be started"))
    stamp.write_text(key)
    return inside


def reason(output: str) -> str:
    """What pip says went wrong, in one line that names no place of this machine or its network."""
    errors = [line.removeprefix("ERROR: ") for line in output.splitlines() if line.startswith("ERROR: ")]
    said = (errors or output.strip().splitlines() or ["no reason was given"])[0]
    without_lists = re.sub(r" \(from versions:.*", "", said)
    return re.sub(r"(\w+://|/)\S+", "…", without_lists)[:200]


def _gently(command: list[str]) -> list[str]:
    nice = shutil.which("nice")
    return [nice, "-n", "10", *command] if nice else command


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str] | None:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
