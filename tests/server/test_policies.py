"""Policies over the wire: chosen by setting, also one of an installed package; bad names and broken packages are named."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path
from site import addsitedir
from typing import Any

from lsprotocol.types import DidChangeConfigurationParams

from tests.example_policy import install, install_metadata
from tests.fake_api import Call, FakeApi, Rule, Say
from tests.server import forked
from tests.server.client import UllageClient, by_command, editor_window
from ullage.lsp import protocol
from ullage.lsp.protocol import history, updates
from ullage.lsp.protocol import items as wire

PROMPT = "In at most ten sentences"


def with_packages(folder: Path) -> dict[str, str]:
    return {"PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)}


def choosing(fake: FakeApi, name: str) -> dict[str, Any]:
    return {"model": {"baseUrl": fake.base_url}, "compaction": {"policy": name}}


async def chosen(client: UllageClient, name: str) -> updates.GaugeUpdate:
    """The gauge after the user has chosen another policy."""
    client.set_configuration({"policy": name}, section="ullage.compaction")
    client.workspace_did_change_configuration(DidChangeConfigurationParams(None))
    changed = await client.until(lambda update: isinstance(update, updates.GaugeUpdate) and update.gauge.policy == name)
    assert isinstance(changed.update, updates.GaugeUpdate)
    return changed.update


async def test_a_request_goes_by_what_was_set_before_it(folder: Path, state: Path) -> None:
    """The server has to ask for the settings. A request that follows the change at once does not overtake the answer."""
    async with FakeApi() as fake, editor_window(folder, state, settings=choosing(fake, "ullage")) as client:
        opened = await client.open()
        for name in ("claude-code", "none", "head-tail"):
            client.set_configuration({"policy": name}, section="ullage.compaction")
            client.workspace_did_change_configuration(DidChangeConfigurationParams(None))
            preview: history.Preview = await client.ask(protocol.PREVIEW_COMPACTION, history.PreviewParams(opened.session_id))
            assert preview.policy == name


async def until_compacted(client: UllageClient) -> wire.CompactionItem:
    """The card of a compaction once it has come to its end."""

    def is_over(update: updates.Update) -> bool:
        item = update.item if isinstance(update, updates.ItemUpdate) else None
        return isinstance(item, wire.CompactionItem) and item.status != "in_progress"

    update = (await client.until(is_over)).update
    assert isinstance(update, updates.ItemUpdate)
    assert isinstance(update.item, wire.CompactionItem)
    return update.item


async def test_a_policy_of_a_package_is_used_live(folder: Path, state: Path, tmp_path: Path) -> None:
    (folder / "a.txt").write_text("one line of many\n" * 900)
    env = {**with_packages(install(tmp_path / "site")), "ANTHROPIC_API_KEY": "test-key"}
    async with FakeApi() as fake, editor_window(folder, state, settings=choosing(fake, "ullage"), env=env, start=by_command) as client:
        fake.add_rules(Rule(lambda body: PROMPT in json.dumps(body["messages"][-1]), Say("The user had a file read, three times over.")))
        opened = await client.open()
        assert (opened.gauge.policy, opened.gauge.measure) == ("ullage", "usage")
        for turn in range(3):
            after = client.updates[-1].seq if client.updates else 0
            fake.enqueue(Call("read_file", {"path": "a.txt"}), Say("Read."))
            await client.prompt(opened.session_id, f"Read it, {turn}")
            await client.until_idle(after)
        changed = await chosen(client, "example-ten-sentences")
        assert changed.gauge.threshold == 100_000
        await client.ask(protocol.COMPACT, history.CompactParams(opened.session_id))
        card = await until_compacted(client)
        assert (card.status, card.way) == ("completed", "model")
        assert card.summary == "So far, in short:\n\nThe user had a file read, three times over."
        assert client.messages == []


async def test_a_name_that_nobody_has_is_answered_with_those_that_there_are(folder: Path, state: Path) -> None:
    async with FakeApi() as fake, editor_window(folder, state, settings=choosing(fake, "example-early")) as client:
        assert (await client.open()).gauge.policy == "ullage"
        [told] = [message.message for message in client.messages]
        assert told.startswith('The setting "Ullage › Compaction: Policy" must be the name of a policy that there is: ')
        assert '"claude-code"' in told
        assert (await chosen(client, "none")).gauge.next.why == "off"
        assert (await chosen(client, "ullage")).gauge.next.why == "unanswered"
        assert len(client.messages) == 1


async def test_a_broken_package_is_named_once_and_the_others_go_on(folder: Path, state: Path, tmp_path: Path) -> None:
    site = install(tmp_path / "site")
    (site / "broken.py").write_text("raise RuntimeError('out of order')")
    install_metadata(site, "broken", "2.0", {"p": "broken:P"})
    start = partial(forked.start, before=partial(addsitedir, str(site)))
    async with (
        FakeApi() as fake,
        editor_window(folder, state, settings=choosing(fake, "example-early"), start=start) as client,
    ):
        assert (await client.open()).gauge.policy == "example-early"
        [told] = [message.message for message in client.messages]
        assert told == "The policies 'p' of the package broken 2.0 cannot be loaded: RuntimeError: out of order"
        await chosen(client, "example-ten-sentences")
        assert len(client.messages) == 1
