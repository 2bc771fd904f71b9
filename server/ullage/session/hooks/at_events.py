"""What hooks do at each moment of a session: before and after calls, at prompts, at the end of a turn, at its start and at compactions.

Their words reach the model as a notice of their own, marked as a hook's: never as words of the user or of the program. It allows
nothing: a hook can refuse a call, and have the user asked about it, but what has to be allowed is asked about whatever hooks say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ullage.context.blocks import Json, Text, ToolUse
from ullage.context.compaction.draft import WantedCompaction
from ullage.context.compaction_entries import Compaction, Trigger
from ullage.context.entries import NO_FILE, Attachment, Entry, Logged, Notice
from ullage.context.quoting import in_a_line, quoted
from ullage.session.conversation import Conversation
from ullage.session.errors import SessionError
from ullage.session.hooks.answers import HookAnswer, for_the_user
from ullage.session.hooks.declared import Event, Hook
from ullage.session.hooks.matching import names_of, told_input, told_name
from ullage.session.hooks.running import Hooks, in_words
from ullage.tools.tool import ToolOutcome

MOST_GOING_ON = 5
"""How often hooks may have one turn go on: else a check that never passes would spend without end."""

GIVEN_CHARACTERS = 200_000
"""Most characters of a result that a hook is given."""


@dataclass(frozen=True, slots=True)
class BeforeCall:
    """What hooks say of a call that is about to run."""

    blocks: str | None = None
    """What the model is told in place of a result; None if it may run."""
    asks: str = ""
    """Why the user has to be asked, in a sentence for them; empty if that is as ever."""


class HooksAtEvents:
    """Runs the hooks of one session at its events. `changed` is told of files that hooks may have changed."""

    def __init__(
        self,
        hooks: Hooks,
        conversation: Conversation,
        entries: Iterable[Logged],
        changed: Callable[[str], None],
        *,
        with_user: bool = True,
    ) -> None:
        """`with_user`: whether a user speaks in the session. In a sub-agent's none does: hooks run around calls and compactions alone."""
        self._hooks = hooks
        self._with_user = with_user
        self._conversation = conversation
        self._changed = changed
        self._to_tell: list[Notice] = []
        self._ends: str | None = None
        self._going_on = 0
        self._started = False
        self._was_there = False
        self._standing: dict[str, Notice] = {}
        """What hooks said that stands for the whole session, by the line with which each notice begins."""
        for logged in entries:
            self._was_there = True
            self.see(logged.entry)

    def see(self, entry: Entry) -> None:
        """Takes in the next entry of the log."""
        if isinstance(entry, Notice) and entry.about == "hook_standing":
            self._standing[_beginning(entry.text)] = entry

    # Around calls

    async def before_call(self, call: ToolUse) -> BeforeCall:
        """Runs the hooks before a call, and gives whether it may run, as far as they have a say in that."""
        said = await self._hooks.run("PreToolUse", self._about(call), names_of(call.name, call.input))
        self._take(said, call.name)
        blocking = next(((hook, each) for hook, each in said if each.blocks is not None), None)
        if blocking is not None:
            hook, each = blocking
            text = f"A hook of this workspace blocked this call, so it was not run. {_marked(hook)}\n\n{quoted(each.blocks or NO_REASON)}"
            self._hooks.told_agent(hook, text)
            return BeforeCall(text)
        asking = next(((hook, each.asks) for hook, each in said if each.asks is not None), None)
        return (
            BeforeCall()
            if asking is None
            else BeforeCall(asks=WANTS_ASKED.format(hook=in_words(asking[0]), why=for_the_user(asking[1] or NO_REASON)))
        )

    async def after_call(self, call: ToolUse, outcome: ToolOutcome) -> None:
        """Runs the hooks after a call. What they say of its result is told to the model after all results of its message."""
        event: Event = "PostToolUseFailure" if outcome.is_error else "PostToolUse"
        response: dict[str, Json] = {"content": outcome.content[:GIVEN_CHARACTERS], "is_error": outcome.is_error}
        more: dict[str, Json] = {"error": outcome.content[:GIVEN_CHARACTERS]} if outcome.is_error else {"tool_response": response}
        said = await self._hooks.run(event, self._about(call, more), names_of(call.name, call.input))
        for hook, each in said:
            if each.blocks is not None:
                self._tell(hook, each.blocks or NO_REASON, f", about the call of `{call.name}`")
        self._take(said, call.name)
        if said:
            for touch in outcome.touched:
                if touch.kind != "read":
                    self._changed(touch.path)

    def _about(self, call: ToolUse, more: Mapping[str, Json] | None = None) -> Callable[[Hook], dict[str, Json]]:
        folder = self._hooks.folder

        def given(hook: Hook) -> dict[str, Json]:
            as_claude = hook.dialect == "claude"
            told = dict(call.input) if folder is None else told_input(call.input, folder, as_claude=as_claude)
            name = told_name(call.name, call.input, as_claude=as_claude)
            return {"tool_name": name, "tool_input": told, "tool_use_id": call.id, **(more or {})}

        return given

    def _take(self, said: Sequence[tuple[Hook, HookAnswer]], tool: str = "") -> None:
        for hook, each in said:
            if each.context:
                self._tell(hook, each.context, f", about the call of `{tool}`" if tool else "")
            if each.ends is not None:
                self._ends = f"A hook ended this turn ({in_words(hook)}): {for_the_user(each.ends or NO_REASON)}"

    def _tell(self, hook: Hook, text: str, about: str = "") -> None:
        told = f"{_marked(hook, about)}\n\n{quoted(text)}"
        self._hooks.told_agent(hook, told)
        self._to_tell.append(Notice("hook", told))

    def take_told(self) -> Sequence[Notice]:
        """What hooks have to say to the model now; it counts as told."""
        told, self._to_tell = self._to_tell, []
        return told

    def take_end(self) -> str:
        """Why a hook ended the turn, for the user; empty if none did. It counts as told."""
        ends, self._ends = self._ends, None
        return ends or ""

    # Around turns

    async def prompted(self, text: str) -> Sequence[Attachment]:
        """Runs the hooks at a prompt that was typed, and gives what they add to it. Raises `SessionError` if one refuses it."""
        await self._hooks.renew()
        if not self._with_user:
            return ()
        said = await self._hooks.run("UserPromptSubmit", lambda _: {"prompt": text})
        for hook, each in said:
            why = each.blocks if each.blocks is not None else each.ends
            if why is not None:
                raise SessionError("invalid", f"A hook refused this prompt ({in_words(hook)}): {for_the_user(why or NO_REASON)}")
        added: list[Attachment] = []
        for hook, each in said:
            if each.context:
                told = f"{_marked(hook)}\n\n{quoted(each.context)}"
                self._hooks.told_agent(hook, told)
                added.append(Attachment(f"{NO_FILE}{HOOK_NAME}", told))
        return added

    async def turn_begins(self) -> None:
        """Tells that a turn begins; its prompt is in the log by now. With the first turn since the session was opened the hooks at its
        start run."""
        self._going_on, self._ends = 0, None
        if not self._started and self._with_user:
            self._started = True
            await self._start("resume" if self._was_there else "startup")

    async def _start(self, source: str) -> frozenset[str]:
        """Runs the hooks at a start, and gives the lines with which their notices begin."""
        if not self._with_user:
            return frozenset()
        said = await self._hooks.run("SessionStart", lambda _: {"source": source}, (source,))
        for hook, each in said:
            if each.context:
                told = f"{_marked(hook)}\n\n{quoted(each.context)}"
                self._hooks.told_agent(hook, told)
                self._conversation.append(Notice("hook_standing", told))
        return frozenset(_beginning(_marked(hook)) for hook, _ in said)

    async def go_on(self, last_words: str) -> Notice | None:
        """Runs the hooks at the end of a turn, and gives what the model is told if one wants it to go on; None if the turn ends."""
        if not self._with_user:
            return None
        given: dict[str, Json] = {"stop_hook_active": self._going_on > 0, "last_assistant_message": last_words[:GIVEN_CHARACTERS]}
        said = await self._hooks.run("Stop", lambda _: given)
        reasons = [(hook, each.blocks or NO_REASON) for hook, each in said if each.blocks is not None and each.ends is None]
        if not reasons:
            return None
        if self._going_on >= MOST_GOING_ON:
            self._hooks.tell_user(
                reasons[0][0],
                "warning",
                f"A hook had this turn go on {MOST_GOING_ON} times ({in_words(reasons[0][0])}). It ends all the same.",
            )
            return None
        self._going_on += 1
        told = "\n\n".join(f"{_marked(hook)}\n\n{quoted(why)}" for hook, why in reasons)
        for hook, why in reasons:
            self._hooks.told_agent(hook, why)
        return Notice("hook", f"{told}\n\nGo on with the work where the hook has a point; else say in a sentence why not.")

    # Around compactions

    async def before_compaction(self, wanted: WantedCompaction) -> str:
        """Runs the hooks before a compaction, and gives why one does not want it, for the user; empty if none minds, or it is made all the
        same."""
        trigger = _as_told(wanted.trigger)
        given: dict[str, Json] = {"trigger": trigger, "custom_instructions": wanted.focus, "ullage_trigger": wanted.trigger}
        said = await self._hooks.run("PreCompact", lambda _: given, (trigger, wanted.trigger))
        self._take(said)
        refusing = next(((hook, each.blocks) for hook, each in said if each.blocks is not None), None)
        if refusing is None:
            return ""
        hook, why = refusing
        if wanted.trigger in CAN_WAIT:
            return f"A hook does not want it now ({in_words(hook)}): {for_the_user(why or NO_REASON)}"
        self._hooks.tell_user(hook, "info", f"A hook did not want a compaction that could not wait ({in_words(hook)}). It was made.")
        return ""

    async def after_compaction(self, made: Compaction) -> None:
        """Runs the hooks after a compaction. Tells the model what they say, and again what stands and is out of view."""
        if made.trigger == "upkeep":
            return
        trigger, summary = _as_told(made.trigger), made.summarised.words if made.summarised else ""
        given: dict[str, Json] = {"trigger": trigger, "compact_summary": summary[:GIVEN_CHARACTERS], "ullage_trigger": made.trigger}
        self._take(await self._hooks.run("PostCompact", lambda _: given, (trigger, made.trigger)))
        anew = await self._start("compact")
        for begins, notice in [*self._standing.items()]:
            if begins not in anew and not self._is_in_view(notice):
                self._conversation.append(notice)
        for notice in self.take_told():
            self._conversation.append(notice)

    def _is_in_view(self, notice: Notice) -> bool:
        messages = self._conversation.projection.messages
        return any(isinstance(block, Text) and notice.text in block.text for message in messages for block in message.blocks)


CAN_WAIT: frozenset[Trigger] = frozenset({"economy", "idle"})
"""Compactions that a hook may refuse: they save, or spare the next prompt a wait. The others the user asked for, or the window is full."""

NO_REASON = "it gave no reason."

HOOK_NAME = "hook"
_MARK = "This is from a hook of the workspace"

WANTS_ASKED = "A hook wants you to be asked ({hook}): {why} "


def _as_told(trigger: Trigger) -> str:
    return "manual" if trigger in ("manual", "tool") else "auto"


def _marked(hook: Hook, about: str = "") -> str:
    """The line before what a hook says, which tells who speaks."""
    command = in_a_line(" ".join(hook.command.split()))[:200]
    return f"{_MARK} ({hook.event}, `{command}`){about}, not from the user:"


def is_hooks(attachment: Attachment) -> bool:
    """Whether a hook added the attachment to a prompt. When the prompt is sent again, hooks are asked anew."""
    return attachment.name == f"{NO_FILE}{HOOK_NAME}" and attachment.text.startswith(_MARK)


def _beginning(text: str) -> str:
    return text.partition("\n")[0]
