"""What the messages of OpenCode hold, as the entries of a session.

The format was taken from github.com/anomalyco/opencode: messages with parts from `packages/opencode/src/session/message-v2.ts` (c4794191),
what the compaction writes from `compaction.ts` (001aa6cc); the messages of newer versions, which hold their parts themselves, from
`packages/schema/src/session-message.ts` (0ceb3dd5), `tool.ts` (0f131b3e) and `prompt.ts` (06af4edd).

In the older form a message of the user says that a compaction is asked for, and the reply to it is the summary. One message of the model
may be several calls of it, each between the parts `step-start` and `step-finish`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ullage.context.blocks import AssistantBlock, Json, Text, Thinking, ToolUse, Usage
from ullage.recorded.readers.conversation import NOTHING, RecordedText, TranscriptBuilder, joined
from ullage.recorded.readers.entries import IMAGES_NOTE, shown_document, shown_image
from ullage.recorded.readers.flaws import ABORTED, CLEARED, KEPT_MESSAGES, ODD_MESSAGE, PROVIDER_TOOL, ROLLED_BACK, FlawTally, unknown
from ullage.recorded.readers.values import JsonObject, as_count, as_list, as_object, as_seconds, as_text

_SILENT_PARTS = frozenset({"snapshot", "patch", "agent", "retry", "step-start", "step-finish"})
_SILENT = frozenset({"agent-switched", "model-switched", "location-switched", "idle"})
_AS_TEXT = frozenset({"text/plain", "application/x-directory"})
"""Types of files whose text stands in a part of its own."""


class Messages:
    """Takes in the messages of a session in their order. The user took back those from the id `taken_back_from` on (empty: none)."""

    def __init__(self, conversation: TranscriptBuilder, tally: FlawTally, taken_back_from: str) -> None:
        self.conversation = conversation
        self._tally = tally
        self._taken_back_from = taken_back_from
        self._is_taken_back = False
        self._asked: JsonObject | None = None
        """The message that asked for a compaction, until the summary comes; None if none is awaited."""
        self._asked_after = 0

    def take(self, message: JsonObject, parts: Sequence[JsonObject]) -> None:
        """Takes in a message of the older form, with its parts."""
        if self._leaves_out(message, as_text(message.get("role"))):
            return
        match as_text(message.get("role")):
            case "user":
                self._take_words(message, parts)
            case "assistant" if message.get("summary") is True:
                self._take_summary(message, parts)
            case "assistant":
                self._take_reply(message, parts)
            case "":
                self._tally.count(ODD_MESSAGE, int(bool(message.keys() - {"id"})))
            case role:
                self._tally.count(unknown("messages", role))

    def settle(self) -> None:
        """Counts a compaction that was asked for and never came as broken off. Is called after the last message."""
        self._tally.count(ABORTED, int(self._asked is not None))
        self._asked = None

    def _leaves_out(self, message: JsonObject, role: str) -> bool:
        self._is_taken_back |= bool(self._taken_back_from) and message.get("id") == self._taken_back_from
        self._tally.count(ROLLED_BACK, int(self._is_taken_back and role == "user"))
        return self._is_taken_back

    def _take_words(self, message: JsonObject, parts: Sequence[JsonObject]) -> None:
        at = _created(message)
        for part in parts:
            match as_text(part.get("type")):
                case "text" if part.get("ignored") is True:
                    pass
                case "text" if part.get("synthetic") is True:
                    self.conversation.notice(RecordedText(as_text(part.get("text"))), at)
                case "text":
                    self.conversation.prompt(RecordedText(as_text(part.get("text"))), at)
                case "file" if as_text(part.get("mime")) not in _AS_TEXT:
                    self.conversation.prompt(self._media(part.get("mime"), part.get("url")), at)
                case "compaction":
                    self._tally.count(ABORTED, int(self._asked is not None))
                    self._asked, self._asked_after = part, self.conversation.length
                case "subtask":
                    self.conversation.prompt(RecordedText(as_text(part.get("prompt"))), at)
                case kind:
                    self._tally.count(unknown("parts of messages", kind), int(kind not in {*_SILENT_PARTS, "file", "reasoning"}))

    def _take_summary(self, message: JsonObject, parts: Sequence[JsonObject]) -> None:
        asked, self._asked = self._asked, None
        summary = "\n\n".join(as_text(part.get("text")) for part in parts if part.get("type") == "text")
        if message.get("error") is not None or not summary:
            self._tally.count(ABORTED)
            return
        automatic = None if asked is None or not isinstance(asked.get("auto"), bool) else asked.get("auto") is True
        self._tally.count(KEPT_MESSAGES, int(asked is not None and bool(asked.get("tail_start_id"))))
        after = None if asked is None else self._asked_after
        usage = _usage(as_object(message.get("tokens")))
        self.conversation.compaction(summary, automatic, None, _created(message), after=after, usage=usage)

    def _take_reply(self, message: JsonObject, parts: Sequence[JsonObject]) -> None:
        self.conversation.folder = self.conversation.folder or as_text(as_object(message.get("path")).get("cwd"))
        steps = _steps(parts)
        self._tally.count(ABORTED, int(not parts and message.get("error") is not None))
        for step in steps:
            finish = next((part for part in step if part.get("type") == "step-finish"), None)
            counts: JsonObject = finish if finish is not None else message if len(steps) == 1 else {}
            usage = _usage(as_object(counts.get("tokens")))
            blocks = [block for part in step for block in self._blocks(part)]
            at = _ended(step) or as_seconds(as_object(message.get("time")).get("completed")) or _created(message)
            self.conversation.reply(blocks, as_text(message.get("modelID")), usage, at)
            for part in step:
                if part.get("type") == "tool":
                    self._take_result(as_text(part.get("callID")), as_object(part.get("state")), at)

    def _blocks(self, part: JsonObject) -> Sequence[AssistantBlock]:
        match as_text(part.get("type")):
            case "text":
                return () if part.get("ignored") is True else (Text(as_text(part.get("text"))),)
            case "reasoning":
                signed = as_object(as_object(part.get("metadata")).get("anthropic")).get("signature")
                return (Thinking(as_text(part.get("text")), as_text(signed)),)
            case "tool":
                return (self._call(part, as_text(part.get("callID")), as_text(part.get("tool"))),)
            case "file":
                return (Text(self._media(part.get("mime"), part.get("url")).text),)
            case kind:
                self._tally.count(unknown("parts of messages", kind), int(kind not in _SILENT_PARTS))
                return ()

    def _call(self, part: JsonObject, id: str, name: str) -> ToolUse:
        by_provider = part.get("executed") is True or as_object(part.get("metadata")).get("providerExecuted") is True
        self._tally.count(PROVIDER_TOOL, int(by_provider))
        return self.conversation.call(id, name, as_object(part.get("state")).get("input"))

    def _take_result(self, id: str, state: JsonObject, at: float) -> None:
        time = as_object(state.get("time"))
        at = as_seconds(time.get("end")) or at
        match as_text(state.get("status")):
            case "completed":
                self._tally.count(CLEARED, int(bool(time.get("compacted"))))
                told = [self._media(each.get("mime"), each.get("url")) for each in map(as_object, as_list(state.get("attachments")))]
                self.conversation.result(id, joined([RecordedText(as_text(state.get("output"))), *self._content(state), *told]), False, at)
            case "error":
                error = state.get("error")
                text = error if isinstance(error, str) else as_text(as_object(error).get("message"))
                self.conversation.result(id, joined([*self._content(state), RecordedText(text)]), True, at)
            case _:
                pass  # the call never ended

    def _content(self, state: JsonObject) -> Sequence[RecordedText]:
        """What a tool gave back, in the newer form."""
        return [
            RecordedText(as_text(each.get("text"))) if each.get("type") == "text" else self._media(each.get("mime"), each.get("uri"))
            for each in map(as_object, as_list(state.get("content")))
        ]

    def _media(self, mime: Json, url: Json) -> RecordedText:
        """The words and the tokens for a file that the model is shown. They tell only what the address itself holds."""
        kind, (head, _, data) = as_text(mime), as_text(url).partition(",")
        if kind.startswith("image/"):
            self._tally.note(IMAGES_NOTE)
            shown = shown_image(data if head.endswith(";base64") else "", old_model=False)
            return RecordedText(shown.words, shown.tokens)
        if kind == "application/pdf":
            shown = shown_document(data)
            return RecordedText(shown.words, shown.tokens)
        self._tally.count(unknown("files", kind), int(bool(kind) and kind not in _AS_TEXT))
        return NOTHING

    # The newer form

    def take_new(self, message: JsonObject) -> None:
        """Takes in a message of the newer form."""
        kind, at = as_text(message.get("type")), _created(message)
        if self._leaves_out(message, kind):
            return
        match kind:
            case "user":
                self.conversation.prompt(RecordedText(as_text(message.get("text"))), at)
                for file in map(as_object, as_list(message.get("files"))):
                    self.conversation.prompt(self._media(file.get("mime"), file.get("uri")), at)
            case "synthetic" | "system" | "skill":
                self.conversation.notice(RecordedText(as_text(message.get("text"))), at)
            case "shell":
                output = message.get("output")
                printed = output if isinstance(output, str) else as_text(as_object(output).get("output"))
                self.conversation.notice(RecordedText(f"$ {as_text(message.get('command'))}\n{printed}"), at)
            case "assistant":
                self._take_new_reply(message, at)
            case "compaction" if message.get("status", "completed") == "completed":
                self._tally.count(KEPT_MESSAGES, int(bool(message.get("recent"))))
                automatic = {"auto": True, "manual": False}.get(as_text(message.get("reason")))
                usage = _usage(as_object(message.get("tokens")))
                self.conversation.compaction(as_text(message.get("summary")), automatic, None, at, usage=usage)
            case "compaction":
                self._tally.count(ABORTED)
            case _:
                self._tally.count(unknown("messages", kind), int(kind not in _SILENT))

    def _take_new_reply(self, message: JsonObject, at: float) -> None:
        content = [as_object(part) for part in as_list(message.get("content"))]
        self._tally.count(ABORTED, int(not content and message.get("error") is not None))
        blocks: list[AssistantBlock] = []
        for part in content:
            if part.get("type") == "tool":
                blocks.append(self._call(part, as_text(part.get("id")), as_text(part.get("name"))))
            else:
                blocks.extend(self._blocks(part))
        at = as_seconds(as_object(message.get("time")).get("completed")) or at
        model = as_text(as_object(message.get("model")).get("id"))
        self.conversation.reply(blocks, model, _usage(as_object(message.get("tokens"))), at)
        for part in content:
            if part.get("type") == "tool":
                self._tally.count(CLEARED, int(bool(as_object(part.get("time")).get("pruned"))))
                ended = as_seconds(as_object(part.get("time")).get("completed"))
                self._take_result(as_text(part.get("id")), as_object(part.get("state")), ended or at)


def _steps(parts: Sequence[JsonObject]) -> Sequence[Sequence[JsonObject]]:
    """The parts of a message, grouped by the call of the model that they belong to."""
    steps: list[list[JsonObject]] = []
    for part in parts:
        if not steps or part.get("type") == "step-start" or steps[-1][-1].get("type") == "step-finish":
            steps.append([])
        steps[-1].append(part)
    return [step for step in steps if any(part.get("type") not in _BOUNDS for part in step)]


_BOUNDS = ("step-start", "snapshot", "patch", "retry")


def _created(message: JsonObject) -> float:
    return as_seconds(as_object(message.get("time")).get("created"))


def _ended(step: Sequence[JsonObject]) -> float:
    """When the model had finished its part of the step (Unix seconds): the first of its tool calls began then. 0.0 if there is none."""
    return next((at for part in step if (at := as_seconds(as_object(as_object(part.get("state")).get("time")).get("start")))), 0.0)


def _usage(tokens: JsonObject) -> Usage | None:
    """The tokens of one call; None if there are none. `input` leaves out what was cached. `total` shows whether `output` includes
    thinking."""
    cache = as_object(tokens.get("cache"))
    sent, got, thought = (as_count(tokens.get(name)) or 0 for name in ("input", "output", "reasoning"))
    read, written = (as_count(cache.get(name)) or 0 for name in ("read", "write"))
    total = as_count(tokens.get("total"))
    given = got + thought if total is None or total >= sent + read + written + got + thought else got
    usage = Usage(sent, given, read, written)
    return usage if usage.context_tokens > 0 else None
