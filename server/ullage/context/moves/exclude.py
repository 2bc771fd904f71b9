"""Exclude: a message, a tool result or a file that the user does not want the model to see any longer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from posixpath import normpath

from ullage.context.blocks import ToolUse
from ullage.context.calls import files_printed
from ullage.context.entries import AssistantReply, Cleared, FileTakenOut, Logged, Snipped, ToolReturned, UserPrompt
from ullage.context.moves.plan import Count, Plan
from ullage.context.moves.preview import preview
from ullage.context.view.log_places import entry_at, place_of
from ullage.context.view.projection import Projection
from ullage.context.view.quotations import excluded
from ullage.context.view.taken_out import EXCLUDED_MESSAGE, EXCLUDED_RESULT, files_shown

PATH_KEYS = ("path", "file_path", "notebook_path")
"""How tools call the file that they are about: Ullage's and most others'; Claude Code's; Claude Code's for notebooks."""


def exclude(projection: Projection, seq: int, count: Count) -> Plan | None:
    """The moves that take entry `seq` out of the view: a result gives way to a line that says so; of a prompt or a reply the whole
    goes, a reply with the results of its calls. What a summary or a snip covers by now can be taken out as well, since a record may tell of
    it. None where it is out already, or is nothing that can be taken out.
    """
    entries, entry = projection.entries, entry_at(projection.entries, seq)
    if seq in excluded(projection):
        return None
    cleared: tuple[Cleared, ...] = ()
    snipped: Snipped | None = None
    match entry:
        case ToolReturned():
            cleared = (Cleared(seq, EXCLUDED_RESULT),)
        case UserPrompt():
            snipped = Snipped(seq, seq, EXCLUDED_MESSAGE)
        case AssistantReply():
            snipped = _with_results(entries, seq, entry)
        case _:
            return None
    after = preview(projection, cleared, snipped)
    return Plan(entries[-1].seq, cleared, snipped, None, 0, count(after.messages))


def exclude_file(projection: Projection, path: str, count: Count, named: Callable[[str], str] = normpath) -> Plan | None:
    """The moves that take the text of a file out of the view, wherever it came from: results that showed it give way to a line that says
    so, and so does its text where it was attached, where a notice has it and where a compaction read it again. Calls stay, and what they
    wrote into it; so do searches of more than this file. None where nothing shows it but what is out already.

    `path` is as tools show it (`FileTouch`); `named` makes that of what a call calls a file.
    """
    out, paths_out = excluded(projection), projection.paths_out
    cleared: list[Cleared] = []
    parts: list[int] = []
    calls: dict[str, ToolUse] = {}
    opened: set[str] = set()
    for logged in projection.entries:
        seq, entry = logged.seq, logged.entry
        if isinstance(entry, AssistantReply):
            calls |= {block.id: block for block in entry.blocks if isinstance(block, ToolUse)}
        elif isinstance(entry, ToolReturned):
            call = calls.get(entry.tool_use_id)
            if any(touch.path == path for touch in entry.touched) or (call is not None and _shows(call, path, opened, named)):
                opened.add(entry.tool_use_id)
                cleared += [Cleared(seq, EXCLUDED_RESULT)] if seq not in out else []
        elif path in files_shown(entry) and path not in paths_out.get(seq, ()) and seq not in out:
            parts.append(seq)
    if not cleared and not parts:
        return None
    without = (FileTakenOut(path, tuple(parts)),)
    after = preview(projection, tuple(cleared), without_files=without)
    return Plan(projection.entries[-1].seq, tuple(cleared), None, None, 0, count(after.messages), without_files=without)


def _shows(call: ToolUse, path: str, opened: Collection[str], named: Callable[[str], str]) -> bool:
    """Whether a call is about the file: by its path, by a command that prints it, or as it recalls a result (one of `opened`) that was."""
    paths = (value for key in PATH_KEYS if isinstance(value := call.input.get(key), str))
    return call.input.get("tool_use_id") in opened or any(named(each) == path for each in (*paths, *files_printed(call.input)))


def _with_results(entries: Sequence[Logged], seq: int, reply: AssistantReply) -> Snipped:
    waiting = {block.id for block in reply.blocks if isinstance(block, ToolUse)}
    last = seq
    between: list[int] = []
    others: list[int] = []
    for index in range(place_of(entries, seq + 1), len(entries)):
        logged = entries[index]
        if not waiting or isinstance(logged.entry, AssistantReply):
            break
        if isinstance(logged.entry, ToolReturned) and logged.entry.tool_use_id in waiting:
            waiting.discard(logged.entry.tool_use_id)
            last = logged.seq
            between += others
            others = []
        else:
            others.append(logged.seq)
    return Snipped(seq, last, EXCLUDED_MESSAGE, tuple(between))
