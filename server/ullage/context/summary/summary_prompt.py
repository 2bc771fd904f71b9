"""Asking the model for its part of the summary, and judging what comes back. The wording is in `summary_prompt.md`.

A reply may be no summary: an echo, an apology, JSON, headings with "none" under each of them. A reply that is taken for a summary replaces
the conversation, so what is in doubt is turned down: the program can always write one. What is looked for is what is left of a reply once
everything that tells nothing is taken away.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from ullage.context.blocks import AssistantBlock, Message, Text, ToolUse
from ullage.context.quoting import HOW_IT_IS_QUOTED
from ullage.context.view.request import Request

BEGIN = "=== RECORD ==="
END = "=== END OF RECORD ==="
NO_ENTRY = 0
"""The source of a block that comes from no entry of the log."""

SHORTEST = 80
"""Characters. A shorter text is no summary of anything that had to be summarised."""
CUT_OFF = ("max_tokens", "model_context_window_exceeded")


OTHER_FORM = "The model did not write in the form that was asked for"

SUBSTANCE = 40
"""Characters that must be left after all that tells nothing is taken away. A short sentence has as many."""
SHORT_REPLY = 600
"""Characters. A longer reply that begins with an apology still has something to tell."""
LONGEST_EXCUSE = 300
"""Characters that a paragraph may have to count as an excuse as a whole."""

_EMPTY_WORDS = (
    "none",
    "nothing",
    "no(?:ne)? (?:yet|so far|known|at (?:all|this time|the moment)|applicable)",
    "not applicable",
    "n/?a",
    "null",
    "empty",
    "tbd",
    "todo",
    "unknown",
    "keine?s?",
    "nichts",
    "entfällt",
    "aucune?",
    "rien",
    "ninguno",
    "nada",
    "nessuno",
    "なし",
    "无",
    "無",
)
_NOTHING = re.compile(r"(?:\(?(?:" + "|".join(_EMPTY_WORDS) + r")\)?[\s.:;,!*_-]*)+", re.IGNORECASE)
"""A line of only such words, which tells nothing."""
_LABEL = re.compile(
    r"(?:#{1,6}\s+[^\n]*|(?:\d{1,2}[.)]\s*)?(?:\*\*|__)[^*_\n]{1,80}(?:\*\*|__):?|\d{1,2}[.)]\s+[^\n:.]{1,80}:?|[^\W\d_][^\n:.]{0,60}:)"
)
"""A heading, however it is written."""
_LABELLED = re.compile(r"(?:\d{1,2}[.)]\s*)?(?:\*\*|__)?(?P<label>[^\W\d_][^\n:*_.]{0,60})(?:\*\*|__)?\s*[:：](?:\*\*|__)?\s*(?P<rest>.*)")
"""A heading with what is said under it, on one line."""
_BULLET = re.compile(r"^[\s>]*(?:[-*+•]\s+|\[[ xX]\]\s+)*")
_FENCE = re.compile(r"^\s*(?:```|~~~)[ \t]*(?P<language>[\w+-]*)[^\n]*\n(?P<inside>.*?)\n?\s*(?:```|~~~)\s*$", re.DOTALL)
_PROSE = ("", "markdown", "md", "text", "txt", "plaintext")
"""The names after a fence that holds a summary."""
_CALL = re.compile(r"^\s*(?:<tool_call>|<\|tool|<function[=_]|<invoke|\[TOOL_CALLS?\]|<tool_use>|functions\.)", re.IGNORECASE)
_EXCUSES = (
    "i'm sorry",
    "i'm so sorry",
    "i'm very sorry",
    "i am sorry",
    "i am very sorry",
    "sorry",
    "i apologi[sz]e",
    "(?:my )?apologies",
    "(?:unfortunately,? )?i (?:can't|cannot|could not|couldn't|am unable|am not able|won't|do not have|don't have)",
    "i'm (?:unable|not able)",
    "as an ai",
    "as a (?:large )?language model",
    "there (?:is|was) (?:no|nothing)",
    "no conversation",
    "(?:sure|certainly|of course|okay|ok|understood)[,!.]",
    "how (?:can|may) i help",
    "entschuldigung",
    "es tut mir leid",
    "leider kann ich",
    "je suis désolée?",
    "lo siento",  # codespell:ignore
)
EXCUSE = re.compile(r"\W*+(?:" + "|".join(_EXCUSES).replace("'", "['\N{RIGHT SINGLE QUOTATION MARK}]") + ")", re.IGNORECASE)
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Form:
    """The form in which a summary was asked for, as far as a program can check it."""

    marked: bool = False
    """Whether the summary stands between `BEGIN` and `END`, as Ullage's own prompt asks."""
    sections: int = 0
    """The number of headings that are asked for; a reply with fewer than a third of them is no summary."""
    holds: str = ""
    """A text that stands in every answer, which then may be short; empty if there is none."""


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
    """A request of its own with nothing but `text` to read and the question about it. The system prompt stays, tools are not given."""
    block = Text(f"{HOW_IT_IS_QUOTED}\n\n{text}\n\n{asking(prompt, focus)}")
    return replace(request, tools=(), messages=(Message("user", (block,), (NO_ENTRY,)),), breakpoints=())


def checked_request(request: Request, summary: str, check: str) -> Request:
    """The request that gave `summary`, with that answer and a second question about it."""
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

    `question` are the words that ask for it. Whether the summary that is made with it is shorter than what it stands for is for the caller
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
    """The text from the first marker to the last one, so that a summary which speaks of markers stays whole; markers in lines of their own
    count before any other. A beginning without an end was cut off; a text with neither does not answer what was asked."""
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
    return files(__package__ or "ullage.context.summary").joinpath("summary_prompt.md").read_text(encoding="utf-8").strip()


def why_no_summary(text: str, asked: str, sections: int = 0, least: int = SUBSTANCE) -> str | None:
    """Why `text` is no summary, in words for the user as they follow "The model"; None if it may be one.

    `asked` are the words that ask for it: a text that only says them again tells nothing. `sections`: how many headings they ask for, of
    which a third must be there. `least`: characters that must be left.
    """
    if _CALL.match(text):
        return "wrote a tool call as text instead of the summary"
    fence = _FENCE.match(text)
    if fence is not None and fence["language"].lower() not in _PROSE:
        return f"answered with a block of {fence['language']} instead of a summary"
    inside = fence["inside"] if fence is not None else text
    if _is_json(inside):
        return "answered with JSON instead of a summary"
    if _is_echo(_flat(inside), _flat(asked)):
        return "repeated what it was asked instead of a summary"
    known = {_plain(line) for line in asked.splitlines()}
    told = _told(inside, known)
    if len(" ".join(told)) < least:
        return "wrote headings with nothing under them" if _labels(inside) else "wrote next to nothing"
    if len(inside) < SHORT_REPLY and not _labels(inside) and _is_excuse(inside):
        return "apologised instead of writing the summary"
    if _labels(inside) < -(-sections // 3):
        return "left out the sections that it was asked for"
    return None


def _told(text: str, known: set[str]) -> list[str]:
    """The lines that tell something, each once, without their marks. Lines in `known` tell nothing."""
    told: dict[str, None] = {}
    for raw in text.splitlines():
        line = _plain(raw)
        if not line or line in known or _NOTHING.fullmatch(line) or _LABEL.fullmatch(line):
            continue
        labelled = _LABELLED.fullmatch(line)
        if labelled is not None and (not labelled["rest"] or _NOTHING.fullmatch(labelled["rest"])):
            continue
        told[line] = None
    return list(told)


def _labels(text: str) -> int:
    """The number of lines that are headings, or begin with one."""
    lines = [_plain(line) for line in text.splitlines()]
    return sum(1 for line in lines if line and (_LABEL.fullmatch(line) or _LABELLED.fullmatch(line) or re.match(r"\d{1,2}[.)]\s", line)))


def _is_excuse(text: str) -> bool:
    """Whether every paragraph is an excuse, an offer or a question."""
    paragraphs = [each.strip() for each in re.split(r"\n\s*\n", text) if each.strip()]
    return (
        bool(paragraphs)
        and bool(EXCUSE.match(paragraphs[0]))
        and all(len(each) < LONGEST_EXCUSE and (EXCUSE.match(each) or each.endswith("?")) for each in paragraphs)
    )


def _is_echo(text: str, asked: str) -> bool:
    """Whether the text repeats a part of the question, or all of it with something around it."""
    return bool(asked) and (text in asked or asked in text)


def _is_json(text: str) -> bool:
    stripped = text.strip()
    if not stripped.startswith(("{", "[")):
        return False
    try:
        json.loads(stripped)
    except ValueError:
        return stripped.startswith(("{", '["', "[{"))  # broken JSON is no summary either
    return True


def _plain(line: str) -> str:
    return _SPACE.sub(" ", _BULLET.sub("", line)).strip()


def _flat(text: str) -> str:
    return _SPACE.sub(" ", text).strip().casefold()
