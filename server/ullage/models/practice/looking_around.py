"""What the practice model does with a prompt of no scenario: searches for its words with the real tools and tells what is there.

Three steps: search for each word and list the files; read around the first hits, or the README where there are none; report with links. It
understands nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ullage.context.blocks import ToolResult, ToolUse
from ullage.context.view.request import Request
from ullage.models.practice.scenario import PlannedCall, ScenarioStep

PLAY = "look"
"""The name under which its calls are marked."""

WHAT_I_AM = (
    "I am the practice model: a scripted demo, not an AI. I play prepared steps and search for words."
    " Everything around me is real: the tools, the approvals, the gauge and the compaction."
)
HOW_TO_GET_A_MODEL = (
    'For real answers run the command "Ullage: Connect a model…". It takes an API key or the address of a server'
    " (llama.cpp, vLLM, LiteLLM, Ollama, LM Studio), and finds servers on this machine."
)
TAKE_THE_TOUR = 'Say "take the tour" in the sample workspace to see a bug found and fixed.'

MOST_WORDS = 3
MOST_HITS = 8
READ_LINES = 40
README = "README.md"
MOST_QUOTED = 600
"""The most characters of the README's beginning that are quoted."""

_WORD = re.compile(r"[^\W\d][\w./-]*\w")
_SMALL_WORDS = """
about all and any are but can code could does file files find for from get give has have hello help here how into its let like list look
make may more new not now off one other our out please run say see set she should show some tell test than thanks that the their them then
there these they thing this tour use want was way what when where which who why will with work would you your
aber alle auch auf aus bei bitte danke das dass dem den der des die dies ein eine einen einer für hallo hat ich ist kann mach man mein mir
mit nicht noch nur oder sich sie sind über und uns von war was wenn wer wie wir wird wo zum zur
"""
"""English and German words that say nothing of what is looked for."""
_NUMBERED = re.compile(r"^\s*\d+\t")
"""The number that `read_file` puts before a line."""
_HIT = re.compile(r"^(?P<path>[^\s:][^:\n]*):(?P<line>\d+)[:-] ?(?P<text>.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class LineHit:
    """A line that holds a word."""

    path: str
    line: int
    text: str

    @property
    def link(self) -> str:
        """The place of the line as a Markdown link that the panel opens there."""
        return f"[{self.path}:{self.line}]({self.path.replace(' ', '%20')}#L{self.line})"


def words_of(prompt: str) -> tuple[str, ...]:
    """The words of a prompt worth a search, the most telling first: names with marks in them, then long words."""
    small = frozenset(_SMALL_WORDS.split())
    words = dict.fromkeys(word for word in _WORD.findall(prompt) if len(word) > 2 and word.lower() not in small)
    return tuple(sorted(words, key=lambda word: (not _is_name(word), -len(word)))[:MOST_WORDS])


def first_step(prompt: str, tools: Iterable[str]) -> ScenarioStep:
    """The step that answers a new prompt; `tools` are the names of those that there are."""
    words = words_of(prompt)
    if not words or "search" not in tools:
        return ScenarioStep(text=f"{WHAT_I_AM}\n\n{TAKE_THE_TOUR} {HOW_TO_GET_A_MODEL}")
    listed = ", ".join(f"`{word}`" for word in words)
    calls = [PlannedCall("search", {"pattern": re.escape(word)}) for word in words]
    if "list_files" in tools:
        calls.append(PlannedCall("list_files", {}))
    return ScenarioStep(text=f"I am the practice model, a script and not an AI; I look for {listed} in this workspace.", calls=tuple(calls))


def next_step(step: int, request: Request, results: Sequence[ToolResult], tools: Iterable[str]) -> ScenarioStep:
    """The step that follows the results of step `step` (0: the search, 1: the reading)."""
    if step > 0:
        all_results = _results(request)
        hits = _hits(_results_of("search", request, all_results))
        return ScenarioStep(text=_report(hits, "" if hits else _beginning(_results_of("read_file", request, all_results))))
    hits = _hits(_results_of("search", request, results))
    if "read_file" not in tools:
        return ScenarioStep(text=_report(hits))
    if not hits:
        listed = any(README in result.content.splitlines() for result in _results_of("list_files", request, results))
        call = PlannedCall("read_file", {"path": README, "limit": READ_LINES})
        return (
            ScenarioStep(text="None of these words is in the files. I read what the project says of itself.", calls=(call,))
            if listed
            else ScenarioStep(text=_report(hits))
        )
    best = _best(hits)
    offset = max(1, best.line - READ_LINES // 2)
    call = PlannedCall("read_file", {"path": best.path, "offset": offset, "limit": READ_LINES})
    return ScenarioStep(text=f"Most of it is in {best.link}; I read that place.", calls=(call,))


def _report(hits: Sequence[LineHit], beginning: str = "") -> str:
    """The report on what was found. `beginning` is that of the README, where nothing was found."""
    if not hits:
        found = f"[{README}]({README}) begins like this:\n\n> {beginning}\n\n" if beginning else "I found none of the words. "
        return f"{found}{WHAT_I_AM}\n\n{HOW_TO_GET_A_MODEL}"
    files = Counter(hit.path for hit in hits)
    lines = [f"- {hit.link}: `{_shortened(hit.text)}`" for hit in _spread(hits)]
    count = f"{len(hits)} lines" if len(hits) > 1 else "1 line"
    where = f"{len(files)} files" if len(files) > 1 else "1 file"
    return f"I found {count} in {where}:\n\n" + "\n".join(lines) + f"\n\nThat is all I can say of it. {WHAT_I_AM}\n\n{HOW_TO_GET_A_MODEL}"


def _spread(hits: Sequence[LineHit]) -> list[LineHit]:
    """The first hits, but of many files rather than many of one."""
    seen: Counter[str] = Counter()
    ranked: list[tuple[int, int, LineHit]] = []
    for index, hit in enumerate(hits):
        ranked.append((seen[hit.path], index, hit))
        seen[hit.path] += 1
    return [hit for _, _, hit in sorted(ranked, key=lambda each: each[:2])][:MOST_HITS]


def _best(hits: Sequence[LineHit]) -> LineHit:
    """The first hit in the file that has most of them."""
    path = Counter(hit.path for hit in hits).most_common(1)[0][0]
    return next(hit for hit in hits if hit.path == path)


def _hits(results: Iterable[ToolResult]) -> list[LineHit]:
    """The lines that the searches found, each once; those that hold several of the words first."""
    found = (match for result in results if not result.is_error for match in _HIT.finditer(result.content))
    times = Counter(LineHit(match["path"], int(match["line"]), match["text"]) for match in found)
    return sorted(times, key=lambda hit: -times[hit])


def _results(request: Request) -> list[ToolResult]:
    """All results since the user spoke last; a compaction may have taken the earlier ones."""
    results: list[ToolResult] = []
    for message in reversed(request.messages):
        of_message = [block for block in message.blocks if isinstance(block, ToolResult)]
        if message.role == "user" and not of_message:
            break
        results[:0] = of_message
    return results


def _beginning(read: Sequence[ToolResult]) -> str:
    """The first paragraph of what was read; empty where there is none."""
    for result in read:
        lines = [_NUMBERED.sub("", line).strip() for line in result.content.splitlines() if _NUMBERED.match(line)]
        paragraphs = re.split(r"\n{2,}", "\n".join(lines))
        text = next((each for each in paragraphs if each.strip() and not each.startswith(("#", "!", "[", "<"))), "")
        if text and not result.is_error:
            plain = " ".join(text.split())
            return plain if len(plain) <= MOST_QUOTED else f"{plain[:MOST_QUOTED]}…"
    return ""


def _results_of(name: Literal["search", "list_files", "read_file"], request: Request, results: Iterable[ToolResult]) -> list[ToolResult]:
    ids = {block.id for message in request.messages for block in message.blocks if isinstance(block, ToolUse) and block.name == name}
    return [result for result in results if result.tool_use_id in ids]


def _is_name(word: str) -> bool:
    return any(mark in word for mark in "_./-") or any(letter.isupper() for letter in word[1:])


def _shortened(text: str) -> str:
    plain = " ".join(text.replace("`", "'").split())
    return plain if len(plain) <= 90 else plain[:89] + "…"
