"""A whole session as one text to keep or to show: Markdown for people, JSON Lines for programs.

Secrets of known shapes are taken out of both, since such a file is made to be passed on. Markdown has what the user saw: prompts, answers,
calls with their results, compactions. JSON Lines has every entry of the log.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal, TypeAlias

from ullage.context.blocks import AssistantBlock, Json, Text, Thinking, ToolUse
from ullage.context.calls import one_line
from ullage.context.compaction_entries import Compaction
from ullage.context.entries import Answer, AssistantReply, Logged, ToolReturned, TurnEnded, UserPrompt
from ullage.context.redact import redact
from ullage.store.encode import encode

ExportFormat: TypeAlias = Literal["markdown", "jsonl"]

INPUT_CHARACTERS = 200
"""Characters of a call with its input, in the line that names the call."""

_FENCE = re.compile(r"^ {0,3}(`{3,})", re.MULTILINE)


def exported(title: str, entries: Sequence[Logged], wanted: ExportFormat) -> str:
    """The session in that format. Making it takes as long as the log is: for another thread."""
    return "".join(_as_json_lines(entries) if wanted == "jsonl" else _as_markdown(title, entries))


def _as_json_lines(entries: Iterable[Logged]) -> Iterator[str]:
    for logged in entries:
        entry = _without_secrets(json.loads(encode(logged.entry)))
        yield json.dumps({"seq": logged.seq, "at": logged.at, "entry": entry}, ensure_ascii=False) + "\n"


def _without_secrets(value: Json) -> Json:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_without_secrets(each) for each in value]
    if isinstance(value, dict):
        return {key: _without_secrets(each) for key, each in value.items()}
    return value


def _as_markdown(title: str, entries: Iterable[Logged]) -> Iterator[str]:
    yield f"# {redact(one_line(title or 'New session', 200))}\n"
    inputs: dict[str, Mapping[str, Json]] = {}
    for logged in entries:
        part = _part(logged, inputs)
        if part:
            yield f"\n{redact(part)}\n"


def _part(logged: Logged, inputs: dict[str, Mapping[str, Json]]) -> str:
    """One entry as Markdown; empty if a reader has nothing of it. `inputs` are those of the calls that were made, by id."""
    match logged.entry:
        case UserPrompt() as prompt:
            attached = "".join(f"\n\nAttached: `{each.title}`" for each in prompt.attachments)
            return f"## You, {_when(logged.at)}\n\n{prompt.text}{attached}"
        case AssistantReply() as reply:
            inputs.update((block.id, block.input) for block in reply.blocks if isinstance(block, ToolUse))
            return "\n\n".join(part for block in reply.blocks if (part := _said(block)))
        case ToolReturned(answers=answers) if answers:
            return f"## You, {_when(logged.at)}\n\n" + "\n\n".join(map(_answered, answers))
        case ToolReturned() as result:
            given = ", ".join(f"{key}: {value}" for key, value in inputs.pop(result.tool_use_id, {}).items())
            called = one_line(f"{result.tool} {given}", INPUT_CHARACTERS)
            how = "refused" if result.refusal is not None else "failed" if result.is_error else ""
            return _folded(f"{called}{f' ({how})' if how else ''}", _fenced(result.content))
        case Compaction() as compaction:
            told = compaction.summarised.text if compaction.summarised is not None else ""
            sizes = f"{compaction.tokens_before:,} → {compaction.estimated_after:,} tokens"
            return _folded(f"Compacted: {sizes}", told) if told else f"*Compacted: {sizes}*"
        case TurnEnded(message=message) if message:
            return f"*{one_line(message, 400)}*"
        case _:
            return ""


def _said(block: AssistantBlock) -> str:
    if isinstance(block, Text):
        return block.text.strip()
    return _folded("Thinking", block.thinking) if isinstance(block, Thinking) and block.thinking.strip() else ""


def _answered(answer: Answer) -> str:
    """The agent's question as a quotation, then what the user answered."""
    asked = "\n".join(f"> {line}".rstrip() for line in answer.question.splitlines())
    chosen = "\n".join(f"- {one_line(label, INPUT_CHARACTERS)}" for label in answer.chosen)
    return "\n\n".join(part for part in (asked, chosen, answer.text) if part)


def _when(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _folded(title: str, text: str) -> str:
    """A part that is folded where Markdown is shown. The title is plain text."""
    plain = title.replace("&", "&amp;").replace("<", "&lt;")
    return f"<details><summary>{plain}</summary>\n\n{text}\n\n</details>"


def _fenced(text: str) -> str:
    """A code block that nothing in it can close."""
    longest = max((len(found[1]) for found in _FENCE.finditer(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text}\n{fence}"
