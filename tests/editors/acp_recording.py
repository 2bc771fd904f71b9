"""A conversation of the official TypeScript client with `ullage acp`, as it was recorded, and what makes it the same each time.

To record it again, with the package `@agentclientprotocol/sdk` in some folder (`npm install @agentclientprotocol/sdk`):

    python -m tests.editors.acp_recording FOLDER/node_modules/@agentclientprotocol/sdk
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from tests.fake_api import Call, FakeApi, HoldsAfter, Reply, Say, Think
from tests.server.acp_client import KEY
from tests.server.client import environment
from ullage.store.folder import VARIABLE

HERE = Path(__file__).parent

RECORDED = HERE / "acp_recorded.jsonl"

SCHEMA = HERE / "acp.schema.json"
"""Version 1 of the protocol, as that package has it, without the descriptions (Apache-2.0)."""

Message = dict[str, Any]

SETTINGS = {"bash": {"sandbox": "off"}, "compaction": {"summary": "digest"}}


def prepare(folder: Path, fake: FakeApi) -> None:
    """The files of the session, and what the model says in it."""
    (folder / "pump.py").write_text("pressure = 3\n")
    edit = {"path": "pump.py", "old_text": "pressure = 3", "new_text": "pressure = 4"}
    fake.enqueue(Reply((Think("It is low."), Call("read_file", {"path": "pump.py"}, "toolu_r")), chunk_size=20))
    fake.enqueue(Call("edit_file", edit, "toolu_e"), Say("It is four now."))
    fake.enqueue(Call("bash", {"command": "mkdir pumps"}, "toolu_b"), Say("As you wish."))
    plan = "# Mend\n\n1. Close the valve\n2. Mend the pump"
    fake.enqueue(Call("propose_plan", {"plan": plan}, "toolu_p"), Say("Mended."))
    for number in range(3):
        listen = Call("bash", {"command": f"echo {number} drip; seq 300"}, f"toolu_t{number}")
        fake.enqueue(listen, Say(f"Number {number} drips. " * 30))
    fake.enqueue(Reply((Say("One two three four five six."),), interruption=HoldsAfter(1), chunk_size=8))


def settings_for(fake: FakeApi) -> str:
    """As JSON, for `--settings`."""
    return json.dumps({**SETTINGS, "model": {"provider": "anthropic", "baseUrl": fake.base_url}})


class Settling:
    """Makes messages of one conversation those of any: names for the folder, for ids and for times, and no token counts."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._names: dict[str, str] = {}

    def __call__(self, message: Message) -> Message:
        return json.loads(_ID.sub(self._named, json.dumps(_settled(message)).replace(self._folder, "/folder")))

    def _named(self, found: re.Match[str]) -> str:
        return self._names.setdefault(found[0], f"id-{len(self._names) + 1}")


_ID = re.compile(r"\b(?:[a-z]?[0-9a-f]{16}|[a-z][0-9a-f]{12})\b")
"""Of a session; of a prompt, a reply, a question, a compaction."""

_DIFFERS = {"updatedAt": "2026-01-01T00:00:00+00:00", "version": "1", "used": 1, "amount": 0.1}

_LEFT_OUT = frozenset({"_meta", "messageId"})


def _settled(value: Any) -> Any:
    if isinstance(value, list):
        return [_settled(each) for each in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    return {key: _DIFFERS.get(key, _settled(each)) for key, each in cast("Message", value).items() if key not in _LEFT_OUT}


def essence(messages: Iterable[Message]) -> list[Any]:
    """What does not depend on how quickly things went: pieces of a text are joined, and steps on the way of a call left out.

    How full the context is, the commands and the options come when they come, so they are not among it; `others` has these.
    """
    told: list[Any] = []
    for message in messages:
        if "method" not in message:
            told.append(["answer", message["id"], message.get("result"), message.get("error")])
        elif message["method"] == "session/request_permission":
            told.append(["question", message["params"]["toolCall"]["toolCallId"], message["params"]["options"]])
        elif message["method"] == "session/update":
            _add(told, message["params"]["update"])
    return told


def _add(told: list[Any], update: Message) -> None:
    kind = update["sessionUpdate"]
    if kind in ("agent_message_chunk", "agent_thought_chunk", "user_message_chunk"):
        if told and told[-1][0] == kind:
            told[-1][1] += update["content"]["text"]
        else:
            told.append([kind, update["content"]["text"]])
    elif kind in ("tool_call", "tool_call_update"):
        ended = update.get("status") in ("completed", "failed")
        if kind == "tool_call" or ended:
            content: list[Any] = update.get("content", []) if ended else []
            told.append([kind, update["toolCallId"], update.get("title"), update.get("status") if ended else None, content])
    elif kind not in _OTHERS:
        told.append([kind, update])


_OTHERS = ("usage_update", "available_commands_update", "config_option_update", "session_info_update")


def others(messages: Iterable[Message]) -> set[str]:
    """Which updates came besides."""
    updates = (each["params"]["update"]["sessionUpdate"] for each in messages if each.get("method") == "session/update")
    return {kind for kind in updates if kind in _OTHERS}


def recorded() -> list[tuple[str, Message]]:
    """Who sent each message, and the message."""
    return [(line["from"], line["message"]) for line in map(json.loads, RECORDED.read_text("utf-8").splitlines())]


async def record(package: Path) -> None:
    """Writes the conversation and the schema anew."""
    with tempfile.TemporaryDirectory() as made:
        folder, state, wire = Path(made).resolve() / "folder", Path(made).resolve() / "state", Path(made) / "wire.jsonl"
        folder.mkdir()
        async with FakeApi() as fake:
            prepare(folder, fake)
            command = [sys.executable, "-P", "-m", "ullage", "acp", "--settings", settings_for(fake), "--state-folder", str(state)]
            given = {
                "ACP_SDK": str(package / json.loads((package / "package.json").read_text())["main"]),
                "ACP_COMMAND": json.dumps(command),
                "ACP_FOLDER": str(folder),
                "ACP_WIRE": str(wire),
            }
            env = environment({VARIABLE: str(state), "ANTHROPIC_API_KEY": KEY, **given})
            client = await asyncio.create_subprocess_exec("node", str(HERE / "acp_client.mjs"), env=env)
            if await client.wait() != 0:
                raise SystemExit("the client did not come to its end")
        lines = [json.loads(line) for line in wire.read_text().splitlines()]
    settle = Settling(folder)
    told = [{"from": line["from"], "message": settle(line["message"])} for line in lines]
    RECORDED.write_text("".join(f"{json.dumps(each, ensure_ascii=False)}\n" for each in told), "utf-8")
    schema = json.loads((package / "schema" / "v1" / "schema.json").read_text("utf-8"))
    SCHEMA.write_text(f"{json.dumps(_undescribed(schema), separators=(',', ':'))}\n", "utf-8")


def _undescribed(value: Any) -> Any:
    if isinstance(value, list):
        return [_undescribed(each) for each in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    return {key: _undescribed(each) for key, each in cast("Message", value).items() if not (key == "description" and isinstance(each, str))}


if __name__ == "__main__":
    asyncio.run(record(Path(sys.argv[1]).resolve()))
