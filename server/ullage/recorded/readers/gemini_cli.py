"""Sessions of Gemini CLI: `~/.gemini/tmp/<project>/chats/session-*.jsonl`, before version 0.39 one document, `session-*.json`.

The format was taken from github.com/google-gemini/gemini-cli at 5411f113 (0.56.0-nightly): `packages/core/src/services/
chatRecordingTypes.ts` and `chatRecordingService.ts`, `core/geminiChat.ts`, `core/client.ts`, `core/logger.ts`,
`context/chatCompressionService.ts`; the document from f7449135^ (0.39.0-nightly). Saved chats (`checkpoint-*.json`) are read too: they have
the messages alone. Sub-agents have files of their own.

A line is a message, which is written again when it grows, or one that takes messages back (`$rewindTo`), or one that sets what is known of
the session (`$set`). The last may say all messages anew: so it does after a compaction, a clearing, or a call that failed. Then messages
that were kept come under new ids, and are known by what they say.

The parts of a message are those of the Gemini API (`Part` of `@google/genai`). A tool call stands in its own list beside the text, with its
result; newer versions say the result once more, in a message of the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

from ullage.context.blocks import Json, Text, Thinking, Usage
from ullage.recorded.readers.conversation import NOTHING, RecordedText, TranscriptBuilder, joined
from ullage.recorded.readers.entries import IMAGES_NOTE, shown_document, shown_image
from ullage.recorded.readers.flaws import ABORTED, CLEARED, KEPT_MESSAGES, NO_OBJECT, ODD_MESSAGE, ROLLED_BACK, FlawTally, unknown
from ullage.recorded.readers.values import JsonObject, as_count, as_json_text, as_list, as_object, as_seconds, as_text, printable
from ullage.recorded.transcript import Transcript

_KINDS = frozenset({"user", "gemini", "info", "error", "warning"})
_SNAPSHOT = "<state_snapshot>"
"""A tag in each text that takes the place of what was compacted."""
_BY_THE_PROGRAM = re.compile(r"\s*(?:<session_context>|<hook_context>|This is the Gemini CLI\. We are setting up the context)")
_ROOT = ".project_root"
"""The name of the file in the project's folder that has the path of the project. Older versions only name the folder by a hash of it."""


def is_line(value: JsonObject) -> bool:
    """Whether a line of a file shows that Gemini CLI wrote it."""
    if isinstance(value.get("projectHash"), str) and isinstance(value.get("sessionId"), str):
        return True
    if isinstance(value.get("$set"), dict) or isinstance(value.get("$rewindTo"), str):
        return True
    if value.get("role") in ("user", "model") and isinstance(value.get("parts"), list):
        return True
    return as_text(value.get("type")) in _KINDS and "content" in value and isinstance(value.get("id"), str) and "timestamp" in value


def read(lines: Iterable[JsonObject], tally: FlawTally, path: Path) -> tuple[Transcript, ...]:
    """The one session of a file. `tally` has what is wrong with the lines so far."""
    file = _File(tally)
    for value in lines:
        file.take(value)
    built = TranscriptBuilder(tally, _project_root(path) or file.folder)
    for message in file.messages:
        _add(message, built)
    tally.note("System prompt and tools are not in the sessions of Gemini CLI: the first request is larger than its messages by them")
    own = printable(file.session) or path.stem
    return (built.transcript(f"{path.parent.name}/{own}" if file.is_side else own, "gemini-cli", built.folder or file.project[:12]),)


def _project_root(path: Path) -> str:
    """The path of the project, where it is noted in one of the folders above; empty if it is not."""
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

    def __init__(self, tally: FlawTally) -> None:
        self.session = ""
        self.project = ""
        self.folder = ""
        self.is_side = False
        self._tally = tally
        self._messages: dict[str, GeminiMessage] = {}
        self._restated: set[str] = set()
        """The ids under which messages were said anew."""
        self._cleared: set[str] = set()
        self._turns = 0

    @property
    def messages(self) -> Sequence[GeminiMessage]:
        """The messages in their order, compactions among them."""
        return tuple(self._messages.values())

    def take(self, value: JsonObject) -> None:
        """Takes in one line of the file."""
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

    def _keep(self, message: GeminiMessage) -> None:
        if _is_snapshot(message):
            message = message.as_compaction()
        self._messages[message.id] = message

    def _rewind(self, id: str) -> None:
        """Takes back the message with that id and all after it. Takes back all messages where none has the id, as the program itself
        does."""
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

    def _knows(self, message: GeminiMessage) -> bool:
        return message.id in self._messages or message.id in self._restated

    def _note_cleared(self, message: GeminiMessage) -> None:
        was = self._messages.get(message.id)
        if was is None:
            return
        before: Mapping[str, int] = {id: len(said.text) for id, said, _ in was.results}
        for id, said, _ in message.results:
            if id not in self._cleared and before.get(id, 0) > len(said.text):
                self._cleared.add(id)
                self._tally.count(CLEARED)

    def _take_back_unanswered(self, listed: set[str]) -> None:
        """Takes back what the user said last if its call failed: then it is not among the `listed` ids, and nothing follows it."""
        for id, message in reversed(list(self._messages.items())):
            if id in listed or message.kind == "gemini":
                return
            if message.kind == "user" and not message.results:
                self._tally.count(ABORTED)
                del self._messages[id]


def _is_snapshot(message: GeminiMessage) -> bool:
    return message.kind == "user" and _SNAPSHOT in message.said.text and not message.results


def _add(message: GeminiMessage, built: TranscriptBuilder) -> None:
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


# What messages hold

Result = tuple[str, RecordedText, bool]
"""The id of a call, the text that it gave, and whether it failed."""

_FAILED = frozenset({"error", "cancelled"})


@dataclass(frozen=True, slots=True)
class GeminiCall:
    """A tool call; `result` is None if none stands beside it. `at` is Unix seconds."""

    id: str
    name: str
    input: Json
    result: RecordedText | None = None
    failed: bool = False
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class GeminiMessage:
    """A message. `results` are the results of calls that its own content tells, or that stand beside its calls."""

    id: str
    kind: str
    at: float
    said: RecordedText
    model: str = ""
    usage: Usage | None = None
    thinking: tuple[Thinking, ...] = ()
    calls: tuple[GeminiCall, ...] = ()
    results: tuple[Result, ...] = ()

    @property
    def identity(self) -> tuple[object, ...]:
        """What stays the same when the message is said anew under another id."""
        of_the_model = self.kind == "gemini"
        ids = [call.id or call.name for call in self.calls] if of_the_model else [id for id, _, _ in self.results]
        return (of_the_model, self.said.text.strip(), tuple(ids))

    def text_block(self) -> Sequence[Text]:
        """The message's text as a block; empty if it has no text."""
        return (Text(self.said.text),) if self.said.text else ()

    def as_compaction(self) -> GeminiMessage:
        """The message as a compaction: the text that took the place of everything before it."""
        return replace(self, kind="compaction")


def message_of(value: JsonObject, tally: FlawTally) -> GeminiMessage:
    """The message that a line of a session tells."""
    kind = as_text(value.get("type"))
    parts = _Parts(value.get("content"), tally)
    calls = tuple(_call(as_object(each), tally) for each in as_list(value.get("toolCalls"))) or tuple(parts.calls)
    thoughts = (as_object(each) for each in as_list(value.get("thoughts")))
    told = [f"{as_text(each.get('subject'))}\n{as_text(each.get('description'))}".strip() for each in thoughts] or parts.thoughts
    results = tuple((call.id, call.result, call.failed) for call in calls if call.result is not None)
    return GeminiMessage(
        id=as_text(value.get("id")),
        kind=kind,
        at=as_seconds(value.get("timestamp")),
        said=parts.said(),
        model=as_text(value.get("model")),
        usage=_usage(as_object(value.get("tokens"))),
        thinking=tuple(Thinking(each, "") for each in told) if kind == "gemini" else (),
        calls=calls if kind == "gemini" else (),
        results=results if kind == "gemini" else tuple(parts.results),
    )


def turn_of(value: JsonObject, id: str, tally: FlawTally) -> GeminiMessage:
    """The message that a turn of a saved chat tells, which has only a role and parts."""
    parts = _Parts(value.get("parts"), tally)
    if value.get("role") != "model":
        return GeminiMessage(id, "user", 0.0, parts.said(), results=tuple(parts.results))
    thinking = tuple(Thinking(each, "") for each in parts.thoughts)
    return GeminiMessage(id, "gemini", 0.0, parts.said(), thinking=thinking, calls=tuple(parts.calls))


class _Parts:
    """The contents of a list of parts, of one part, or of plain text."""

    def __init__(self, content: Json, tally: FlawTally) -> None:
        self._said: list[RecordedText] = []
        self.thoughts: list[str] = []
        self.calls: list[GeminiCall] = []
        self.results: list[Result] = []
        self._tally = tally
        for part in content if isinstance(content, list) else [content]:
            self._take(part)

    def said(self) -> RecordedText:
        """The text of the parts, put together without anything between them; an image has a line of its own."""
        text = "".join(f"\n{each.text}\n" if each.media_tokens else each.text for each in self._said).strip("\n")
        return RecordedText(text, sum(each.media_tokens for each in self._said))

    def _take(self, value: Json) -> None:
        if isinstance(value, str):
            self._said.append(RecordedText(value))
            return
        part = as_object(value)
        if isinstance(part.get("text"), str):
            if part.get("thought") is True:
                self.thoughts.append(as_text(part.get("text")))
            else:
                self._said.append(RecordedText(as_text(part.get("text"))))
        elif isinstance(part.get("functionCall"), dict):
            call = as_object(part.get("functionCall"))
            self.calls.append(GeminiCall(as_text(call.get("id")), as_text(call.get("name")), call.get("args")))
        elif isinstance(part.get("functionResponse"), dict):
            self.results.append(_response(as_object(part.get("functionResponse")), self._tally))
        elif isinstance(part.get("inlineData"), dict):
            self._said.append(_media(as_object(part.get("inlineData")), self._tally))
        elif part:
            name = next(iter(part), "")
            self._tally.count(unknown("parts of messages", name), int(not name.startswith("thought")))
        else:
            self._tally.count(ODD_MESSAGE, int(value is not None))


def _call(value: JsonObject, tally: FlawTally) -> GeminiCall:
    failed = as_text(value.get("status")) in _FAILED
    id, result = as_text(value.get("id")), None
    if value.get("result") is not None:
        parts = _Parts(value.get("result"), tally)
        said = [*(said for _, said, _ in parts.results), parts.said()]
        result = joined([each for each in said if each.text or each.media_tokens])
        failed |= any(each for _, _, each in parts.results)
    return GeminiCall(id, as_text(value.get("name")), value.get("args"), result, failed, as_seconds(value.get("timestamp")))


def _response(value: JsonObject, tally: FlawTally) -> Result:
    """The result that a part tells of a call. Its `response` has `output` or `error` where it is a tool of Gemini CLI."""
    response = as_object(value.get("response"))
    told = next((response[name] for name in ("output", "error", "result", "content") if name in response), None)
    text = told if isinstance(told, str) else as_json_text(dict(response)) if response else ""
    more = _Parts(value.get("parts"), tally).said()
    return as_text(value.get("id")), joined([RecordedText(text), more]), "error" in response and "output" not in response


def _media(data: JsonObject, tally: FlawTally) -> RecordedText:
    kind = as_text(data.get("mimeType"))
    if kind == "application/pdf":
        shown = shown_document(as_text(data.get("data")))
    elif kind.startswith("image/"):
        tally.note(IMAGES_NOTE)
        shown = shown_image(as_text(data.get("data")), old_model=False)
    else:
        tally.count(unknown("parts of messages", kind))
        return NOTHING
    return RecordedText(shown.words, shown.tokens)


def _usage(tokens: JsonObject) -> Usage | None:
    """The tokens of one call; None if there are none. `input` includes those from the cache; the tokens of thinking and of tools are told
    beside."""
    sent, got, read, thought, by_tools = (as_count(tokens.get(name)) or 0 for name in ("input", "output", "cached", "thoughts", "tool"))
    usage = Usage(max(sent - read, 0) + by_tools, got + thought, min(read, sent))
    return usage if usage.context_tokens > 0 else None
