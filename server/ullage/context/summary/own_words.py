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
from ullage.context.summary.sentences import BOUNDARY, BULLET, DENSE, FENCE, gives_a_reason, is_firm

TOLD_CHARACTERS = 4_000
"""Of a reply that are looked at: its beginning and its end."""
WORKING_CHARACTERS = 420
"""Of what a reply says that goes on with a call."""
THINKING_CHARACTERS = 160
"""Of a thought that stands in for words."""
THINKING_LOOKED_AT = 1_000

ANNOUNCED = re.compile(
    r"^(?:(?:ok(?:ay)?|good|great|perfect|right|alright|sure|now|first|next|then|so|and|also|finally|excellent)\b[\s,.!—-]*)*"
    r"(?:let me|let's|let us|i'll|i will|i'm going to|i am going to|i'm (?:now )?(?:checking|reading|looking|running)|i need to|"
    r"i should (?:check|look|read|see)|i want to|next,? i|ich werde|lass mich|jetzt|je vais|laisse-moi|voy a|ahora|vou)\b|"
    r"^(?:now|next|first|then)\b,? (?!that|all|the (?:test|build|issue|problem))|^the user (?:wants|is asking|asked|wanted)\b|"
    r"^(?:#+ |step \d)|^(?:好的?[，,。]?)?(?:现在|接下来|首先)?(?:让我|我来|我先|我将|我要|我会)|^(?:次に|まず|では)|^(?:دعني|سأ|سوف)",
    re.IGNORECASE,
)
"""How a sentence begins that only says what comes next."""
ROUTINE = re.compile(
    r"^(?:still|stale|all (?:\W*\d* ?(?:\w+ )?tests?\b|green|clean|good|done|set|pass)|"
    r"(?:the )?(?:tests?|build|lint|compile)\b.{0,12}\b(?:pass|clean|green)|"
    r"clean|good|great|done|perfect|excellent|ok(?:ay)?|yes|right|expected|pushed|merged|committed|"
    r"i (?:now )?have (?:a |an |all )?(?:good|clear|thorough|complete|full|comprehensive|the|everything)|now i have|i see)\b.{0,50}$",
    re.IGNORECASE,
)
"""What only says that something went well: the checks say it, too."""
LIMITING = re.compile(r"\b(?:only|not|never|unless|without|instead|to avoid|so that)\b|n't\b", re.IGNORECASE)
SHORT = 45
"""Characters: what is shorter and no decision rarely says anything later."""
_TAGS = re.compile(r"</?thinking>")


@dataclass(frozen=True, slots=True)
class Told:
    """What one reply said. `text` is whole where it is `closing`, and else the sentences that say something."""

    seq: int
    text: str
    closing: bool
    """Whether the reply called no tool, so that it closed something or asked."""
    weight: int = 0
    """2 where it closes something, or says of itself that it decides; 1 where it says why; 0 where it only reports."""
    announces: bool = False
    """Whether it only says what comes next."""


def told_in(seq: int, reply: AssistantReply) -> Told | None:
    """None where it says nothing."""
    said = ends_of("\n\n".join(block.text for block in reply.blocks if isinstance(block, Text)).strip(), TOLD_CHARACTERS)
    said = _TAGS.sub("", said).strip()
    if not any(isinstance(block, ToolUse) for block in reply.blocks):
        return Told(seq, said, closing=True, weight=2) if said else None
    thought = next((block.thinking for block in reply.blocks if isinstance(block, Thinking) and block.thinking.strip()), "")
    return _working(seq, said, WORKING_CHARACTERS) or _working(seq, thought[:THINKING_LOOKED_AT], THINKING_CHARACTERS)


def _working(seq: int, said: str, characters: int) -> Told | None:
    every = [sentence for piece in BOUNDARY.split(FENCE.sub("\n", said)) if (sentence := " ".join(BULLET.sub("", piece).split()))]
    every = [sentence for sentence in every if any(map(str.isalnum, sentence))]
    telling = [sentence for sentence in every if not is_announced(sentence)]
    if not every:
        return None
    says = any(not ROUTINE.match(sentence) for sentence in telling)
    text = one_line(" ".join(telling if says else every), characters)
    return Told(seq, text, closing=False, weight=max(map(_weight, telling), default=0), announces=not says)


def _weight(sentence: str) -> int:
    return 2 if is_firm(sentence) else int(gives_a_reason(sentence))


def is_announced(sentence: str) -> bool:
    """Whether it only says what comes next, and neither why nor within which limits."""
    return ANNOUNCED.match(sentence) is not None and not LIMITING.search(sentence) and not gives_a_reason(sentence)


def ends_of(text: str, characters: int) -> str:
    """`text`, or its beginning and its end: the end often says what is proposed, or waited for."""
    if len(text) <= characters:
        return text
    first = characters * 2 // 3
    last = characters - first
    head = text[:first].rpartition("\n")[0] or text[:first]
    tail = text[-last:].partition("\n")[2] or text[-last:]
    return f"{head.rstrip()}\n[…]\n{tail.lstrip()}"


def newest_first(told: Sequence[Told]) -> list[Told]:
    """In the order in which they are worth a place: what decides or closes before what only reports, each the newest first."""
    telling = (each for each in told if each.weight or (not each.announces and (len(each.text) > SHORT or DENSE.search(each.text))))
    return sorted(telling, key=lambda each: (-each.weight, -each.seq))
