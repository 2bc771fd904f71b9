"""Our own code in a Python process of its own."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import ullage

_START = "import json, runpy, sys; sys.path[:0] = json.loads(sys.argv[1]); runpy.run_module(sys.argv[2], run_name='__main__')"


def own_python(module: str, needs: Sequence[str] = ()) -> list[str]:
    """The command that runs a module of Ullage as `__main__`.

    The process is isolated (`-I`): neither the folder in which it starts nor a PYTHON* variable has a say in what it imports. It looks for
    modules where the interpreter does, and where `ullage` and the packages `needs` are.
    """
    folders = [str(Path(ullage.__file__).resolve().parents[1])]
    for package in needs:
        spec = importlib.util.find_spec(package)
        if spec is not None and spec.origin is not None:
            folder = str(Path(spec.origin).resolve().parents[1])
            if folder not in folders:
                folders.append(folder)
    return [sys.executable, "-I", "-X", "utf8", "-c", _START, json.dumps(folders), module]


def reaper(control: int) -> list[str] | None:
    """What stands before a command so that all that comes of it ends with it (`reaper.py`), told by the socket of that number. None on
    systems that have no such thing."""
    if sys.platform != "linux":
        return None
    return [sys.executable, "-I", "-S", str(Path(__file__).resolve().with_name("reaper.py")), str(control)]
