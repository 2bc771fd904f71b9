"""The SDK imports `cryptography` for servers. A client calls nothing of it, so an older one is as good (docs/decisions/0025)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import asyncio, sys, tempfile
from pathlib import Path
from types import ModuleType

class Called(BaseException):
    pass

class NotUsed:
    def __init__(self, *arguments, **named):
        raise Called

def stand_in(name, **content):
    module = sys.modules[name] = ModuleType(name)
    module.__path__ = []
    vars(module).update(content)

for name in ("", ".hazmat", ".hazmat.primitives", ".hazmat.primitives.ciphers", ".hazmat.primitives.kdf"):
    stand_in("cryptography" + name)
stand_in("cryptography.exceptions", InvalidTag=type("InvalidTag", (Exception,), {}))
stand_in("cryptography.hazmat.primitives.ciphers.aead", AESGCM=NotUsed)
stand_in("cryptography.hazmat.primitives.hashes", SHA256=NotUsed)
stand_in("cryptography.hazmat.primitives.kdf.hkdf", HKDF=NotUsed)

from tests.unit.mcp_servers.test_connection import test_it_lists_and_answers_and_leaves_no_process as over_stdio
from tests.unit.mcp_servers.test_services import test_nothing_is_asked_of_it_before_it_is_turned_on as over_http
from tests.unit.mcp_servers.test_services import test_the_user_signs_in_once_and_the_token_is_renewed as signed_in

for test in (over_stdio, over_http, signed_in):
    folder = Path(tempfile.mkdtemp(dir=sys.argv[1])).resolve()
    asyncio.run(test(folder))
    print(test.__name__)
print("jwt" in sys.modules)
"""


def test_connecting_by_stdio_by_http_and_signing_in_call_nothing_of_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, cwd=Path(__file__).resolve().parents[3])
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "False"
    assert len(done.stdout.splitlines()) == 4
