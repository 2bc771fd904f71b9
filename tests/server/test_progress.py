"""The progress that an editor shows of a compaction ends with it, whatever becomes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.fake_api import Call, FakeApi, Hang, Rule, Say
from tests.server.client import UllageClient, editor_window
from ullage.lsp import protocol
from ullage.lsp.protocol import history


def asks_for_summary(body: dict[str, Any]) -> bool:
    return "=== RECORD ===" in str(body["messages"][-1])


async def until_asked_for_a_summary(fake: FakeApi, client: UllageClient, session_id: str) -> str:
    """A session whose compaction waits for its summary; gives the compaction's id."""
    fake.add_rules(Rule(asks_for_summary, Hang()))
    for number in range(3):
        fake.enqueue(Call("read_file", {"path": f"{number}.txt"}), Say("Seen."))
        after = client.updates[-1].seq if client.updates else 0
        await client.prompt(session_id, "read it")
        await client.until_idle(after)
    made: history.CompactionResult = await client.ask(protocol.COMPACT, history.CompactParams(session_id))
    await fake.until_held()
    return made.compaction_id


async def test_the_progress_of_a_compaction_that_was_stopped_ends(folder: Path, state: Path) -> None:
    for number in range(3):
        (folder / f"{number}.txt").write_text("".join(f"{line} tank {line * 7919 % 1009}\n" for line in range(600)))
    async with FakeApi() as fake:
        settings = {"model": {"baseUrl": fake.base_url, "provider": "anthropic"}}
        async with editor_window(folder, state, settings=settings, env={"ANTHROPIC_API_KEY": "key"}) as client:
            opened = await client.open()
            compaction_id = await until_asked_for_a_summary(fake, client, opened.session_id)
            await client.ask(protocol.CANCEL, protocol.SessionParams(opened.session_id))
            await client.until_progress_ended(f"compaction {compaction_id}")
