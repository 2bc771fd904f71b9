"""What is needed of a conversation, and what of it is in view: facts in texts, and text that the agent gets from its tools again.

Facts are paths, identifiers, hashes and error lines. All four kinds are found in time that grows with the text alone, so a long result
costs no more a character than a short one. The log, the assistant's own words and the text kept are searched by the same rules, so a fact
that stands in all of a text is found in it.

A compaction is proved by these measures before it is used (`proof.py`). A replay measures by them what compactions kept
(`replay/measuring/`, where the user's messages are facts, too).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from ullage.context.blocks import Text, ToolUse
from ullage.context.calls import strings_of
from ullage.context.compaction.forgotten import LITTLE_ELSE, blocks, covered, texts_of
from ullage.context.compaction.seen import bare_lines
from ullage.context.entries import AssistantReply, Entry, ToolReturned

FactKind: TypeAlias = Literal["path", "identifier", "hash", "error", "user message"]

FACT_KINDS: tuple[FactKind, ...] = ("path", "identifier", "hash", "error", "user message")
"""The kinds of facts, in the order of reports."""


class Fact(NamedTuple):
    """Something that may be needed again. `text` is what it is known by: the last two components of a path, the beginning of an error line
    or of a user message, else all of it."""

    kind: FactKind
    text: str


QUOTED_CHARACTERS = 60
"""Characters of a user message or an error line that have to stand in a text verbatim, line breaks and runs of blanks aside."""

_WORD = re.compile(r"\w+")

_IDENTIFIER = re.compile(r"(?=\w*(?:[a-z][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]))[A-Za-z_]\w{3,99}")
"""A whole word of four characters or more with an inner capital or underscore: the joints by which style guides tell the words of a
name apart (PEP 8 "Naming Styles", Go's "MixedCaps"). A name of one plain word (`main`, `Append`) cannot be told from prose."""

_HASH = re.compile(r"[0-9a-f]{7,64}")
"""A whole word of 7 to 64 hexadecimal digits, as git's own web view takes it (gitweb, `oid_nlen_regex("7,64")`). Decimal ones too: an
abbreviated commit may be one (Gitea dropped that exception in pull request 2143), and the numbers of comments and jobs are
as opaque and as needed as commits are."""

_PATH_LIKE = re.compile(r"[\w.@~+/*-]+\(?")
"""Stars are taken along, so that the end of a glob (`*_test.go`) is not taken for a file."""
_SUFFIX = re.compile(r"[A-Za-z][A-Za-z0-9]{0,9}")
_LONGEST_PATH = 300
_KNOWN_SUFFIX = re.compile(
    r"c|cc|cfg|conf|cpp|cs|css|csv|env|go|h|hpp|html|ini|ipynb|java|js|json|jsonl|jsx|kt|lock|log|lua|md|mjs|mod|php|proto|"
    r"ps1|py|pyi|rb|rs|rst|scala|sh|sql|sum|svelte|svg|swift|tmpl|toml|ts|tsx|txt|vue|xml|yaml|yml|zig"
)
"""Suffixes by which a name without a folder is known as a file; `client.send` is none. With a folder before it any suffix does."""

_ERROR = re.compile(
    r"(?:^|(?<=[\s:`\]]))(?:[A-Z]\w{0,60}(?:Error|Exception)|[Ee]rror|ERROR|fatal|panic|FAIL(?:ED)?)(?:\[\w{1,20}\])?: \S[^\n]{8,}",
    re.MULTILINE,
)
"""An error line, from the word that reports it to the end: `fatal: ...` (git), `error[E0308]: ...` (rustc), `main.c:3:1: error: ...` (the
GNU coding standards' form), `ValueError: ...`, `panic: ...`, `FAIL: ...`. Where in a file it was is left out, since lines move."""
_OF_ERRORS = ("rror", "ERROR", "Exception", "fatal", "panic", "FAIL")
"""Texts of which each error line holds one. To look for them takes a tenth of the time, and most texts have none."""


def paths_in(text: str) -> set[str]:
    """The file paths in the text, each cut down to its last two components, or the only one."""
    return {tail for token in set(_PATH_LIKE.findall(text)) if (tail := _path_tail(token))}


def basenames_in(text: str) -> set[str]:
    """The last component of everything in the text that may be a path, so that no file is missed that is named without its folder."""
    return {_bare(token).rstrip("(.").rpartition("/")[2] for token in set(_PATH_LIKE.findall(text)) if "." in token}


def identifiers_in(text: str) -> set[str]:
    """The names in the text that look like names in code, as `_IDENTIFIER` says."""
    return _identifiers(set(_WORD.findall(text)))


def facts_in(text: str) -> set[Fact]:
    """The facts of all kinds but user messages that stand in the text."""
    words = set(_WORD.findall(text))
    found = {Fact("path", path) for path in paths_in(text)}
    found.update(Fact("identifier", name) for name in _identifiers(words))
    found.update(Fact("hash", word) for word in words if _HASH.fullmatch(word))
    if any(each in text for each in _OF_ERRORS):
        found.update(Fact("error", quoted(line)) for line in _ERROR.findall(text))
    return found


def quoted(text: str) -> str:
    """The beginning of `text` on one line, by which a message or an error line is recognised."""
    start = " ".join(text[: QUOTED_CHARACTERS * 20].split())
    return start[:QUOTED_CHARACTERS].rstrip(" .`'\"")


def tail_of(path: str) -> str:
    """The last two components of a path of any system, or the only one."""
    return "/".join([part for part in path.replace("\\", "/").split("/") if part][-2:])


def _identifiers(words: Iterable[str]) -> set[str]:
    return {word for word in words if _IDENTIFIER.fullmatch(word)}


def _path_tail(token: str) -> str | None:
    path = _bare(token)
    if "." not in path or "*" in path or len(path) > _LONGEST_PATH or path.startswith("//") or path.endswith("("):
        return None
    folder, slash, name = path.rstrip(".").rpartition("/")
    stem, _, suffix = name.rpartition(".")
    if not stem.strip(".") or not _SUFFIX.fullmatch(suffix) or (not slash and not _KNOWN_SUFFIX.fullmatch(suffix)):
        return None
    return tail_of(f"{folder}/{name}")


def _bare(token: str) -> str:
    """The word without the stars that print it bold."""
    return token.removeprefix("**").removesuffix("**")


class KeptText:
    """All text that the model still sees of what was before a compaction: the summary, what was restored and the messages that stayed."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._one_line = " ".join(text.split())
        self._facts = facts_in(text)
        self._basenames = basenames_in(text)

    def holds(self, fact: Fact) -> bool:
        """Whether the fact can be read in the text.

        A path by its last two components or its basename, an identifier as a whole word, a hash also as a part of a longer one (an id
        in part stands where the whole id stands), an error line and a user message by their beginning.
        """
        match fact.kind:
            case "path":
                return fact in self._facts or fact.text.rpartition("/")[2] in self._basenames
            case "identifier":
                return fact in self._facts
            case "hash":
                return fact.text in self._text
            case "error" | "user message":
                return fact.text in self._one_line


def written_text(reply: AssistantReply) -> str:
    """What the model wrote for others: its text and its tools' input. Thinking is not counted, since recordings rarely hold it whole."""
    parts: list[str] = []
    for block in reply.blocks:
        if isinstance(block, Text):
            parts.append(block.text)
        elif isinstance(block, ToolUse):
            parts.extend(strings_of(block.input))
    return "\n".join(parts)


# Text from tools


@dataclass(frozen=True, slots=True)
class FromTools:
    """How many characters of the results of tools were known before. A line has one more, for its end."""

    results: int
    """Characters of all results."""
    known: int
    """Characters that had stood in the conversation before."""
    held: int
    """Of the known characters, those that stood in view."""
    fetches: int = 0
    """The number of results that were mostly known and not in view: asked for, it seems, for nothing else."""


def marks_of(texts: Iterable[str]) -> set[int]:
    """The marks of all blocks of lines in these texts."""
    return {block for text in texts for block in blocks(bare_lines(text)) if block is not None}


def from_tools(window: Iterable[Entry], was_known: Callable[[int], bool], in_view: Collection[int]) -> FromTools:
    """How much of the results in a window was known. `was_known` says of the mark of a block whether it stood before, `in_view` has the
    marks in view.

    A line is known where a block that covers it was. It counts once: what came up in the window itself is not acquired a second time.
    """
    come_up: set[int] = set()
    results = known = held = fetches = 0
    for entry in window:
        for text in texts_of(entry) if isinstance(entry, AssistantReply | ToolReturned) else ():
            lines = bare_lines(text)
            marks = [*blocks(lines)]
            if isinstance(entry, ToolReturned):
                sizes = [len(line) + 1 for line in lines]
                of_before = [block is not None and block not in come_up and was_known(block) for block in marks]
                is_known = covered(of_before, len(lines))
                is_held = covered([block in in_view for block in marks], len(lines))
                results += sum(sizes)
                known += sum(size for size, knew in zip(sizes, is_known, strict=True) if knew)
                gone = sum(size for size, knew, holds in zip(sizes, is_known, is_held, strict=True) if knew and not holds)
                fetches += gone > 0 and gone >= LITTLE_ELSE * sum(sizes)
                held += sum(size for size, knew, holds in zip(sizes, is_known, is_held, strict=True) if knew and holds)
            come_up.update(block for block in marks if block is not None)
    return FromTools(results, known, held, fetches)
