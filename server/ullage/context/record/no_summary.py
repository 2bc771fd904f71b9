"""Telling a summary from a reply that is none: an echo, an apology, JSON, headings with "none" under each of them.

A reply that is taken for a summary replaces the conversation, so what is in doubt is turned down: the program can always write one. What is
looked for is what is left of a reply once everything that tells nothing is taken away.
"""

from __future__ import annotations

import json
import re

SUBSTANCE = 40
"""Characters that must be left. A short sentence has as many."""
SHORT_REPLY = 600
"""Characters. A longer one that begins with an apology still has something to tell."""
LONGEST_EXCUSE = 300
"""Characters of a paragraph that is an excuse as a whole."""

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
"""A line of only such words tells nothing."""
_LABEL = re.compile(
    r"(?:#{1,6}\s+[^\n]*|(?:\d{1,2}[.)]\s*)?(?:\*\*|__)[^*_\n]{1,80}(?:\*\*|__):?|\d{1,2}[.)]\s+[^\n:.]{1,80}:?|[^\W\d_][^\n:.]{0,60}:)"
)
"""A heading, however it is written."""
_LABELLED = re.compile(r"(?:\d{1,2}[.)]\s*)?(?:\*\*|__)?(?P<label>[^\W\d_][^\n:*_.]{0,60})(?:\*\*|__)?\s*[:：](?:\*\*|__)?\s*(?P<rest>.*)")
"""A heading and what is said under it, on one line."""
_BULLET = re.compile(r"^[\s>]*(?:[-*+•]\s+|\[[ xX]\]\s+)*")
_FENCE = re.compile(r"^\s*(?:```|~~~)[ \t]*(?P<language>[\w+-]*)[^\n]*\n(?P<inside>.*?)\n?\s*(?:```|~~~)\s*$", re.DOTALL)
_PROSE = ("", "markdown", "md", "text", "txt", "plaintext")
"""What a fence may be called that holds a summary."""
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


def why_no_summary(text: str, asked: str, sections: int = 0, least: int = SUBSTANCE) -> str | None:
    """Why `text` is no summary, in words for the user as they follow "The model"; None where it may be one.

    `asked` are the words that ask for it: what only says them again tells nothing. `sections`: how many headings they ask for, of which a
    third must be there. `least`: characters that must be left.
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
    """The lines that tell something, each once, without their marks; `known` lines tell nothing."""
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
    """How many lines are headings, or begin with one."""
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
    """Whether it says a part of the question again, or all of it with something around it."""
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
