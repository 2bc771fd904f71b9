"""Faults of an endpoint in turn, with the real SDK over a real socket: what the user is told, and that all goes on after each."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.deep import DEEP, many
from tests.endpoint_faults import WELL, Fault, FaultyEndpoint, every_fault
from tests.fake_api import FakeApi, Say
from tests.unit.session.harness import Stage, stage
from ullage.context.entries import SizeStated, TurnEnded
from ullage.models.retry import Patience
from ullage.session.errors import SessionError
from ullage.session.session import Session

PARTS = 20
"""In which they are met, so that each part is a matter of seconds; a usual run meets the first of each in one."""
LONGEST_MESSAGE = 1_200


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    (made / "a.py").write_text("A = 1\n")
    return made


def test_there_are_enough_and_each_has_a_name_of_its_own() -> None:
    faults = every_fault()
    assert len(faults) >= 300
    assert len({fault.name for fault in faults}) == len(faults)


@pytest.mark.deep
@pytest.mark.parametrize("part", range(many(1, deep=PARTS)))
async def test_after_every_fault_the_message_is_true_and_the_next_prompt_is_answered(folder: Path, part: int) -> None:
    faults = every_fault()[part::PARTS] if DEEP else every_fault()[:: len(every_fault()) // PARTS]
    wrong: list[str] = []
    met: list[tuple[Fault, str]] = []
    patience = Patience(answer=60.0, silence=60.0, pings=60.0)
    async with FakeApi() as fake, FaultyEndpoint(fake.base_url) as endpoint:
        async with stage(folder, fake=fake, base_url=endpoint.base_url, patience=patience) as here:
            for fault in faults:
                session = await here.new()
                wrong += [f"{fault.name}: {why}" for why in await _wrong_with(here, endpoint, session, fault, patience)]
                met.append((fault, session.id))
        async with stage(folder, fake=fake, base_url=endpoint.base_url) as here:
            for fault, session_id in met:
                session = await here.sessions.open(session_id)
                wrong += [f"{fault.name}, opened anew: {why}" for why in await _unanswered(here, session)]
    assert wrong == []


async def _wrong_with(here: Stage, endpoint: FaultyEndpoint, session: Session, fault: Fault, patience: Patience) -> list[str]:
    """What is not as it should be when the fault has come and gone."""
    endpoint.faults.extend([fault.raw] * fault.times)
    with _impatient(patience) if fault.impatient else _patient():
        try:
            await here.say(session, "Hello")
        except TimeoutError:
            session.cancel()
            await here.idle(session)
            return ["the turn did not end"]
        finally:
            endpoint.faults.clear()
    return [*_untrue(fault, session), *await _unanswered(here, session)]


@contextmanager
def _impatient(patience: Patience) -> Generator[None]:
    """Moments only, as long as the fault lasts: what is asked after it has all the time that a busy machine needs."""
    for name in ("answer", "silence", "pings"):
        object.__setattr__(patience, name, 0.2)
    try:
        yield
    finally:
        for name in ("answer", "silence", "pings"):
            object.__setattr__(patience, name, 60.0)


@contextmanager
def _patient() -> Generator[None]:
    yield


def _untrue(fault: Fault, session: Session) -> list[str]:
    """What is not true, or not fit to be shown, in how the turn ended."""
    entries = session._conversation.entries  # noqa: SLF001
    end = next(logged.entry for logged in reversed(entries) if not isinstance(logged.entry, SizeStated))
    if not isinstance(end, TurnEnded):
        return [f"the log ends with {end}"]
    found: list[str] = []
    if fault.says == WELL and end != TurnEnded("end_turn"):
        found.append(f"did not end well: {end.message[:300]}")
    if fault.says != WELL and not any(words in end.message for words in fault.says):
        found.append(f"says {end.message[:300]!r} and not {fault.says}")
    if "in Ullage itself" in end.message or "test-key" in end.message:
        found.append(f"says {end.message[:300]!r}")
    if len(end.message) > LONGEST_MESSAGE or not end.message.isprintable():
        found.append(f"a message of {len(end.message)} characters: {end.message[:300]!r}")
    return found


async def _unanswered(here: Stage, session: Session) -> list[str]:
    """Why the next prompt was not answered by an API that is well."""
    refused = len(here.refused())
    here.fake.enqueue(Say("Well."))
    try:
        await here.say(session, "And now?")
    except TimeoutError:
        session.cancel()
        await asyncio.sleep(0)
        return ["the next prompt hangs"]
    entries = session._conversation.entries  # noqa: SLF001
    end = next(logged.entry for logged in reversed(entries) if not isinstance(logged.entry, SizeStated))
    return [f"then: {end}", *map(str, here.refused()[refused:])] if end != TurnEnded("end_turn") or len(here.refused()) != refused else []


async def test_a_client_can_tell_a_server_without_a_list_from_one_that_asks_for_a_key(folder: Path) -> None:
    async with stage(folder) as here, FakeApi(lists_models=False) as bare, FakeApi(keys=["secret"], lists_models=False) as locked:
        with pytest.raises(SessionError) as unlisted:
            await here.sessions.models.offered(bare.base_url)
        bare.enqueue(Say("Hello."))
        await here.sessions.models.try_out(" claude-opus-5-5 ", bare.base_url)
        with pytest.raises(SessionError) as unknown:
            await here.sessions.models.try_out("no-such-model", bare.base_url)
        with pytest.raises(SessionError) as refused:
            await here.sessions.models.try_out("claude-opus-5-5", locked.base_url)
    assert [each.value.reason for each in (unlisted, unknown, refused)] == ["list_refused", "endpoint_failed", "key_refused"]
