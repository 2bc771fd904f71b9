"""Settings that change while the client is asked for them: of several changes the newest stands, and requests wait until it does."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
from lsprotocol.types import ClientCapabilities, WorkspaceClientCapabilities
from pygls.exceptions import JsonRpcMethodNotFound

from tests.patience import PATIENCE
from ullage.lsp import configuration
from ullage.lsp.configuration import ClientSettings, ServerOptions
from ullage.session.settings import Settings


class Client:
    """Answers each question when the test says so."""

    client_capabilities = ClientCapabilities(workspace=WorkspaceClientCapabilities(configuration=True))

    def __init__(self) -> None:
        self.asked: list[asyncio.Future[list[object]]] = []
        self.warnings: list[str] = []
        self.taken: list[int] = []
        self.settings = ClientSettings(cast("Any", self), ServerOptions, self.warnings.append)

    async def ask(self, method: str, params: object) -> list[object]:
        self.asked.append(asyncio.get_running_loop().create_future())
        return await self.asked[-1]

    def changes(self) -> asyncio.Task[None]:
        """The client tells of a change."""
        self.settings.changed()
        return asyncio.create_task(self.settings.after_change(self._take))

    def _take(self, settings: Settings) -> None:
        self.taken.append(settings.threshold_cap)

    async def answers(self, number: int, cap: int) -> None:
        """The client answers a question (from 0) once it is asked."""
        async with asyncio.timeout(PATIENCE):
            while len(self.asked) <= number:  # noqa: ASYNC110 - a task gets there
                await asyncio.sleep(0)
        self.asked[number].set_result([{"compaction": {"cap": cap}}])


async def test_of_two_changes_the_newer_stands() -> None:
    client = Client()
    first, second = client.changes(), client.changes()
    await client.answers(0, 20_000)  # the client was asked after both: this tells of both
    await asyncio.gather(first, second)
    assert (client.taken, len(client.asked)) == ([20_000], 1)


async def test_a_change_while_the_client_is_asked_is_asked_for_anew() -> None:
    client = Client()
    first = client.changes()
    while not client.asked:  # noqa: ASYNC110 - a task gets there
        await asyncio.sleep(0)
    second, third = client.changes(), client.changes()
    await client.answers(0, 20_000)
    await client.answers(1, 30_000)
    await asyncio.gather(first, second, third)
    assert (client.taken, len(client.asked)) == ([20_000, 30_000], 2)


async def test_whoever_waits_goes_on_once_all_changes_so_far_are_taken_over() -> None:
    client = Client()
    await client.settings.settled()  # nothing changed: nobody is waited for
    first = client.changes()
    while not client.asked:  # noqa: ASYNC110 - a task gets there
        await asyncio.sleep(0)
    second = client.changes()
    await asyncio.sleep(0)
    waiting = asyncio.create_task(client.settings.settled())
    await client.answers(0, 20_000)
    await first
    assert not waiting.done()
    await client.answers(1, 30_000)
    await asyncio.gather(second, waiting)
    assert client.taken == [20_000, 30_000]


async def test_a_fault_in_a_setting_is_told_once_as_long_as_it_stands() -> None:
    client = Client()
    for number, cap in enumerate((1, 1, 30_000, 1)):
        change = client.changes()
        await client.answers(number, cap)
        await change
    assert len(client.warnings) == 2


async def test_an_editor_that_is_busy_is_waited_for_and_the_user_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the defaults a prompt could go to another endpoint than the user's."""
    monkeypatch.setattr(configuration, "_TOLD_AFTER", 0.0)
    client = Client()
    asking = asyncio.create_task(client.settings.ask())
    while not client.warnings:  # noqa: ASYNC110 - a task gets there
        await asyncio.sleep(0)
    assert client.warnings == ["The editor has not told the settings yet. Ullage goes on as soon as it does"]
    await client.answers(0, 20_000)
    assert (await asking).threshold_cap == 20_000


async def test_an_editor_that_refuses_to_tell_has_the_defaults_at_first_and_then_what_it_told_before() -> None:
    client = Client()
    refused = JsonRpcMethodNotFound("no settings here")

    async def asked(number: int) -> Settings:
        asking = asyncio.create_task(client.settings.ask())
        if number == 1:
            await client.answers(number, 20_000)
        else:
            while len(client.asked) <= number:  # noqa: ASYNC110 - a task gets there
                await asyncio.sleep(0)
            client.asked[number].set_exception(refused)
        return await asking

    assert [(await asked(number)).threshold_cap for number in range(3)] == [Settings().threshold_cap, 20_000, 20_000]
    assert [told.rpartition(", so ")[2] for told in client.warnings] == ["the defaults are used", "those of before stay in force"]


async def test_whoever_gives_up_waiting_takes_the_question_back() -> None:
    client = Client()
    asking = asyncio.create_task(client.settings.ask())
    while not client.asked:  # noqa: ASYNC110 - a task gets there
        await asyncio.sleep(0)
    asking.cancel()
    await asyncio.wait((asking,))
    assert client.asked[0].cancelled()
