"""What was said that must outlive a summary: constraints of the user, decisions and findings of the assistant, and how its turns closed.

Sentences are told by their words. A word list finds most of them and a few too many; both are cheap, and nothing here asks a model.

What the agent said in its own words is short, it says why, and no model has to write it again. A reply that calls no tool closes something,
so it is kept as it was said. In a reply that goes on, sentences that only announce the next step are left out. Where a reply says nothing,
the beginning of its thinking stands in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ullage.context.blocks import Text, Thinking, ToolUse
from ullage.context.calls import one_line
from ullage.context.entries import AssistantReply

SHORTEST, LONGEST = 8, 400
"""Characters of a sentence. A longer text is pasted, not a wish."""
SHORTEST_DENSE = 4
"""Characters, at least, of a sentence in a script where a word takes a character or two (`不要推送。`)."""
DENSE = re.compile(r"[\u0600-\u06ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
QUESTION = ("?", "？", "؟")


def _by_first_letter(patterns: str) -> str:
    """The patterns as a choice by the first letter: then a word is tried against a few of them, and not against all."""
    depth, choices = 0, [""]
    for character in patterns:
        depth += (character in "([") - (character in ")]")
        if character == "|" and not depth:
            choices.append("")
        else:
            choices[-1] += character
    firsts = dict.fromkeys(choice[0] for choice in choices)
    return "|".join(f"{first}(?:{'|'.join(choice[1:] for choice in choices if choice[0] == first)})" for first in firsts)


LATIN_CONSTRAINTS = (
    # English
    r"must(?:n't)?|never|always|do ?n[o']t|does ?n[o']t|should(?:n't| not)?|only|prefer(?:ably)?|avoid|make sure|ensure|instead of|"
    r"rather than|no longer|needs? to|have to|has to|required?|stop|keep|without|at (?:most|least)|no more than|not allowed|cannot|can't|"
    # German
    r"muss|müssen|musst|darf|dürfen|darfst|nie|niemals|immer|nicht|nur|keine?[nmrs]?|bevorzug\w*|lieber|vermeid\w*|soll(?:en|st|te|ten)?|statt|"
    r"ohne|unbedingt|"
    # French
    r"doit|dois|doivent|jamais|toujours|ne .{1,40}? pas|n'\w+ pas|seulement|uniquement|préfèr\w+|évite\w*|sans|au lieu de|"
    # Spanish and Portuguese
    r"debe[ns]?|nunca|siempre|solo|sólo|solamente|prefier\w+|evit[aeo]\w*|deve[mr]?|sempre|somente|apenas|prefir\w+|sem|sin|não|"
    # Italian
    r"devi|deve|devono|mai|solo|soltanto|preferisc\w+|senza|non|"
    # Dutch and Polish
    r"moet|nooit|altijd|alleen|niet|geen|zonder|musi|nigdy|zawsze|tylko|nie wolno|bez|"
    # Russian
    r"должн\w+|никогда|всегда|нельзя|только|не надо|не нужно|обязательно|без|вместо"
)
OTHER_CONSTRAINTS = (
    r"必须|必須|不要|不能|不得|不许|永远|总是|只能|只要|务必|禁止|优先|避免|不可|別|必ず|しないで|ないでください|禁止|常に|のみ|だけ|べき|"
    r"반드시|절대|항상|하지 ?마|만 |금지|피해|不许|别|请用|使用してください|使ってください|"
    # Arabic
    r"يجب|لا ت\w+|لا ي\w+|دائما|دائمًا|أبدا|أبدًا|فقط|ممنوع|بدون|تجنب|استخدم|احرص|عدم"
)
ORDERED = r"^(?:use|leave|keep|put|call|name|write|run)\b|, (?:and |but )?not\b"
"""The beginning of an order, and words that say what is not meant."""
LATIN_DECISIONS = (
    r"decid\w+|decision|going with|went with|i'll use|i will use|we(?:'ll| will) use|chose|choose|opt(?:ed)? for|settled on|"
    r"instead of|rather than|because|the reason|root cause|turns out|the (?:issue|problem|bug|fix|cause) (?:is|was)|trade-?off|"
    r"approach (?:is|will)|"
    r"so that|to avoid|due to|caused by|which means|explains (?:the|why)|causes?|regression|so (?:i am|i'm|we)\b|"
    r"entschied\w*|entscheid\w*|stattdessen|weil|ursache|grund|décid\w+|parce que|plutôt|decid[oió]\w*|porque|perché|invece"
)
OTHER_DECISIONS = (
    r"决定|因为|改用|原因|採用|決定|なぜなら|ため|대신|결정|решил\w*|потому что|вместо|قررت|قررنا|لأن|بسبب|السبب|بدلا من|بدلاً من"
)

FIRM = re.compile(
    r"\b(?<!before )(?:decided?|decision|going with|went with|chose|opt(?:ed)? for|settled on|root cause|turns out|"
    r"entschied\w*|entscheid\w*|décid\w+)|决定|改用|採用|決定|결정|решил|قررت|قررنا"
)
HEADING_WORDS = 4
"""Words. A line of no more without a stop is a heading: no sentence that says something."""


@dataclass(frozen=True, slots=True)
class Markers:
    """Words by which a kind of sentence is recognised. They are looked for in small letters: without regard to case it would take four
    times as long."""

    latin: re.Pattern[str]
    other: re.Pattern[str]
    """Words that have no letter of ASCII: they are not looked for in a sentence of ASCII alone."""

    def stand_in(self, sentence: str) -> bool:
        """Whether one of these words stands in the sentence."""
        lowered = _plain_apostrophes(sentence).lower()
        return self.latin.search(lowered) is not None or (not lowered.isascii() and self.other.search(lowered) is not None)


CONSTRAINT = Markers(re.compile(rf"\b(?:{_by_first_letter(LATIN_CONSTRAINTS)})\b|{ORDERED}"), re.compile(OTHER_CONSTRAINTS))
DECISION = Markers(re.compile(rf"\b(?:{_by_first_letter(LATIN_DECISIONS)})\b"), re.compile(OTHER_DECISIONS))

STRONG = Markers(
    re.compile(
        r"\b(?:must(?:n't)?|never|always|do ?n[o']t|should(?:n't| not)|not allowed|cannot|can't|make sure|ensure|forbidden|"
        r"muss|müssen|darf|dürfen|nie|niemals|immer|nicht|keine?[nmrs]?|jamais|toujours|ne .{1,40}? pas|nunca|siempre|não|sempre|mai|nooit|"
        r"altijd|niet|nigdy|zawsze|никогда|всегда|нельзя|не надо|не нужно)\b"
    ),
    re.compile(OTHER_CONSTRAINTS),
)
"""Those words of constraints that leave no doubt: in a pasted plan the others stand in every second sentence."""

FENCE = re.compile(r"(?ms)^[ \t]*(?:```|~~~).*?(?:^[ \t]*(?:```|~~~)[ \t]*$|\Z)")
BOUNDARY = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|(?<=[؟؛۔])\s*|\n+")
ASCII_BOUNDARY = re.compile(r"\s(?<=[.!?;]\s)\s*|\n+")
"""`BOUNDARY` for texts of ASCII alone: a pattern that begins with a blank is found several times as fast."""
BULLET = re.compile(r"^\s*(?:[-*+•>#]+|\d+[.)])\s+")


def _plain_apostrophes(sentence: str) -> str:
    """The sentence with the apostrophe that a keyboard has: some models write the printer's (`I’ll`)."""
    return sentence.replace("’", "'")


def constraints_in(text: str) -> list[str]:
    """The sentences of a user's text that say what must or must not be, each on one line."""
    found = (sentence for sentence in _sentences(text) if not sentence.endswith(QUESTION) and CONSTRAINT.stand_in(sentence))
    return [sentence for sentence in found if not _looks_like_code(sentence)]


def is_strong(constraint: str) -> bool:
    """Whether a constraint forbids or demands, and does not only say how something is."""
    return STRONG.stand_in(constraint)


def decisions_in(text: str) -> list[str]:
    """The sentences of an assistant's text that state a decision or a reason, each on one line."""
    found = (sentence for sentence in _sentences(text) if not sentence.endswith((*QUESTION, ":", "：")) and DECISION.stand_in(sentence))
    return [sentence for sentence in found if not _looks_like_code(sentence) and not is_heading(sentence)]


def is_firm(sentence: str) -> bool:
    """Whether a decision says of itself that it is one, or names a cause. Others only give some reason."""
    return FIRM.search(_plain_apostrophes(sentence).lower()) is not None


def gives_a_reason(sentence: str) -> bool:
    """Whether the sentence says what was decided, or why something is so."""
    return DECISION.stand_in(sentence)


def sentences(text: str) -> Iterator[str]:
    """The sentences of prose in the text, without list marks and emphasis around the whole. Code and tables are left out."""
    return (sentence for sentence in _sentences(text) if not _looks_like_code(sentence))


def _sentences(text: str) -> Iterator[str]:
    """The sentences with those that look like code outside fences: to tell that takes longer than to look for a word, so it comes last."""
    boundary = ASCII_BOUNDARY if text.isascii() else BOUNDARY
    for piece in boundary.split(FENCE.sub("\n", text)):
        sentence = " ".join(BULLET.sub("", piece).split())
        if sentence.startswith("**") and sentence.endswith("**"):
            sentence = sentence.strip("*")
        if sentence.startswith("|"):
            continue  # a row of a table
        if len(sentence) <= LONGEST and (len(sentence) >= SHORTEST or (len(sentence) >= SHORTEST_DENSE and DENSE.search(sentence))):
            yield sentence


def is_heading(sentence: str) -> bool:
    """Whether the sentence is a line of a few words that says nothing."""
    return sentence.isascii() and len(sentence.split()) <= HEADING_WORDS and sentence[-1] not in ".!;"


def _looks_like_code(sentence: str) -> bool:
    letters = sum(map(str.isalpha, sentence)) + sentence.count(" ")
    return letters < 0.7 * len(sentence)


# What the agent said in its own words

TOLD_CHARACTERS = 4_000
"""Characters of a reply that are looked at: its beginning and its end."""
WORKING_CHARACTERS = 1_600
"""Characters that are kept of a reply that goes on with a call: as long as a plan in words is. The room decides how much of it is told."""
ABOUT_TO_CHARACTERS = 200
"""Characters of what a reply says comes next."""
THINKING_CHARACTERS = 160
"""Characters of thinking that stands in for words."""
THINKING_LOOKED_AT = 1_000

ANNOUNCED = re.compile(
    r"^(?:(?:ok(?:ay)?|good|great|perfect|right|alright|sure|now|first|next|then|so|and|also|finally|excellent)\b[\s,.!—-]*)*"
    r"(?:let me|let's|let us|i'll|i will|i'm going to|i am going to|i need to|"
    r"i'm (?:now |also |just )?"
    r"(?:add|check|creat|delet|do|finish|fix|inspect|load|look|mov|open|poll|pull|read|runn|scann|start|updat|us|verify|wir|writ)ing|"
    r"i should (?:check|look|read|see)|i want to|next,? i|ich werde|lass mich|jetzt|je vais|laisse-moi|voy a|ahora|vou)\b|"
    r"^(?:now|next|first|then)\b,? (?!that|all|the (?:test|build|issue|problem))|^the user (?:wants|is asking|asked|wanted)\b|"
    r"^(?:#+ |step \d)|^(?:好的?[，,。]?)?(?:现在|接下来|首先)?(?:让我|我来|我先|我将|我要|我会)|^(?:次に|まず|では)|^(?:دعني|سأ|سوف)",
    re.IGNORECASE,
)
"""The beginning of a sentence that only says what comes next."""
_CHANGES = (
    r"(?:add|updat|writ|rewrit|implement|creat|fix|replac|extract|remov|renam|mov|appl(?=y)|wir|install|commit|extend|chang|convert|register|"
    r"refactor|delet|migrat|set up|adjust|push|clos|post|send|spawn|integrat|revert|merg|simplif)"
)
ACTING = re.compile(rf"[\s,:]*(?:(?:also|then|now|just|quickly|first|next|go ahead and)\s+)*{_CHANGES}(?:e|y)?\b", re.IGNORECASE)
ACTING_NOW = re.compile(rf".{{0,20}}\bi'm (?:now |also |just )?{_CHANGES}(?:t|m|n)?ing\b", re.IGNORECASE)
"""The beginning of an announcement that something is being changed. An announcement in another language is taken for one that only
looks."""
ROUTINE = re.compile(
    r"^(?:still|stale|all (?:\W*\d* ?(?:\w+ )?tests?\b|green|clean|good|done|set|pass)|"
    r"(?:the )?(?:tests?|build|lint|compile)\b.{0,12}\b(?:pass|clean|green)|"
    r"clean|good|great|done|perfect|excellent|ok(?:ay)?|yes|right|expected|pushed|merged|committed|got it|understood|absolutely|will do|"
    r"i (?:now )?have (?:a |an |all )?(?:good|clear|thorough|complete|full|comprehensive|the|everything)|now i have|i see)\b.{0,50}$",
    re.IGNORECASE,
)
"""The beginning of a sentence that only says that something went well: the checks say it, too."""
LIMITING = re.compile(r"\b(?:only|not|never|unless|without|instead|to avoid|so that)\b|n't\b", re.IGNORECASE)
SHORT = 45
"""Characters. A shorter sentence that is no decision rarely says anything later."""
_TAGS = re.compile(r"</?thinking>")


@dataclass(frozen=True, slots=True)
class ReplySentences:
    """What one reply said. If it is `closing`, `text` is all of it, else the sentences that say something."""

    seq: int
    text: str
    closing: bool
    """Whether the reply called no tool, so that it closed something or asked."""
    weight: int = 0
    """2 if it closes something, or says of itself that it decides; 1 if it says why; 0 if it only reports."""
    announces: bool = False
    """Whether it only says what comes next."""
    about_to: str = ""
    """What a reply that goes on with a call says comes next, beside what else it says; empty if nothing."""
    acts: bool = False
    """Whether what it announces would change something. One after the other, such announcements are the steps of the work."""


def told_in(seq: int, reply: AssistantReply) -> ReplySentences | None:
    """What the reply said in its own words; None if it says nothing."""
    said = ends_of("\n\n".join(block.text for block in reply.blocks if isinstance(block, Text)).strip(), TOLD_CHARACTERS)
    said = _TAGS.sub("", said).strip()
    if not any(isinstance(block, ToolUse) for block in reply.blocks):
        return ReplySentences(seq, said, closing=True, weight=2) if said else None
    thought = next((block.thinking for block in reply.blocks if isinstance(block, Thinking) and block.thinking.strip()), "")
    return _working(seq, said, WORKING_CHARACTERS) or _working(seq, thought[:THINKING_LOOKED_AT], THINKING_CHARACTERS)


def _working(seq: int, said: str, characters: int) -> ReplySentences | None:
    every = [sentence for piece in BOUNDARY.split(FENCE.sub("\n", said)) if (sentence := " ".join(BULLET.sub("", piece).split()))]
    every = [sentence for sentence in every if any(map(str.isalnum, sentence))]
    telling = [sentence for sentence in every if not is_announced(sentence)]
    if not every:
        return None
    says = any(not ROUTINE.match(sentence) for sentence in telling)
    text = one_line(" ".join(telling if says else every), characters)
    about_to = one_line(" ".join(sentence for sentence in every if sentence not in telling), ABOUT_TO_CHARACTERS) if says else ""
    weight = max(map(_weight, telling), default=0)
    acts = not says and any(map(_acts, every))
    return ReplySentences(seq, text, closing=False, weight=weight, announces=not says, about_to=about_to, acts=acts)


def _acts(announced: str) -> bool:
    said = _plain_apostrophes(announced)
    opening = ANNOUNCED.match(said)
    return opening is not None and (ACTING.match(said, opening.end()) is not None or ACTING_NOW.match(said) is not None)


def _weight(sentence: str) -> int:
    return 2 if is_firm(sentence) else int(gives_a_reason(sentence))


def is_announced(sentence: str) -> bool:
    """Whether the sentence only says what comes next, and neither why nor within which limits."""
    said = _plain_apostrophes(sentence)
    return ANNOUNCED.match(said) is not None and not LIMITING.search(said) and not gives_a_reason(said)


def ends_of(text: str, characters: int) -> str:
    """`text`, or, if it is too long, its beginning and its end: the end often says what is proposed, or waited for."""
    if len(text) <= characters:
        return text
    first = characters * 2 // 3
    last = characters - first
    head = text[:first].rpartition("\n")[0] or text[:first]
    tail = text[-last:].partition("\n")[2] or text[-last:]
    return f"{head.rstrip()}\n[…]\n{tail.lstrip()}"


WORTH = (1.0, 2.0, 4.0)
"""What a reply's words are worth, by the reply's weight."""
HALVED_AFTER = 40
"""Replies that said something: after so many, one is worth half. Else the closing words of tasks long done keep out the reasons of the one
at hand."""


def by_worth(told: Sequence[ReplySentences]) -> list[ReplySentences]:
    """The replies that say something, the most worth telling first: what decides or closes before what only reports, and the newer before
    the older."""
    worth = {each.seq: WORTH[each.weight] * 0.5 ** ((len(told) - place) / HALVED_AFTER) for place, each in enumerate(told, 1)}
    return sorted(filter(_is_telling, told), key=lambda each: (-worth[each.seq], -each.seq))


def _is_telling(told: ReplySentences) -> bool:
    is_report = not told.announces and not told.text.endswith((":", "：")) and (len(told.text) > SHORT or DENSE.search(told.text))
    return bool(told.weight or is_report)


GAP = " … "
EARLY = (1.5, 0.9, 0.6)
"""How much is added for the first three sentences, unless they only say that all went well: they tell what the others are about."""
SPECIFIC = re.compile(r"`|\b\d|#\d|\w\.\w|\w/\w")
FRAGMENT = 20
"""Characters. A piece that is so short says little without those around it."""


def gist(text: str, characters: int) -> str:
    """The sentences of `text` that tell most, on one line: what was decided and why, within which limits, and what it is about."""
    whole = one_line(text, len(text))
    said = _pieces(text)
    if len(whole) <= characters or len(said) < 2:
        return whole if len(whole) <= characters else one_line(said[0] if said else whole, characters)
    early = (0.0, *EARLY[1:]) if ROUTINE.match(said[0]) else EARLY
    ranks = [_rank(piece) + (early[place] if place < len(early) else -_is_fragment(piece)) for place, piece in enumerate(said)]
    ranked = sorted(range(len(said)), key=lambda place: -ranks[place])
    said[ranked[0]] = one_line(said[ranked[0]], characters * 2 // 3)  # the most telling sentence is never left out for its length
    left, taken = characters, list[int]()
    for place in ranked:
        if len(said[place]) + len(GAP) <= left:
            left -= len(said[place]) + len(GAP)
            taken.append(place)
    taken.sort()
    joined = (("" if not at else " " if place == taken[at - 1] + 1 else GAP) + said[place] for at, place in enumerate(taken))
    return "".join(joined) or one_line(text, characters)


def _rank(piece: str) -> float:
    """How much a sentence tells by itself."""
    says = 2.0 * _weight(piece) + bool(LIMITING.search(_plain_apostrophes(piece))) + 0.5 * bool(SPECIFIC.search(piece))
    return says - 0.5 * piece.endswith((":", "："))


def _is_fragment(piece: str) -> bool:
    return len(piece) < FRAGMENT and not DENSE.search(piece)


def _pieces(text: str) -> list[str]:
    """The sentences of the text, and the rows of its tables; code and headings are left out."""
    boundary = ASCII_BOUNDARY if text.isascii() else BOUNDARY
    found: list[str] = []
    for line in FENCE.sub("\n", text).splitlines():
        if line.lstrip().startswith("|"):
            cells = (cell.strip() for cell in line.split("|"))
            row = " · ".join(cell for cell in cells if any(map(str.isalnum, cell)))
            if not row:  # the line below the columns' names, which tell nothing by themselves
                found = found[:-1]
            found.append(row)
        else:
            found += (" ".join(BULLET.sub("", piece).split()) for piece in boundary.split(line))
    return [piece for piece in found if any(map(str.isalpha, piece)) and not is_heading(piece)]
