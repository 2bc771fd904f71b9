"""Codex rollouts: JSONL as it lies in `~/.codex/sessions/`, one line for each item of the conversation and each event."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ullage.context.blocks import Json, SystemPart, Usage
from ullage.context.entries import Notice, Prelude, UserPrompt
from ullage.recorded.readers import codex_entries as items
from ullage.recorded.readers.codex_entries import CodexLogBuilder
from ullage.recorded.readers.entries import is_of_the_program
from ullage.recorded.readers.flaws import NO_SUMMARY, PROVIDER_TOOL, SEALED_SUMMARY, FlawTally, unknown
from ullage.recorded.readers.values import JsonObject, as_count, as_list, as_object, as_seconds, as_text, printable
from ullage.recorded.transcript import RecordedCompaction, Transcript

_LINES = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted"})
_ITEMS = items.OF_THE_MODEL | items.OUTPUTS | items.SILENT | {"message"}
"""Kinds of items that the oldest rollouts have without a line around them."""
_SILENT_LINES = frozenset({"world_state", "inter_agent_communication", "inter_agent_communication_metadata", "state"})
_ECHOES = frozenset(
    {
        "user_message",
        "agent_message",
        "agent_reasoning",
        "agent_reasoning_raw_content",
        "agent_reasoning_section_break",
        "task_started",
        "task_complete",
        "turn_started",
        "turn_complete",
        "context_compacted",
        "web_search_begin",
        "web_search_end",
        "mcp_tool_call_begin",
        "mcp_tool_call_end",
        "exec_command_begin",
        "exec_command_end",
        "patch_apply_begin",
        "patch_apply_end",
        "image_generation_end",
        "view_image_tool_call",
        "dynamic_tool_call_request",
        "dynamic_tool_call_response",
        "item_started",
        "item_completed",
        "entered_review_mode",
        "exited_review_mode",
        "undo_completed",
        "thread_name_updated",
        "thread_goal_updated",
        "thread_settings_applied",
        "error",
        "warning",
        "stream_error",
        "guardian_assessment",
        "background_event",
        "plan_update",
        "collab_agent_spawn_end",
        "collab_agent_interaction_end",
        "collab_waiting_end",
        "collab_close_end",
        "collab_resume_end",
        "sub_agent_activity",
    }
)
"""Events that say again what items say, or are for the screen alone."""
_WITHOUT_RESULT = "(run by the provider; its result is not recorded)"


def is_line(value: JsonObject) -> bool:
    """Whether a line of a file shows that Codex wrote it."""
    if isinstance(value.get("payload"), dict):
        return as_text(value.get("type")) in _LINES
    kind = value.get("type")
    if kind == "message":
        parts = as_list(value.get("content"))
        return any(as_object(part).get("type") in ("input_text", "output_text") for part in parts)
    return kind in ("function_call", "function_call_output") and "call_id" in value


def read(lines: Iterable[JsonObject], tally: FlawTally, name: str) -> tuple[Transcript, ...]:
    """The one session of a rollout. `tally` has what is wrong with the lines so far; `name` is the id of a session that names none."""
    rollout = _Rollout(tally)
    for value in lines:
        rollout.take(value)
    rollout.entries.close()
    tally.note("The tools are not in Codex's rollouts: the first request is larger by them")
    if not rollout.entries.log.length:
        tally.note("Nothing is said in it")
    session = Transcript(
        session_id=printable(rollout.session) or name,
        source="codex",
        entries=rollout.entries.log.entries,
        compactions=tuple(rollout.compactions),
        repairs=tally.repairs,
        notes=tally.notes,
        project=rollout.entries.folder,
    )
    return (session,)


class _Rollout:
    """A rollout as far as its lines were read."""

    def __init__(self, tally: FlawTally) -> None:
        self.entries = CodexLogBuilder(tally)
        self.compactions: list[RecordedCompaction] = []
        self.session = ""
        self._tally = tally
        self._model = ""
        self._spent: Json = None
        """All tokens of the session, as last reported. The same count once more is no new call."""
        self._used: int | None = None
        """The tokens that the context held after the last call."""
        self._made_ids = 0

    def take(self, value: JsonObject) -> None:
        """Takes in one line of the rollout."""
        at = as_seconds(value.get("timestamp"))
        payload = value.get("payload")
        kind = as_text(value.get("type"))
        if not isinstance(payload, dict):
            self._take_bare(value, kind, at)
            return
        match kind:
            case "session_meta":
                self._take_meta(payload, at)
            case "turn_context":
                self._model = as_text(payload.get("model")) or self._model
                self.entries.folder = self.entries.folder or as_text(payload.get("cwd"))
            case "response_item":
                self._take_item(payload, at)
            case "event_msg":
                self._take_event(payload)
            case "compacted":
                self._take_compaction(payload, at)
            case _:
                self._tally.count(unknown("lines", kind), int(kind not in _SILENT_LINES))

    def _take_bare(self, value: JsonObject, kind: str, at: float) -> None:
        if kind in _ITEMS:
            self._take_item(value, at)
        elif "instructions" in value or "record_type" in value:
            self.session = self.session or as_text(value.get("id"))
        else:
            self._tally.count(unknown("lines", kind))

    def _take_meta(self, meta: JsonObject, at: float) -> None:
        if self.session:
            return  # it tells of the session that this one was forked from
        own = as_text(meta.get("id"))
        spawned = as_object(as_object(as_object(meta.get("source")).get("subagent")).get("thread_spawn"))
        parent = as_text(spawned.get("parent_thread_id"))
        self.session = f"{parent}/{own}" if parent and own else own
        self.entries.folder = as_text(meta.get("cwd"))
        instructions = as_text(as_object(meta.get("base_instructions")).get("text")) or as_text(meta.get("instructions"))
        if instructions:
            self.entries.add_words(Prelude((SystemPart("system", instructions),), ()), at)

    def _take_item(self, item: JsonObject, at: float) -> None:
        kind = as_text(item.get("type"))
        if kind == "message":
            self._take_message(item, at)
        elif kind == "reasoning":
            self.entries.add_block(items.reasoning(item), self._model, at)
        elif kind in items.CALLS:
            call = items.call(item, self._new_id(), self._tally)
            self.entries.add_block(call, self._model, at)
            if items.is_run_by_the_provider(item):
                self._tally.count(PROVIDER_TOOL)
                self.entries.add_output(call.id, _WITHOUT_RESULT, False, at)
        elif kind in items.OUTPUTS:
            text, failed = items.output_text(item, self._tally)
            self.entries.add_output(as_text(item.get("call_id")), text, failed, at)
        else:
            self._tally.count(unknown("items", kind), int(kind not in items.SILENT))

    def _take_message(self, item: JsonObject, at: float) -> None:
        if item.get("role") == "assistant":
            for block in items.message_blocks(item, self._tally):
                self.entries.add_block(block, self._model, at)
            return
        text = items.message_text(item, self._tally)
        if not text:
            return
        of_the_user = item.get("role") == "user" and not is_of_the_program(text)
        self.entries.add_words(UserPrompt(self._new_id(), text) if of_the_user else Notice("rules", text), at)

    def _take_event(self, event: JsonObject) -> None:
        kind = as_text(event.get("type"))
        if kind == "token_count":
            self._take_tokens(as_object(event.get("info")))
        elif kind == "turn_aborted":
            self.entries.close()
        elif kind == "thread_rolled_back":
            left = self.entries.roll_back(as_count(event.get("num_turns")) or 0)
            self.compactions = [replace(each, after_seq=min(each.after_seq, left)) for each in self.compactions]
        else:
            self._tally.count(unknown("events", kind), int(kind not in _ECHOES))

    def _take_tokens(self, info: JsonObject) -> None:
        last = as_object(info.get("last_token_usage"))
        usage = usage_of(last)
        self._used = as_count(last.get("total_tokens")) or self._used
        spent = as_object(info.get("total_token_usage")).get("total_tokens")
        is_new = spent is None or spent != self._spent
        self._spent = spent
        if usage is not None and is_new:
            self.entries.add_usage(usage)

    def _take_compaction(self, compacted: JsonObject, at: float) -> None:
        self.entries.close()
        summary = as_text(compacted.get("message"))
        sealed = not summary
        if sealed:
            history = [as_object(item) for item in as_list(compacted.get("replacement_history"))]
            said = (items.message_text(item, self._tally) for item in history if item.get("role") == "user")
            summary = "\n\n".join(text for text in said if text and not is_of_the_program(text))
            self._tally.count(SEALED_SUMMARY if summary else NO_SUMMARY)
        self.compactions.append(RecordedCompaction(self.entries.log.length, summary, None, self._used, at or None, sealed))

    def _new_id(self) -> str:
        self._made_ids += 1
        return f"item-{self._made_ids}"


def usage_of(counts: JsonObject) -> Usage | None:
    """The tokens of one call; None if there are none. What was read from the cache is part of `input_tokens` here; writes are free."""
    read = as_count(counts.get("cached_input_tokens")) or 0
    sent = as_count(counts.get("input_tokens")) or 0
    usage = Usage(max(sent - read, 0), as_count(counts.get("output_tokens")) or 0, read)
    return usage if usage.context_tokens > 0 else None
