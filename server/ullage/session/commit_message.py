"""The message of a commit, written by the session's model in a request of its own. The conversation is neither sent nor touched."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ullage.context.blocks import Message, SystemPart, Text
from ullage.context.commit_prompt import SYSTEM, NewFile, diff_without, message_in, question
from ullage.context.view.request import Request
from ullage.models.errors import ModelError
from ullage.models.model import Model, ModelCard, Reply, Retrying
from ullage.session.errors import SessionError
from ullage.tools.rules.reading import ReadRules
from ullage.workspace.files import WorkspaceFiles
from ullage.workspace.folders import OutsideWorkspace
from ullage.workspace.text_file import FileTooLarge, NotText

SECONDS = 90.0
"""Seconds that the whole message may take: the user looks at an empty box meanwhile."""
ATTEMPTS = 3
"""Calls for one message; a busy endpoint is not waited for long."""
OUTPUT_TOKENS = 6_000
"""A message takes some hundred; what a model thinks before it is counted, too."""
MOST_NEW_FILES = 30
"""Most files that are shown of those that git does not know yet; the names of the others are left out, too."""


@dataclass(frozen=True, slots=True)
class Changed:
    """What a commit would hold: a diff as git writes it, files that git does not know yet, and messages of earlier commits."""

    diff: str
    new_files: Sequence[Path] = ()
    recent: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Written:
    """A message, and what it cost in dollars; None if prices are not known."""

    text: str
    cost: float | None


async def write_commit_message(changed: Changed, model: Model, card: ModelCard, rules: ReadRules, files: WorkspaceFiles) -> Written:
    """Has the model write the message. What rules refuse to have read is not in the question.

    Raises `SessionError`, in words for the user. Cancelling ends the call at once.
    """
    new_files = [file for path in changed.new_files[:MOST_NEW_FILES] if (file := await _new_file(path, rules, files)) is not None]
    if not changed.diff.strip() and not new_files:
        raise SessionError("invalid", "There is nothing to commit: no file is changed")
    told = question(diff_without(changed.diff, rules.refuses_in_diff), new_files, changed.recent)
    request = Request((SystemPart("system", SYSTEM),), (), (Message("user", (Text(told),), (0,)),), ())
    reply = await _asked(model, request, min(OUTPUT_TOKENS, card.max_output))
    message = message_in("".join(block.text for block in reply.blocks if isinstance(block, Text)))
    if not message or reply.stop_reason not in ("end_turn", "stop_sequence"):
        raise NoMessage(card.cost(reply.usage))
    return Written(message, card.cost(reply.usage))


class NoMessage(SessionError):
    """The model answered, and has to be paid, but wrote no message."""

    def __init__(self, cost: float | None) -> None:
        super().__init__("endpoint_failed", "The model wrote no commit message. Try again, or write it yourself")
        self.cost = cost


async def _new_file(path: Path, rules: ReadRules, files: WorkspaceFiles) -> NewFile | None:
    """A file that git does not know yet, for the question; its text is empty if a rule refuses it, or it cannot be read. None if the file
    lies outside the workspace or is gone."""
    folders = rules.folders
    try:
        inside = folders.resolve(str(path))
        if rules.refusing(inside, str(path)) is not None:
            return NewFile(folders.show(path), "")
        return NewFile(folders.show(inside), (await files.read(inside)).text)
    except (OutsideWorkspace, FileNotFoundError):
        return None
    except (NotText, FileTooLarge, OSError):
        return NewFile(folders.show(path), "")


async def _asked(model: Model, request: Request, tokens: int) -> Reply:
    reply: Reply | None = None
    try:
        async with asyncio.timeout(SECONDS):
            async for event in model.stream(request, tokens):
                if isinstance(event, Retrying) and event.attempt > ATTEMPTS:
                    raise SessionError("endpoint_failed", f"The model could not write the commit message: {event.reason}")
                if isinstance(event, Reply):
                    reply = event
    except TimeoutError:
        raise SessionError("endpoint_failed", f"The model took more than {SECONDS:.0f} s over the commit message") from None
    except ModelError as error:
        raise SessionError("endpoint_failed", f"The model could not write the commit message: {error}") from error
    if reply is None:
        raise SessionError("endpoint_failed", "The commit message ended before it was whole")
    return reply
