"""What a server would do anew after each fork, done once in the process that all are forked from (`tests/forking.py`): imports that come
with the first message and the first call of a model, the certificates, and the code that reads and writes each kind of message.

Nothing else imports this. A start of the command itself does all of it, and is tested in `test_lifecycle.py`.
"""

from __future__ import annotations

import gc
import importlib
import json
from pathlib import Path
from typing import Any

import anthropic
import httpx2
from lsprotocol import types

from ullage.lsp.messages import MESSAGES, REQUESTS, RESULTS, make_converter
from ullage.models import transport

LATE = ("ullage.lsp.methods", "anyio._backends._asyncio", "httpcore2", "mcp", "pygit2", "socksio", "truststore")
"""What a server imports when it first needs it, beside the SDK."""

FIXTURES = Path(__file__).parents[1] / "protocol" / "fixtures"


def write_and_read_each_message() -> None:
    """`cattrs` and the SDK write code for a type when they first see one."""
    converter = make_converter()
    for path in FIXTURES.glob("*.json"):
        fixture: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if fixture["type"] not in ("request", "notification"):
            continue
        method, told = fixture["method"], {"jsonrpc": "2.0", "id": 1}
        converter.unstructure(converter.structure({**told, "method": method, "params": fixture["complete"]["params"]}, MESSAGES[method]))
        if method in REQUESTS:
            converter.unstructure(converter.structure({**told, "result": fixture["complete"]["result"]}, RESULTS[method]))
    converter.get_structure_hook(types.InitializeRequest)
    converter.get_unstructure_hook(types.InitializeResponse)
    answer = httpx2.Response(404, request=httpx2.Request("GET", "http://127.0.0.1"))
    anthropic.APIStatusError("", response=answer, body={"type": "error", "error": {"type": "not_found_error", "message": ""}})


for _name in LATE:
    importlib.import_module(_name)
write_and_read_each_message()
transport.trusted_authorities()  # reads the certificates of the system

# The garbage collector would write to all this in each fork, so that each gets a copy of its own.
gc.collect()
gc.freeze()
