"""Asking the model for its part of the handoff, and judging what comes back. The wording is in `summary_prompt.md`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from ullage.context.blocks import AssistantBlock, Text, ToolUse
from ullage.context.quoting import HOW_IT_IS_QUOTED
from ullage.context.record.no_summary import SUBSTANCE, why_no_summary
from ullage.context.view.message import Message
from ullage.context.view.request import Request

BEGIN = "=== RECORD ==="
END = "=== END OF RECORD ==="
NO_ENTRY = 0
"""As the source of a block: it comes from no entry of the log."""

SHORTEST = 80
"""Characters. Less than that is no summary of anything that had to be summarised."""
CUT_OFF = ("max_tokens", "model_context_window_exceeded")


OTHER_FORM = "The model did not write in the form that was asked for"


@dataclass(frozen=True, slots=True)
class Form:
    """What a program can see of the form in which a summary was asked for."""

    marked: bool = False
    """Between `BEGIN` and `END`, as Ullage's own prompt asks."""
    sections: int = 0
    """How many headings are asked for; a reply with fewer than a third of them is none."""
    holds: str = ""
    """What stands in every answer; it may be short then."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A summary that cannot be used; `reason` says why, in words for the user."""

    reason: str


def summary_request(request: Request, prompt: str, focus: str) -> Request:
    """`request` with one more user text at its end that asks for the summary; nothing before it is changed.

    `prompt` as in `Asked`: empty for Ullage's own. Same system, tools and messages, and the same cache marks: so it is read from the
    cache that the last request filled. None is added for the new text, since nothing will ever read it again, and writing costs more
    than sending.
    """
    text = Text(asking(prompt, focus))
    messages = list(request.messages)
    if messages and messages[-1].role == "user":
        last = messages[-1]
        messages[-1] = replace(last, blocks=(*last.blocks, text), sources=(*last.sources, NO_ENTRY))
    else:
        messages.append(Message("user", (text,), (NO_ENTRY,)))
    return replace(request, messages=tuple(messages))


def small_request(request: Request, prompt: str, text: str, focus: str) -> Request:
    """A request of its own with nothing but `text` to read and what is asked of it; the system prompt stays, tools are not given."""
    block = Text(f"{HOW_IT_IS_QUOTED}\n\n{text}\n\n{asking(prompt, focus)}")
    return replace(request, tools=(), messages=(Message("user", (block,), (NO_ENTRY,)),), breakpoints=())


def checked_request(request: Request, summary: str, check: str) -> Request:
    """The request that gave `summary`, and a second question about it."""
    answer, question = Text(summary), Text(check)
    more = (Message("assistant", (answer,), (NO_ENTRY,)), Message("user", (question,), (NO_ENTRY,)))
    return replace(request, messages=(*request.messages, *more))


def asking(prompt: str, focus: str) -> str:
    """The words that ask for a summary."""
    wanted = focus.strip()
    if "{focus}" in prompt:
        return prompt.replace("{focus}", wanted or "nothing in particular")
    return (prompt or _prompt()) + (f"\n\nGive most room to this: {wanted}" if wanted else "")


def accept(blocks: Sequence[AssistantBlock], stop_reason: str, form: Form, question: str) -> str | Rejected:
    """The summary's text without its markers, or why it cannot be used.

    `question` are the words that ask for it. Whether the handoff that is made with it is shorter than what it stands for is for the caller
    to see.
    """
    if any(isinstance(block, ToolUse) for block in blocks):
        return Rejected("The model called a tool instead of writing the summary")
    if stop_reason in CUT_OFF:
        return Rejected("The model's summary was cut off before its end")
    if stop_reason == "refusal":
        return Rejected("The model declined to write the summary")
    said = "\n".join(block.text for block in blocks if isinstance(block, Text)).strip()
    if not said:
        return Rejected("The model's summary was empty")
    text = _between_markers(said) if form.marked else said
    if isinstance(text, Rejected):
        return text
    if form.marked and len(text) < SHORTEST:
        return Rejected("The model's summary was empty")
    why = why_no_summary(text, question, form.sections, 1 if form.holds else SUBSTANCE)
    if why is not None:
        return Rejected(f"The model {why}")
    return text if form.holds in text else Rejected(OTHER_FORM)


def _between_markers(said: str) -> str | Rejected:
    """From the first marker to the last one, so that a summary which speaks of markers stays whole; those in lines of their own count
    before any other. A beginning without an end was cut off; what has neither is no answer to what was asked."""
    begun = _line_of(BEGIN).search(said) or re.search(re.escape(BEGIN), said)
    rest = said[begun.end() :] if begun else said
    ends = [*_line_of(END).finditer(rest)] or [*re.finditer(re.escape(END), rest)]
    if not ends:
        return Rejected("The model's summary was cut off before its end" if begun else OTHER_FORM)
    return rest[: ends[-1].start()].strip()


def _line_of(marker: str) -> re.Pattern[str]:
    return re.compile(rf"^[ \t]*{re.escape(marker)}[ \t]*$", re.MULTILINE)


@cache
def _prompt() -> str:
    return files(__package__ or "ullage.context.record").joinpath("summary_prompt.md").read_text(encoding="utf-8").strip()
