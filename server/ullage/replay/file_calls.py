"""Which files the tool calls of a session are about: read, written, and with which identifiers. For tools of several programs.

A call names its file in its input, in a patch or a command in its input, or in what its result says that it touched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ullage.context.blocks import Json, ToolUse
from ullage.context.entries import AssistantReply, Logged, ToolReturned
from ullage.replay.fact_patterns import identifiers_in, tail_of
from ullage.replay.shell_reads import files_printed
from ullage.replay.windows import strings_of

_PATH_KEYS = ("file_path", "path", "notebook_path")
"""Claude Code's file tools; Ullage's and most others'; Claude Code's for notebooks."""
_TEXT_KEYS = ("new_string", "new_text", "new_str", "new_source", "content", "file_text")
"""What a write or an edit puts into the file: Claude Code, Ullage, Anthropic's text editor tool, notebooks."""
_READING_TOOLS = frozenset({"Read", "NotebookRead", "read_file"})
_PATCHED_FILE = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
"""Codex's patches (`apply_patch`)."""


@dataclass(frozen=True, slots=True)
class FileCall:
    """A part of a call that is about a file: the call itself, with seq of the reply, or its result.

    `path` is the last two components. `identifiers` are all in it, `written` those that it puts into the file.
    """

    seq: int
    path: str
    reads: bool
    identifiers: frozenset[str]
    written: frozenset[str]


def file_calls(entries: Sequence[Logged]) -> tuple[FileCall, ...]:
    """In the order of the log."""
    return tuple(_file_calls(entries))


def _file_calls(entries: Sequence[Logged]) -> Iterator[FileCall]:
    files_of: dict[str, list[str]] = {}
    for logged in entries:
        entry = logged.entry
        if isinstance(entry, AssistantReply):
            for block in entry.blocks:
                if isinstance(block, ToolUse):
                    calls = _calls(logged.seq, block)
                    files_of[block.id] = [call.path for call in calls]
                    yield from calls
        elif isinstance(entry, ToolReturned):
            yield from _results(logged.seq, entry, files_of.get(entry.tool_use_id, []))


def _calls(seq: int, use: ToolUse) -> list[FileCall]:
    written = _written(use.input)
    printed = [] if written else files_printed(use.input)
    if not written and not printed:
        return []
    identifiers = frozenset(identifiers_in("\n".join(strings_of(use.input))))
    reads = use.name in _READING_TOOLS
    return [
        *(FileCall(seq, path, reads, identifiers, frozenset(identifiers_in(text))) for path, text in written.items()),
        *(FileCall(seq, path, True, identifiers, frozenset()) for path in printed),
    ]


def _results(seq: int, returned: ToolReturned, files: Sequence[str]) -> Iterator[FileCall]:
    read = {tail_of(touch.path) for touch in returned.touched if touch.kind == "read"}
    paths = dict.fromkeys([*files, *(tail_of(touch.path) for touch in returned.touched)])
    if not paths:
        return
    identifiers = frozenset(identifiers_in(returned.content))
    for path in paths:
        yield FileCall(seq, path, path in read, identifiers, frozenset())


def _written(input: Mapping[str, Json]) -> dict[str, str]:
    """The files that the input names, each with what is put into it (nothing, where it is only read)."""
    for key in _PATH_KEYS:
        path = input.get(key)
        if isinstance(path, str) and tail_of(path):
            return {tail_of(path): "\n".join(_new_texts(input))}
    return _patched("\n".join(strings_of(input)))


def _new_texts(input: Mapping[str, Json]) -> Iterator[str]:
    for key in _TEXT_KEYS:
        text = input.get(key)
        if isinstance(text, str):
            yield text
    edits = input.get("edits")
    for edit in edits if isinstance(edits, list) else []:
        if isinstance(edit, dict):
            yield from _new_texts(edit)


def _patched(text: str) -> dict[str, str]:
    found = list(_PATCHED_FILE.finditer(text))
    ends = [match.start() for match in found[1:]] + [len(text)]
    added: dict[str, str] = {}
    for match, end in zip(found, ends, strict=False):  # without a file there is one end too many
        path = tail_of(match.group(1).strip())
        lines = "\n".join(line[1:] for line in text[match.end() : end].split("\n") if line.startswith("+"))
        added[path] = f"{added[path]}\n{lines}" if path in added else lines
    return added
