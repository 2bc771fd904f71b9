"""What the tests of changed files have in common: turns in which everything is allowed, and what they changed."""

from __future__ import annotations

from collections.abc import Sequence

from tests.fake_api import Call, Say
from tests.fake_api.script import ReplyBlock
from tests.unit.session.harness import Stage, calls
from ullage.context.change_entries import ChangedFile, FilesChanged, FileVersion
from ullage.context.entries import files_changed
from ullage.session.session import Session
from ullage.session.timeline.items import ToolCallItem
from ullage.store.versions import Versions


def changes(session: Session) -> list[FilesChanged]:
    return [found for each in session.entries if (found := files_changed(each.entry)) is not None]


def versions(here: Stage) -> Versions:
    return here.sessions._kept.versions  # noqa: SLF001


def told(here: Stage, changed: ChangedFile) -> tuple[str, bytes | None, bytes | None]:
    """The path, and the bytes before and after."""

    def read(version: FileVersion | None) -> bytes | None:
        if version is None:
            return None
        data = versions(here).read(version.sha256)
        assert data is not None
        assert len(data) == version.size
        return data

    return changed.path, read(changed.before), read(changed.after)


async def turn(here: Stage, session: Session, *replies: Sequence[ReplyBlock] | ReplyBlock) -> list[FilesChanged]:
    """One turn in which everything is allowed; gives what it changed."""
    before = len(changes(session))
    here.fake.enqueue(*replies, Say("Done."))
    await session.prompt("Do it")
    await allow_all(here, session)
    return changes(session)[before:]


async def allow_all(here: Stage, session: Session) -> None:
    """Until nothing is being done any more."""
    answered = {""}

    def asked() -> list[ToolCallItem]:
        return [call for call in calls(session) if call.permission_id not in answered]

    while session.busy:
        await here.watcher.until(lambda: bool(asked()) or not session.busy)
        for call in asked():
            answered.add(call.permission_id)
            session.answer_permission(call.id, "allow_once")
    await here.idle(session)


def write(path: str, content: str) -> Call:
    return Call("write_file", {"path": path, "content": content})


def edit(path: str, old: str, new: str) -> Call:
    return Call("edit_file", {"path": path, "old_text": old, "new_text": new})


def run(command: str) -> Call:
    return Call("bash", {"command": command})
