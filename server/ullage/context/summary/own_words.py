"""What the agent said in its own words: what it found and decided, and how its turns closed.

These texts are short, they say why, and no model has to write them again. A reply that calls no tool closes something, so it is kept as it
was said. In a reply that goes on, sentences that only announce the next step are left out. Where a reply says nothing, the beginning of its
thinking stands in.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ullage.context.blocks import Text, Thinking, ToolUse
from ullage.context.calls import one_line
from ullage.context.entries import AssistantReply
from ullage.context.summary.sentences import gives_a_reason, is_firm, sentences

TOLD_CHARACTERS = 4_000
"""Of a reply that are looked at: its end."""
SENTENCE_CHARACTERS = 260
WORKING_CHARACTERS = 420
"""Of what a reply says that goes on with a call."""
THINKING_CHARACTERS = 160
"""Of a thought that stands in for words."""
THINKING_LOOKED_AT = 1_000

ANNOUNCED = re.compile(
    r"^(?:(?:ok(?:ay)?|good|great|perfect|right|alright|sure|now|first|next|then|so|and|also|finally|excellent)\b[\s,.!—-]*)*"
    r"(?:let me|let's|let us|i'll|i will|i'm going to|i am going to|i'm (?:now )?(?:checking|reading|looking|running)|i need to|"
    r"i should (?:check|look|read|see)|i want to|next,? i|ich werde|lass mich|jetzt|je vais|laisse-moi|voy a|ahora|vou)\b|"
    r"^(?:好的?[，,。]?)?(?:现在|接下来|首先)?(?:让我|我来|我先|我将|我要|我会)|^(?:次に|まず|では)|^(?:دعني|سأ|سوف)",
    re.IGNORECASE,
)
"""How a sentence begins that only says what comes next."""
_TAGS = re.compile(r"</?thinking>")


@dataclass(frozen=True, slots=True)
class Told:
    """What one reply said. `text` is whole where it is `closing`, and else the sentences that say something."""

    seq: int
    text: str
    closing: bool
    """Whether the reply called no tool, so that it closed something or asked."""
    firm: bool = False
    """Whether it says of itself that it decides, or why."""
    announces: bool = False
    """Whether it only says what comes next."""


def told_in(seq: int, reply: AssistantReply) -> Told | None:
    """None where it says nothing."""
    said = "\n\n".join(block.text for block in reply.blocks if isinstance(block, Text))[-TOLD_CHARACTERS:]
    said = _TAGS.sub("", said).strip()
    if not any(isinstance(block, ToolUse) for block in reply.blocks):
        return Told(seq, said, closing=True, firm=True) if said else None
    if said:
        return _working(seq, said, WORKING_CHARACTERS)
    thought = next((block.thinking for block in reply.blocks if isinstance(block, Thinking) and block.thinking.strip()), "")
    return _working(seq, thought[:THINKING_LOOKED_AT], THINKING_CHARACTERS) if thought else None


def _working(seq: int, said: str, characters: int) -> Told | None:
    every = [one_line(sentence, SENTENCE_CHARACTERS) for sentence in sentences(said)]
    telling = [sentence for sentence in every if not is_announced(sentence)]
    if not every:
        return None
    text = one_line(" ".join(telling or every), characters)
    return Told(seq, text, closing=False, firm=any(map(_is_telling, telling)), announces=not telling)


def _is_telling(sentence: str) -> bool:
    return is_firm(sentence) or gives_a_reason(sentence)


def is_announced(sentence: str) -> bool:
    """Whether it only says what comes next, and not why."""
    return ANNOUNCED.match(sentence) is not None and not gives_a_reason(sentence)


def ends_of(text: str, characters: int) -> str:
    """`text`, or its beginning and its end: the end often says what is proposed, or waited for."""
    if len(text) <= characters:
        return text
    first, last = characters // 2, characters - characters // 2
    head = text[:first].rpartition("\n")[0] or text[:first]
    tail = text[-last:].partition("\n")[2] or text[-last:]
    return f"{head.rstrip()}\n[…]\n{tail.lstrip()}"


def newest_first(told: Sequence[Told]) -> list[Told]:
    """In the order in which they are worth a place: what decides or closes before what only reports, each the newest first."""
    return sorted((each for each in told if not each.announces), key=lambda each: (not each.firm, -each.seq))
