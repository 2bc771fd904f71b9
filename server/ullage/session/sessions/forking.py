"""Forking a session: a new one with what was said in another, up to a place in it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial

from ullage.context.entries import UserPrompt
from ullage.session.attachments import Ref, ref_of
from ullage.session.errors import SessionError, refusing
from ullage.session.history.places import ForkPlace, fork_place
from ullage.session.long_work import patiently, patiently_at_once
from ullage.session.session import Session
from ullage.session.sessions.open_sessions import OpenSessions
from ullage.session.surroundings import Surroundings
from ullage.session.timeline.shown_entries import title_of_fork
from ullage.store.errors import ForeignSession
from ullage.store.origins import is_foreign


@dataclass(frozen=True, slots=True)
class Fork:
    """A session that was forked. `prompt` is the one that it was forked before, None if it was forked behind something; `refs` is what was
    attached to that and can be again."""

    session: Session
    prompt: UserPrompt | None
    refs: tuple[Ref, ...]


async def fork_session(around: Surroundings, opened: OpenSessions, session_id: str, item_id: str | None) -> Fork:
    """Makes a new session with what was said in that one, whoever has it open: all by now, or up to the place of an item (`fork_place`).

    Raises `SessionError`.
    """
    log = around.store
    async with opened.one_opens:
        with refusing():
            if is_foreign(session_id):
                raise ForeignSession(session_id)
            await asyncio.to_thread(log.elsewhere.bring, session_id)
            place = None if item_id is None else await _place(around, opened, session_id, item_id)
            titles = {record.id: record.title for record in log.sessions()}
            title = title_of_fork(titles.get(session_id, ""), titles.values())
            through = None if place is None else place.through
            record = await patiently(lambda: asyncio.to_thread(log.fork, session_id, through, title, around.clock()))
            for kind in ("model", "effort", "worktree"):
                chosen = log.recalled(f"{kind}:{session_id}")
                if chosen is not None:
                    await patiently_at_once(partial(log.remember, f"{kind}:{record.id}", chosen))
        session = await opened.make(record.id)
    prompt = None if place is None else place.prompt
    found = (ref_of(attachment, around.folders) for attachment in (prompt.attachments if prompt else ()))
    return Fork(session, prompt, tuple(ref for ref in found if ref is not None))


async def _place(around: Surroundings, opened: OpenSessions, session_id: str, item_id: str) -> ForkPlace:
    if session_id in opened:
        entries = opened.get(session_id).entries
    else:
        entries = await asyncio.to_thread(lambda: list(around.store.entries(session_id)))
    place = await asyncio.to_thread(fork_place, entries, item_id)
    if place is None:
        raise SessionError("no_such_item", "This message cannot be forked from: the conversation does not hold it yet")
    return place
