"""Sessions of Gemini CLI: `~/.gemini/tmp/<project>/chats/session-*.jsonl`, before version 0.39 one document, `session-*.json`.

The format was taken from github.com/google-gemini/gemini-cli at 5411f113 (0.56.0-nightly): `packages/core/src/services/
chatRecordingTypes.ts` and `chatRecordingService.ts`, `core/geminiChat.ts`, `core/client.ts`, `core/logger.ts`,
`context/chatCompressionService.ts`; the document from f7449135^ (0.39.0-nightly). Saved chats (`checkpoint-*.json`) are read too: they have
the messages alone. Sub-agents have files of their own.

A line is a message, which is written again when it grows, or one that takes messages back (`$rewindTo`), or one that sets what is known of
the session (`$set`). The last may say all messages anew: so it does after a compaction, a clearing, or a call that failed. Then messages
that were kept come under new ids, and are known by what they say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from pathlib import Path

from ullage.context.blocks import Json
from ullage.replay.readers.conversation import Conversation
from ullage.replay.readers.flaws import ABORTED, CLEARED, KEPT_MESSAGES, NO_OBJECT, ROLLED_BACK, Tally, unknown
from ullage.replay.readers.gemini_messages import Message, message_of, turn_of
from ullage.replay.readers.values import JsonObject, as_list, as_object, as_text, printable
from ullage.replay.transcript import Transcript

_KINDS = frozenset({"user", "gemini", "info", "error", "warning"})
_SNAPSHOT = "<state_snapshot>"
"""Stands in the text that takes the place of what was compacted."""
_BY_THE_PROGRAM = re.compile(r"\s*(?:<session_context>|<hook_context>|This is the Gemini CLI\. We are setting up the context)")
_ROOT = ".project_root"
"""A file in the project's folder that has the path of the project; older versions name the folder by a hash of it alone."""


def is_line(value: JsonObject) -> bool:
    """Whether a line of a file shows that Gemini CLI wrote it."""
    if isinstance(value.get("projectHash"), str) and isinstance(value.get("sessionId"), str):
        return True
    if isinstance(value.get("$set"), dict) or isinstance(value.get("$rewindTo"), str):
        return True
    if value.get("role") in ("user", "model") and isinstance(value.get("parts"), list):
        return True
    return as_text(value.get("type")) in _KINDS and "content" in value and isinstance(value.get("id"), str) and "timestamp" in value


def read(lines: Iterable[JsonObject], tally: Tally, path: Path) -> tuple[Transcript, ...]:
    """The one session of a file. `tally` has what is wrong with the lines so far."""
    file = _File(tally)
    for value in lines:
        file.take(value)
    built = Conversation(tally, _project_root(path) or file.folder)
    for message in file.messages:
        _add(message, built, tally)
    tally.note("System prompt and tools are not in the sessions of Gemini CLI: the first request is larger than its messages by them")
    own = printable(file.session) or path.stem
    return (built.transcript(f"{path.parent.name}/{own}" if file.is_side else own, "gemini-cli", built.folder or file.project[:12]),)


def _project_root(path: Path) -> str:
    """The path of the project, where it is noted in one of the folders above; empty where it is not."""
    for folder in list(path.resolve().parents)[:4]:
        note = folder / _ROOT
        if note.is_symlink() or not note.is_file():
            continue  # a pipe would be waited for; a link would have another file told as the project
        try:
            with note.open(encoding="utf-8", errors="replace") as file:
                return printable(file.read(4_096).strip())
        except OSError:
            continue
    return ""


class _File:
    """The messages of a file, as far as its lines were read."""

    def __init__(self, tally: Tally) -> None:
        self.session = ""
        self.project = ""
        self.folder = ""
        self.is_side = False
        self._tally = tally
        self._messages: dict[str, Message] = {}
        self._restated: set[str] = set()
        """Ids under which messages were said anew."""
        self._cleared: set[str] = set()
        self._turns = 0

    @property
    def messages(self) -> Sequence[Message]:
        """In order; a compaction is one of them."""
        return tuple(self._messages.values())

    def take(self, value: JsonObject) -> None:
        """Reads one line."""
        if isinstance(value.get("$rewindTo"), str):
            self._rewind(as_text(value.get("$rewindTo")))
        elif isinstance(value.get("id"), str) and "type" in value:
            self._put(value)
        elif isinstance(value.get("$set"), dict):
            about = as_object(value.get("$set"))
            self._describe(about)
            if isinstance(about.get("messages"), list):
                self._say_anew(as_list(about.get("messages")))
        elif isinstance(value.get("parts"), list):
            self._turns += 1
            self._keep(turn_of(value, f"turn-{self._turns}", self._tally))
        else:
            name = next(iter(value), "")
            self._tally.count(unknown("lines", name), int(name.startswith("$")))
            self._describe(value)
            for each in as_list(value.get("messages")):
                self.take(as_object(each))

    def _describe(self, about: JsonObject) -> None:
        self.session = self.session or as_text(about.get("sessionId"))
        self.project = self.project or as_text(about.get("projectHash"))
        folders = [as_text(each) for each in as_list(about.get("directories"))]
        self.folder = self.folder or next(iter(folders), "")
        self.is_side |= about.get("kind") == "subagent"

    def _put(self, value: JsonObject) -> None:
        kind = as_text(value.get("type"))
        if kind not in _KINDS:
            self._tally.count(unknown("messages", kind))
        elif as_text(value.get("id")) not in self._restated:
            self._keep(message_of(value, self._tally))

    def _keep(self, message: Message) -> None:
        if _is_snapshot(message):
            message = message.as_compaction()
        self._messages[message.id] = message

    def _rewind(self, id: str) -> None:
        """Takes back that message and what follows; everything where there is none of that id, as the program itself does."""
        known = id in self._messages
        taken = [*takewhile(lambda each: each != id, reversed(self._messages)), *([id] if known else [])]
        self._tally.count(ROLLED_BACK, sum(self._messages[each].kind == "user" and bool(self._messages[each].said.text) for each in taken))
        for each in taken:
            del self._messages[each]

    def _say_anew(self, values: Sequence[Json]) -> None:
        self._tally.count(NO_OBJECT, sum(not isinstance(value, dict) for value in values))
        told = [message_of(value, self._tally) for value in map(as_object, values) if as_text(value.get("type")) in _KINDS]
        listed = {message.id for message in told}
        known: dict[tuple[object, ...], str] = {}
        for message in tuple(self._messages.values()):
            first = known.setdefault(message.identity, message.id)
            if message.id in listed and first not in listed:
                # Some clearings write the whole history once more as lines before they list it.
                self._restated.add(message.id)
                del self._messages[message.id]
        snapshot = next((message for message in told if _is_snapshot(message) and not self._knows(message)), None)
        if snapshot is None:
            self._take_back_unanswered(listed | {known[message.identity] for message in told if message.identity in known})
        kept = 0
        for before, message in zip([None, *told], told, strict=False):
            if self._knows(message):
                self._note_cleared(message)
            elif message.identity in known:
                self._restated.add(message.id)
                kept += 1
            elif before is not None and before is snapshot and not message.calls:
                self._restated.add(message.id)  # the model is made to say that it got the summary
            else:
                self._keep(message)
        if snapshot is not None:
            self._tally.count(KEPT_MESSAGES, int(kept > 0))

    def _knows(self, message: Message) -> bool:
        return message.id in self._messages or message.id in self._restated

    def _note_cleared(self, message: Message) -> None:
        was = self._messages.get(message.id)
        if was is None:
            return
        before: Mapping[str, int] = {id: len(said.text) for id, said, _ in was.results}
        for id, said, _ in message.results:
            if id not in self._cleared and before.get(id, 0) > len(said.text):
                self._cleared.add(id)
                self._tally.count(CLEARED)

    def _take_back_unanswered(self, listed: set[str]) -> None:
        """What the user said last is taken back where the call failed: then it is no longer listed, and nothing follows it."""
        for id, message in reversed(list(self._messages.items())):
            if id in listed or message.kind == "gemini":
                return
            if message.kind == "user" and not message.results:
                self._tally.count(ABORTED)
                del self._messages[id]


def _is_snapshot(message: Message) -> bool:
    return message.kind == "user" and _SNAPSHOT in message.said.text and not message.results


def _add(message: Message, built: Conversation, tally: Tally) -> None:
    match message.kind:
        case "gemini":
            calls = [built.call(call.id, call.name, call.input) for call in message.calls]
            built.reply([*message.thinking, *message.text_block(), *calls], message.model, message.usage, message.at, message.id)
            for call, use in zip(message.calls, calls, strict=True):
                if call.result is not None:
                    built.result(use.id, call.result, call.failed, call.at or message.at)
        case "user":
            for id, said, failed in message.results:
                built.result(id, said, failed, message.at, is_told_again=True)
            if _BY_THE_PROGRAM.match(message.said.text):
                built.notice(message.said, message.at)
            else:
                built.prompt(message.said, message.at, message.id)
        case "compaction":
            built.compaction(message.said.text, None, None, message.at)
        case _:
            if message.said.media_tokens:
                built.notice(message.said, message.at)  # what a tool gave that is no text is told as information
