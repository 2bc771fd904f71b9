"""What the messages of Gemini CLI hold, as values. The parts are those of the Gemini API (`Part` of `@google/genai`).

A tool call stands in its own list beside the text, with its result; newer versions say the result once more, in a message of the user.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ullage.context.blocks import Json, Text, Thinking, Usage
from ullage.replay.readers import images
from ullage.replay.readers.conversation import NOTHING, Said, joined
from ullage.replay.readers.flaws import ODD_MESSAGE, Tally, unknown
from ullage.replay.readers.values import JsonObject, as_count, as_json_text, as_list, as_object, as_seconds, as_text

Result = tuple[str, Said, bool]
"""The id of a call, what it gave, and whether it failed."""

_FAILED = frozenset({"error", "cancelled"})


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool; `result` is None where it is not told beside it."""

    id: str
    name: str
    input: Json
    result: Said | None = None
    failed: bool = False
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class Message:
    """A message. `results` are those that it tells in its own content or beside its calls."""

    id: str
    kind: str
    at: float
    said: Said
    model: str = ""
    usage: Usage | None = None
    thinking: tuple[Thinking, ...] = ()
    calls: tuple[Call, ...] = ()
    results: tuple[Result, ...] = ()

    @property
    def identity(self) -> tuple[object, ...]:
        """What is the same when it is said anew under another id."""
        of_the_model = self.kind == "gemini"
        ids = [call.id or call.name for call in self.calls] if of_the_model else [id for id, _, _ in self.results]
        return (of_the_model, self.said.text.strip(), tuple(ids))

    def text_block(self) -> Sequence[Text]:
        """Its text as a block, where it has one."""
        return (Text(self.said.text),) if self.said.text else ()

    def as_compaction(self) -> Message:
        """The same, as what took the place of what was before."""
        return replace(self, kind="compaction")


def message_of(value: JsonObject, tally: Tally) -> Message:
    """A line of a session."""
    kind = as_text(value.get("type"))
    parts = _Parts(value.get("content"), tally)
    calls = tuple(_call(as_object(each), tally) for each in as_list(value.get("toolCalls"))) or tuple(parts.calls)
    thoughts = (as_object(each) for each in as_list(value.get("thoughts")))
    told = [f"{as_text(each.get('subject'))}\n{as_text(each.get('description'))}".strip() for each in thoughts] or parts.thoughts
    results = tuple((call.id, call.result, call.failed) for call in calls if call.result is not None)
    return Message(
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


def turn_of(value: JsonObject, id: str, tally: Tally) -> Message:
    """A turn of a saved chat: role and parts, nothing else."""
    parts = _Parts(value.get("parts"), tally)
    if value.get("role") != "model":
        return Message(id, "user", 0.0, parts.said(), results=tuple(parts.results))
    thinking = tuple(Thinking(each, "") for each in parts.thoughts)
    return Message(id, "gemini", 0.0, parts.said(), thinking=thinking, calls=tuple(parts.calls))


class _Parts:
    """What a list of parts says; it may be one part, or plain text."""

    def __init__(self, content: Json, tally: Tally) -> None:
        self._said: list[Said] = []
        self.thoughts: list[str] = []
        self.calls: list[Call] = []
        self.results: list[Result] = []
        self._tally = tally
        for part in content if isinstance(content, list) else [content]:
            self._take(part)

    def said(self) -> Said:
        """The text. Parts of one text stand without anything between them; an image has a line of its own."""
        text = "".join(f"\n{each.text}\n" if each.media_tokens else each.text for each in self._said).strip("\n")
        return Said(text, sum(each.media_tokens for each in self._said))

    def _take(self, value: Json) -> None:
        if isinstance(value, str):
            self._said.append(Said(value))
            return
        part = as_object(value)
        if isinstance(part.get("text"), str):
            if part.get("thought") is True:
                self.thoughts.append(as_text(part.get("text")))
            else:
                self._said.append(Said(as_text(part.get("text"))))
        elif isinstance(part.get("functionCall"), dict):
            call = as_object(part.get("functionCall"))
            self.calls.append(Call(as_text(call.get("id")), as_text(call.get("name")), call.get("args")))
        elif isinstance(part.get("functionResponse"), dict):
            self.results.append(_response(as_object(part.get("functionResponse")), self._tally))
        elif isinstance(part.get("inlineData"), dict):
            self._said.append(_media(as_object(part.get("inlineData")), self._tally))
        elif part:
            name = next(iter(part), "")
            self._tally.count(unknown("parts of messages", name), int(not name.startswith("thought")))
        else:
            self._tally.count(ODD_MESSAGE, int(value is not None))


def _call(value: JsonObject, tally: Tally) -> Call:
    failed = as_text(value.get("status")) in _FAILED
    id, result = as_text(value.get("id")), None
    if value.get("result") is not None:
        parts = _Parts(value.get("result"), tally)
        said = [*(said for _, said, _ in parts.results), parts.said()]
        result = joined([each for each in said if each.text or each.media_tokens])
        failed |= any(each for _, _, each in parts.results)
    return Call(id, as_text(value.get("name")), value.get("args"), result, failed, as_seconds(value.get("timestamp")))


def _response(value: JsonObject, tally: Tally) -> Result:
    """The result of a call. Its `response` has `output` or `error` where it is a tool of Gemini CLI."""
    response = as_object(value.get("response"))
    told = next((response[name] for name in ("output", "error", "result", "content") if name in response), None)
    text = told if isinstance(told, str) else as_json_text(dict(response)) if response else ""
    more = _Parts(value.get("parts"), tally).said()
    return as_text(value.get("id")), joined([Said(text), more]), "error" in response and "output" not in response


def _media(data: JsonObject, tally: Tally) -> Said:
    kind = as_text(data.get("mimeType"))
    if kind == "application/pdf":
        shown = images.document(as_text(data.get("data")))
    elif kind.startswith("image/"):
        tally.note(images.NOTE)
        shown = images.image(as_text(data.get("data")), old_model=False)
    else:
        tally.count(unknown("parts of messages", kind))
        return NOTHING
    return Said(shown.words, shown.tokens)


def _usage(tokens: JsonObject) -> Usage | None:
    """The tokens of one call. `input` has those from the cache in it; what was thought and what tools took is told beside."""
    sent, got, read, thought, by_tools = (as_count(tokens.get(name)) or 0 for name in ("input", "output", "cached", "thoughts", "tool"))
    usage = Usage(max(sent - read, 0) + by_tools, got + thought, min(read, sent))
    return usage if usage.context_tokens > 0 else None
