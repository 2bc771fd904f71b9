"""The server's modules can be imported on a system that lacks what Windows lacks: else it does not even start there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).with_name("without_unix.py")


def test_every_module_can_be_imported_without_what_windows_lacks() -> None:
    run = subprocess.run([sys.executable, str(PROGRAM)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    said = json.loads(run.stdout)
    assert said["failed"] == {}
    assert said["imported"] > 200
