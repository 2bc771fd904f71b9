"""The text that a staged engine puts in the place of what it summarises: the model's summary or one by program, in the same shape."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ullage.context.counting.tokens import estimate_text
from ullage.context.engines.engine import Covered
from ullage.context.engines.staged_numbers import SummaryShape
from ullage.context.entries import Compaction, Logged, UserPrompt
from ullage.context.record.digest import DIGEST_TOKENS, brief, digest_sections
from ullage.context.record.facts import facts
from ullage.context.record.quotes import quote
from ullage.context.redact import redact
from ullage.context.view.epoch import Epoch

BY_PROGRAM = "(Written by program from the log: no model was asked, or what it wrote could not be used.)"
EARLIER = "# What a model wrote for an earlier summary"
USER_SHARE, DIGEST_SHARE, EARLIER_SHARE = 0.5, 0.25, 0.15
"""Of the room, for a summary by program; its ceilings are those of Ullage's own digest."""
USER_TOKENS, EARLIER_TOKENS = 20_000, 4_000
BRIEF_BELOW = 1_500
"""Tokens of room. With less a digest would not fit, and a few lines must do."""
LEFT_OUT = "\n… ({characters:,} characters left out) …\n"


def handoff_text(shape: SummaryShape, covered: Covered) -> str:
    """The whole text: the user's own messages where they are kept, the preface, the summary."""
    said = ""
    if shape.user_message_tokens:
        said = "\n\n".join(verbatim(covered.entries, min(shape.user_message_tokens, covered.room)))
    summary = covered.model_text if covered.model_text is not None else _by_program(shape, covered)
    return "\n\n".join(part for part in (said, shape.preface, summary) if part)


def summary_in(shape: SummaryShape, text: str) -> str:
    """The summary alone, out of a text that `handoff_text` made."""
    return text.rpartition(shape.preface)[2].strip() if shape.preface else text.strip()


def verbatim(entries: Iterable[Logged], tokens: int) -> list[str]:
    """The user's messages, in the order in which they were said; the newest come first in line for `tokens` tokens.

    The one that does not fit any more loses its middle, and what is older is left out.
    """
    prompts = [logged.entry.text for logged in entries if isinstance(logged.entry, UserPrompt) and logged.entry.text.strip()]
    kept: list[str] = []
    for text in reversed(prompts):
        size = estimate_text(text)
        if size > tokens:
            kept.append(_without_middle(text, tokens, size))
            break
        kept.append(text)
        tokens -= size
    return [text for text in reversed(kept) if text]


def _without_middle(text: str, tokens: int, size: int) -> str:
    half = int(len(text) * max(tokens, 0) / size / 2)
    if not half:
        return ""
    return text[:half] + LEFT_OUT.format(characters=len(text) - 2 * half) + text[len(text) - half :]


def _by_program(shape: SummaryShape, covered: Covered) -> str:
    entries = [logged for logged in covered.entries if logged.seq >= covered.plan.summarise_from]
    parts = [BY_PROGRAM]
    earlier = _earlier(shape, covered)
    if earlier:
        parts += [EARLIER, earlier]
    if covered.room < BRIEF_BELOW:
        return "\n\n".join((*parts, brief(entries)))
    # What was read of the log before is of all of it, so it serves only where all of it is summarised.
    found = facts(entries, None if covered.plan.summarise_from else covered.reading)
    words = 0 if shape.user_message_tokens else min(USER_TOKENS, int(covered.room * USER_SHARE))
    quotes = quote(found.asked if words else (), words)
    sections = digest_sections(found, quotes, covered.focus, min(DIGEST_TOKENS, int(covered.room * DIGEST_SHARE)))
    return redact("\n\n".join((*parts, *(section.markdown() for section in sections))))


def _earlier(shape: SummaryShape, covered: Covered) -> str:
    """The newest summary in force that a model wrote, as far as there is room for it; empty where there is none."""
    newest = next((each for each in reversed(_in_force(covered.entries)) if each.rung == "model" and written(each)), None)
    if newest is None:
        return ""
    text = summary_in(shape, written(newest))
    size = estimate_text(text)
    tokens = min(EARLIER_TOKENS, int(covered.room * EARLIER_SHARE))
    return text if size <= tokens else text[: int(len(text) * tokens / size)].rstrip() + " …"


def written(compaction: Compaction) -> str:
    """The text that took the place of messages; empty where nothing was summarised."""
    if compaction.summarised is not None:
        return compaction.summarised.text
    return compaction.snipped.marker if compaction.snipped is not None and compaction.rung != "moves" else ""


def _in_force(entries: Sequence[Logged]) -> list[Compaction]:
    epoch = Epoch()
    for logged in entries:
        epoch = epoch.after(logged)
    return list(epoch.active.values())
