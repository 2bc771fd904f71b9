"""Longer recorded sessions made by hand: an agent that reads and writes files, with token counts as its context grows."""

from __future__ import annotations

from ullage.context.blocks import AssistantBlock, Text, ToolUse, Usage
from ullage.context.counting.tokens import estimate_block, estimate_text
from ullage.context.entries import AssistantReply, Entry, FileTouch, Logged, ToolReturned, UserPrompt
from ullage.recorded.transcript import RecordedCompaction, Source, Transcript

MODEL = "claude-opus-4-5"
PRELUDE = 20_000
"""Tokens before the first prompt."""


def working_session(
    turns: int = 12,
    reads: int = 3,
    characters: int = 8_000,
    *,
    seconds: float = 20.0,
    compacted_after: tuple[int, ...] = (),
    summary: str = "",
    source: Source = "claude-code",
    model: str = MODEL,
) -> Transcript:
    """`turns` prompts, each answered by `reads` reads of a file of so many characters and an edit of the first of them.

    A step takes `seconds`. Compactions are recorded after the entries `compacted_after`; the context is then small again.
    """
    session = _Session(seconds, model, frozenset(compacted_after))
    for turn in range(turns):
        session.add(UserPrompt(f"p{turn}", f"Change handle_case_{turn} in src/part{turn}/unit{turn}.py, please."))
        for read in range(reads):
            path = f"src/part{turn}/unit{turn}.py" if read == 0 else f"src/part{turn}/other{turn}_{read}.py"
            session.call("Read", {"file_path": path}, _source(turn, read, characters), FileTouch(path, "read", ""))
        path = f"src/part{turn}/unit{turn}.py"
        change = {"file_path": path, "old_string": f"handle_case_{turn}", "new_string": f"handleCase{turn}Again"}
        session.call("Edit", change, "Done.", FileTouch(path, "edited", ""))
        session.reply(Text(f"Renamed handle_case_{turn} in src/part{turn}/unit{turn}.py."))
    compactions = tuple(RecordedCompaction(after, summary, True, None, None) for after in compacted_after)
    return Transcript("session", source, tuple(session.entries), compactions, (), ())


class _Session:
    def __init__(self, seconds: float, model: str, compacted_after: frozenset[int]) -> None:
        self.entries: list[Logged] = []
        self._seconds = seconds
        self._model = model
        self._compacted_after = compacted_after
        self._context = PRELUDE
        self._calls = 0

    def add(self, entry: Entry) -> None:
        seq = len(self.entries) + 1
        self.entries.append(Logged(seq, 1_000.0 + seq * self._seconds, entry))
        self._context += _tokens(entry)
        if seq in self._compacted_after:
            self._context = PRELUDE + 2_000

    def reply(self, *blocks: AssistantBlock) -> None:
        usage = Usage(self._context, sum(estimate_block(block) for block in blocks))
        self.add(AssistantReply(f"r{len(self.entries)}", blocks, self._model, "end_turn", usage))

    def call(self, tool: str, input: dict[str, str], output: str, touch: FileTouch) -> None:
        self._calls += 1
        id = f"call{self._calls}"
        self.reply(ToolUse(id, tool, dict(input)))
        self.add(ToolReturned(id, tool, output, False, len(output), touched=(touch,)))


def _tokens(entry: Entry) -> int:
    if isinstance(entry, AssistantReply):
        return sum(estimate_block(block) for block in entry.blocks)
    if isinstance(entry, ToolReturned):
        return 24 + estimate_text(entry.content)
    return estimate_text(entry.text) if isinstance(entry, UserPrompt) else 0


def _source(turn: int, read: int, characters: int) -> str:
    lines = [f"def handle_case_{turn}(value_{read}):"]
    length = 0
    while length < characters:
        lines.append(f"    total_{turn}_{read} = combine(total_{turn}_{read}, value_{read}, {len(lines)})")
        length += len(lines[-1]) + 8
    return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines, 1))
